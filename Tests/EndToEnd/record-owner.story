# AB-1 with the model of the design, whose register lies with those who compete: take swaps the roles and clears the alert on both nodes, and so does the way back
new_world
give_model schedules <<'END'
{ "model": "org.example.schedules", "version": 2, "reads": [1, 2],
  "entities": {
    "Note":          { "files": "notes/*.json", "id": "stem",
                       "relations": { "schedule": {"to": "ChildSchedule", "kind": "one", "required": true, "inverse": "note"} } },
    "ChildSchedule": { "files": "schedules/*.json", "id": "stem",
                       "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha"/{notes,schedules}
note() { printf '{"schedule": "%s"}\n' "$2" >"$1/notes/A1.json"; }
child() { printf '{"note": "A1", "at": "%s"}\n' "$3" >"$1/schedules/$2.json"; }
note "$alpha" B1
child "$alpha" B1 09:00
settle
# (A node that has told of nothing yet waits for the other before it does.)
child "$beta" B1 09:30
settle

taken_in() { ctl "$1" explain "$2" >"$world/told" 2>&1; }
down beta
rm "$alpha/schedules/B1.json"
child "$alpha" B2 10:00
note "$alpha" B2
soon "alpha does not take its save in" taken_in alpha ChildSchedule/B2
down alpha
up beta
rm "$beta/schedules/B1.json"
child "$beta" B3 11:00
note "$beta" B3
soon "beta does not take its save in" taken_in beta ChildSchedule/B3
up alpha
settle
for node in alpha beta; do
    tells $node '"conflicts":1,"quarantined":1' status || fail "$node counts: $(cat "$world/told")"
    tells $node '"code":"conflict.slot"' alerts || fail "$node has no alert: $(cat "$world/told")"
done

# Who lost has no file to bring back, and a program that saves it again chooses nobody.
ended=0
ctl alpha --json restore "$alpha/schedules/B2.json" >"$world/refused" 2>&1 || ended=$?
[ "$ended" -eq 1 ] && grep -q 'in quarantine because ChildSchedule/B3 has its place.*conflicts take r' "$world/refused" ||
    fail "restore of who lost ($ended): $(cat "$world/refused")"
gone() { [ ! -e "$1" ]; }
child "$alpha" B2 10:30
soon "who lost stays in the folder, saved again" gone "$alpha/schedules/B2.json"
settle
for node in alpha beta; do
    tells $node '"conflicts":1,"quarantined":1' status || fail "$node counts, after it was saved again: $(cat "$world/told")"
    tells $node '"code":"conflict.slot"' alerts || fail "$node has no alert any more: $(cat "$world/told")"
done

# chosen RECORD OTHER: it has the place on both nodes, nobody has to decide anything any more, and the other is kept.
chosen() {
    local node
    settle
    for node in alpha beta; do
        [ "$(ls "$world/$node/folder/schedules")" = "$1.json" ] || fail "take had no effect on $node; $(plight)"
        grep -q "\"schedule\": *\"$1\"" "$world/$node/folder/notes/A1.json" || fail "the note of $node is not turned"
        soon "the alert of $node stays" warns_no_more_of $node conflict.slot
        tells $node '"conflicts":0,"quarantined":0' status || fail "$node still counts: $(cat "$world/told")"
        tells $node '"conflicts":[]' conflicts || fail "$node still lists: $(cat "$world/told")"
        ctl $node --json conflicts --all | finds "\"record\":\"ChildSchedule/$2\"" || fail "$2 is not kept on $node"
    done
}

# take_it NODE RECORD: from the list of all, where it stands also when it is settled.
take_it() {
    local id
    id=$(ctl "$1" --json conflicts --all | grep -o '"id":"r[0-9a-f]*"' | cut -d '"' -f 4)
    ctl "$1" conflicts take "$id" "ChildSchedule/$2" >"$world/taken" 2>&1 || fail "take: $(cat "$world/taken")"
}

take_it beta B2
chosen B2 B3
take_it alpha B3
chosen B3 B2
