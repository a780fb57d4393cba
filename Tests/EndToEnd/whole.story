# on a folder that is a file system of its own, and where it is permitted, one watch for all of it misses nothing
needs_root
new_places
mount_tmpfs "$alpha" 100m
mount_tmpfs "$beta" 100m
set_up
up alpha
up beta
watches_whole() { readlink "/proc/$(cat "$world/$1/pid")/fd/"* 2>/dev/null | grep -F '[fanotify]' >/dev/null; }
watches_whole alpha || skip "fanotify is not permitted here"
watches_whole beta || fail "beta is not told of its whole file system"
pair
# Not as long as the pause between two usual scans.
patience=30
mkdir -p "$alpha/a/b/c" && echo one >"$alpha/a/b/c/f"
settle
echo two >>"$beta/a/b/c/f"
mv "$beta/a" "$beta/moved"
settle
[ "$(cat "$alpha/moved/b/c/f")" = "$(printf 'one\ntwo')" ] || fail "an edit in a moved directory is missing"
mkdir "$alpha/outside" && echo other >"$alpha/outside/f" && chmod 700 "$alpha/outside"
echo three >"$alpha/moved/b/c/g"
settle
[ "$(stat -c %a "$beta/outside")" = 700 ] || fail "the mode of a directory did not arrive"
for n in {1..300}; do mkdir -p "$alpha/many/$n/deep" && echo "$n" >"$alpha/many/$n/deep/file"; done
settle
for n in {1..300}; do echo "again $n" >"$beta/many/$n/deep/file"; done
settle
mv "$beta/many" "$beta/moved/many"
settle
[ "$(cat "$alpha/moved/many/300/deep/file")" = "again 300" ] || fail "an edit is missing"
rm -r "$alpha/moved/b"
rm "$beta/moved/many/7/deep/file"
settle
[ ! -e "$beta/moved/b" ] || fail "a directory that was removed is still there"
[ ! -e "$alpha/moved/many/7/deep/file" ] || fail "a file that was removed is still there"
no_conflicts
content alpha || fail "alpha is not content: $(cat "$world/status")"
