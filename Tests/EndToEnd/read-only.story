# a folder on a file system that turns read-only waits with a reason, and goes on when it can be written again
needs_root
new_places
mount_tmpfs "$world/disk" 16m
beta=$world/disk/folder
mkdir "$beta"
set_up
up alpha
up beta
pair
for n in {1..9}; do echo "$n" >"$alpha/$n"; done
settle
soon "something is open for writing at rest" mount -o remount,ro "$world/disk"
echo edited >"$alpha/1"
rm "$alpha/2"
mv "$alpha/3" "$alpha/three"
echo new >"$alpha/new"
soon "beta does not say why it waits" waits_for beta disk.error
soon "no alert tells of the read-only disk" warns_of beta disk.error
not_content beta || fail "beta is content with a folder it cannot write: $(cat "$world/status")"
not_content alpha || fail "alpha is content while beta cannot follow: $(cat "$world/status")"
[ "$(cat "$beta/1" "$beta/2" "$beta/3")" = $'1\n2\n3' ] || fail "the files changed"
mount -o remount,rw "$world/disk"
settle
soon "something is open for writing at rest" mount -o remount,ro "$world/disk"
echo again >"$alpha/1"
soon "beta does not say again why it waits" waits_for beta disk.error
down beta
[ "$ended" -eq 0 ] || fail "beta ended with $ended: $(tail -n 3 "$world/beta/log")"
launch beta
soon "beta starts on a disk it cannot write" is_down beta
down beta
[ "$ended" -eq 74 ] || fail "started again, beta ended with $ended: $(tail -n 3 "$world/beta/log")"
grep -q 'stage": Read-only file system' "$world/beta/log" || fail "it does not say why: $(tail -n 3 "$world/beta/log")"
mount -o remount,rw "$world/disk"
up beta
settle
soon "the alert stays" warns_no_more_of beta disk.error
content beta || fail "beta is not content again: $(cat "$world/status")"
