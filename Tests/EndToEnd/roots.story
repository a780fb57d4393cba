# a folder that is unmounted, hidden or emptied halts its node with a reason, and not one delete travels
needs_root
new_places
mount_tmpfs "$world/disk" 16m
mkdir "$world/disk/folder"
mount --bind "$world/disk/folder" "$beta"
set_up
up alpha
up beta
pair
mkdir "$alpha/d"
for n in {1..12}; do echo "$n" >"$alpha/d/$n"; done
settle

# halts CODE: with something to do, beta finds out, says so, and alpha has lost nothing.
halts() {
    # Not as long as the pause between two scans, which would find out in the end.
    local patience=25
    echo "$RANDOM $1" >"$alpha/edited"
    soon "beta does not say $1" warns_of beta "$1"
    tells beta '"state":"halted"' status || fail "beta is not halted: $(cat "$world/told")"
    grep -q "\"folder\":{[^}]*\"reason\":\"$1\"" "$world/told" || fail "status does not say why: $(cat "$world/told")"
    not_content beta || fail "beta is content: $(cat "$world/status")"
    grep -qF "beta  halted ($1), " "$world/status" || fail "people are not told why: $(cat "$world/status")"
    not_content alpha || fail "alpha is content while its peer is halted: $(cat "$world/status")"
    for command in rescan verify; do
        ctl beta --json "$command" >"$world/out" && fail "$command says that it went through: $(cat "$world/out")"
        grep -qF "\"code\":\"$1\"" "$world/out" || fail "$command does not say why not: $(cat "$world/out")"
    done
    echo "later $1" >"$alpha/later"
    kept
}
kept() {
    [ "$(cat "$alpha"/d/{1..12})" = "$(seq 12)" ] || fail "files of alpha went: $(ls "$alpha/d")"
}
heals() {
    settle
    soon "the alert $1 stays" warns_no_more_of beta "$1"
    content beta || fail "beta is not content again: $(cat "$world/status")"
    ctl beta --json status | finds '"folder":{[^}]*"reason"' && fail "status gives a reason that is over: $(cat "$world/found")"
    kept
}

umount -l "$beta"
halts root.replaced
[ -z "$(ls -A "$beta")" ] || fail "something was put into the mount point: $(ls -A "$beta")"
mount --bind "$world/disk/folder" "$beta"
heals root.replaced

mount_tmpfs "$beta" 1m
echo other >"$beta/other"
soon "beta does not notice by itself" warns_of beta root.replaced
halts root.replaced
[ "$(ls -A "$beta")" = other ] || fail "something was put into a strange folder: $(ls -A "$beta")"
umount -l "$beta"
heals root.replaced
[ ! -e "$alpha/other" ] || fail "a file of a strange folder travelled"

mkdir "$world/disk/aside"
# The mark goes first and comes last: files that go before it are deleted.
mv "$beta/.syncd" "$beta"/* "$world/disk/aside"
halts root.missing
tells beta "$beta/.syncd/folder-id\\\" is not." alerts || fail "it is not said what is missing: $(cat "$world/told")"
ctl beta wait --timeout 1 >"$world/waited" 2>&1 && fail "a halted node counts as in sync"
grep -qF root.missing "$world/waited" || fail "wait does not say why: $(cat "$world/waited")"
mv "$world/disk/aside"/* "$world/disk/aside/.syncd" "$beta"
heals root.missing

# A mark that is damaged is told to be that.
cp "$beta/.syncd/folder-id" "$world/mark"
: >"$beta/.syncd/folder-id"
halts root.replaced
tells beta 'is damaged; the files beside it need not be' alerts || fail "the mark is not named: $(cat "$world/told")"
cat "$world/mark" >"$beta/.syncd/folder-id"
heals root.replaced

# With work that waits it still stops in order, and a start without the folder waits for it.
umount -l "$beta"
halts root.replaced
down beta
[ "$ended" -eq 0 ] || fail "beta ended with $ended: $(tail -n 3 "$world/beta/log")"
up beta
soon "beta does not say that its folder is away" warns_of beta root.missing
[ -z "$(ls -A "$beta")" ] || fail "something was put into the mount point: $(ls -A "$beta")"
mount --bind "$world/disk/folder" "$beta"
soon "beta does not see that its folder is back" warns_no_more_of beta root.missing
settle
kept
