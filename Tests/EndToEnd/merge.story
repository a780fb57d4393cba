# two folders that hold files before they meet become one, and a conflict copy in conflict is kept once more
new_world
mkdir -p "$alpha"/{both,only-alpha/deep} "$beta"/{both,only-beta}
echo alpha >"$alpha/only-alpha/deep/a"
echo beta >"$beta/only-beta/b"
echo same | tee "$alpha/both/same" >"$beta/both/same"
touch -d '2020-01-01' "$alpha/both/same"
echo old >"$alpha/both/differs.txt" && touch -d '2020-01-01' "$alpha/both/differs.txt"
echo new >"$beta/both/differs.txt" && touch -d '2021-01-01' "$beta/both/differs.txt"
echo file >"$alpha/both/kind"
mkdir "$beta/both/kind" && echo inside >"$beta/both/kind/in"
ln -s alpha "$alpha/both/link" && touch -hd '2020-01-01' "$alpha/both/link"
ln -s beta "$beta/both/link"
mkdir "$beta/hollow"
up alpha
up beta
pair
settle
[ "$(cat "$beta/only-alpha/deep/a" "$alpha/only-beta/b" "$beta/both/same")" = $'alpha\nbeta\nsame' ] ||
    fail "a file is missing"
[ "$(cat "$alpha/both/differs.txt")" = new ] || fail "the older file has the name"
[ "$(cat "$alpha"/both/differs.conflict-alpha-*.txt)" = old ] || fail "the older file is not kept"
[ "$(cat "$alpha/both/kind/in")" = inside ] || fail "the directory went"
[ "$(cat "$alpha"/both/kind.conflict-alpha-*)" = file ] || fail "the file that made room is not kept"
[ -d "$alpha/hollow" ] || fail "the empty directory is missing"
[ "$(readlink "$alpha/both/link")" = beta ] || fail "the older link has the name"
[ "$(find "$alpha" -name '*conflict*' | wc -l)" -eq 3 ] ||
    fail "there are other copies: $(find "$alpha" -name '*conflict*')"

# Both edit the copy while apart.
name=$(cd "$beta/both" && echo differs.conflict-alpha-*.txt)
down beta
begin_log alpha
echo "alpha's copy" >"$alpha/both/$name"
soon "alpha does not date its edit before beta does anything" logs alpha "both/$name"
echo "beta's copy" >"$beta/both/$name"
up beta
settle
[ "$(cat "$alpha/both/$name")" = "beta's copy" ] || fail "the earlier edit of the copy has its name"
again=("$alpha/both/${name%.txt}".conflict-alpha-*.txt)
[ "$(cat "${again[0]}")" = "alpha's copy" ] || fail "no copy of the copy: $(ls "$alpha/both")"
rm "$alpha"/both/*conflict*
settle
no_conflicts
