# What a program saves of records under a lock is one change set, however long it takes over it; nothing is judged before
new_world
give_model schedules <<'END'
{ "model": "org.example.schedules", "version": 1, "root": "schedules",
  "entities": {
    "Note": { "files": "notes/*.json", "id": "stem",
              "relations": { "schedule": {"to": "Schedule", "kind": "one", "required": true, "inverse": "note"} } },
    "Schedule": { "files": "times/*.json", "id": "stem",
                  "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha"/schedules/{notes,times}
printf '{"schedule": "B1"}\n' >"$alpha/schedules/notes/A1.json"
printf '{"note": "A1", "at": "09:00"}\n' >"$alpha/schedules/times/B1.json"
settle
ctl alpha log-level 3 >"$world/said" || fail "level 2: $(cat "$world/said")"
wc -l <"$world/alpha/log" >"$world/before"

# It takes longer than a save that breaks the rules is waited for (5 s).
ctl alpha lock "$alpha/schedules" -- sh -c "
    rm '$alpha/schedules/times/B1.json'
    sleep 7
    printf '{\"note\": \"A1\", \"at\": \"10:00\"}\n' >'$alpha/schedules/times/B2.json'
    printf '{\"schedule\": \"B2\"}\n' >'$alpha/schedules/notes/A1.json'
" || fail "the lock is not granted"
settle
[ "$(cd "$beta/schedules" && echo */*)" = "notes/A1.json times/B2.json" ] || fail "beta has $(cd "$beta/schedules" && echo */*)"
for node in alpha beta; do
    if tells $node validation.required-missing alerts --all; then fail "$node was told of half a save: $(cat "$world/told")"; fi
done
tail -n +"$(($(cat "$world/before") + 1))" "$world/alpha/log" | grep -E 'alpha set [0-9]+: [0-9]+ operations' >"$world/sets"
[ "$(wc -l <"$world/sets")" -eq 1 ] || fail "it is not one change set: $(grep ' set ' "$world/alpha/log")"
grep -q ' operations on 3 records ' "$world/sets" || fail "the set has not all of it: $(cat "$world/sets")"
