# I3: who joins makes nothing of which there is one before it knows what the other has; the save waits with a reason, also over a restart
new_world
give_model settings <<'END'
{ "model": "org.example.settings", "version": 1, "root": "set",
  "entities": {
    "Settings": { "files": "settings.json", "id": "singleton", "singleton": true,
                  "fields": { "colour": {"type": "string"}, "size": {"type": "string"} } },
    "Note": { "files": "notes/*.json", "id": "stem", "fields": { "text": {"type": "string"} } } } }
END
up alpha
up beta
mkdir -p "$alpha/set/notes" "$beta/set/notes"
echo '{"colour": "blue"}' >"$alpha/set/settings.json"
printf '{"text": ' >"$alpha/set/notes/N0.json"
# As long as alpha is paused, beta does not learn what it has.
ctl alpha pause >"$world/out" || fail "alpha cannot be paused: $(cat "$world/out")"
# What alpha finds there meanwhile is no news, and the file is told of all the same.
for ((times = 0; times < 60; times++)); do
    touch "$alpha/set/settings.json"
    sleep 0.02
done &
touching=$!
pair
wait "$touching"
echo '{"size": "large"}' >"$beta/set/settings.json"
echo '{"text": "of beta"}' >"$beta/set/notes/N1.json"
soon "no reason is shown" waits_for beta waiting.first-import
soon "a note waits too" tells beta 'set Note/N1' explain Note/N1
tells beta large explain Settings/singleton:Settings && fail "beta has told of the settings: $(cat "$world/told")"
down beta
up beta
soon "no reason is shown after a restart" waits_for beta waiting.first-import
tells beta large explain Settings/singleton:Settings && fail "beta has told of the settings after a restart"
[ "$(cat "$beta/set/settings.json")" = '{"size": "large"}' ] || fail "the file was touched"
ctl beta wait --for initial-import --timeout 1 >"$world/out" 2>&1 && fail "beta says that it knows what alpha has"

ctl alpha resume >"$world/out" || fail "alpha cannot go on: $(cat "$world/out")"
# A file of alpha waits for its author, so alpha is not through: beta says that this is what it waits for.
soon "beta does not say that it waits for alpha" tells beta '"waits":true' status
waits_for alpha format.corrupt || fail "alpha does not wait for anybody: $(cat "$world/told")"
waits_for beta waiting.first-import || fail "beta does not wait any more: $(cat "$world/told")"
echo '{"text": "of alpha"}' >"$alpha/set/notes/N0.json"
settle
tells beta '"waits":true' status && fail "beta still waits for alpha"
ctl beta wait --for initial-import --timeout 10 >"$world/out" 2>&1 || fail "beta does not say that it knows: $(cat "$world/out")"
warns_no_more_of beta waiting.first-import || fail "the alert stays"
for node in alpha beta; do
    file=$world/$node/folder/set/settings.json
    grep -q '"colour": "blue"' "$file" && grep -q '"size": "large"' "$file" || fail "$node shows $(cat "$file")"
done
no_conflicts
# From now on what there is one of is written as everything else.
down alpha
echo '{"colour": "red", "size": "large"}' >"$beta/set/settings.json"
soon "beta does not take it in" tells beta 'red' explain Settings/singleton:Settings
up alpha
settle
grep -q red "$alpha/set/settings.json" || fail "alpha has no red"
