# when the kernel's queue for changes overflows, nothing is missed
needs_root
limit=/proc/sys/fs/inotify/max_queued_events
usual=$(cat "$limit")
# The limit counts from the moment a daemon opens its queue; it is put back at once.
echo 16 >"$limit" 2>/dev/null || skip "this machine does not let the limit of the queue be set"
trap 'echo "$usual" >"$limit"; if [ -n "$world" ]; then end_world; fi' EXIT
new_world
up alpha
up beta
echo "$usual" >"$limit"
pair
settle
for n in {1..2000}; do echo "$n" >"$alpha/$n"; done
mkdir "$alpha/late" && echo late >"$alpha/late/file"
settle
tells alpha '"watch.overflow"' events || fail "nobody says that the queue has overflowed"
[ "$(find "$beta" -path "$beta/.syncd" -prune -o -type f -print | wc -l)" -eq 2001 ] || fail "files are missing"
for n in {1..40}; do rm "$beta/$n"; done
for n in {100..300}; do echo "again $n" >"$beta/$n"; done
for n in {400..600}; do mv "$beta/$n" "$beta/late/$n"; done
settle
[ "$(cat "$alpha/250")" = "again 250" ] || fail "an edit is missing"
[ "$(cat "$alpha/late/500")" = 500 ] || fail "a move is missing"
[ ! -e "$alpha/20" ] || fail "a delete is missing"
