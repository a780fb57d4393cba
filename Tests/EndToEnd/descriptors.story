# a daemon that may open nothing more for a moment goes on when it may again, whatever it is in the middle of
needs prlimit
paired_world
pid=$(cat "$world/alpha/pid")
most=$(ulimit -Hn)
for round in {1..2}; do
    mkdir "$beta/$round"
    for n in {1..300}; do echo "$round $n" >"$beta/$round/$n"; done &
    writer=$!
    # What is open stays so.
    for _ in {1..15}; do
        prlimit --pid "$pid" --nofile=8:"$most" || break
        sleep 0.06
        prlimit --pid "$pid" --nofile="$most:$most"
        sleep 0.1
    done
    wait "$writer"
    is_down alpha && fail "alpha ended in round $round: $(tail -n 3 "$world/alpha/log")"
    grep root.missing "$world/alpha/log" && fail "what could not be opened was taken for a folder that is gone"
done
settle
[ "$(find "$alpha" -path "$alpha/.syncd" -prune -o -type f -print | wc -l)" -eq 600 ] || fail "files are missing: $(ls "$alpha")"
