# a daemon asks nothing of Linux that its unit forbids
needs strace systemd-analyze
unit=$(realpath ../../systemd/syncd.service)
# calls GROUP...: the system calls in groups of systemd, one a line; a group may hold others.
calls() {
    local word
    for word; do
        if [[ $word != @* ]]; then echo "$word"; continue; fi
        # shellcheck disable=SC2046
        calls $(systemd-analyze syscall-filter "$word" | sed -nE '2,$s/^ +([^# ]+)$/\1/p')
    done
}
new_world
# shellcheck disable=SC2046
calls $(sed -n 's/^SystemCallFilter=\([^~]\)/\1/p' "$unit") | sort -u >"$world/allowed"
# shellcheck disable=SC2046
calls $(sed -n 's/^SystemCallFilter=~//p' "$unit") | sort -u >"$world/denied"
[ "$(wc -l <"$world/allowed")" -gt 100 ] && [ "$(wc -l <"$world/denied")" -gt 20 ] ||
    skip "this systemd-analyze does not name the system calls: $(head -n 2 "$world/allowed")"
# shellcheck disable=SC2034
through_beta=(strace -D -f -qq -o "$world/trace")
up alpha
up beta
grep -q openat2 "$world/trace" 2>"$world/out" || skip "strace cannot trace here: $(tail -n 1 "$world/beta/log")"
pair
settle
mkdir "$alpha/d" && echo one >"$alpha/d/one" && ln -s nowhere "$alpha/link" && head -c 3M /dev/urandom >"$beta/large"
settle
mv "$alpha/d" "$alpha/moved" && echo two >>"$beta/link.txt" && head -c 100 /dev/urandom >>"$alpha/large"
settle
down alpha
echo here >"$alpha/both"
echo there >"$beta/both"
up alpha
settle
ctl beta doctor >"$world/out"
ctl beta verify >"$world/out"
ctl beta history both >"$world/out"
ctl beta reload >"$world/out"
down beta
sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p; s/^[0-9]+ <\.\.\. ([a-z_0-9]+) resumed.*/\1/p' "$world/trace" | sort -u >"$world/asked"
[ "$(wc -l <"$world/asked")" -gt 40 ] || fail "the trace shows little: $(tr '\n' ' ' <"$world/asked")"
comm -13 "$world/allowed" "$world/asked" >"$world/forbidden"
comm -12 "$world/denied" "$world/asked" >>"$world/forbidden"
# Only root is given a watch on the whole file system, and whoever is refused does without (Sources/Disk/Fanotify.swift); SQLite
# gives files to their owner as root only. The service is not root.
grep -vxE 'fanotify_(init|mark)|fchown' "$world/forbidden" >"$world/others"
[ ! -s "$world/others" ] || fail "forbidden: $(tr '\n' ' ' <"$world/others")"
