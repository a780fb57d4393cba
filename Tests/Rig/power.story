# a machine that loses its power while it is written to loses nothing it had acknowledged
if [ "$tier" != vm ]; then powercut alpha; fi
install_on alpha
install_on beta
pair
# Each line that arrives here is a file that the machine had on its disk by then.
writer='cd /srv/shared && mkdir -p ROUND && for n in $(seq 100000); do
    echo ROUND-$n >ROUND/new && sync ROUND/new && mv ROUND/new ROUND/$n && sync ROUND && echo ROUND/$n
done'
has_written() { [ "$(grep -c . "$world/$1/acknowledged-$round")" -ge "$2" ]; }
for round in $(seq "${CUTS:-2}"); do
    for node in alpha beta; do
        on "$node" setpriv --reuid syncd --regid syncd --clear-groups bash -c "${writer//ROUND/$node-$round}" \
            >"$world/$node/acknowledged-$round" 2>"$world/out" &
        writing=$!
        # Into the middle of sending it, or of applying it.
        soon "$node writes nothing" has_written "$node" "$((round * 12))"
        if ((round % 2)); then victim=$node; else victim=${other[$node]}; fi
        powercut "$victim"
        if [ "$victim" != "$node" ]; then on "$node" pkill -u syncd bash; fi
        wait "$writing"
        power "$victim"
        boot "$victim"
        settle
        total=$(grep -c . "$world/$node/acknowledged-$round")
        check="cd /srv/shared/$node-$round && for n in \$(seq $total); do [ \"\$(cat \$n)\" = $node-$round-\$n ] || echo \$n; done"
        for reader in alpha beta; do
            missing=$(on "$reader" bash -c "$check" 2>&1)
            [ -z "$missing" ] || fail "of $total files that $node acknowledged $reader has not: $(head -n 3 <<<"$missing")"
        done
    done
done
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
