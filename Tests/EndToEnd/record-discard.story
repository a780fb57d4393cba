# V16: what lost its place is discarded with all that hangs on it, stays listed, and comes back from the other node byte for byte
new_world
give_model schedules <<'END'
{ "model": "org.example.schedules", "version": 1, "root": "schedules",
  "entities": {
    "Note": { "files": "notes/*.json", "id": "stem",
              "relations": { "schedule": {"to": "Schedule", "kind": "one", "required": true, "inverse": "note"} } },
    "Schedule": { "files": "times/*.json", "id": "stem",
                  "relations": { "note": {"to": "Note", "kind": "one", "required": true, "inverse": "schedule"} } },
    "Bell": { "files": "bells/*.json", "id": "stem",
              "relations": { "schedule": {"to": "Schedule", "kind": "one", "required": true} } } } }
END
up alpha
up beta
pair
mkdir -p "$alpha"/schedules/{notes,times,bells}
note() { printf '{"schedule": "%s"}\n' "$2" >"$1/schedules/notes/A1.json"; }
times() { printf '{"note": "A1", "at": "%s"}\n' "$3" >"$1/schedules/times/$2.json"; }
note "$alpha" B1
times "$alpha" B1 09:00
settle
# (A node that has told of nothing yet waits for the other before it does.)
times "$beta" B1 09:30
settle

# Each points the note at a schedule of its own while the other is away, and alpha hangs a bell on its own.
taken_in() { ctl "$1" explain "$2" >"$world/told" 2>&1; }
down beta
rm "$alpha/schedules/times/B1.json"
times "$alpha" B2 10:00
note "$alpha" B2
printf '{"schedule": "B2", "tone": 1.50}\n' >"$alpha/schedules/bells/C.json"
soon "alpha does not take its save in" taken_in alpha Bell/C
down alpha
up beta
rm "$beta/schedules/times/B1.json"
times "$beta" B3 11:00
note "$beta" B3
soon "beta does not take its save in" taken_in beta Schedule/B3
up alpha
settle

# quarantine NODE: what lies in quarantine there of the conflict, by record.
quarantine() {
    ctl "$1" --json conflicts show "$id" >"$world/shown" || fail "$1 does not know $id: $(cat "$world/shown")"
    grep -o '"record":"[A-Za-z]*/[A-Z0-9]*","path":"\.syncd/quarantine/q[0-9a-f]*"' "$world/shown" | sort |
        while IFS='"' read -r _ _ _ record _ _ _ path _; do
            printf '%s %s\n' "$record" "$(sha256sum <"$world/$1/folder/$path")"
        done
}

id=$(ctl alpha --json conflicts | grep -o '"id":"r[0-9a-f]*"' | cut -d '"' -f 4)
[ -n "$id" ] || fail "alpha lists no conflict: $(plight)"
for node in alpha beta; do
    quarantine $node >"$world/before-$node"
    [ "$(wc -l <"$world/before-$node")" -eq 2 ] || fail "in quarantine on $node: $(cat "$world/before-$node" "$world/shown")"
done
cmp -s "$world/before-alpha" "$world/before-beta" || fail "not the same lies there: $(cat "$world"/before-*)"

ctl alpha conflicts discard "$id" >"$world/said" 2>&1 || fail "discard: $(cat "$world/said")"
settle
for node in alpha beta; do
    [ "$(ctl $node --json conflicts)" = '{"conflicts":[]}' ] || fail "$node lists it still: $(ctl $node --json conflicts)"
    tells $node '"conflicts":0,"quarantined":0' status || fail "$node counts: $(cat "$world/told")"
    # Whoever has lost the words of discard finds it here.
    ctl $node --json conflicts --all >"$world/all"
    grep -q "\"id\":\"$id\",.*\"reason\":\"lostSlot\",\"open\":false,.*\"record\":\"Bell/C\".*\"record\":\"Schedule/B2\"" "$world/all" ||
        fail "$node does not list what was discarded: $(cat "$world/all")"
    ctl $node conflicts show "$id" >"$world/shown" || fail "$node does not show it"
    grep -q "conflicts restore $id" "$world/shown" || fail "$node does not say how it comes back: $(cat "$world/shown")"
    for choice in "discard $id" "take $id Schedule/B2"; do
        # shellcheck disable=SC2086
        ctl $node conflicts $choice >"$world/said" 2>&1 && fail "$node does it again: $choice"
        grep -q "Schedule/B2 was discarded already" "$world/said" && grep -q "conflicts restore $id" "$world/said" ||
            fail "$node does not say why not: $(cat "$world/said")"
    done
done

ctl beta conflicts restore "$id" >"$world/said" 2>&1 || fail "restore: $(cat "$world/said")"
settle
for node in alpha beta; do
    quarantine $node >"$world/after-$node"
    cmp -s "$world/before-$node" "$world/after-$node" ||
        fail "$node has not what it had: $(cat "$world/before-$node" "$world/after-$node" "$world/shown")"
    tells $node '"open":true' conflicts --all || fail "$node does not list it as open: $(cat "$world/told")"
    soon "$node does not warn of it again" warns_of $node conflict.slot
done
ctl beta conflicts restore "$id" >"$world/said" 2>&1 && fail "it is restored twice"

# And it may be taken after all, with what hangs on it.
ctl alpha conflicts take "$id" Schedule/B2 >"$world/said" 2>&1 || fail "take: $(cat "$world/said")"
settle
[ "$(cd "$beta/schedules" && echo */*)" = "bells/C.json notes/A1.json times/B2.json" ] ||
    fail "taken: $(cd "$beta/schedules" && echo */*)"
grep -qF '"tone": 1.50' "$beta/schedules/bells/C.json" || fail "the bell came back changed"
