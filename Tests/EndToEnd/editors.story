# the ways in which programs save a file all arrive whole, and make no conflict
paired_world
seq 1000 >"$alpha/f"
settle
sed -i 's/^5$/five/' "$alpha/f"
settle
seq 2000 >"$alpha/f.tmp" && mv "$alpha/f.tmp" "$alpha/f"
settle
cp "$beta/f" "$beta/f~" && seq 500 >"$beta/f"
settle
for n in $(seq 50); do echo "line $n" >>"$beta/f"; done
settle
printf changed | dd of="$alpha/f" conv=notrunc status=none
settle
ln "$alpha/f" "$alpha/g" && rm "$alpha/f" && printf anew >"$alpha/f"
settle
[ "$(cat "$beta/f")" = anew ] || fail "the last save is missing"
ls "$alpha" "$beta" >"$world/listing"
grep conflict "$world/listing" && fail "there is a conflict copy"
[ "$(ctl beta --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict is listed"
