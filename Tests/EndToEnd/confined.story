# a daemon that is up opens nothing but its folder, its state, its configuration and its socket
[ -z "${TSAN_OPTIONS:-}" ] || skip "the thread sanitizer opens what it needs to name a place in the code"
needs strace
new_world
# With -D it is the daemon that is waited for and ended, not the one who watches it.
# shellcheck disable=SC2034
through_beta=(strace -D -f -qq -e 'trace=%file' -s 4096 -o "$world/trace")
up alpha
up beta
grep -q '"/' "$world/trace" 2>"$world/out" || skip "strace cannot trace here: $(tail -n 1 "$world/beta/log")"
soon "beta is never ready" grep -q 'node.started: ready' "$world/beta/log"
mark=$(wc -l <"$world/trace")
pair
mkdir "$alpha/d" && echo one >"$alpha/d/one" && ln -s nowhere "$alpha/link"
settle
echo two >>"$beta/d/one" && mv "$beta/d" "$beta/moved"
settle
ctl beta doctor >"$world/out"
ctl beta alerts >"$world/out"
ctl beta reload >"$world/out"
down alpha
up alpha
settle
rm -r "$alpha/moved"
settle
tail -n +$((mark + 1)) "$world/trace" >"$world/traced"
grep -q "folder" "$world/traced" || fail "the trace shows nothing: $(head -n 3 "$world/traced")"
# Relative names lie below a directory that is open, but for those of the working directory. /proc/self/fd is how Linux
# watches what is open already.
strangers() {
    grep -oE '(AT_FDCWD, )?"[^"]*"' "$world/traced" | grep -E '^AT_FDCWD, |^"/' | sed 's/^AT_FDCWD, //' |
        grep -vF -e "\"$world/beta/" -e '"/proc/self/fd/' | sort | uniq -c
}
[ -z "$(strangers)" ] || fail "beta has looked at other places: $(strangers)"
