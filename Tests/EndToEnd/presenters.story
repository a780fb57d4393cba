# programs that show a file are asked before others touch it and told after: other programs of the node, the daemon, people
if [ ! -x "$programs/birthdays" ]; then skip "birthdays was not built beside syncd"; fi
paired_world
on() {
    local node=$1
    shift
    "$programs/birthdays" --socket "$world/$node/control" "${!node}/our.birthdays" "$@"
}
# shows NODE [NAME DAY]: a program that goes on showing the list; it ends with the world.
shows() {
    local node=$1
    shift
    mkdir "$world/watch-$node"
    "$programs/birthdays" --socket "$world/$node/control" "${!node}/our.birthdays" watch "$@" >"$world/seen-$node" 2>&1 &
    echo $! >"$world/watch-$node/pid"
}
on alpha add "Ada Lovelace" 1815-12-10 || fail "the first name"
settle

# Two programs show it, one on each node; one of them has somebody who is not saved.
shows beta
shows alpha "Emmy Noether" 1882-03-23
watcher=$(cat "$world/watch-beta/pid")
soon "the watchers do not come up" grep -q -- -- "$world/seen-beta"
soon "the watchers do not come up" grep -q Emmy "$world/seen-alpha"
if grep -q Emmy "$alpha/our.birthdays"; then fail "it was saved before anybody asked"; fi

# A third program of alpha wants to read: the one that has something unsaved saves it first.
on alpha list >"$world/list" || fail "alpha cannot read: $(cat "$world/list")"
grep -q Emmy "$world/list" || fail "what was not saved was not saved for the reader: $(cat "$world/list")"
soon "beta's program was not told of what came from alpha" grep -q Emmy "$world/seen-beta"

# What a program writes on one node, both others see, without looking.
on beta add "Grace Hopper" 1906-12-09 || fail "beta cannot add"
soon "beta's own watcher was not told" grep -q Grace "$world/seen-beta"
soon "alpha's watcher was not told of what the daemon brought" grep -q Grace "$world/seen-alpha"

# Somebody who knows nothing of locks.
sed 's/Grace/Gracie/' "$beta/our.birthdays" >"$beta/new" && mv "$beta/new" "$beta/our.birthdays"
soon "beta's watcher was not told of a person's change" grep -q Gracie "$world/seen-beta"
soon "alpha's watcher was not told of a person's change" grep -q Gracie "$world/seen-alpha"

# It follows the file to another name.
mv "$beta/our.birthdays" "$beta/all.birthdays"
settle
"$programs/birthdays" --socket "$world/beta/control" "$beta/all.birthdays" add "Lise Meitner" 1878-11-07 || fail "another name"
soon "beta's watcher has lost the file" grep -q Lise "$world/seen-beta"

# C3: a program that is stopped keeps others waiting for ten seconds at most, and one that is gone for none.
settle
soon "a lock is left" tells beta '"locks":0' status
kill -STOP "$watcher"
began=$(date +%s)
"$programs/birthdays" --socket "$world/beta/control" "$beta/all.birthdays" add "Marie Curie" 1867-11-07 || fail "a stopped program"
took=$(($(date +%s) - began))
[ "$took" -ge 8 ] && [ "$took" -le $((13 + patience / 10)) ] || fail "a stopped program kept another waiting for $took s"
kill -9 "$watcher"
# (Less than the ten seconds that it would be waited for.)
timeout 8 "$programs/birthdays" --socket "$world/beta/control" "$beta/all.birthdays" add "Jane Goodall" 1934-04-03 ||
    fail "a program that is gone keeps others waiting"
settle

# L8: who is asked to end saves first what nobody has asked for, ends by the signal, and a second signal does not wait for that.
kill -9 "$(cat "$world/watch-alpha/pid")"
rm -r "$world/watch-alpha"
mv "$alpha/all.birthdays" "$alpha/our.birthdays"
settle
shows alpha "Rosa Parks" 1913-02-04
watcher=$(cat "$world/watch-alpha/pid")
soon "the watcher does not come up" grep -q Rosa "$world/seen-alpha"
if grep -q Rosa "$alpha/our.birthdays"; then fail "it was saved before anybody asked"; fi
kill -TERM "$watcher"
ended=0
wait "$watcher" || ended=$?
[ "$ended" = 143 ] || fail "the watcher did not end by the signal ($ended): $(cat "$world/seen-alpha")"
grep -q Rosa "$alpha/our.birthdays" || fail "who was asked to end has not saved: $(cat "$world/seen-alpha")"
