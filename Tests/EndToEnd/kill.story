# kill -9 at random moments of both daemons under load loses nothing
paired_world
rounds=${KILLS:-10}
for ((round = 0; round < rounds; round++)); do
    for ((n = 0; n < 20; n++)); do
        mkdir -p "$alpha/d$((n % 4))" "$beta/d$((n % 4))"
        head -c $((RANDOM * 4)) /dev/urandom >"$alpha/d$((n % 4))/a$round-$n"
        head -c $((RANDOM * 4)) /dev/urandom >"$beta/d$((n % 4))/b$round-$n"
        [ $((n % 5)) -eq 4 ] && mv "$alpha/d$((n % 4))/a$round-$n" "$alpha/moved$round-$n"
    done
    sha256sum "$alpha"/d*/a$round-* "$alpha"/moved$round-* "$beta"/d*/b$round-* | cut -d ' ' -f 1 >>"$world/written"
    sleep "0.$((RANDOM % 10))"
    if ((round % 2)); then node=alpha; else node=beta; fi
    down $node KILL
    up $node
done
settle
find "$alpha" -path "$alpha/.syncd" -prune -o -type f -name '[abm]*' -exec sha256sum {} + | cut -d ' ' -f 1 | sort >"$world/there"
[ "$(wc -l <"$world/there")" -eq $((rounds * 40)) ] || fail "$(wc -l <"$world/there") files of $((rounds * 40)) are there"
sort "$world/written" | diff - "$world/there" >"$world/difference" || fail "files hold something else: $(cat "$world/difference")"
