# I25: a reference to a record that is still to come stays in the file as it was written, on both nodes, and is linked when it comes
new_world
give_model notes <<'END'
{ "model": "org.example.notes", "version": 1, "root": "notes",
  "entities": {
    "Folder": { "files": "folders/*.json", "id": "stem",
                "relations": { "notes": {"to": "Note", "kind": "many", "ordered": true, "inverse": "folder"} } },
    "Note": { "files": "all/*.json", "id": "stem",
              "relations": { "folder": {"to": "Folder", "kind": "one", "inverse": "notes"} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha"/notes/{folders,all}
printf '{"title": "tea",  "folder": "X9"}\n' >"$alpha/notes/all/N1.json"
printf '{"notes": [ "N8", "N9" ]}\n' >"$alpha/notes/folders/X8.json"
before=$(stat -c '%i %y' "$alpha"/notes/*/*.json)
soon "the note does not come" cmp -s "$alpha/notes/all/N1.json" "$beta/notes/all/N1.json"
settle
# as_written: nobody has touched them, and the other node has the same bytes.
as_written() {
    local node
    for node in alpha beta; do
        grep -qxF '{"title": "tea",  "folder": "X9"}' "$world/$node/folder/notes/all/N1.json" ||
            fail "the note of $node: $(cat "$world/$node/folder/notes/all/N1.json")"
        grep -qxF '{"notes": [ "N8", "N9" ]}' "$world/$node/folder/notes/folders/X8.json" ||
            fail "the folder of $node: $(cat "$world/$node/folder/notes/folders/X8.json")"
    done
}
as_written
ctl beta explain Note/N1 >"$world/why" 2>&1 || fail "no explanation: $(cat "$world/why")"
grep -q 'waits for the record that it names' "$world/why" || fail "the explanation: $(cat "$world/why")"

# They come from the other node, after a restart, the second of the list first.
down beta
up beta
printf '{"notes": ["N1"]}\n' >"$beta/notes/folders/X9.json"
printf '{"title": "nine"}\n' >"$beta/notes/all/N9.json"
settle
printf '{"folder": "X8"}\n' >"$beta/notes/all/N8.json"
settle
as_written
[ "$(stat -c '%i %y' "$alpha"/notes/all/N1.json "$alpha"/notes/folders/X8.json)" = "$before" ] || fail "alpha's files were written anew"
for node in alpha beta; do
    grep -qxF '{"title": "nine", "folder": "X8"}' "$world/$node/folder/notes/all/N9.json" ||
        fail "N9 of $node is not linked: $(cat "$world/$node/folder/notes/all/N9.json")"
    ctl $node doc check --all >"$world/scan" || fail "$node finds faults: $(cat "$world/scan")"
    grep -q '^5 live records, 0 deleted, 0 out of the graph: no rule is broken' "$world/scan" || fail "$node counts: $(cat "$world/scan")"
done
no_conflicts
