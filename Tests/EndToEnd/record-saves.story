# I11: saves of record files: broken and half ones wait and hold up nothing, edits apart are merged field by field, kill -9 loses none
new_world
give_model tasks <<'END'
{ "model": "org.example.tasks", "version": 1, "root": "tasks",
  "entities": {
    "List": { "files": "lists/*.json", "id": "stem", "fields": { "name": {"type": "string", "required": true} } },
    "Task": { "files": "all.json", "at": "/tasks", "id": "/id",
              "fields": { "title": {"type": "string", "required": true}, "done": {"type": "bool"} },
              "relations": { "list": {"to": "List", "kind": "one", "required": true} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha/tasks/lists"
printf '{"name": "home", "colour": "blue"}\n' >"$alpha/tasks/lists/L1.json"
printf '{\n  "version": 1,\n  "tasks": [\n    {"id": "T1", "list": "L1", "title": "plants"},\n    {"id": "T2", "list": "L1", "title": "post"}\n  ]\n}\n' >"$alpha/tasks/all.json"
settle
cmp -s "$alpha/tasks/all.json" "$beta/tasks/all.json" || fail "the document did not arrive as it is"

# Broken: it stays as it is on alpha, beta keeps what it had, and the rest goes on.
printf '{"name": "home",' >"$alpha/tasks/lists/L1.json"
soon "nobody is told of the broken file" warns_of alpha format.corrupt
tells alpha '"offset":16' alerts || fail "nor where it breaks off: $(cat "$world/told")"
echo other >"$alpha/plain.txt"
printf '{"name": "work"}\n' >"$beta/tasks/lists/L2.json"
soon "the broken file holds up others" cmp -s "$alpha/plain.txt" "$beta/plain.txt"
soon "the broken file holds up records" cmp -s "$alpha/tasks/lists/L2.json" "$beta/tasks/lists/L2.json"
grep -q blue "$beta/tasks/lists/L1.json" || fail "beta lost its list"
[ "$(cat "$alpha/tasks/lists/L1.json")" = '{"name": "home",' ] || fail "the broken file was touched"
waits_for alpha format.corrupt || fail "no reason is shown: $(cat "$world/told")"
printf '{"name": "home!", "colour": "blue"}\n' >"$alpha/tasks/lists/L1.json"
settle
warns_no_more_of alpha format.corrupt || fail "the alert stays"
grep -q 'home!' "$beta/tasks/lists/L1.json" || fail "what was mended did not arrive"

# Or an earlier version is brought back, as the alert says, and the broken one is a version from then on.
printf '{"name": "home.", "colour": "blue"}\n' >"$beta/tasks/lists/L1.json"
settle
printf '{"name": "home.",' >"$alpha/tasks/lists/L1.json"
soon "nobody is told of the next broken file" warns_of alpha format.corrupt
ctl alpha restore "$alpha/tasks/lists/L1.json" >"$world/restored" 2>&1 || fail "nothing is brought back: $(cat "$world/restored")"
settle
warns_no_more_of alpha format.corrupt || fail "the alert stays after what was brought back"
grep -q 'home!' "$beta/tasks/lists/L1.json" || fail "what was brought back did not arrive: $(cat "$beta/tasks/lists/L1.json")"
ctl alpha restore "$alpha/tasks/lists/L1.json" --to "$alpha/broken" >"$world/restored" 2>&1 || fail "$(cat "$world/restored")"
[ "$(cat "$alpha/broken")" = '{"name": "home.",' ] || fail "the broken one is not kept: $(cat "$alpha/broken")"

# Half: it points to a list that nobody has. Mended, it goes on.
sed 's/"T2", "list": "L1"/"T2", "list": "L9"/' "$alpha/tasks/all.json" >"$world/half"
cat "$world/half" >"$alpha/tasks/all.json"
soon "nobody is told of what is missing" warns_of alpha validation.required-missing
grep -q L9 "$beta/tasks/all.json" && fail "half a save was sent"
ctl alpha --json alerts >"$world/alerts"
grep -qE '"code":"validation.required-missing".*"subject":"tasks/all.json".*"entity":"Task","property":"list","record":"Task/T2","changeSet":"[0-9]+/[0-9]+"' \
    "$world/alerts" || fail "the alert does not say what is missing: $(cat "$world/alerts")"
tells alpha '"outcome":"success",' doc check "$alpha/tasks/all.json" && grep -q 'not in sync yet (validation.required-missing)' "$world/told" ||
    fail "doc check does not say that it waits: $(cat "$world/told")"
grep -q 'validation.required-missing "tasks/all.json": .*It is about Task/T2.list, change set' "$world/alpha/log" || fail "nor does the log"
echo plain >"$alpha/plain"
tells alpha '{"path":"plain","outcome":"unguarded"},{"path":"none","outcome":"noSuchFile"}' doc check plain none ||
    fail "doc check of files that no model names: $(cat "$world/told")"
mkdir "$alpha/tasks/lists/D.json"
tells alpha '"outcome":"unguarded","detail":"a directory stands there, and no file"' doc check tasks/lists/D.json ||
    fail "doc check of a directory: $(cat "$world/told")"
rmdir "$alpha/tasks/lists/D.json"
printf '{"name": "new"}\n' >"$alpha/tasks/lists/L9.json"
settle
grep -q L9 "$beta/tasks/all.json" || fail "the whole save did not arrive"
warns_no_more_of alpha validation.required-missing || fail "the alert stays"

# Whoever is needed by what no file of the save says may not go: his delete waits, and what was saved beside it does not.
mv "$alpha/tasks/lists/L9.json" "$world/L9.json"
printf '{"name": "beside"}\n' >"$alpha/tasks/lists/L3.json"
printf '{"name": "home?", "colour": "blue"}\n' >"$alpha/tasks/lists/L1.json"
soon "nobody is told what the delete would fell" warns_of alpha validation.required-missing
soon "the delete holds up what was saved beside it" cmp -s "$alpha/tasks/lists/L3.json" "$beta/tasks/lists/L3.json"
soon "the delete holds up an edit" cmp -s "$alpha/tasks/lists/L1.json" "$beta/tasks/lists/L1.json"
ctl alpha --json alerts | grep -o '"subject":"[^"]*"' >"$world/subjects"
[ "$(cat "$world/subjects")" = '"subject":"tasks/lists/L9.json"' ] || fail "the alerts are about $(cat "$world/subjects")"
grep -q L9 "$beta/tasks/all.json" && [ -e "$beta/tasks/lists/L9.json" ] || fail "the delete was sent"
ctl alpha explain "$alpha/tasks/lists/L9.json" | finds 'in the folder here: nothing' || fail "explain tells of a file that is not there"
soon "a delete that waits counts as work" tells alpha '"phase":"waiting"' status
mv "$world/L9.json" "$alpha/tasks/lists/L9.json"
settle
warns_no_more_of alpha validation.required-missing || fail "the alert stays"

# A new file with a value of another type waits too, stays as it was saved over a restart, and goes on when it is mended.
printf '{"name": 5}\n' >"$alpha/tasks/lists/L5.json"
soon "the save that is waited for is not listed" waits_for alpha waiting.save
soon "nobody is told of a wrong type" warns_of alpha validation.required-missing
soon "beta claims that both show the same" tells beta '"waits":true' status
alert() { ctl alpha --json alerts | grep -o '"id":"[^"]*","code":"validation.required-missing"[^}]*"firstSeen":"[^"]*"'; }
before=$(alert)
sleep 1
down alpha
up alpha
soon "the reason is gone after a restart" waits_for alpha validation.required-missing
sleep 6
[ "$(cat "$alpha/tasks/lists/L5.json")" = '{"name": 5}' ] || fail "the save that waits is gone after a restart"
[ "$(alert)" = "$before" ] || fail "the alert is another one after a restart: $(alert), and not $before"
waits_for alpha validation.required-missing || fail "it does not wait any more: $(cat "$world/told")"
[ ! -e "$beta/tasks/lists/L5.json" ] || fail "the save that waits was sent"
soon "beta claims over a new link that both show the same" tells beta '"waits":true' status
grep -qF '"state":"waiting"' "$world/told" || fail "beta is at work on something: $(cat "$world/told")"
code=0
ctl beta wait --for in-sync --timeout 1 >"$world/waited" 2>&1 || code=$?
[ "$code" -eq 2 ] && grep -q 'the other is not' "$world/waited" || fail "wait on beta ends with $code: $(cat "$world/waited")"
printf '{"name": "five"}\n' >"$alpha/tasks/lists/L5.json"
settle
warns_no_more_of alpha validation.required-missing || fail "the alert stays"

# Apart, each changes another thing in the same file: both are there afterwards, and no copy.
down beta
sed -i 's/"title": "plants"/"title": "water the plants"/' "$alpha/tasks/all.json"
sed -i 's/"title": "post"}/"title": "post", "done": true}/' "$beta/tasks/all.json"
sed -i 's/]$/  ,{"id": "T3", "list": "L2", "title": "from beta", "size": 1.50}]/' "$beta/tasks/all.json"
up beta
settle
for node in alpha beta; do
    file=$world/$node/folder/tasks/all.json
    for words in 'water the plants' '"done": true' 'from beta' '1.50'; do
        grep -q "$words" "$file" || fail "$node lost '$words': $(cat "$file")"
    done
done
no_conflicts

# Killed in the middle of saves, at any moment.
for round in 1 2 3 4 5 6; do
    printf '{"name": "home %s", "colour": "blue"}\n' "$round" >"$alpha/tasks/lists/L1.json"
    printf '{"name": "work %s"}\n' "$round" >"$beta/tasks/lists/L2.json"
    printf '{"name": "made %s"}\n' "$round" >"$beta/tasks/lists/M$round.json"
    sleep "0.$((RANDOM % 6))"
    down alpha KILL
    if [ $((round % 2)) -eq 0 ]; then down beta KILL; fi
    up alpha
    if [ $((round % 2)) -eq 0 ]; then up beta; fi
done
settle
for round in 1 2 3 4 5 6; do [ -f "$alpha/tasks/lists/M$round.json" ] || fail "M$round is lost"; done
grep -q 'home 6' "$beta/tasks/lists/L1.json" || fail "the last save of alpha is lost: $(cat "$beta/tasks/lists/L1.json")"
grep -q 'work 6' "$alpha/tasks/lists/L2.json" || fail "the last save of beta is lost: $(cat "$alpha/tasks/lists/L2.json")"
no_conflicts
