# a full disk holds back only what does not fit, says so, and all is well when there is room again
needs_root
new_places
mount_tmpfs "$world/disk" 6m
beta=$world/disk/folder
mkdir "$beta"
set_up
up alpha
up beta
pair
head -c 100000 /dev/urandom >"$alpha/edited"
echo kept >"$alpha/kept"
settle
head -c 4M /dev/zero >"$world/disk/filler"
head -c 3M /dev/urandom >"$alpha/large"
head -c 2500k /dev/urandom >"$alpha/edited"
echo small >"$alpha/small"
soon "beta does not say that its disk is full" waits_for beta disk.full
soon "no alert tells of the full disk" warns_of beta disk.full
tells beta ' are free where the folder lies' alerts || fail "the alert does not say how full it is: $(cat "$world/told")"
tells beta 'there is no space left' alerts || fail "the alert does not say for what: $(cat "$world/told")"
id=$(ctl beta --json alerts | grep -o '"id":"[^"]*","code":"disk.full"' | cut -d '"' -f 4)
tells_of_room() {
    ctl beta --json alerts show "$id" >"$world/told" 2>&1
    grep -qE 'paths? waits? for room, [0-9]+ KiB in all\. Earlier versions take [0-9]+ [KM]iB\.' "$world/told"
}
soon "nobody is told how much room is needed, and what takes it" tells_of_room
not_content beta || fail "beta is content with a full disk: $(cat "$world/status")"
not_content alpha || fail "alpha is content while beta lacks files: $(cat "$world/status")"
soon "the large file holds up a small one" test -e "$beta/small"
[ "$(stat -c %s "$beta/edited")" -eq 100000 ] || fail "the old content went before the new one fitted"
[ "$(cat "$beta/kept")" = kept ] || fail "an untouched file changed"
# Not a byte is left, then, and after that no inode.
fill "$world/disk"
rm "$beta/kept"
soon "deletes wait for room" test ! -e "$alpha/kept"
down beta
[ "$ended" -eq 0 ] || fail "beta ended with $ended on a full disk: $(tail -n 3 "$world/beta/log")"
mount -o "remount,nr_inodes=$(($(df --output=iused "$world/disk" | tail -n 1)))" "$world/disk"
touch "$world/disk/one-more" 2>"$world/out" && fail "there is still room for a file"
echo more >"$alpha/one-more"
up beta
soon "after a start beta does not say that its disk is full" waits_for beta disk.full
rm "$beta/small"
soon "deletes wait for an inode" test ! -e "$alpha/small"
rm "$world/disk/filler"
mount -o remount,size=64m,nr_inodes=1000 "$world/disk"
settle
soon "the alert stays" warns_no_more_of beta disk.full
content beta || fail "beta is not content again: $(cat "$world/status")"

# What is kept for others counts as full; what only leaves or is renamed goes on.
sed -i 's/^reserve = .*/reserve = 63MiB/' "$world/beta/syncd.conf"
ctl beta reload >"$world/out" || fail "the reserve is not taken: $(cat "$world/out")"
head -c 3M /dev/urandom >"$alpha/reserved"
soon "the reserve is not kept" waits_for beta disk.full
rm "$alpha/large"
soon "deletes wait for the reserve" test ! -e "$beta/large"
sed -i 's/^reserve = .*/reserve = 1%/' "$world/beta/syncd.conf"
ctl beta reload >"$world/out" || fail "the reserve is not given up: $(cat "$world/out")"
settle
soon "the alert of the reserve stays" warns_no_more_of beta disk.full
