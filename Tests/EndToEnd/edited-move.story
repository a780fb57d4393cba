# a directory whose files have all just been edited is renamed: the edits follow, and nobody takes it for a mass deletion
paired_world
mkdir -p "$alpha/to"
for n in {1..300}; do mkdir -p "$alpha/many/$n/deep" && echo "$n" >"$alpha/many/$n/deep/file"; done
settle
for n in {1..300}; do echo "again $n" >"$beta/many/$n/deep/file"; done
mv "$beta/many" "$beta/to/many"
settle
for n in 1 150 300; do
    [ "$(cat "$alpha/to/many/$n/deep/file")" = "again $n" ] || fail "an edit is missing"
done
grep -q fuse.deletes "$world/beta/log" && fail "the rename was taken for a mass deletion"
no_conflicts
