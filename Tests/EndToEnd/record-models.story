# a model that only one node has, and one with a fault: what is saved without it waits, with a reason, until the model is there and whole
new_world
give_model lists <<'END'
{ "model": "org.example.lists", "version": 1, "root": "lists",
  "entities": { "List": { "files": "*.json", "id": "stem", "fields": { "name": {"type": "string"} } } } }
END
mkdir "$world/no-models"
sed -i "s|^models = .*|models = $world/no-models|" "$world/beta/syncd.conf"
up alpha
up beta
pair
soon "alpha does not say that beta lacks the model" warns_of alpha schema.newer
code=0
ctl alpha wait --for in-sync --timeout 1 >"$world/waited" 2>&1 || code=$?
[ "$code" -eq 2 ] && grep -qF schema.newer "$world/waited" || fail "wait ends with $code: $(cat "$world/waited")"
mkdir "$alpha/lists"
echo '{"name": "from alpha"}' >"$alpha/lists/L1.json"
soon "a save of alpha does not reach beta as a file" cmp -s "$alpha/lists/L1.json" "$beta/lists/L1.json"
echo '{"name": "from beta"}' >"$beta/lists/L1.json"
echo plain >"$beta/plain.txt"
soon "what no model is about waits too" cmp -s "$alpha/plain.txt" "$beta/plain.txt"
soon "no reason is shown" waits_for alpha schema.newer
grep -q "from alpha" "$alpha/lists/L1.json" || fail "a save was taken that no change set tells of"

# Beta gets the model: what it has by then is told of.
sed -i "s|^models = .*|models = $world/models.d|" "$world/beta/syncd.conf"
down beta
up beta
settle
warns_no_more_of alpha schema.newer || fail "the alert stays"
no_conflicts
echo '{"name": "both have it"}' >"$beta/lists/L1.json"
settle
grep -q "both have it" "$alpha/lists/L1.json" || fail "a save with the model did not arrive"

# One with a fault is told of, and nothing stops.
echo '{"model": "org.example.broken", "version": 1, "root": "b", "entities": {"X": {"files": "*.json", "idd": "stem"}}}' \
    >"$world/models.d/broken.json"
down alpha
up alpha
soon "nobody is told of a model with a fault" warns_of alpha schema.invalid
grep -q 'broken.json.*"idd"\|broken.json.*idd' "$world/alpha/log" || fail "the fault is not named: $(tail -n 3 "$world/alpha/log")"
down alpha
rm "$world/models.d/broken.json"
up alpha
soon "the alert stays" warns_no_more_of alpha schema.invalid
settle

# A fault in a model that was in use: nothing can be read of it, so what it was about is remembered. On alpha what it is about stays as
# it is, whatever both save, and all else goes on, also what another model is about.
down beta
give_model tags <<'END'
{ "model": "org.example.tags", "version": 1, "root": "tags", "entities": { "Tag": { "files": "*.json", "id": "stem" } } }
END
up beta
mkdir "$world/own-models.d"
cp "$world/models.d"/*.json "$world/own-models.d"
sed -i "s|^models = .*|models = $world/own-models.d|" "$world/alpha/syncd.conf"
echo '{"name": "second"}' >"$alpha/lists/L2.json"
echo '{"name": "third"}' >"$alpha/lists/L3.json"
down alpha
up alpha
mkdir "$alpha/tags"
echo '{"name": "tag"}' >"$alpha/tags/T1.json"
settle
echo '{' >"$world/own-models.d/lists.json"
down alpha
up alpha
soon "nobody is told that the model is broken" warns_of alpha schema.invalid
tells alpha 'lists/*.json' alerts || fail "the alert does not say which files wait: $(cat "$world/told")"
waits_for alpha schema.invalid && fail "something waits though nothing was saved: $(cat "$world/told")"
echo '{"name": "both have it", "a": 1}' >"$alpha/lists/L1.json"
echo '{"name": "both have it", "b": 2}' >"$beta/lists/L1.json"
rm "$alpha/lists/L2.json"
echo '{"name": "second", "b": 2}' >"$beta/lists/L2.json"
rm "$beta/lists/L3.json"
echo '{"name": "new"}' >"$alpha/lists/L4.json"
echo '{"name": "new there"}' >"$beta/lists/L5.json"
echo more >"$alpha/plain.txt"
soon "what the model is not about waits too" cmp -s "$alpha/plain.txt" "$beta/plain.txt"
ctl alpha pause >/dev/null
echo '{"name": "tag", "a": 1}' >"$alpha/tags/T1.json"
echo '{"name": "tag", "b": 2}' >"$beta/tags/T1.json"
sleep 1
ctl alpha resume >/dev/null
merged() { grep -q '"a"' "$1" && grep -q '"b"' "$1"; }
for node in alpha beta; do soon "records of another model are not merged" merged "$world/$node/folder/tags/T1.json"; done

# listed NODE PATH: the path waits for the model.
listed() { tells "$1" "\"path\":\"$2\",\"reason\":\"schema.invalid\"" status; }
# as_saved: on each node what was saved there, and nothing else.
as_saved() {
    [ "$(ls "$alpha/lists" | tr '\n' ' ')" = "L1.json L3.json L4.json " ] || fail "on alpha: $(ls "$alpha/lists")"
    [ "$(ls "$beta/lists" | tr '\n' ' ')" = "L1.json L2.json L5.json " ] || fail "on beta: $(ls "$beta/lists")"
    grep -q '"a"' "$alpha/lists/L1.json" && ! grep -q '"b"' "$alpha/lists/L1.json" || fail "alpha: $(cat "$alpha/lists/L1.json")"
    grep -q '"b"' "$beta/lists/L1.json" && ! grep -q '"a"' "$beta/lists/L1.json" || fail "beta: $(cat "$beta/lists/L1.json")"
    no_conflicts
}
for number in 1 2 3 4 5; do soon "L$number does not wait for the model" listed alpha lists/L$number.json; done
as_saved
code=0
ctl alpha wait --for in-sync --timeout 1 >"$world/waited" 2>&1 || code=$?
[ "$code" -eq 2 ] && grep -q schema.invalid "$world/waited" || fail "wait ends with $code: $(cat "$world/waited")"
code=0
ctl alpha status >"$world/shown" 2>&1 || code=$?
[ "$code" -eq 1 ] || fail "status ends with $code: $(cat "$world/shown")"
tells alpha schema.invalid explain lists/L1.json || fail "explain: $(cat "$world/told")"
down alpha KILL
up alpha
for number in 1 2 3 4 5; do soon "L$number does not wait after a restart" listed alpha lists/L$number.json; done
sleep 2
as_saved

# Mended, all of it is merged record by record.
cp "$world/models.d/lists.json" "$world/own-models.d"
down alpha
up alpha
settle
warns_no_more_of alpha schema.invalid || fail "the alert stays"
no_conflicts
[ "$(ls "$alpha/lists" | tr '\n' ' ')" = "L1.json L2.json L4.json L5.json " ] || fail "merged: $(ls "$alpha/lists")"
merged "$beta/lists/L1.json" || fail "not merged: $(cat "$beta/lists/L1.json")"

# A fault on both nodes, and then no such model any more: files like any others.
for models in models.d own-models.d; do sed -i 's/"id"/"idd"/' "$world/$models/lists.json"; done
for node in alpha beta; do
    down $node
    up $node
done
echo '{"name": "by alpha"}' >"$alpha/lists/L1.json"
echo '{"name": "by beta"}' >"$beta/lists/L1.json"
for node in alpha beta; do soon "$node does not let it wait" listed $node lists/L1.json; done
rm "$world/models.d/lists.json" "$world/own-models.d/lists.json"
for node in alpha beta; do
    down $node
    up $node
done
settle
for node in alpha beta; do
    warns_no_more_of $node schema.invalid || fail "the alert stays on $node"
    cat "$world/$node/folder"/lists/L1*.json >"$world/both"
    grep -q "by alpha" "$world/both" && grep -q "by beta" "$world/both" || fail "lost on $node: $(ls "$world/$node/folder/lists")"
done
[ "$(find "$alpha/lists" -name 'L1.conflict-*' | wc -l)" -eq 1 ] || fail "no conflict of files: $(ls "$alpha/lists")"
