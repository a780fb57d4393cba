#!/usr/bin/env bash
# Makes what a virtual machine of the tier vm starts from, into FOLDER: kernel, initrd, disk (Debian 12 with systemd and sshd) and the key
# of its root. Made once: what is there and was made by this script is left as it is. Usage: image.sh FOLDER
set -euo pipefail
recipe=$(sha256sum <"${BASH_SOURCE[0]}")
folder=$(realpath -m "${1:?say where to}")
if [ "$(cat "$folder/recipe" 2>/dev/null)" = "$recipe" ]; then exit 0; fi
mkdir -p "$folder"
cd "$folder"
rm -rf recipe root kernel-package modules
umask 022

# Services that would only make it slower to come up.
masked=(apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
    systemd-networkd-wait-online.service systemd-timesyncd.service getty@tty1.service serial-getty@ttyS0.service
    modprobe@.service dev-hugepages.mount dev-mqueue.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount
    sys-fs-fuse-connections.mount systemd-logind.service systemd-update-utmp.service systemd-update-utmp-runlevel.service)
# What the kernel needs until it sees the disk, in this order.
early=(virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk)

packages=systemd,systemd-sysv,udev,dbus,iproute2,kmod,procps,openssh-server,libuv1,libsqlite3-0,openssl,libinih1,libzstd1,libstdc++6
mmdebstrap --quiet --variant=minbase --include="$packages" --aptopt='Acquire::Languages "none"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' bookworm root /etc/apt/sources.list.d/debian.sources

mkdir kernel-package
chmod 777 kernel-package
name=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends:/ { print $2; exit }')
(cd kernel-package && apt-get --quiet --quiet download "$name")
dpkg-deb --extract kernel-package/*.deb modules
cp modules/boot/vmlinuz-* kernel
version=$(ls modules/lib/modules)

mkdir -p root/lib/modules/"$version"/kernel/drivers initrd-root/{m,dev,proc,root}
tree=modules/lib/modules/$version
cp -a "$tree"/modules.* root/lib/modules/"$version"/
for part in drivers/net/virtio_net.ko drivers/char/virtio_console.ko drivers/char/hw_random net/core drivers/net/net_failover.ko; do
    if [ -e "$tree/kernel/$part" ]; then
        mkdir -p "root/lib/modules/$version/kernel/$(dirname "$part")"
        cp -a "$tree/kernel/$part" "root/lib/modules/$version/kernel/$(dirname "$part")/"
    fi
done
depmod -b root "$version"

for module in "${early[@]}"; do find "$tree" -name "$module.ko" -exec cp {} initrd-root/m/ \; ; done
cp /bin/busybox initrd-root/busybox
cat >initrd-root/init <<INIT
#!/busybox sh
/busybox mount -t devtmpfs dev /dev
/busybox mount -t proc proc /proc
for module in ${early[*]}; do /busybox insmod /m/\$module.ko; done
options=rw
for word in \$(/busybox cat /proc/cmdline); do case \$word in rootflags=*) options=rw,\${word#rootflags=} ;; esac; done
until [ -b /dev/vda ]; do /busybox usleep 50000; done
/busybox mount -t ext4 -o \$options /dev/vda /root || /busybox poweroff -f
/busybox umount /proc
/busybox mount --move /dev /root/dev
exec /busybox switch_root /root /sbin/init
INIT
chmod +x initrd-root/init
(cd initrd-root && find . | cpio --quiet -o -H newc | gzip) >initrd

echo '/dev/vda / ext4 defaults 0 1' >root/etc/fstab
# The wire between the two, and what the rig gives its commands through. The kernel names cards by the slot that they are in.
for number in 1 2; do
    printf '[Match]\nMACAddress=52:54:00:77:00:0%d\n[Network]\nAddress=10.214.7.%d/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n' \
        $number $number >root/etc/systemd/network/10-wire-$number.network
done
printf '[Match]\nMACAddress=52:54:00:88:00:01 52:54:00:88:00:02\n[Network]\nAddress=10.0.2.15/24\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n' \
    >root/etc/systemd/network/20-rig.network
mkdir -p root/etc/systemd/system/multi-user.target.wants
ln -sf /lib/systemd/system/systemd-networkd.service root/etc/systemd/system/multi-user.target.wants/
for unit in "${masked[@]}"; do ln -sf /dev/null "root/etc/systemd/system/$unit"; done
# Emulated, on a machine that is busy: nobody is given up for being slow.
mkdir -p root/etc/systemd/system.conf.d
printf '[Manager]\nDefaultTimeoutStartSec=20min\nDefaultTimeoutStopSec=10min\nDefaultDeviceTimeoutSec=20min\n' >root/etc/systemd/system.conf.d/rig.conf
for unit in systemd-journald systemd-udevd systemd-networkd; do
    mkdir -p "root/etc/systemd/system/$unit.service.d"
    printf '[Service]\nWatchdogSec=0\n' >"root/etc/systemd/system/$unit.service.d/rig.conf"
done
printf 'virtio_net\n' >root/etc/modules-load.d/rig.conf
printf 'UseDNS no\nUsePAM no\n' >root/etc/ssh/sshd_config.d/rig.conf
: >root/etc/machine-id
rm -f key key.pub
ssh-keygen -q -t ed25519 -N '' -f key
mkdir -p root/root/.ssh
chmod 700 root/root/.ssh
cp key.pub root/root/.ssh/authorized_keys

rm -f disk
truncate -s 1200M disk
mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 -d root disk
rm -rf root modules kernel-package initrd-root
echo "$recipe" >recipe
