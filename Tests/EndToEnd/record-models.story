# a model that only one node has: what the other saves without it waits, with a reason, until it has the model too
new_world
give_model lists <<'END'
{ "model": "org.example.lists", "version": 1, "root": "lists",
  "entities": { "List": { "files": "*.json", "id": "stem", "fields": { "name": {"type": "string"} } } } }
END
sed -i "s|^models = .*|models = $world/no-models|" "$world/beta/syncd.conf"
up alpha
up beta
pair
soon "alpha does not say that beta lacks the model" warns_of alpha schema.newer
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
