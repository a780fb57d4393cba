# a database with a write-ahead log that is written all the time is whole on the other node once the writer stops
needs sqlite3
paired_world
statements() {
    local n
    echo 'pragma journal_mode = wal; pragma wal_autocheckpoint = 20;'
    echo 'create table if not exists t (id integer primary key, body blob);'
    for ((n = 0; n < $1; n++)); do
        echo 'begin; insert into t (body) values (randomblob(3000));'
        echo "update t set body = randomblob(2000) where id % 7 = $((n % 7)); commit;"
        sleep 0.01
    done
}
count() { sqlite3 "$1/data.db" 'select count(*) from t' 2>&1; }
whole() {
    [ "$(sqlite3 "$1/data.db" 'pragma integrity_check' 2>&1)" = ok ] || fail "the database is broken in $1"
}

# One program that keeps its connection, so that -wal and -shm lie beside the database all the time.
statements 6000 | sqlite3 -bail "$alpha/data.db" >"$world/written" 2>&1 &
writer=$!
soon "the writer does not begin" test -s "$alpha/data.db-wal"
echo beside >"$alpha/beside"
soon "the database holds up another file" test -e "$beta/beside"
sleep 1
# It dies in the middle: the last transactions are in the log only.
kill -9 "$writer" || fail "the writer was too fast: $(cat "$world/written")"
wait "$writer" 2>/dev/null
# It was written through mmap, of which nobody tells, and is made anew by whoever opens the database next.
rm "$alpha/data.db-shm"
settle
[ -s "$beta/data.db-wal" ] || fail "the log of the dead writer did not arrive"
written=$(count "$beta")
whole "$beta"
settle
whole "$alpha"
[ "$(count "$alpha")" = "$written" ] || fail "alpha has $(count "$alpha") rows and beta $written"
[ "$written" -gt 10 ] || fail "only $written rows were written"

# The next writer is on the other node and ends in order. (Whoever reads such a database makes a log beside it, and removes it.)
settle
statements 30 | sqlite3 -bail "$beta/data.db" >"$world/written" 2>&1 || fail "$(cat "$world/written")"
settle
[ "$(count "$alpha")" = "$((written + 30))" ] || fail "alpha has $(count "$alpha") rows of $((written + 30))"
whole "$alpha"
no_conflicts
