# machines that lose their power again and again, while they are written to and while they recover, lose nothing they had acknowledged
# CUTS in one run. Writer and victim take turns; every third cut is followed by one into the recovery. Nothing the writer says was done may
# be undone: a file is made, one is replaced each time, some are deleted, each of it synced. RIG_SEED repeats the draws, not the machines.
if [ "$tier" != vm ]; then powercut alpha; fi
CUTS=${CUTS:-20}
RANDOM=$seed
echo "    seed $seed, $CUTS cuts"
install_on alpha
install_on beta
pair
mkdir "$world/expected"
writer='cd /srv/shared && mkdir -p ROUND && for n in $(seq 100000); do
    echo ROUND-$n >ROUND/new && sync ROUND/new && mv ROUND/new ROUND/$n && sync ROUND && echo "made $n"
    echo $n >ROUND/new && sync ROUND/new && mv ROUND/new ROUND/current && sync ROUND && echo "current $n"
    if ((n % 5 == 0)); then echo "deleting $((n - 3))" && rm ROUND/$((n - 3)) && sync ROUND && echo "deleted $((n - 3))"; fi
done'
has_written() { [ "$(grep -c . "$world/said-$1")" -ge "$2" ]; }
# is_starting NODE: its service is at work and has not said that it is ready.
is_starting() { [[ $(on "$1" systemctl is-active syncd) = activating ]]; }
strike() {
    powercut "$1"
    done_cuts=$((done_cuts + 1))
    echo "    $done_cuts: $1 $2; $(cat "$world/$1/disk-says")"
}
# account ROUND: what its writer has said must be so on both nodes, whose hashes are there and the same.
account() {
    local round=$1 present now
    present=$(awk '$1 == "made" { is[$2] = 1 } $1 ~ /^delet/ { delete is[$2] } END { for (n in is) print n }' "$world/said-$round")
    mkdir -p "$world/expected/$round"
    rm -f "$world/expected/$round"/*
    for n in $present; do echo "$round-$n" >"$world/expected/$round/$n"; done
    (cd "$world/expected/$round" && find . -type f -print0 | xargs -0r sha256sum) | sed "s|  \./|  ./$round/|" |
        LC_ALL=C sort >"$world/expected-hashes"
    LC_ALL=C sort "$world/alpha/hashes" | LC_ALL=C comm -23 "$world/expected-hashes" - >"$world/missing"
    [ ! -s "$world/missing" ] || fail "acknowledged in round $round and gone: $(wc -l <"$world/missing"), as $(head -n 3 "$world/missing")"
    while read -r word n; do
        if [ "$word" = deleted ]; then
            ! grep -q "  \./$round/$n\$" "$world/alpha/hashes" || fail "deleted in round $round and back: $n"
        fi
    done <"$world/said-$round"
    now=$(on alpha cat "/srv/shared/$round/current")
    [ "$now" -ge "$(awk '$1 == "current" { n = $2 } END { print n + 0 }' "$world/said-$round")" ] || fail "$round: current is back to $now"
    accounted=$((accounted + $(wc -l <"$world/expected-hashes")))
}
done_cuts=0 round=0 accounted=0
while ((done_cuts < CUTS)); do
    round=$((round + 1))
    if ((round % 2)); then node=alpha; else node=beta; fi
    if ((round / 2 % 2)); then victim=${other[$node]}; else victim=$node; fi
    on "$node" setpriv --reuid syncd --regid syncd --clear-groups bash -c "${writer//ROUND/$round}" >"$world/said-$round" 2>"$world/out" &
    writing=$!
    # Into the middle of sending it, or of applying it.
    soon "$node writes nothing" has_written "$round" "$((RANDOM % 60 + 12))"
    strike "$victim" "while $node writes"
    power "$victim"
    if ((round % 3 == 0 && done_cuts < CUTS)); then
        on "$victim" systemctl start --no-block syncd
        soon "$victim does not start" is_starting "$victim"
        sleep "$((RANDOM % 3)).$((RANDOM % 10))"
        strike "$victim" "while it recovers ($(is_starting "$victim" && echo starting || echo up))"
        power "$victim"
    fi
    boot "$victim"
    if [ "$victim" != "$node" ]; then on "$node" pkill -u syncd bash; fi
    wait "$writing"
    settle
    accounted=0
    for ((past = 1; past <= round; past++)); do account "$past"; done
done
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
(($(lost_to_cuts alpha) + $(lost_to_cuts beta) > 0)) || broken "no disk has lost anything"
echo "    $done_cuts cuts in $round rounds; the disks lost $(($(lost_to_cuts alpha) + $(lost_to_cuts beta))) writes; $accounted files accounted for by hash"
