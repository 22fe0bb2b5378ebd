#!/bin/busybox sh
# The first program of an emulated board: loads the drivers, writes the run's ssh
# key onto the disk, and hands over to systemd.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs devtmpfs /dev
for module in $(cat /modules/order); do insmod "/modules/$module"; done
while [ ! -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 /dev/vda /root
key=$(sed 's/.*ssh_key=\([^ ]*\).*/\1/' /proc/cmdline)
echo "ssh-ed25519 $key" >/root/etc/ssh/authorized_keys
umount /proc
mount -o move /dev /root/dev
exec switch_root /root /sbin/init
