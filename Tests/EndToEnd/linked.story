# a folder that is reached by a symbolic link: a path means the same from wherever one stands in it, and however it is written
new_places
mkdir "$world/disk"
mv "$alpha" "$world/disk/folder"
ln -s disk "$world/way"
alpha=$world/way/folder
set_up
up alpha
up beta
pair
mkdir "$alpha/d"
echo one >"$alpha/d/file"
settle
echo two >"$beta/d/file"
settle
# kept DIRECTORY PATH: from there, what was before is found by it.
kept() {
    (cd "$1" && ctl alpha --json history "$2") >"$world/told" 2>&1
    grep -q '^{"path":"d/file","versions":\[{' "$world/told" || fail "$2 in $1: $(cat "$world/told")"
}
for place in way disk; do
    kept / "$world/$place/folder/d/file"
    kept "$world/$place/folder/d" file
    kept "$world/$place/folder/d" ../d/file
    kept "$world/$place/folder" ../folder/d/./file
done
kept / d/file
# Who stands in a directory that is gone can say where a file is all the same.
mkdir "$world/gone"
cd "$world/gone" || exit
rmdir "$world/gone"
ctl alpha --json history "$alpha/d/file" >"$world/told" 2>&1 || fail "a path from the top is refused: $(cat "$world/told")"
ctl alpha --json history d/file >"$world/told" 2>&1 && fail "a relative path is taken from nowhere: $(cat "$world/told")"
cd "$world" || exit
