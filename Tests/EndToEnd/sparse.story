# a file that is mostly holes arrives with its holes
# HUGE=1T is the same with a tebibyte: half a minute with a release build, and too long for others.
paired_world
truncate -s "${HUGE:-8G}" "$alpha/huge" 2>"$world/out" || skip "no such large files here: $(cat "$world/out")"
printf beginning | dd of="$alpha/huge" conv=notrunc status=none
printf middle | dd of="$alpha/huge" bs=1M seek=5000 conv=notrunc status=none
printf end >>"$alpha/huge"
agree
[ "$(stat -c %s "$beta/huge")" = "$(stat -c %s "$alpha/huge")" ] || fail "it is $(stat -c %s "$beta/huge") bytes long"
[ "$(du -k "$beta/huge" | cut -f 1)" -lt 10000 ] || fail "it takes $(du -k "$beta/huge" | cut -f 1) KiB"
[ "$(head -c 9 "$beta/huge")" = beginning ] || fail "its beginning is missing"
[ "$(tail -c 3 "$beta/huge")" = end ] || fail "its end is missing"
[ "$(dd if="$beta/huge" bs=1M skip=5000 count=1 status=none | head -c 6)" = middle ] || fail "its middle is missing"
rm "$beta/huge"
settle
