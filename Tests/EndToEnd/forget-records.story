# a node with records forgets its partner: what the files say is what there is, what lost a contest is among the versions, and a new partner takes part
new_places
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
# note FOLDER NOTE SCHEDULE TITLE, times FOLDER SCHEDULE NOTE TIME
note() { printf '{\n  "title": "%s",\n  "schedule": "%s"\n}\n' "$4" "$3" >"$1/schedules/notes/$2.json"; }
times() { printf '{"note": "%s", "at": "%s", "extra": [1.50, 2e3]}\n' "$3" "$4" >"$1/schedules/times/$2.json"; }
note "$alpha" A1 B1 plan
times "$alpha" B1 A1 09:00
settle
note "$beta" A2 C1 other
times "$beta" C1 A2 12:00
settle
# Apart, both point the note at a schedule of their own.
down beta
rm "$alpha/schedules/times/B1.json" && times "$alpha" B2 A1 10:00 && note "$alpha" A1 B2 plan
taken_in() { ctl "$1" explain "Schedule/$2" >"$world/told" 2>&1; }
soon "alpha does not take its save in" taken_in alpha B2
down alpha
up beta
rm "$beta/schedules/times/B1.json" && times "$beta" B3 A1 11:00 && note "$beta" A1 B3 plan
soon "beta does not take its save in" taken_in beta B3
up alpha
settle
tells alpha '"reason":"lostSlot"' conflicts || fail "there is no contest: $(ctl alpha --json conflicts)"
live=$(sed -nE 's/.*"schedule": *"(B[23])".*/\1/p' "$alpha/schedules/notes/A1.json")
if [ "$live" = B3 ]; then lost=B2 at=10:00; else lost=B3 at=11:00; fi

down beta KILL
soon "alpha does not notice" unlinked alpha
note "$alpha" A2 C1 changed
ctl alpha unpair --forget >"$world/out" || fail "alpha does not forget: $(cat "$world/out")"
grep -q "Conflicts between records that were open: 1\." "$world/out" || fail "nobody is told of the contest: $(cat "$world/out")"

# The new partner has files of its own, one of them about the same record.
gamma=$world/gamma/folder
mkdir -p "$gamma"/schedules/{notes,times}
ctl gamma init --name gamma --folder "$gamma" --listen "127.0.0.1:$(free_port 16)" --peer "127.0.0.1:$port" \
    --state "$world/gamma/state" --control "$world/gamma/control" >/dev/null
sed -i "s|^;* *models = .*|models = $world/models.d|" "$world/gamma/syncd.conf"
note "$gamma" A2 C1 theirs && times "$gamma" C1 A2 12:00
note "$gamma" A3 D1 own && times "$gamma" D1 A3 13:00
up gamma
token=$(new_token ctl alpha)
ctl gamma join "$token" >"$world/out" || fail "gamma cannot join: $(cat "$world/out")"
agree_new() {
    local node
    for node in alpha gamma alpha; do
        ctl "$node" wait --for in-sync --timeout "$patience" >"$world/waited" 2>&1 ||
            fail "$node is not in sync: $(cat "$world/waited"; ctl "$node" --json status)"
    done
    diff <(picture "$alpha") <(picture "$gamma") >"$world/difference" || fail "the folders differ: $(head -n 10 "$world/difference")"
}
agree_new
[ "$(ls "$alpha/schedules/times" | tr '\n' ' ')" = "$live.json C1.json D1.json " ] || fail "live are $(ls "$alpha/schedules/times")"
grep -qE '"title": "(changed|theirs)"' "$gamma/schedules/notes/A2.json" || fail "A2 is $(cat "$gamma/schedules/notes/A2.json")"
for node in alpha gamma; do
    ctl $node doc check --all >"$world/scan" || fail "$node finds faults: $(cat "$world/scan")"
    grep -q '^6 live records' "$world/scan" || fail "$node counts: $(cat "$world/scan")"
done
ctl alpha history "$alpha/schedules/times/$lost.json" >"$world/out" || fail "there is no earlier version of $lost: $(cat "$world/out")"
ctl alpha restore "$alpha/schedules/times/$lost.json" --to "$alpha/lost" >"$world/out" || fail "it is not brought back: $(cat "$world/out")"
printf '{"note": "A1", "at": "%s", "extra": [1.50, 2e3]}\n' $at | cmp -s - "$alpha/lost" || fail "what lost is now $(cat "$alpha/lost")"
# Records go on being merged: what both save apart is in the file of both.
down gamma
printf '{\n  "title": "new",\n  "schedule": "%s"\n}\n' "$live" >"$alpha/schedules/notes/A1.json"
printf '{\n  "title": "plan",\n  "body": "text",\n  "schedule": "%s"\n}\n' "$live" >"$gamma/schedules/notes/A1.json"
up gamma
agree_new
grep -q '"title": "new"' "$gamma/schedules/notes/A1.json" && grep -q '"body": "text"' "$gamma/schedules/notes/A1.json" ||
    fail "what both have saved is $(cat "$gamma/schedules/notes/A1.json")"
