# a new file, an edit, a rename and a delete reach the other node, in both directions
paired_world
echo one >"$alpha/a"
settle
[ "$(cat "$beta/a")" = one ] || fail "a did not arrive"
echo two >>"$beta/a"
settle
[ "$(cat "$alpha/a")" = "$(printf 'one\ntwo')" ] || fail "the edit did not come back"
mkdir -p "$alpha/d/e" && echo x >"$alpha/d/e/x" && chmod 640 "$alpha/d/e/x"
settle
mv "$beta/d" "$beta/moved"
settle
[ -f "$alpha/moved/e/x" ] || fail "the directory did not move"
rm -r "$alpha/moved" "$beta/a"
settle
[ -z "$(ls "$alpha")" ] || fail "something is left: $(ls "$alpha")"
