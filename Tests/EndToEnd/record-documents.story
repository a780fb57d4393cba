# AB-1 where all records of an entity stand in one document: the loser lies in quarantine on both nodes, alone and with the same bytes, whoever saves the others
new_world
give_model schedules <<'END'
{ "model": "org.example.schedules", "version": 1, "root": "schedules",
  "entities": {
    "Note": { "files": "notes.json", "at": "/notes", "id": "/id", "fields": { "title": {"type": "string", "required": true} },
              "relations": { "schedule": {"to": "Schedule", "kind": "one", "required": true, "inverse": "note"} } },
    "Schedule": { "files": "times.json", "at": "/times", "id": "/id",
                  "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha/schedules"
# write NODE SCHEDULE TIME: the two documents, as a program saves them.
write() {
    printf '{"notes": [\n  {"id": "A1", "title": "plan", "schedule": "%s"}\n]}\n' "$2" >"$world/$1/folder/schedules/notes.json"
    printf '{"times": [\n  {"id": "%s", "note": "A1", "at": "%s", "extra": [1.50, 2e3]}\n], "saved": "%s"}\n' "$2" "$3" "$1 $3" \
        >"$world/$1/folder/schedules/times.json"
}
write alpha B1 09:00
settle

# Apart, each puts another schedule in the place of B1.
down beta
write alpha B2 10:00
taken_in() { ctl alpha explain Schedule/B2 >"$world/told" 2>&1; }
soon "alpha does not take its save in" taken_in
write beta B3 11:00
up beta
settle

# shelved: both name one file of the loser, which is there, as long and of the digest that they say.
shelved() {
    local node path
    for node in alpha beta; do
        grep -q '"schedule": "B3"' "$world/$node/folder/schedules/notes.json" || fail "the note of $node: $(cat "$world/$node/folder/schedules/notes.json")"
        if grep -q B2 "$world/$node/folder/schedules/times.json"; then fail "the loser is in the document of $node"; fi
        id=$(ctl $node --json conflicts | grep -o '"id":"r[0-9a-f]*"' | cut -d '"' -f 4)
        [ -n "$id" ] || fail "$node has no conflict: $(ctl $node --json conflicts)"
        ctl $node --json conflicts show "$id" >"$world/shown"
        path=$(grep -o '"path":"\.syncd/quarantine/q[0-9a-f]*"' "$world/shown" | cut -d '"' -f 4)
        [ -n "$path" ] || fail "$node names no file: $(cat "$world/shown")"
        cp "$world/$node/folder/$path" "$world/lost-$node"
        printf '%s' "$path" >"$world/lost-$node.path"
        grep -q "\"sha256\":\"$(sha256sum <"$world/lost-$node" | cut -d ' ' -f 1)\".*\"size\":$(stat -c %s "$world/lost-$node")\b" \
            "$world/shown" || fail "$node tells of other bytes: $(cat "$world/shown")"
        # What an object says on both is its members by name.
        [ "$(cat "$world/lost-$node")" = '{"times": [{"id": "B2", "at": "10:00", "extra": [1.50, 2e3]}]}' ] ||
            fail "the loser of $node: $(cat "$world/lost-$node")"
        ctl $node --json history schedules/times.json >"$world/history"
        if grep -qF "$path" "$world/history"; then fail "what is in quarantine counts as a version: $(cat "$world/history")"; fi
    done
}
shelved
cp "$world/lost-alpha.path" "$world/first"

# Both save the document again and again, and nobody touches the file of the loser.
for minute in 15 30 45; do
    write alpha B3 "11:$minute"
    settle
    write beta B3 "12:$minute"
    settle
done
shelved
cmp -s "$world/first" "$world/lost-alpha.path" || fail "the loser was put there anew"
down alpha
up alpha
settle
shelved
cmp -s "$world/first" "$world/lost-alpha.path" || fail "after a restart the loser was put there anew"

# take brings it back into the document, and the other is out.
ctl alpha conflicts take "$id" Schedule/B2 >"$world/taken" 2>&1 || fail "take: $(cat "$world/taken")"
settle
for node in alpha beta; do
    grep -q '"id": "B2", "at": "10:00", "extra": \[1.50, 2e3\]' "$world/$node/folder/schedules/times.json" ||
        fail "take had no effect on $node: $(cat "$world/$node/folder/schedules/times.json")"
    grep -q '"schedule": "B2"' "$world/$node/folder/schedules/notes.json" || fail "the note of $node is not turned"
done
