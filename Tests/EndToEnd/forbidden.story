# what the daemon may not read or write is an alert on that node, given to the hook once, while it is so, over a restart too
needs_root
needs setpriv
as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
"${as_nobody[@]}" "$programs/syncd" --version >/dev/null 2>&1 || skip "another user may not run $programs/syncd"
new_places
chmod 755 "$world"
chown 65534:65534 "$world"/{alpha,beta} "$alpha" "$beta"
# shellcheck disable=SC2034
through_alpha=("${as_nobody[@]}") through_beta=("${as_nobody[@]}")
set_up
printf '#!/bin/sh\ncat >>%s\n' "$world/given" >"$world/hook"
: >"$world/given"
chmod 755 "$world/hook"
chmod 666 "$world/given"
sed -i "s|^hook =.*|hook = $world/hook|" "$world/alpha/syncd.conf"
given() { [ "$(grep -c '"code":"path\.permission"' "$world/given")" -eq "$1" ]; }
up alpha
up beta
pair
settle
# exits NODE STATUS
exits() {
    local status=0
    ctl "$1" status >"$world/status" 2>&1 || status=$?
    [ "$status" -eq "$2" ]
}

# A file that is closed to it.
"${as_nobody[@]}" sh -c "umask 077; echo base >'$alpha/later'"
settle
chmod 000 "$alpha/later"
soon "alpha does not say why it waits" waits_for alpha path.permission
soon "nobody is told of a file that cannot be read" warns_of alpha path.permission
exits alpha 1 || fail "scripts are not told that alpha needs somebody: $(cat "$world/status")"
soon "the hook is not run" given 1
down alpha
up alpha
soon "alpha does not look at its folder again" tells alpha '"state":"waiting"' status
# What the last process had open and this one does not raise would be over by now.
sleep 3
warns_of alpha path.permission || fail "the alert is gone with the process: $(cat "$world/told")"
given 1 || fail "the hook is given one alert twice: $(cat "$world/given")"
chmod 600 "$alpha/later"
soon "the alert stays although the file can be read" warns_no_more_of alpha path.permission
settle
exits alpha 0 || fail "alpha is not content: $(cat "$world/status")"

# A folder in which it may not make anything.
chmod 555 "$alpha"
echo new >"$beta/new"
soon "nobody is told of a folder that cannot be written" warns_of alpha path.permission
exits alpha 1 || fail "scripts are not told that alpha needs somebody: $(cat "$world/status")"
chmod 755 "$alpha"
soon "the alert stays although the folder can be written" warns_no_more_of alpha path.permission
settle

# Rules that count and are closed to it: what they leave out is not told because their directory is moved.
"${as_nobody[@]}" sh -c "umask 022; mkdir '$alpha/ruled'; echo secret >'$alpha/ruled/.syncignore'"
settle
"${as_nobody[@]}" sh -c "umask 022; echo s >'$alpha/ruled/secret'"
settle_but_for_secrets() { agree && [ ! -e "$beta/ruled/secret" ]; }
settle_but_for_secrets || fail "what rules leave out is told"
chmod 000 "$alpha/ruled/.syncignore"
soon "nobody is told of rules that cannot be read" warns_of alpha path.permission
mv "$alpha/ruled" "$alpha/moved"
sleep 5
[ ! -e "$beta/moved/secret" ] || fail "what rules left out is told where their directory is moved"
chmod 644 "$alpha/moved/.syncignore"
soon "the alert stays although the rules can be read" warns_no_more_of alpha path.permission
agree
[ ! -e "$beta/moved/secret" ] || fail "what rules left out is told when they can be read again"

# So it is where everything waits for them already: because another directory was moved, or since the start.
mkdir "$alpha/beside"
agree
chmod 000 "$alpha/moved/.syncignore"
soon "nobody is told of rules that cannot be read" warns_of alpha path.permission
mv "$alpha/beside" "$alpha/aside"
sleep 3
mv "$alpha/moved" "$alpha/again"
sleep 5
[ ! -e "$beta/again/secret" ] || fail "what rules left out is told where their directory is moved after another"
chmod 644 "$alpha/again/.syncignore"
soon "the alert stays although the rules can be read" warns_no_more_of alpha path.permission
agree
chmod 000 "$alpha/again/.syncignore"
down alpha
up alpha
soon "nobody is told of rules that cannot be read after a start" warns_of alpha path.permission
mv "$alpha/again" "$alpha/last"
sleep 5
[ ! -e "$beta/last/secret" ] || fail "what rules left out is told where their directory is moved after a start"
chmod 644 "$alpha/last/.syncignore"
soon "the alert stays although the rules can be read" warns_no_more_of alpha path.permission
agree
[ ! -e "$beta/last/secret" ] || fail "what rules left out is told when they can be read again"
