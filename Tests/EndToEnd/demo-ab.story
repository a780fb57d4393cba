# I10: what `make demo-ab` plays: both re-point apart, both trees, the alert, both versions, `take` and the roles swapped, without a person
needs perl
new_places
# What it makes lies in this world, and ends with it.
TMPDIR=$world PATIENCE=$patience timeout -k 5 180 ../../.ci/demo-ab "$programs" >"$world/told" 2>&1 </dev/null ||
    fail "the demonstration fails: $(tail -n 5 "$world/told")"
sed 's/\x1b\[[0-9;]*m//g' "$world/told" >"$world/plain"

# part WORDS: what is told below the heading that begins like this, up to the next; headings come after an empty line.
part() {
    awk -v words="$1" '
        was_empty && /^[A-Za-z]/ && !/^[a-z]*:$/ && !/^ID / && !/^Nothing / { is_it = index($0, words) == 1 }
        is_it { print }
        { was_empty = $0 == "" }' "$world/plain" >"$world/part"
    [ -s "$world/part" ] || fail "nothing is told of this: $1; $(cat "$world/plain")"
}

# shows NODE SCHEDULE: in this part the tree of the node has this schedule alone, and its note names it.
shows() {
    sed -n "/^$1:/,/^[a-z]*:\$/{/^    /p}" "$world/part" >"$world/tree"
    [ "$(grep -o 'times/[A-Z0-9]*' "$world/tree")" = "times/$2" ] && grep -q "\"schedule\": \"$2\"" "$world/tree" ||
        fail "the tree of $1 should be that of $2: $(cat "$world/part")"
}

part "Both nodes have the note"
shows alpha B1
shows beta B1
part "The link is cut"
shows alpha B2
shows beta B3
part "The link is healed"
shows alpha B3
shows beta B3
part "syncctl alerts"
[ "$(grep -oE 'a[0-9a-f]+ +warning +conflict.slot .*Schedule/B2' "$world/part" | cut -d ' ' -f 1 | uniq -c | awk '{ print $1 }')" = 2 ] ||
    fail "both should have one alert, with one id: $(cat "$world/part")"
part "syncctl conflicts show"
for words in conflict.slot '"at": "11:00"' '"at": "10:00"' .syncd/quarantine/; do
    grep -qF -e "$words" "$world/plain" || fail "$words is not shown: $(cat "$world/plain")"
done
part "syncctl conflicts take"
shows alpha B2
shows beta B2
part "The roles are swapped on both nodes, no conflict is left, and no alert."
# The design wants 5 s; ten more, because this machine may have other work.
spent=$(sed -nE 's/^From the cut, .*: ([0-9]+) ms .*/\1/p' "$world/plain")
[ -n "$spent" ] && [ "$spent" -le 15000 ] || fail "it takes ${spent:-an unknown number of} ms"
