# a row of state.db that cannot be read is found while the daemon works: the state is set aside and built anew, and nothing is lost
needs sqlite3
paired_world
mkdir "$alpha/d"
for n in {1..12}; do echo "$n" >"$alpha/d/$n"; done
settle
down alpha
# SQLite finds nothing wrong with it.
sqlite3 "$world/alpha/state/state.db" "update base set row = x'00010203' where hex(path) = '640037'" || fail "the row was not damaged"
up alpha
echo edited >"$alpha/d/7"
echo new >"$alpha/new"
soon "nobody is told that the state was damaged" tells alpha state.damaged alerts
is_down alpha && fail "alpha ended"
ls "$world/alpha/state" | finds -F "state.db.damaged-" || fail "it was not set aside: $(ls "$world/alpha/state")"
# The cure it names.
ctl beta unpair >"$world/out" 2>&1 || fail "unpair: $(cat "$world/out")"
pair
settle
[ "$(cat "$beta/d/7" "$beta/new")" = "edited
new" ] || fail "not all has come to beta: $(ls "$beta" "$beta/d")"
# What differs when two lists meet is in conflict: nobody knows any more who had seen what.
[ "$(cat "$alpha"/d/7.conflict-*)" = 7 ] || fail "what beta had has no copy: $(ls "$alpha/d")"
[ "$(find "$alpha/d" -type f | wc -l)" -eq 13 ] || fail "files are missing or too many: $(ls "$alpha/d")"
# What cannot be read when a start looks for it is the same.
down alpha
sqlite3 "$world/alpha/state/state.db" "update node set record = x'00010203'" || fail "the record was not damaged"
up alpha
soon "nobody is told that the record was damaged" tells alpha state.damaged alerts
[ "$(find "$world/alpha/state" -name "state.db.damaged-*" | wc -l)" -eq 2 ] || fail "it was not set aside: $(ls "$world/alpha/state")"
# While the folder is away, as a disk that is not mounted yet, there is nothing to build it from: that is tried again later.
down alpha
sqlite3 "$world/alpha/state/state.db" "update node set record = x'00010203'" || fail "the record was not damaged again"
mv "$alpha" "$world/away"
launch alpha
soon "alpha waits for its folder with a damaged state" is_down alpha
down alpha
[ "$ended" -eq 74 ] || fail "alpha ended with $ended: $(tail -n 3 "$world/alpha/log")"
tail -n 1 "$world/alpha/log" | finds -F "is damaged, and the shared folder" || fail "why is not told: $(tail -n 3 "$world/alpha/log")"
[ "$(find "$world/alpha/state" -name "state.db.damaged-*" | wc -l)" -eq 2 ] || fail "it was set aside: $(ls "$world/alpha/state")"
mv "$world/away" "$alpha"
# Nor does whatever else ends a start keep people from being told.
sed -i.mended "s|^listen = .*|listen = 192.0.2.1:$port|" "$world/alpha/syncd.conf"
launch alpha
soon "alpha runs with the address of another machine" is_down alpha
[ "$(find "$world/alpha/state" -name "state.db.damaged-*" | wc -l)" -eq 3 ] || fail "it was not set aside: $(ls "$world/alpha/state")"
mv "$world/alpha/syncd.conf.mended" "$world/alpha/syncd.conf"
up alpha
soon "nobody is told of what an earlier start has found" tells alpha state.damaged alerts
