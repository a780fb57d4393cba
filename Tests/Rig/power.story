# machines that lose their power again and again, while they are written to and while they recover, lose nothing they had acknowledged
# CUTS in one run. Writer and victim take turns; every third cut is followed by one into the recovery. Nothing the writer says was done may
# be undone. A careful writer makes a file, replaces one each time, deletes some, and syncs each of it, besides others that it does not. A careless one
# syncs nothing, so that nothing but the daemon flushes what it wrote: of that, what `syncctl wait` has said to be on both must be there. In half of the rounds the
# victim's kernel hands everything to the disk at once and unasked, and somebody else fills that with noise: then the disk has something to lose, in any
# order, and a flush takes its time. Otherwise the kernel keeps what nobody has synced, and all of it goes. RIG_SEED repeats the draws, not the machines.
if [ "$tier" != vm ]; then powercut alpha; fi
CUTS=${CUTS:-20}
RANDOM=$seed
echo "    seed $seed, $CUTS cuts"
install_on alpha
install_on beta
pair
mkdir "$world/expected"
# loose ROUND N: what is written without a sync. The same line makes it here and there.
loose='for k in 1 2 3; do yes ROUND-$n-$k | head -c $((n * 7919 % 13 * 4096 + k)) >ROUND/loose-$n-$k; done'
writer='cd /srv/shared && mkdir -p ROUND && for n in $(seq 100000); do
    '$loose'; echo ROUND:$n >ROUND/loose; echo "loose $n"
    echo ROUND-$n >ROUND/new && sync ROUND/new && mv ROUND/new ROUND/$n && sync ROUND && echo "made $n"
    echo $n >ROUND/new && sync ROUND/new && mv ROUND/new ROUND/current && sync ROUND && echo "current $n"
    if ((n % 5 == 0)); then echo "deleting $((n - 3))" && rm ROUND/$((n - 3)) && sync ROUND && echo "deleted $((n - 3))"; fi
    if ((n % 4 == 0)); then syncctl wait >/dev/null && echo "agreed $n"; fi
done'
careless='cd /srv/shared && mkdir -p ROUND && for n in $(seq 100000); do
    '$loose'; echo ROUND:$n >ROUND/loose; echo "loose $n"
    if ((n % 2 == 0)); then syncctl wait >/dev/null && echo "agreed $n"; fi
done'
has_written() { [ "$(wc -l <"$world/said-$1")" -ge "$2" ]; }
# hurry NODE: its kernel keeps nothing back, and its disk is never idle.
hurry() {
    on "$1" sysctl -q -w vm.dirty_expire_centisecs=10 vm.dirty_writeback_centisecs=5 || broken "nothing hurries $1"
    on "$1" systemd-run --quiet --unit noise bash -c 'while :; do head -c 4M /dev/zero >/var/tmp/noise; sleep 0.1; done' || broken "no noise on $1"
}
# is_starting NODE: its service is at work and has not said that it is ready.
is_starting() { [[ $(on "$1" systemctl is-active syncd) = activating ]]; }
strike() {
    powercut "$1"
    done_cuts=$((done_cuts + 1))
    echo "    $done_cuts: $1 $2; $(cat "$world/$1/disk-says")"
}
# account_loose ROUND: the file that is written in its place holds what was on both, or something later. A later write that the cut of its own machine has
# torn is the writer's loss: then what was on both is among the versions.
account_loose() {
    local round=$1 now each
    now=$(on alpha cat "/srv/shared/$round/loose" | tr -d '\0')
    if [[ $now = "$round":* ]] && ((${now#*:} >= agreed)); then return; fi
    [ "${victims[$round]}" = writer ] || fail "$round: the loose file is back to \"$now\", and $agreed was on both"
    for each in alpha beta; do on "$each" grep -rhoaxE "$round:[0-9]+" /srv/shared/.syncd/versions; done >"$world/kept"
    [ "$(cut -d : -f 2 "$world/kept" | sort -n | tail -n 1)" -ge "$agreed" ] || fail "$round: the loose file is \"$now\", $agreed was on both and is nowhere"
    torn=$((torn + 1))
}
# account ROUND: what its writer has said must be so on both nodes, whose hashes are there and the same.
account() {
    local round=$1 present now
    present=$(awk '$1 == "made" { is[$2] = 1 } $1 ~ /^delet/ { delete is[$2] } END { for (n in is) print n }' "$world/said-$round")
    mkdir -p "$world/expected/$round"
    rm -f "$world/expected/$round"/*
    for n in $present; do echo "$round-$n" >"$world/expected/$round/$n"; done
    agreed=$(awk '$1 == "agreed" { n = $2 } END { print n + 0 }' "$world/said-$round")
    (cd "$world/expected" && for ((n = 1; n <= agreed; n++)); do eval "${loose//ROUND/$round}"; done)
    (cd "$world/expected/$round" && find . -type f -print0 | xargs -0r sha256sum) | sed "s|  \./|  ./$round/|" |
        LC_ALL=C sort >"$world/expected-hashes"
    LC_ALL=C sort "$world/alpha/hashes" | LC_ALL=C comm -23 "$world/expected-hashes" - >"$world/missing"
    [ ! -s "$world/missing" ] || fail "acknowledged in round $round and gone: $(wc -l <"$world/missing"), as $(head -n 3 "$world/missing")"
    while read -r word n; do
        if [ "$word" = deleted ]; then
            ! grep -q "  \./$round/$n\$" "$world/alpha/hashes" || fail "deleted in round $round and back: $n"
        fi
    done <"$world/said-$round"
    if grep -q '^current' "$world/said-$round"; then
        now=$(on alpha cat "/srv/shared/$round/current")
        [ "$now" -ge "$(awk '$1 == "current" { n = $2 } END { print n + 0 }' "$world/said-$round")" ] || fail "$round: current is back to $now"
    fi
    if ((agreed > 0)); then account_loose "$round"; fi
    all_agreed=$((all_agreed + 3 * agreed))
    accounted=$((accounted + $(wc -l <"$world/expected-hashes")))
}
done_cuts=0 round=0 accounted=0 all_agreed=0 torn=0
declare -a victims=()
while ((done_cuts < CUTS)); do
    round=$((round + 1))
    if ((round % 2)); then node=alpha; else node=beta; fi
    if ((round / 2 % 2)); then victim=${other[$node]}; else victim=$node; fi
    victims[round]=$([ "$victim" = "$node" ] && echo writer || echo other)
    : >"$world/said-$round"
    # Each of the four ways, careful and careless.
    if (((round - 1) / 4 % 2)); then kind=carefully work=$writer lines=$((RANDOM % 60 + 24)); else kind=carelessly work=$careless lines=$((RANDOM % 24 + 6)); fi
    if (((round + round / 4) % 2)); then
        kind="$kind, in a hurry"
        hurry "$victim"
    fi
    on "$node" setpriv --reuid syncd --regid syncd --clear-groups bash -c "${work//ROUND/$round}" >"$world/said-$round" 2>"$world/out" &
    writing=$!
    # Into the middle of sending it, or of applying it.
    soon "$node writes nothing" has_written "$round" "$lines"
    strike "$victim" "while $node writes $kind"
    power "$victim"
    if ((round % 3 == 0 && done_cuts < CUTS)); then
        on "$victim" systemctl start --no-block syncd
        soon "$victim does not start" is_starting "$victim"
        sleep "$((RANDOM % 3)).$((RANDOM % 10))"
        strike "$victim" "while it recovers ($(is_starting "$victim" && echo starting || echo up))"
        power "$victim"
    fi
    boot "$victim"
    if [ "$victim" != "$node" ]; then on "$node" pkill -u syncd 'bash|syncctl'; fi
    wait "$writing"
    settle
    accounted=0 all_agreed=0 torn=0
    for ((past = 1; past <= round; past++)); do account "$past"; done
done
[ "$(on alpha syncctl --json conflicts)" = '{"conflicts":[]}' ] || fail "a conflict: $(on alpha syncctl conflicts)"
# In a few cuts that may be.
((done_cuts < 8 || $(lost_to_cuts alpha) + $(lost_to_cuts beta) > 0)) || broken "no disk has lost anything"
echo "    $done_cuts cuts in $round rounds; the disks lost $(($(lost_to_cuts alpha) + $(lost_to_cuts beta))) writes; $accounted files accounted for by hash, $all_agreed of them never synced by who wrote them; $torn writes were torn on their own machine"
