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
tells alpha "\"text\":\"\\\"$(basename "${copies[0]}")\\\": Both nodes changed" doctor || fail "doctor does not name the file: $(cat "$world/told")"
for node in alpha beta; do
    ctl $node --json conflicts >"$world/conflicts"
    for file in "$alpha/f.txt" "${copies[0]}"; do
        grep -q "\"sha256\":\"$(sha256sum <"$file" | cut -d ' ' -f 1)\"" "$world/conflicts" ||
            fail "$node does not tell the digest of $file: $(cat "$world/conflicts")"
    done
    grep -q '"id":"current","node":"beta"' "$world/conflicts" || fail "$node does not tell who won: $(cat "$world/conflicts")"
done
