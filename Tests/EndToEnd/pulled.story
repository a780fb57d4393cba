# a disk that is pulled and put back under another device number is known again by itself, and nothing is taken for deleted
needs_root
needs mkfs.ext4
new_places
truncate -s 16M "$world/image"
mkfs.ext4 -q -b 4096 -I 256 "$world/image"
mkdir "$world/disk"
mount -o loop "$world/image" "$world/disk" 2>"$world/mounting" || skip "mounting is forbidden: $(cat "$world/mounting")"
beta=$world/disk/folder
mkdir "$beta"
set_up
up alpha
up beta
pair
mkdir "$alpha/d"
for n in {1..12}; do echo "$n" >"$alpha/d/$n"; done
settle
device=$(stat -c %d "$beta")
# A setting that was changed while it ran.
sed -i.before 's/^;* *delete-fuse-files = .*/delete-fuse-files = 40/' "$world/beta/syncd.conf"
tells beta 'delete-fuse-files: in use from now on' reload || fail "the setting is not taken: $(cat "$world/told")"
ctl beta log-level 3 --for 600 >"$world/out" 2>&1 || fail "the level is not taken: $(cat "$world/out")"

# Nobody can pull a disk here: it is put back as a copy, while the daemon still holds the one that is gone.
sync -f "$beta"
umount -l "$world/disk"
cp --sparse=always "$world/image" "$world/image-again"
echo edited >"$alpha/d/1"
rm "$alpha/d/2"
soon "beta does not notice that its folder is away" tells beta '"state":"halted"' status
mount -o loop "$world/image-again" "$world/disk"
[ "$(stat -c %d "$beta")" != "$device" ] || skip "the device has the number that it had"
soon "beta does not know its folder again" tells beta '"state":"in-sync"' status
settle
[ "$(cat "$beta/d/1")" = edited ] || fail "the edit did not arrive"
[ ! -e "$beta/d/2" ] || fail "the delete did not arrive"
[ "$(cat "$alpha"/d/{3..12} | xargs)" = "$(seq 3 12 | xargs)" ] || fail "files of alpha went: $(ls "$alpha/d")"
warns_no_more_of beta root.missing && warns_no_more_of beta root.replaced || fail "the alert stays: $(cat "$world/told")"
content beta || fail "beta is not content again: $(cat "$world/status")"
no_conflicts
tells beta 'nothing differs' reload || fail "it was set back when the folder came back: $(cat "$world/told")"
lines=$(grep -c 'a frame of' "$world/beta/log")
# It is watched as before.
echo new >"$beta/new"
soon "nobody watches the folder" test -s "$alpha/new"
settle
[ "$(grep -c 'a frame of' "$world/beta/log")" -eq "$lines" ] || fail "the level of before never ends: $(tail -n 3 "$world/beta/log")"
down beta
[ "$ended" -eq 0 ] || fail "beta ended with $ended: $(tail -n 3 "$world/beta/log")"

# A folder with the mark that is another directory is not taken for it.
up beta
settle
mv "$beta" "$world/disk/old"
cp -a "$world/disk/old" "$beta"
soon "a copy is taken for the folder" warns_of beta root.replaced
