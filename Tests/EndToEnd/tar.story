# a source tree that is unpacked in the folder is the same on the other node, and its removal waits for a person
paired_world
echo stays >"$alpha/stays"
sources=$(realpath ../..)
tar -C "$sources" -cf "$world/tree.tar" Sources/Disk Sources/Store Sources/SyncModel Sources/SyncSim README.md
files=$(tar -tf "$world/tree.tar" | grep -vc '/$')
[ "$files" -gt 150 ] || fail "there are only $files files to unpack"
tar -C "$alpha" -xf "$world/tree.tar"
settle
mkdir "$world/compared" && tar -C "$world/compared" -xf "$world/tree.tar" && echo stays >"$world/compared/stays"
diff -r -x .syncd "$world/compared" "$beta" >"$world/difference" || fail "beta differs: $(head "$world/difference")"
[ "$(find "$beta" -path "$beta/.syncd" -prune -o -type f -print | wc -l)" -eq $((files + 1)) ] ||
    fail "files are missing"
# Unpacked over itself nothing changes but times.
tar -C "$beta" -xf "$world/tree.tar"
settle
rm -r "$beta/Sources" "$beta/README.md"
soon "the removal is not held" holds_deletes beta
not_content beta || fail "beta is content with a held removal: $(cat "$world/status")"
[ "$(find "$alpha/Sources" -type f | wc -l)" -gt $((files - 60)) ] ||
    fail "most went before anybody agreed"
ctl beta approve >"$world/out" || fail "approve was refused: $(cat "$world/out")"
settle
[ "$(ls "$alpha")" = stays ] || fail "something is left: $(ls "$alpha")"
no_conflicts
