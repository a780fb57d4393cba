# both edit one file while apart: the later stays, the other is a conflict copy on both
paired_world
echo base >"$alpha/f.txt"
settle
down beta
begin_log alpha
echo from alpha >"$alpha/f.txt"
soon "alpha does not date its edit before beta does anything" logs alpha f.txt
echo from beta >"$beta/f.txt"
up beta
settle
[ "$(cat "$alpha/f.txt")" = "from beta" ] || fail "the earlier edit kept the name"
copies=("$alpha"/f.conflict-alpha-*.txt)
[ "$(cat "${copies[0]}")" = "from alpha" ] || fail "no conflict copy"
tells alpha '"kind":"file"' conflicts || fail "the conflict is not listed"
id=$(ctl alpha --json conflicts | grep -o '"id":"c[0-9a-f]*"' | cut -d '"' -f 4)
tells alpha "syncctl conflicts show $id" explain f.txt || fail "explain does not tell of the copy: $(cat "$world/told")"
for node in alpha beta; do
    tells $node 'beta wrote a file of 10 bytes' explain f.txt || fail "$node names another author: $(cat "$world/told")"
    tells $node 'which lost the name to the later save' explain f.txt || fail "$node does not tell the rule: $(cat "$world/told")"
done
tells alpha "\"text\":\"\\\"$(basename "${copies[0]}")\\\": Both nodes changed" doctor || fail "doctor does not name the file: $(cat "$world/told")"
for node in alpha beta; do
    ctl $node --json conflicts >"$world/conflicts"
    for file in "$alpha/f.txt" "${copies[0]}"; do
        grep -q "\"sha256\":\"$(sha256sum <"$file" | cut -d ' ' -f 1)\"" "$world/conflicts" ||
            fail "$node does not tell the digest of $file: $(cat "$world/conflicts")"
    done
    grep -q '"id":"current","node":"beta"' "$world/conflicts" || fail "$node does not tell who won: $(cat "$world/conflicts")"
done

# Of a long name the copy has the beginning only: it is told and taken as one of the whole name all the same.
long=$(printf 'n%.0s' $(seq 251)).txt
other=$(printf 'n%.0s' $(seq 250))m.txt
letters=$(printf 'é%.0s' $(seq 127))
for name in "$long" "$letters"; do echo base >"$alpha/$name"; done
settle
down beta
begin_log alpha
for name in "$long" "$letters"; do echo alpha >"$alpha/$name"; done
soon "alpha does not date its edits before beta does anything" logs alpha "$long"
soon "alpha does not date its edits before beta does anything" logs alpha "$letters"
for name in "$long" "$letters"; do echo beta >"$beta/$name"; done
up beta
settle
find "$beta" -name 'é*conflict*' | iconv -f UTF-8 -t UTF-8 | grep -q . || fail "the name of a copy is no text any more"
for name in "$long" "$letters"; do
    ctl alpha --json conflicts >"$world/conflicts"
    id=$(grep -oE "\"id\":\"c[0-9a-f]*\",\"code\":\"conflict.file\",\"kind\":\"file\",\"path\":\"$name\"" "$world/conflicts" | cut -d '"' -f 4)
    [ -n "$id" ] || fail "no conflict of $name is listed: $(cat "$world/conflicts")"
    ctl alpha conflicts take "$id" copy >"$world/out" 2>&1 || fail "the copy is not taken: $(cat "$world/out")"
    soon "the copy did not take the place on beta" grep -qsx alpha "$beta/$name"
done
[ "$(find "$beta" -maxdepth 1 -name 'n*' | wc -l)" -eq 1 ] || fail "the copy went to another name"
# Where two names fit, nobody guesses.
echo base >"$alpha/$long" && settle
down beta
begin_log alpha
# Not what lost above: within one second its copy would have the same name, and that was settled.
echo alpha once more >"$alpha/$long"
soon "alpha does not date its edit before beta does anything" logs alpha "$long"
echo beta >"$beta/$long"
up beta
settle
echo other >"$alpha/$other"
settle
id=$(ctl alpha --json conflicts | grep -o '"id":"c[0-9a-f]*"' | tail -n 1 | cut -d '"' -f 4)
ctl alpha conflicts take "$id" copy >"$world/out" 2>&1 && fail "it was guessed whose copy that is"
grep -q 'name too long to tell' "$world/out" || fail "why the copy is not taken is not said: $(cat "$world/out")"

# Where the other node has made a directory the copy has no place: nothing is moved, and what to do is said.
ctl alpha pause >/dev/null
begin_log alpha
echo file >"$alpha/both"
soon "alpha does not date its file before beta does anything" logs alpha both
mkdir "$beta/both" && echo in >"$beta/both/in"
soon "beta does not see its directory" tells beta '"path":"both/in"' log --node beta
ctl alpha resume >/dev/null
settle
id=$(ctl alpha --json conflicts | grep -oE '"id":"c[0-9a-f]*","code":"conflict.file","kind":"file","path":"both"' | cut -d '"' -f 4)
[ -n "$id" ] || fail "a directory in the place of a file is no conflict"
ctl alpha conflicts take "$id" copy >"$world/out" 2>&1 && fail "a file has taken the place of a directory"
grep -q '"both" is a directory; nothing was changed' "$world/out" || fail "why the copy is not taken is not said: $(cat "$world/out")"
[ "$(cat "$alpha"/both.conflict-alpha-*)" = file ] || fail "the copy was moved"
rm -r "$beta/both"
settle
ctl alpha conflicts take "$id" copy >"$world/out" 2>&1 || fail "the copy is not taken: $(cat "$world/out")"
settle
[ "$(cat "$beta/both")" = file ] || fail "the copy did not take the place"

# Of two symbolic links it is told where each points to: there is nothing else to choose by.
ln -s base "$alpha/link"
settle
down beta
begin_log alpha
ln -sfn "to alpha" "$alpha/link"
soon "alpha does not date its link before beta does anything" logs alpha link
ln -sfn "to beta" "$beta/link"
up beta
settle
id=$(ctl alpha --json conflicts | grep -oE '"id":"c[0-9a-f]*","code":"conflict.file","kind":"file","path":"link"' | cut -d '"' -f 4)
[ -n "$id" ] || fail "two links are no conflict"
for node in alpha beta; do
    ctl $node conflicts show "$id" >"$world/out" || fail "the conflict is not shown: $(cat "$world/out")"
    grep -q '^current .* link -> to beta$' "$world/out" || fail "the target of the winner is not told: $(cat "$world/out")"
    grep -q '^copy .* link.conflict-alpha-.* -> to alpha$' "$world/out" || fail "the target of the loser is not told: $(cat "$world/out")"
done
tells alpha '"target":"to alpha"' conflicts || fail "the list does not tell the target: $(cat "$world/told")"
ctl alpha conflicts take "$id" copy >"$world/out" 2>&1 || fail "the copy is not taken: $(cat "$world/out")"
settle
[ "$(readlink "$beta/link")" = "to alpha" ] || fail "the copy did not take the place on beta"
ctl alpha conflicts show "$id" >"$world/out" || fail "the settled conflict is not shown: $(cat "$world/out")"
grep -q 'is settled: the copy was taken' "$world/out" || fail "it is not told that the link was taken: $(cat "$world/out")"
ctl alpha history link >"$world/out" || fail "history: $(cat "$world/out")"
grep -q -- '-> to beta$' "$world/out" || fail "history does not tell where the link pointed to: $(cat "$world/out")"
