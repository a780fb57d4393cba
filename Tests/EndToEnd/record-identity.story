# Both nodes make a friend of one name: one file stays, the other's values are kept beside it with one alert, and a person chooses
new_world
give_model friends <<'END'
{ "model": "org.example.friends", "version": 1, "root": "friends",
  "entities": { "Friend": { "files": "*.json", "id": "stem", "identity": ["name"], "fields": { "name": {"type": "string", "required": true} } } } }
END
up alpha
up beta
pair
mkdir "$alpha/friends"
printf '{"name": "Eve"}\n' >"$alpha/friends/eve.json"
settle
# (A node that has told of nothing yet waits for the other before it does.)
printf '{"name": "Eve", "phone": "1"}\n' >"$beta/friends/eve.json"
settle

friend() { printf '{\n  "name": "%s",\n  "phone": "%s",\n  "year": %s\n}\n' "$3" "$4" "$5" >"$1/friends/$2.json"; }
taken_in() { ctl "$1" explain "$2" >"$world/told" 2>&1; }
# apart NAME: each makes one while the other is away, alpha first; what only one says is no contest.
apart() {
    down beta
    friend "$alpha" "$1-a" "$1" 111 1990.0
    soon "alpha does not take its save in" taken_in alpha "Friend/$1-a"
    down alpha
    up beta
    friend "$beta" "$1-b" "$1" 222 1990.0
    soon "beta does not take its save in" taken_in beta "Friend/$1-b"
    up alpha
    settle
}

# contested NAME: the same contest is open on both nodes; its id is left in $id.
contested() {
    local node
    for node in alpha beta; do
        [ "$(cd "$world/$node/folder/friends" && echo "$1"-*)" = "$1-a.json" ] || fail "$node has $(ls "$world/$node/folder/friends")"
        grep -q '"phone": "222"' "$world/$node/folder/friends/$1-a.json" || fail "the later value is not shown on $node"
        ctl $node --json conflicts >"$world/conflicts-$node"
        grep -q "\"code\":\"conflict.identity\",\"kind\":\"identity\",\"path\":\"friends/$1-b.json\"" "$world/conflicts-$node" ||
            fail "$node lists: $(cat "$world/conflicts-$node")"
        ctl $node --json alerts | grep -o '"id":"[^"]*","code":"conflict.identity"' >"$world/alert-$node"
        tells $node '"conflicts":1,"quarantined":0' status || fail "$node counts: $(cat "$world/told")"
    done
    cmp -s "$world/alert-alpha" "$world/alert-beta" || fail "the alerts have two ids: $(cat "$world"/alert-*)"
    id=$(grep -o '"id":"r[0-9a-f]*"' "$world/conflicts-alpha" | cut -d '"' -f 4)
    grep -q "\"id\":\"$id\"" "$world/conflicts-beta" || fail "the contests have two ids: $(cat "$world"/conflicts-*)"
}

# history NAME: what both nodes know of the friend, for the words of a failure.
history() {
    local node
    for node in alpha beta; do
        echo "$node: $(ctl $node explain "Friend/$1-a" 2>&1) $(ctl $node log 2>&1 | tail -n 6) $(ctl $node --json conflicts 2>&1)"
    done
    echo "a moment later: $(sleep 1; cat "$world"/*/folder/friends/"$1"-a.json)"
}

# settled NAME PHONE: on both nodes this is what the friend says, and nobody has to decide anything.
settled() {
    local node
    for node in alpha beta; do
        grep -q "\"phone\": \"$2\"" "$world/$node/folder/friends/$1-a.json" || fail "$node says: $(cat "$world/$node/folder/friends/$1-a.json") $(history "$1")"
        soon "the alert of $node stays" warns_no_more_of $node conflict.identity
        [ "$(ctl $node --json conflicts)" = '{"conflicts":[]}' ] || fail "$node lists it still: $(ctl $node --json conflicts)"
    done
}

apart Ann
contested Ann
# What is shown, what the second says, and what the first says alone.
ctl beta --json conflicts show "$id" >"$world/shown"
[ "$(grep -o '"record":"[^"]*"' "$world/shown" | tr '\n' ' ')" = '"record":"Friend/Ann-a" "record":"Friend/Ann-b" "record":"Friend/Ann-a" ' ] ||
    fail "the versions: $(cat "$world/shown")"
ctl beta conflicts take "$id" Friend/Ann-a >"$world/said" 2>&1 || fail "take: $(cat "$world/said")"
settle
settled Ann 111
[ "$(cat "$beta/friends/Ann-a.json")" = "$(printf '{\n  "name": "Ann",\n  "phone": "111",\n  "year": 1990.0\n}')" ] ||
    fail "the file was written anew: $(cat "$beta/friends/Ann-a.json")"

apart Bob
contested Bob
ctl alpha conflicts take "$id" nobody >"$world/said" 2>&1 && fail "a version is taken that there is not"
ctl alpha conflicts take "$id" Friend/Bob-b >"$world/said" 2>&1 || fail "take: $(cat "$world/said")"
settle
settled Bob 222

apart Cid
contested Cid
ctl alpha conflicts discard "$id" >"$world/said" 2>&1 || fail "discard: $(cat "$world/said")"
settle
settled Cid 222

# Who saves it anew, having seen both, has chosen as well.
apart Dan
contested Dan
friend "$beta" Dan-a Dan 333 1990.0
settle
settled Dan 333
