# AB-1, I8, I9, I10, I12, I14, I22, I23, I27: both re-point a required one-to-one relation while apart; one schedule is live on both, the other in quarantine, and take swaps them
new_places
own_network
set_up
give_model schedules <<'END'
{ "model": "org.example.schedules", "version": 1, "root": "schedules",
  "entities": {
    "Note": { "files": "notes/*.json", "id": "stem",
              "fields": { "title": {"type": "string", "required": true}, "body": {"type": "string"} },
              "relations": { "schedule": {"to": "Schedule", "kind": "one", "required": true, "inverse": "note"} } },
    "Schedule": { "files": "times/*.json", "id": "stem",
                  "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha"/schedules/{notes,times}
note() { printf '{\n  "title": "%s",\n  "schedule": "%s"\n}\n' "$3" "$2" >"$1/schedules/notes/A1.json"; }
times() { printf '{"note": "A1", "at": "%s", "extra": [1.50, 2e3]}\n' "$3" >"$1/schedules/times/$2.json"; }
note "$alpha" B1 plan
times "$alpha" B1 09:00
settle
[ -f "$beta/schedules/times/B1.json" ] || fail "beta has no B1"

for node in alpha beta; do wc -l <"$world/$node/log" >"$world/$node/said"; done

# Apart, both delete B1, make one of their own, and point the note at it.
ip link set "$device" down || skip "this machine cannot cut the cable"
soon "alpha does not see the cut" unlinked alpha
rm "$alpha/schedules/times/B1.json"
times "$alpha" B2 10:00
note "$alpha" B2 plan
taken_in() { ctl alpha explain Schedule/B2 >"$world/told" 2>&1; }
soon "alpha does not take its save in" taken_in
rm "$beta/schedules/times/B1.json"
times "$beta" B3 11:00
note "$beta" B3 plan
# Beta has told of nothing yet, and so it waits for alpha before it does. It has found what was saved by then.
soon "beta does not find what was saved" tells beta '"path":"schedules/times/B1.json"' status
sleep 1
ip link set "$device" up
settle

# roles WINNER LOSER: on both nodes one schedule is live and linked, the other is complete in quarantine.
roles() {
    local node
    for node in alpha beta; do
        [ "$(ls "$world/$node/folder/schedules/times")" = "$1.json" ] ||
            fail "live on $node: $(ls "$world/$node/folder/schedules/times"); $(plight)"
        grep -q "\"schedule\": *\"$1\"" "$world/$node/folder/schedules/notes/A1.json" ||
            fail "the note on $node: $(cat "$world/$node/folder/schedules/notes/A1.json")"
        tells $node '"quarantined":1' status || fail "$node counts: $(cat "$world/told")"
        ctl $node --json conflicts >"$world/conflicts-$node"
        grep -q "\"reason\":\"lostSlot\".*\"current\":true,\"record\":\"Schedule/$1\".*\"record\":\"Schedule/$2\"" \
            "$world/conflicts-$node" || fail "$node lists: $(cat "$world/conflicts-$node")"
        tells $node '"code":"conflict.slot"' alerts || fail "$node has no alert: $(cat "$world/told")"
        ctl $node --json alerts | grep -o '"id":"[^"]*","code":"conflict.slot"' >"$world/alert-$node"
    done
    cmp -s "$world/alert-alpha" "$world/alert-beta" || fail "the alerts have two ids: $(cat "$world"/alert-*)"
    id=$(grep -o '"id":"r[0-9a-f]*"' "$world/conflicts-alpha" | cut -d '"' -f 4)
}

roles B3 B2
for node in alpha beta; do
    said=$(($(wc -l <"$world/$node/log") - $(cat "$world/$node/said")))
    [ "$said" -le 10 ] || fail "$node says $said lines about it: $(tail -n "$said" "$world/$node/log")"
done
if grep -E "error|corrupt" "$world"/*/log; then fail "there is a line that says error"; fi
for node in alpha beta; do
    tells $node '"severity":"serious"' alerts --all && fail "$node calls something serious: $(cat "$world/told")"
done
# The one in quarantine is whole, with the numbers as they were written.
ctl alpha --json conflicts show "$id" | finds "\"sha256\":\"$(printf '{"note": "A1", "at": "10:00", "extra": [1.50, 2e3]}\n' |
    sha256sum | cut -d ' ' -f 1)\"" || fail "the loser is not whole: $(ctl alpha --json conflicts show "$id")"
# It lies there as a file on both nodes, and the conflict names it.
for node in alpha beta; do
    ctl $node --json conflicts show "$id" >"$world/shown"
    lost=$(grep -o '"path":"\.syncd/quarantine/q[0-9a-f]*"' "$world/shown" | cut -d '"' -f 4)
    [ -n "$lost" ] || fail "$node names no file: $(cat "$world/shown")"
    printf '{"note": "A1", "at": "10:00", "extra": [1.50, 2e3]}\n' | cmp -s - "$world/$node/folder/$lost" ||
        fail "in quarantine on $node: $(ls -l "$world/$node/folder/.syncd/quarantine"; cat "$world/$node/folder/$lost")"
done

# I14: who looks at the whole graph finds no broken rule, and whom it has no place for.
for node in alpha beta; do
    ctl $node doc check --all >"$world/scan" || fail "$node finds faults: $(cat "$world/scan")"
    grep -q '^out: Schedule/B2 ' "$world/scan" || fail "$node does not name the stray: $(cat "$world/scan")"
    grep -q '^2 live records, 1 deleted, 1 out of the graph: no rule is broken' "$world/scan" || fail "$node counts: $(cat "$world/scan")"
done

# The imports are told one after the other, each change of the other node in one of them, with what repair did to let it in.
told_of_repair() {
    local node=$1 imported=0 repaired=0 line
    quarantined=0
    ctl "$node" --json events | grep '"event":"import.finished"' >"$world/imports"
    while read -r line; do
        [[ $line =~ ^\{\"event\":\"import.finished\",\"time\":\"[^\"]+\",\"from\":\"[a-z]+\",\"firstSeq\":([0-9]+),\"lastSeq\":([0-9]+),\"applied\":[0-9]+,\"held\":[0-9]+,\"repaired\":([0-9]+),\"quarantined\":([0-9]+),\"milliseconds\":[0-9]+\}$ ]] ||
            fail "$node tells an import like this: $line"
        [ "${BASH_REMATCH[1]}" -eq $((imported + 1)) ] || fail "$node tells no import of $((imported + 1)): $(cat "$world/imports")"
        imported=${BASH_REMATCH[2]} repaired=$((repaired + BASH_REMATCH[3])) quarantined=$((quarantined + BASH_REMATCH[4]))
    done <"$world/imports"
    [ "$quarantined" -le 1 ] || fail "$node tells of $quarantined records that were put out: $(cat "$world/imports")"
    [ "$quarantined" -eq 1 ] && [ "$repaired" -ge 1 ]
}
# (On beta its own save may be taken in just after the end of the import, and was repaired then.)
soon "alpha does not tell what repair did" told_of_repair alpha
told_of_repair beta || [ "$quarantined" -eq 0 ] || fail "beta tells half of what repair did: $(cat "$world/imports")"

# What is kept of both logs can be read, change sets and all.
for node in alpha beta; do
    ctl $node --json log verify >"$world/verified" || fail "$node finds faults: $(cat "$world/verified")"
    [ "$(grep -o '"changeSets":[1-9][0-9]*,"intact":true,"text":"[^"]*each change set can be read"' "$world/verified" | wc -l)" -eq 2 ] ||
        fail "$node has not looked at the change sets of both: $(cat "$world/verified")"
done

# The log tells of each save how many operations it came to, on which records; on either node, of the other's as well.
for node in alpha beta; do
    ctl $node --json log --node alpha >"$world/lines" || fail "$node tells no log: $(cat "$world/lines")"
    grep '"kind":"delete","path":"schedules/times/B1.json"' "$world/lines" >"$world/line"
    grep -qE '"ops":5,"changeSet":\{"epoch":[0-9]+,"seq":2,"records":\["(Schedule/B[12]|Note/A1)"(,"[^"]*"){2}\],"recordCount":3,"id":"[0-9]+/2"\}' "$world/line" ||
        fail "$node tells of the save of B2: $(cat "$world/lines")"
done
ctl alpha log --node alpha | finds 'times/B2.json (5 operations on 3 records, set 2)' || fail "the log says: $(ctl alpha log --node alpha)"

# Life goes on.
for round in 1 2 3 4 5 6 7 8 9 10; do
    times "$alpha" B3 "1$round:00"
    note "$beta" B3 "plan $round"
    settle
done
grep -q 'plan 10' "$alpha/schedules/notes/A1.json" || fail "an edit is missing"
roles B3 B2

# Who wants to know more is told of every change set, or of every operation, and of neither if he does not ask.
if grep -E ' set [0-9]+: ' "$world"/*/log; then fail "change sets are told of at level 1"; fi
ctl beta log-level 2 >"$world/level" || fail "level 2: $(cat "$world/level")"
note "$alpha" B3 "told of"
settle
grep -qE 'alpha set [0-9]+: 1 operations on 1 records of org.example.schedules' "$world/beta/log" || fail "no line for the change set"
if grep -qE 'alpha set [0-9]+: set ' "$world/beta/log"; then fail "operations are told of at level 2"; fi
ctl beta log-level 3 --for 1s >"$world/level" || fail "level 3 for a second: $(cat "$world/level")"
sleep 2
note "$alpha" B3 "told of later"
settle
if grep -qE 'alpha set [0-9]+: set ' "$world/beta/log"; then fail "operations are told of after their time"; fi
ctl beta log-level 3 --for 60s >"$world/level" || fail "level 3: $(cat "$world/level")"

# take swaps the roles, from either node, and the alert stays about the one that is out now.
ctl beta conflicts take "$id" Schedule/B2 >"$world/taken" 2>&1 || fail "take: $(cat "$world/taken")"
settle
for node in alpha beta; do
    [ "$(ls "$world/$node/folder/schedules/times")" = B2.json ] || fail "take had no effect on $node; $(plight)"
    grep -q '"schedule": *"B2"' "$world/$node/folder/schedules/notes/A1.json" || fail "the note of $node is not turned"
    grep -q '"extra": \[1.50, 2e3\]' "$world/$node/folder/schedules/times/B2.json" || fail "B2 came back changed"
    soon "the alert of $node stays" warns_no_more_of $node conflict.slot
    # Nobody has to decide anything any more, and it is kept all the same.
    tells $node '"conflicts":0,"quarantined":0' status || fail "$node still counts: $(cat "$world/told")"
    ctl $node --json conflicts --all | finds '"record":"Schedule/B3"' || fail "B3 is not kept on $node"
done
grep -qE 'beta set [0-9]+: link Note/A1.schedule B2' "$world/beta/log" || fail "no line for the operation"
ctl alpha explain Schedule/B3 >"$world/why" 2>&1 || fail "no explanation: $(cat "$world/why")"
grep -q "is not in the live graph" "$world/why" || fail "the explanation: $(cat "$world/why")"
grep -qE 'beta set [0-9]+: insert Schedule/B3: makes the record' "$world/why" || fail "who made it is not said: $(cat "$world/why")"
ctl alpha --json doc check schedules/notes/A1.json | finds '"outcome":"success"' || fail "the note is no document"
