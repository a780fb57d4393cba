# wrong input and wrong moments end with the right exit status, and say why
expect() {
    local wanted=$1 got=0
    shift
    "$@" >"$world/out" 2>"$world/err" || got=$?
    [ "$got" -eq "$wanted" ] || fail "$* ended with $got instead of $wanted: $(cat "$world/out" "$world/err")"
}
# says CODE: the last one that was expected named this code.
says() { cat "$world/out" "$world/err" | finds -F "$1" || fail "$1 is not named: $(cat "$world/out" "$world/err")"; }
new_world
expect 64 "$programs/syncd" --nonsense
expect 0 timeout 20 "$programs/syncd" --config "$world/alpha/syncd.conf" --check-config
expect 78 timeout 20 "$programs/syncd" --config "$world/none.conf"
printf '[node]\nname = x\nnonsense = 1\n' >"$world/bad.conf"
expect 78 timeout 20 "$programs/syncd" --config "$world/bad.conf" --check-config
says "bad.conf:3"
says config.invalid
# What is not built yet is told with its line.
sed 's/^transport = .*/transport = directory/' "$world/alpha/syncd.conf" >"$world/bad.conf"
expect 78 timeout 20 "$programs/syncd" --config "$world/bad.conf" --check-config
says "bad.conf:$(grep -n '^transport' "$world/bad.conf" | cut -d: -f1): link.transport = \"directory\": This is not built yet."
# So is a hook whose program is not there; an argument, or what only a shell can find, says nothing against one.
sed "s|^hook =.*|hook = $world/no-hook --to root|" "$world/alpha/syncd.conf" >"$world/bad.conf"
expect 78 timeout 20 "$programs/syncd" --config "$world/bad.conf" --check-config
says "bad.conf:$(grep -n '^hook' "$world/bad.conf" | cut -d: -f1): alerts.hook = \"$world/no-hook --to root\": There is no program"
for hook in "/bin/sh $world/no-hook" 'no-hook' "[ -e $world/no-hook ] && $world/no-hook"; do
    sed "s#^hook =.*#hook = ${hook//&/\\&}#" "$world/alpha/syncd.conf" >"$world/bad.conf"
    expect 0 timeout 20 "$programs/syncd" --config "$world/bad.conf" --check-config
done
printf '[node]\nname = x\nnonsense = 1\n' >"$world/bad.conf"
# A place that cannot be used is told of with its key, and counts as what it is.
sed "s|^control = .*|control = $world/bad.conf|" "$world/alpha/syncd.conf" >"$world/place.conf"
expect 78 timeout 20 "$programs/syncd" --config "$world/place.conf"
says 'control = in the section [node]'
[ "$(head -n 1 "$world/bad.conf")" = "[node]" ] || fail "a file that is no socket was touched"
# Without the models that it names, a node would guard nothing, and nobody would know: it does not start.
for models in none.d bad.conf; do
    sed "s|^models = .*|models = $world/$models|" "$world/alpha/syncd.conf" >"$world/place.conf"
    expect 78 timeout 20 "$programs/syncd" --config "$world/place.conf"
    says "place.conf:$(grep -n '^models' "$world/place.conf" | cut -d: -f1): folder.models = \"$world/$models\""
done
# Nor without its state, which may lie on a disk that is not mounted.
sed "s|^state = .*|state = $world/none|" "$world/alpha/syncd.conf" >"$world/place.conf"
expect 78 timeout 20 "$programs/syncd" --config "$world/place.conf"
says "config.invalid: $world/place.conf:$(grep -n '^state' "$world/place.conf" | cut -d: -f1): node.state = \"$world/none\": There is no such directory."
sed "s|^state = .*|state = $world/bad.conf|" "$world/alpha/syncd.conf" >"$world/place.conf"
expect 78 timeout 20 "$programs/syncd" --config "$world/place.conf"
says "node.state = \"$world/bad.conf\": This is no directory"
sed "s|^listen = .*|listen = 192.0.2.1:7420|" "$world/alpha/syncd.conf" >"$world/place.conf"
expect 74 timeout 20 "$programs/syncd" --config "$world/place.conf"
says 'listen = in the section [link]'
expect 3 ctl alpha status
says control.not-running
# An answer that nobody can have read is none.
"$programs/syncctl" --help >/dev/full 2>"$world/err" && fail "an answer that cannot be written counts as given"
finds -F "cannot be written" <"$world/err" || fail "it does not say that the answer cannot be written"
expect 1 ctl alpha init --name alpha --folder "$alpha"
says setup.exists
expect 64 ctl alpha nonsense
chmod 755 "$world/alpha/state"
up alpha
up beta
grep -q "state.exposed \"$world/alpha/state\"" "$world/alpha/log" || fail "nobody says that others may read the state"
tells alpha '"reason":"pairing.none"' status || fail "status does not say that nobody is there: $(cat "$world/told")"
grep -q state.exposed "$world/beta/log" && fail "a state that only its owner may read counts as open"
chmod 700 "$world/alpha/state"
sed "s|^listen = .*|listen = $address:$port|" "$world/beta/syncd.conf" >"$world/place.conf"
sed -i "s|/beta/state|/beta/state-2|; s|/beta/folder|/beta/folder-2|; s|/beta/control|/beta/control-2|" "$world/place.conf"
cp -r "$world/beta/state" "$world/beta/state-2"
mkdir "$world/beta/folder-2"
cp -r "$beta/.syncd" "$world/beta/folder-2"
expect 75 timeout 20 "$programs/syncd" --config "$world/place.conf"
says 'listen = in the section [link]'
# One wrong line of the file is no reason not to ask a daemon that runs; only where it listens has to be said.
cp "$world/alpha/syncd.conf" "$world/good.conf"
sed -i 's/^reserve = .*/reserve = lots/; s/^rate-limit = .*/colour = red/' "$world/alpha/syncd.conf"
expect 2 ctl alpha status
expect 1 ctl alpha reload
says "safety.reserve"
sed -i 's/^control = .*/control =/' "$world/alpha/syncd.conf"
expect 1 ctl alpha status
says config.invalid
cp "$world/good.conf" "$world/alpha/syncd.conf"
# L12: a folder and a state have one daemon.
expect 75 timeout 20 "$programs/syncd" --config "$world/alpha/syncd.conf"
says start.in-use
expect 2 ctl alpha status
expect 1 ctl beta unpair
says pairing.none
expect 1 ctl beta join syncd1-nonsense
says pairing.failed
expect 2 ctl alpha wait --for in-sync --timeout 1
says wait.timed-out
pair
settle
grep -q 'pairing.done: paired with "beta"' "$world/alpha/log" || fail "the journal does not tell of the pairing"
grep -q 'peer.connected: connected with' "$world/alpha/log" || fail "nor of the connection"
expect 1 ctl alpha history /etc/passwd
says request.outside
expect 1 ctl alpha history "$alpha/$(printf 'y%.0s' {1..300})"
says request.outside
says 'this path is too long'
expect 1 ctl alpha rescan "$alpha/nothing"
says request.not-found
says 'nothing lies at "nothing"'
expect 1 ctl alpha rescan "$alpha/.syncd"
says request.outside
expect 0 ctl alpha rescan "$alpha"
expect 1 ctl alpha unlock "$alpha/nothing"
says 'syncctl locks lists'
expect 1 ctl alpha doc show "$alpha/nothing"
says 'no model of this node is about'
expect 1 ctl alpha invite --no-wait
says pairing.exists
if [ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1; then
    # Who may not use the socket is not told anything through it; who may read may not change.
    chmod 755 "$world" "$world/alpha"
    chmod 666 "$world/alpha/control"
    expect 1 setpriv --reuid nobody --regid nogroup --clear-groups "$programs/syncctl" --socket "$world/alpha/control" pause
    says control.permission
    # Nor may who only may ask, and he is told that this is so.
    reader=(setpriv --reuid nobody --regid "$(id -g)" --clear-groups "$programs/syncctl" --socket "$world/alpha/control")
    expect 0 "${reader[@]}" alerts
    expect 1 "${reader[@]}" pause
    says control.permission
    says 'You may ask this syncd and change nothing'
    # However long the question is.
    for count in 300 5000; do
        mapfile -t long < <(seq -f "$alpha/%0200.0f" "$count")
        expect 1 setpriv --reuid nobody --regid nogroup --clear-groups "$programs/syncctl" --socket "$world/alpha/control" doc check "${long[@]}"
        says control.permission
    done
    # What this user may not read is no fault of what is written there.
    chmod 600 "$world/alpha/syncd.conf"
    expect 77 timeout 20 setpriv --reuid nobody --regid nogroup --clear-groups "$programs/syncd" --config "$world/alpha/syncd.conf"
    says config.invalid
    chmod 644 "$world/alpha/syncd.conf"
    expect 77 timeout 20 setpriv --reuid nobody --regid nogroup --clear-groups "$programs/syncd" --config "$world/alpha/syncd.conf"
    says 'may not be read by user nobody, because it belongs to user root (Permission denied)'
fi
expect 0 ctl alpha status
down alpha
[ "$ended" -eq 0 ] || fail "SIGTERM ended alpha with $ended"
grep -q 'node.stopped: stopped' "$world/alpha/log" || fail "the journal does not tell of the end"
expect 2 ctl beta status

# State that is not for this program: it is refused, and not one byte of it changes.
sum_of() { sha256sum "$world/alpha/state/state.db" | cut -d' ' -f1; }
cp "$world/alpha/state/state.db" "$world/state.db"
printf '\0\0\0\143' | dd of="$world/alpha/state/state.db" bs=1 seek=60 conv=notrunc 2>/dev/null
before=$(sum_of)
expect 65 timeout 20 "$programs/syncd" --config "$world/alpha/syncd.conf"
says statedb.newer
# The format that was found, and the last one that is known.
known=$((0x$(od -An -tx1 -j60 -N4 "$world/state.db" | tr -d ' ')))
says "(format 99; this one knows up to $known)"
# It does not run, so syncctl has to see that for itself.
expect 1 ctl alpha doctor
says "statedb.newer: $world/alpha/state/state.db was written by a newer syncd (format 99; this one knows up to $known)"
[ "$(sum_of)" = "$before" ] || fail "state of a newer program was touched"
down beta
cp "$world/beta/state/state.db" "$world/alpha/state/state.db"
before=$(sum_of)
expect 65 timeout 20 "$programs/syncd" --config "$world/alpha/syncd.conf"
says state.foreign
[ "$(sum_of)" = "$before" ] || fail "state of another node was touched"
head -c 5000 /dev/urandom | dd of="$world/state.db" bs=1 seek=4096 conv=notrunc 2>/dev/null
cp "$world/state.db" "$world/alpha/state/state.db"
up beta
up alpha
tells alpha state.damaged alerts || fail "nobody is told that the state was damaged: $(cat "$world/told")"
# The cure it names.
ctl beta unpair >"$world/out" 2>&1 || fail "unpair: $(cat "$world/out")"
pair
settle
soon "the alert stays although the list is built anew" warns_no_more_of alpha state.damaged
down alpha
sed -i "s|^control = .*|control = /proc/none/control|" "$world/alpha/syncd.conf"
expect 77 timeout 20 "$programs/syncd" --config "$world/alpha/syncd.conf"
says start.failed
