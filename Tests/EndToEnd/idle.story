# V12: between two nodes that are in sync nothing passes but signs of life, counted byte by byte, with records, a contest and files
needs perl
new_world
give_model schedules <../../config/models.d/schedules.json
# The only way from beta to alpha is counted, and can be cut.
door=$(free_port 16)
sed -i "s|^peer = .*|peer = 127.0.0.1:$door|" "$world/beta/syncd.conf"
grep -qx "peer = 127.0.0.1:$door" "$world/beta/syncd.conf" || fail "beta has no peer: $(grep peer "$world/beta/syncd.conf")"
mkdir "$world/cable"
passed=$world/cable/passed
../../.ci/cable "$door" "$port" "$passed" </dev/null &
echo $! >"$world/cable/pid"
cable=$(cat "$world/cable/pid")
up alpha
up beta
pair

# schedule NODE NUMBER NAME: the note with this number has this schedule, and no other.
schedule() {
    local root=$world/$1/folder/schedules
    mkdir -p "$root/notes" "$root/times"
    rm -f "$root/times/$2"-*.json
    printf '{ "note": "N%s", "at": "10:00" }\n' "$2" >"$root/times/$2-$3.json"
    printf '{ "title": "note %s", "schedule": "%s-%s" }\n' "$2" "$2" "$3" >"$root/notes/N$2.json"
}
for number in 1 2 3 4 5 6 7 8; do schedule alpha $number first; done
mkdir -p "$alpha/plain"
for number in 1 2 3; do head -c 20000 /dev/urandom >"$alpha/plain/$number"; done
settle
schedule beta 3 later
settle
kill -USR1 "$cable"
soon "alpha does not see the cut" unlinked alpha
soon "beta does not see the cut" unlinked beta
for node in alpha beta; do schedule $node 1 by-$node; done
sleep 1
kill -USR2 "$cable"
soon "the link is not used again" linked alpha
settle
tells alpha '"quarantined":1' status || fail "there is no contest: $(cat "$world/told")"

# A keep-alive and its answer are each one record of TLS: 5 bytes of its header, 5 of ours, 1 of its kind and 16 of its seal. A frame is
# longer by 9 bytes at least. Two of them may be read at once.
sign=27
# others SECONDS: what else passed in the last so many seconds.
others() {
    awk -v now="$EPOCHREALTIME" -v seconds="$1" -v sign=$sign '$1 > now - seconds && $3 != sign && $3 != 2 * sign' "$passed"
}
quiet() { [ -z "$(others 10)" ]; }
# What each has shown it promises some 9 s later, in 52 bytes; from then on there is nothing to be said.
soon "something else than signs of life still passes: $(others 10)" quiet
begun=$EPOCHREALTIME
sleep 12
awk -v since="$begun" -v sign=$sign '
    $1 > since { pieces++; bytes += $3; if ($3 != sign && $3 != 2 * sign) other = other "; " $0 }
    END { print "in 12 s " pieces + 0 " signs of life, " bytes + 0 " bytes" other; exit other != "" || pieces < 8 || bytes > 12 / 1.5 * 4 * sign * 2 }
' "$passed" >"$world/counted" || fail "between two nodes that are in sync: $(cat "$world/counted")"
cat "$world/counted"
for node in alpha beta; do ctl $node wait --for in-sync --timeout 5 >"$world/out" 2>&1 || fail "$node is not in sync"; done

# What counts does count: an edit of one field passes it.
before=$(wc -l <"$passed")
sed -i 's/10:00/10:30/' "$beta/schedules/times/5-first.json"
settle
[ "$(tail -n +$((before + 1)) "$passed" | awk -v sign=$sign '$3 > 2 * sign' | wc -l)" -gt 0 ] || fail "an edit passes without a byte"
