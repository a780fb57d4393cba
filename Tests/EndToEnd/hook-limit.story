# an alert hook that hangs is ended, with what it has started, after 30 s; files sync all the while, and the next alert is given to it
new_world
cat >"$world/hook" <<HOOK
#!/bin/sh
cat >>"$world/given"
if [ -e "$world/once" ]; then exit 0; fi
: >"$world/once"
trap '' TERM INT HUP
sleep 1000 &
echo \$\$ \$! >"$world/hanging"
wait
HOOK
chmod +x "$world/hook"
sed -i "s|^hook =.*|hook = $world/hook|" "$world/alpha/syncd.conf"
up alpha
up beta
pair
settle
# alarm: an alert, and its end.
alarm() {
    mv "$alpha/.syncd/folder-id" "$world/marker"
    soon "alpha does not miss its marker" warns_of alpha root.missing
    mv "$world/marker" "$alpha/.syncd/folder-id"
    soon "alpha does not see its marker" warns_no_more_of alpha root.missing
}
alarm
soon "the hook was not run" test -s "$world/hanging"
alarm
given() { [ "$(grep -c '"code":"root\.missing"' "$world/given")" -eq "$1" ]; }
is_ended() { grep -q 'hook.failed: the alert hook took more than 30 s and was ended' "$world/alpha/log"; }
number=0
# Whatever is saved meanwhile goes over, both ways, as long as it hangs.
until is_ended; do
    given 1 || fail "two hooks run at a time: $(cat "$world/given")"
    number=$((number + 1))
    [ "$number" -le 600 ] || fail "the hook is never ended"
    echo "$number" >"$alpha/there"
    echo "$number" >"$beta/back"
    settle
    sleep 0.2
done
[ "$number" -ge 5 ] || fail "the hook was ended before anything was to be seen: after $number rounds"
is_gone() { ! kill -0 "$1" 2>/dev/null; }
read -r shell child <"$world/hanging"
soon "the hook lives on" is_gone "$shell"
soon "what the hook has started lives on" is_gone "$child"
soon "the alert that waited was not given to it" given 2
settle
