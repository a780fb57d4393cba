# records.md, versionAt: a document of records that no model here reads stands on both nodes, is not overwritten, and becomes records with a model that reads it
new_world
model() {
    give_model notes <<END
{ "model": "org.example.notes", "version": $1, "reads": [$2], "root": "notes", "versionAt": "/version",
  "entities": { "Note": { "files": "*.json", "id": "stem", "fields": { "title": {"type": "string", "required": true} } } } }
END
}
model 1 1
up alpha
up beta
pair
mkdir "$alpha/notes"
note() { printf '{"version": %s, "title": "%s"%s}\n' "$2" "$3" "$4" >"$world/$1/folder/notes/n.json"; }
note alpha 1 first ""
settle
stamp() { (cd "$world/$1/folder/notes" && stat -c '%i %.9Y' n.json && sha256sum n.json); }

# A program that knows more saves on alpha. Both nodes have it and say so, and both say that it cannot be read here.
note alpha 2 second ', "due": [1, 2]'
shows() { grep -qs "\"title\": \"$2\"" "$world/$1/folder/notes/$3"; }
soon "beta does not show what nobody reads" shows beta second n.json
for node in alpha beta; do
    warned() { warns_of "$node" format.newer; }
    soon "$node warns of nothing" warned
    tells "$node" '"outcome":"newerVersion"' doc check notes/n.json || fail "$node: doc check: $(cat "$world/told")"
    id=$(ctl "$node" --json alerts | grep -o '"id":"a[0-9a-f]*","code":"format.newer"' | cut -d'"' -f4)
    ctl "$node" alerts show "$id" | tr '\n' ' ' | finds "Install a model on $node that reads version 2" ||
        fail "$node does not say what to do: $(ctl "$node" alerts show "$id")"
    ctl "$node" log verify >"$world/verified" || fail "$node: $(cat "$world/verified")"
done
settle
holds() { tells "$1" "\"held\":$2," status; }
for node in alpha beta; do
    holds "$node" 1 || fail "what $node cannot read is not counted as held: $(cat "$world/told")"
done

# Older programs write over it on both nodes: it comes back, and theirs lie beside.
stamp alpha >"$world/newest"
note beta 1 blind ""
copied() { [ "$(find "$world/$1/folder/notes" -name 'n.conflict-*' | wc -l)" = "$2" ]; }
soon "the save of the older program is not put beside" copied alpha 1
settle
shows beta second n.json || fail "beta has lost the newer state: $(cat "$beta/notes/n.json")"
stamp alpha | diff "$world/newest" - || fail "alpha's file was touched"
note alpha 1 "blind too" ""
soon "nor is one of the other node" copied beta 2
settle
shows alpha second n.json || fail "alpha has lost the newer state: $(cat "$alpha/notes/n.json")"
same_trees || fail "the trees differ"
warns_of alpha format.downgrade-held && warns_of beta format.downgrade-held || fail "nobody is told of the downgrades"

# Whoever insists puts the older one there, on both nodes; and whoever deletes deletes.
for turn in take delete; do
    case $turn in
    take)
        id=$(ctl beta --json conflicts | grep -o '"id":"[^"]*","code":"[a-z.-]*","kind":"downgrade","path":"notes/n.json"' | head -n 1 | cut -d'"' -f4)
        ctl beta conflicts take "$id" copy >"$world/taken" 2>&1 || fail "the older one cannot be taken: $(cat "$world/taken")"
        settle
        grep -q '"version": 1, "title": "blind' "$alpha/notes/n.json" || fail "alpha does not show what was taken: $(cat "$alpha/notes/n.json")"
        ;;
    delete)
        rm "$alpha/notes/n.json"
        settle
        [ ! -e "$beta/notes/n.json" ] || fail "what nobody reads cannot be deleted"
        ;;
    esac
    same_trees || fail "the trees differ after the $turn"
    settled() { ! warns_of alpha format.newer && ! warns_of beta format.newer; }
    soon "there is a warning of what is gone after the $turn" settled
    for node in alpha beta; do soon "$node holds what is gone after the $turn" holds "$node" 0; done
    note alpha 2 second ', "due": [1, 2]'
    soon "beta does not show the next one" shows beta second n.json
    settle
done

# After a restart it is as it was.
stamp beta >"$world/newest"
down beta
up beta
settle
stamp beta | diff "$world/newest" - || fail "a restart has touched the newer file"
warns_of beta format.newer || fail "after a restart beta has forgotten the newer file"

# Models that read it: the message goes, and what both nodes change from there on is merged.
model 2 "1, 2"
for node in alpha beta; do
    down "$node"
    up "$node"
done
settle
for node in alpha beta; do warns_of "$node" format.newer && fail "$node warns still: $(ctl "$node" alerts)"; done
ctl alpha pause >/dev/null
ctl beta pause >/dev/null
sed -i 's/"second"/"third"/' "$alpha/notes/n.json"
sed -i 's/\[1, 2\]/[1, 2, 3]/' "$beta/notes/n.json"
sleep 1
ctl alpha resume >/dev/null
ctl beta resume >/dev/null
settle
same_trees || fail "the trees differ after the upgrade"
merged='{"version": 2, "title": "third", "due": [1, 2, 3]}'
[ "$(cat "$alpha/notes/n.json")" = "$merged" ] || fail "it is not merged: $(cat "$alpha/notes/n.json")"
