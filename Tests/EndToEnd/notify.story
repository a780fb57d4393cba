# the service manager hears when a node is ready, how it is, that it lives, reads its configuration again, and stops
needs perl
new_world
# One message a line: lines of one message are joined by a bar.
perl -MSocket -e '
    socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die "socket: $!";
    bind($socket, pack_sockaddr_un($ARGV[0])) or die "bind: $!";
    $| = 1;
    while (defined recv($socket, my $text, 4096, 0)) { $text =~ tr/\n/|/; print "$text\n" }
' "$world/notify" >>"$world/heard" &
echo $! >"$world/beta/pid"
soon "nobody listens" test -S "$world/notify"
hears() { grep -q -e "$1" "$world/heard"; }
forget() { : >"$world/heard"; }
hears_often() { [ "$(grep -c -e "$1" "$world/heard")" -ge 3 ]; }
# shellcheck disable=SC2034
through_alpha=(env "NOTIFY_SOCKET=$world/notify" WATCHDOG_USEC=500000)
up alpha
soon "it is never ready" hears '^READY=1$'
first=$(grep -m 1 -n '^READY=1$' "$world/heard" | cut -d : -f 1)
grep -n '^STATUS=' "$world/heard" | head -n 1 | grep -q . || fail "it does not say how it is"
head -n "$first" "$world/heard" | grep -q '^STATUS=' || fail "it is silent until it is ready: $(cat "$world/heard")"
soon "it does not say that it lives" hears_often '^WATCHDOG=1$'
forget

# A reload: begun by the clock of systemd, and over.
sed -i 's|^delete-fuse-files = .*|delete-fuse-files = 60|' "$world/alpha/syncd.conf"
ctl alpha reload >"$world/out" || fail "reload: $(cat "$world/out")"
soon "it does not say that it reloads" hears '^RELOADING=1|MONOTONIC_USEC=[0-9]*$'
soon "the reload is never over" hears '^READY=1$'
began=$(sed -n 's/^RELOADING=1|MONOTONIC_USEC=//p' "$world/heard")
now=$(perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'printf "%d", clock_gettime(CLOCK_MONOTONIC) * 1e6')
[ "$began" -le "$now" ] && [ "$began" -gt $((now - patience * 1000000)) ] || fail "it began at $began, it is $now"
forget
# By the signal, of a configuration that cannot be used: over as well.
echo 'no-such-key = 1' >>"$world/alpha/syncd.conf"
kill -HUP "$(cat "$world/alpha/pid")"
soon "it does not say that it reloads" hears '^RELOADING=1'
soon "the reload is never over" hears '^READY=1$'
ctl alpha reload >"$world/out" 2>&1 && fail "a configuration that cannot be used counts as read again"
"$programs/syncctl" --socket "$world/alpha/control" reload >"$world/out" 2>&1
[ $? -eq 1 ] && grep -q 'no-such-key' "$world/out" || fail "it does not say what is wrong: $(cat "$world/out")"
sed -i '/^no-such-key/d' "$world/alpha/syncd.conf"
forget
down alpha
[ "$ended" -eq 0 ] || fail "it ended with $ended"
hears '^STOPPING=1' || fail "it does not say that it stops"

# A folder that is away: ready, says so, lives, bears the signal, and stops when it is told to.
forget
mv "$alpha" "$world/away"
launch alpha
soon "it does not wait for the folder" hears '^READY=1|STATUS=root.missing'
kill -HUP "$(cat "$world/alpha/pid")"
forget
soon "it does not live any more" hears_often '^WATCHDOG=1$'
is_down alpha && fail "the signal ended it: $(tail -n 2 "$world/alpha/log")"
down alpha
[ "$ended" -eq 0 ] || fail "it ended with $ended"
soon "it does not say that it stops" hears '^STOPPING=1'
forget

# A start that is refused says why as well.
down alpha
printf '\0\0\0\143' | dd of="$world/alpha/state/state.db" bs=1 seek=60 conv=notrunc 2>/dev/null
launch alpha
ended=0
wait "$(cat "$world/alpha/pid")" || ended=$?
[ "$ended" -eq 65 ] || fail "state of a later syncd: alpha ended with $ended"
soon "it does not say why it does not run" hears '^STATUS=statedb.newer: .*(format 99; this one knows up to [0-9]*)'
