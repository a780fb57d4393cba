# removing the package keeps configuration, key and state; purging takes those, and never a file of a folder
install_on alpha
install_on beta
pair
user alpha 'echo mine >mine; mkdir d; echo two >d/two'
settle
user alpha 'echo later >mine'
settle
halt alpha
on alpha dpkg --remove syncd >"$world/out" 2>&1 || fail "$(cat "$world/out")"
for file in /etc/syncd/syncd.conf /var/lib/syncd/default/state.db /var/lib/syncd/default/identity/key.pem; do
    on alpha test -e "$file" || fail "removing takes $file"
done
install_on alpha
boot alpha
user beta 'echo again >again'
settle
halt alpha
# A folder may lie beside the state.
on alpha install -d -o syncd -g syncd /var/lib/syncd/near/.syncd /var/lib/syncd/near/identity
picture() { on alpha bash -c "cd /srv/shared && find . -printf '%i %m %s %T@ %p\n' | LC_ALL=C sort | sha256sum"; }
before=$(picture)
on alpha dpkg --purge syncd >"$world/out" 2>&1 || fail "$(cat "$world/out")"
[ "$(picture)" = "$before" ] || fail "purging touched the folder"
grep -q 'shared folders were left alone' "$world/out" || fail "it does not say so: $(cat "$world/out")"
for file in /etc/syncd/syncd.conf /var/lib/syncd/default /usr/sbin/syncd /run/syncd; do
    ! on alpha test -e "$file" || fail "purging leaves $file"
done
on alpha test -d /var/lib/syncd/near || fail "purging takes a shared folder"
