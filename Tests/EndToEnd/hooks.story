# the sample hooks show an alert on the desktop and send it by mail, with the words of the alert
new_world
mkdir "$world/bin"
for program in notify-send mail; do
    printf '#!/bin/sh\nprintf "[%%s]" "$@" >>"$0.said"\ncat >>"$0.said"\n' >"$world/bin/$program"
    chmod +x "$world/bin/$program"
done
hooks=$(realpath ../../config/hooks)
sed -i "s|^hook =.*|hook = $hooks/desktop|" "$world/alpha/syncd.conf"
sed -i "s|^hook =.*|hook = $hooks/mail admin@example.org|" "$world/beta/syncd.conf"
# shellcheck disable=SC2034
through_alpha=(env "PATH=$world/bin:$PATH") through_beta=(env "PATH=$world/bin:$PATH")
up alpha
up beta
pair
settle
for node in alpha beta; do mv "$world/$node/folder/.syncd/folder-id" "$world/marker-$node"; done
echo something >"$alpha/f"
soon "nothing is shown" test -s "$world/bin/notify-send.said"
soon "nothing is sent" grep -qs 'tells more' "$world/bin/mail.said"
grep -qF '[--urgency=critical][syncd: root.missing]' "$world/bin/notify-send.said" || fail "shown: $(cat "$world/bin/notify-send.said")"
grep -qF 'Mount or restore the folder' "$world/bin/notify-send.said" || fail "no cure is shown: $(cat "$world/bin/notify-send.said")"
grep -qF "[-s][syncd on $(uname -n): root.missing" "$world/bin/mail.said" || fail "sent: $(cat "$world/bin/mail.said")"
grep -qF '[admin@example.org]' "$world/bin/mail.said" || fail "sent to nobody: $(cat "$world/bin/mail.said")"
grep -qF '"code":"root.missing"' "$world/bin/mail.said" || fail "the alert is not sent: $(cat "$world/bin/mail.said")"
grep -q 'hook.failed' "$world/alpha/log" "$world/beta/log" && fail "a hook failed: $(grep hook.failed "$world"/*/log)"
for node in alpha beta; do mv "$world/marker-$node" "$world/$node/folder/.syncd/folder-id"; done
settle
