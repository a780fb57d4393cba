# a file whose bytes change on the disk is found by verify, goes to quarantine and comes back whole from the other node
needs_root
needs debugfs mkfs.ext4
new_places
truncate -s 16M "$world/image"
mkfs.ext4 -q -b 4096 "$world/image"
mkdir "$world/disk"
mount -o loop "$world/image" "$world/disk" 2>"$world/mounting" || skip "mounting is forbidden: $(cat "$world/mounting")"
beta=$world/disk/folder
mkdir "$beta"
set_up
up alpha
up beta
pair
head -c 5000 /dev/urandom >"$alpha/rotten"
head -c 5000 /dev/urandom >"$alpha/sound"
touch -d '2 hours ago' "$alpha/rotten" "$alpha/sound"
settle
good=$(sha256sum <"$alpha/rotten")
# What was read in the breath of its change is read again by itself; after that nobody looks.
sleep 3
down beta
umount "$world/disk"
block=$(debugfs -R 'blocks folder/rotten' "$world/image" 2>/dev/null | cut -d ' ' -f 1)
printf 'rot' | dd of="$world/image" bs=1 seek=$((block * 4096 + 100)) conv=notrunc status=none
mount -o loop "$world/image" "$world/disk"
[ "$(sha256sum <"$beta/rotten")" != "$good" ] || fail "the file was not damaged"
up beta
ctl beta wait --for in-sync --timeout "$patience" >"$world/out" || fail "$(cat "$world/out")"
ctl alpha --json verify >"$world/verified" || fail "alpha finds damage: $(cat "$world/verified")"
grep -q '"checked":2,"bytes":10000,"damaged":0,' "$world/verified" || fail "alpha did not read two files: $(cat "$world/verified")"
ctl beta --json verify >"$world/verified" || fail "beta does not repair: $(cat "$world/verified")"
grep -q '"damaged":1,"repaired":1,' "$world/verified" || fail "beta did not find one: $(cat "$world/verified")"
[ "$(sha256sum <"$beta/rotten")" = "$good" ] || fail "the file is not whole again"
settle
[ "$(find "$beta/.syncd/quarantine" -type f | wc -l)" -eq 1 ] || fail "the damaged file is not in quarantine"
status=0
ctl beta --json verify --budget nonsense >"$world/out" || status=$?
[ "$status" -eq 64 ] || fail "nonsense is a budget, or not a wrong command line ($status)"
ctl beta verify --budget 1s >"$world/out" || fail "verify fails with a budget: $(cat "$world/out")"
# The times of what was changed a moment ago cannot be trusted yet: it is left out, and that is said.
echo new >"$alpha/young"
settle
ctl alpha --json verify >"$world/verified" || fail "alpha cannot verify once more: $(cat "$world/verified")"
grep -q '"young":1' "$world/verified" || fail "nobody says that a file was left out: $(cat "$world/verified")"
# A file that cannot be read is none that is as it should be.
down beta
umount "$world/disk"
debugfs -w -R 'set_inode_field folder/sound block[0] 1' "$world/image" 2>"$world/debugfs"
mount -o loop "$world/image" "$world/disk"
cat "$beta/sound" >/dev/null 2>&1 && fail "the file can be read: $(cat "$world/debugfs")"
up beta
status=0
ctl beta --json verify >"$world/verified" || status=$?
[ "$status" -eq 1 ] && grep -q '"unread":1,"unreadFirst":"sound"' "$world/verified" || fail "verify says $status: $(cat "$world/verified")"
