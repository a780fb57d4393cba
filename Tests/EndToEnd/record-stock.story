# A first start over a folder in which those who need others sort before them: nothing leaves it, and nobody is told of contests that are none
new_world
give_model folders <<'MODEL'
{ "model": "org.example.folders", "version": 1,
  "entities": {
    "Note":   { "files": "a/*.json", "id": "stem",
                "relations": { "folder": {"to": "Folder", "kind": "one", "required": true, "inverse": "notes"} } },
    "Folder": { "files": "z/*.json", "id": "stem",
                "relations": { "notes": {"to": "Note", "kind": "many", "inverse": "folder", "onDelete": "cascade"} } } } }
MODEL
mkdir -p "$alpha"/{a,m,z}
for ((number = 0; number < 3000; number++)); do
    echo "{\"folder\": \"F$((number % 30))\"}" >"$alpha/a/n$number.json"
    echo "plain $number" >"$alpha/m/$number.txt"
done
for ((number = 0; number < 30; number++)); do echo '{"name": "of alpha"}' >"$alpha/z/F$number.json"; done
up alpha
up beta
pair
settle
for node in alpha beta; do
    found=$(find "$world/$node/folder/a" "$world/$node/folder/z" -name '*.json' | wc -l)
    [ "$found" -eq 3030 ] || fail "$node has $found of 3030 records"
    said=$(grep -cE 'version\.kept|conflict\.slot' "$world/$node/log")
    [ "$said" -eq 0 ] || fail "$node says $said times that something made room, or is contested"
done
no_conflicts
