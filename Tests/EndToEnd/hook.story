# each alert is given once to the administrator's command, as JSON, and a command that fails harms nobody
new_world
cat >"$world/hook" <<'HOOK'
#!/bin/sh
cat >>"$1"
exit 5
HOOK
chmod +x "$world/hook"
sed -i "s|^hook =.*|hook = $world/hook $world/alerts|" "$world/alpha/syncd.conf"
up alpha
up beta
pair
settle
mv "$alpha/.syncd/folder-id" "$world/marker"
echo something >"$alpha/f"
soon "the hook was not run" test -s "$world/alerts"
mv "$world/marker" "$alpha/.syncd/folder-id"
settle
[ "$(grep -c '"code":"root\.' "$world/alerts")" -eq 1 ] || fail "not one line for one alert: $(cat "$world/alerts")"
grep -q '"severity":"serious".*"state":"open"' "$world/alerts" || fail "it is not the alert: $(cat "$world/alerts")"
grep -q 'hook.failed: the alert hook ended with 5' "$world/alpha/log" || fail "nobody is told that the hook failed"

# A command that takes its time holds up nothing but other alerts.
printf '#!/bin/sh\ncat >/dev/null\n: >"%s"\nsleep 100\n' "$world/begun" >"$world/slow"
chmod +x "$world/slow"
sed -i "s|^hook =.*|hook = $world/slow|" "$world/alpha/syncd.conf"
ctl alpha reload >"$world/out" || fail "reload: $(cat "$world/out")"
grep -q 'config.reloaded: alerts.hook: in use from now on' "$world/alpha/log" || fail "the journal does not say what is in use"
mv "$alpha/.syncd/folder-id" "$world/marker"
soon "the slow hook was not run" test -e "$world/begun"
mv "$world/marker" "$alpha/.syncd/folder-id"
echo meanwhile >"$alpha/g"
echo back >"$beta/h"
settle
[ "$(cat "$beta/g") $(cat "$alpha/h")" = "meanwhile back" ] || fail "files wait for the hook"
if grep -q 'the alert hook took more than' "$world/alpha/log"; then fail "the hook was ended before the files had come: nothing is shown by this"; fi

# A hook that is not there is used all the same, for it may come yet; but it is said at once, and the daemon starts with it.
sed -i "s|^hook =.*|hook = $world/no-hook|" "$world/alpha/syncd.conf"
ctl alpha reload >"$world/out" || fail "reload: $(cat "$world/out")"
grep -qF "alerts.hook: it cannot be run: There is no program \"$world/no-hook\"" "$world/out" ||
    fail "reload does not tell of the missing hook: $(cat "$world/out")"
tells alpha '"check":"hook"' doctor || fail "doctor does not tell of the missing hook: $(cat "$world/told")"
down alpha
up alpha
[ "$(grep -c 'hook.failed: the alert hook cannot be run: There is no program' "$world/alpha/log")" -eq 2 ] ||
    fail "the journal does not tell of the missing hook once at each time: $(cat "$world/alpha/log")"
