#!/usr/bin/env bash
# Makes the images of the emulated boards, from Debian's packages: a disk with
# Debian for arm64, and for each page size a kernel and its initial RAM disk.
#
# Usage: image.sh FOLDER SUITE SIZE=KERNEL-PACKAGE...
set -euo pipefail
folder=$(realpath "$1") suite=$2
shift 2
recipe=$(realpath "$(dirname "$0")")
work=$(mktemp -d -p "$folder")
binfmt=/proc/sys/fs/binfmt_misc

# Reverts every change to this machine
clean_up() {
  [ -z "${registered-}" ] || echo -1 >$binfmt/qemu-aarch64
  [ -z "${mounted-}" ] || umount $binfmt
  rm -rf "$work"
}
trap clean_up EXIT

# Makes the kernel run ARM programs with qemu-aarch64-static
register_emulator() {
  if [ ! -e $binfmt/register ]; then
    mount -t binfmt_misc binfmt_misc $binfmt
    mounted=yes
  fi
  if [ ! -e $binfmt/qemu-aarch64 ]; then
    cat /usr/lib/binfmt.d/qemu-aarch64.conf >$binfmt/register
    registered=yes
  fi
}

install_debian() {
  local packages=curl,dbus,iproute2,openssh-server,procps,sudo,systemd,systemd-sysv,udev
  debootstrap --arch=arm64 --variant=minbase --include=$packages \
    "$suite" "$work/root" >"$work/log" || { tail -20 "$work/log"; return 1; }
  rm -rf "$work"/root/var/{cache/apt,lib/apt/lists}/*
  configure_debian "$work/root"
}

# Configures the board as the guide expects it: on a network, with a user who can
# log in and use sudo.
configure_debian() {
  local root=$1
  echo board >"$root/etc/hostname"
  echo 127.0.0.1 localhost board >"$root/etc/hosts"
  chroot "$root" useradd --create-home --shell /bin/bash --groups sudo,adm pi
  echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
  # The initial RAM disk writes the key of this run there
  echo 'AuthorizedKeysFile /etc/ssh/authorized_keys' \
    >"$root/etc/ssh/sshd_config.d/board.conf"
  cat >"$root/etc/systemd/network/board.network" <<'END'
[Match]
Name=e*
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
END
  chroot "$root" systemctl --quiet enable systemd-networkd
  # The console only shows the kernel's messages; these units slow the boot down
  chroot "$root" systemctl --quiet mask serial-getty@ttyAMA0.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
    e2scrub_all.timer e2scrub_reap.service getty@tty1.service
}

# Unpacks a kernel, and makes an initial RAM disk with the drivers of the
# emulated disk and network card.
install_kernel() {
  local size=$1 package=$2 kernel=$work/$1 initrd=$work/initrd-$1 version
  mkdir -p "$kernel" "$initrd"/{bin,dev,modules,proc,root}
  (cd "$kernel" && apt-get -qq -o APT::Sandbox::User=root \
    download "$package:arm64" busybox-static:arm64)
  for file in "$kernel"/*.deb; do dpkg -x "$file" "$kernel"; done
  cp "$kernel"/boot/vmlinuz-* "$folder/vmlinuz-$size"
  cp "$kernel/bin/busybox" "$initrd/bin"
  cp "$recipe/init" "$initrd/init"

  version=$(ls "$kernel/lib/modules")
  depmod -b "$kernel" "$version"
  for module in virtio_pci virtio_blk ext4 virtio_net autofs4; do
    modprobe -d "$kernel" -S "$version" --show-depends $module
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
    while read -r file; do
      cp "$file" "$initrd/modules"
      basename "${file%.xz}" >>"$initrd/modules/order"
    done
  find "$initrd/modules" -name '*.xz' -exec xz -d {} +
  (cd "$initrd" && find . | cpio --quiet -o -H newc | gzip -1) \
    >"$folder/initrd-$size"
}

for kernel in "$@"; do
  echo "Unpacking ${kernel#*=}"
  install_kernel "${kernel%%=*}" "${kernel#*=}"
done
echo "Installing Debian ($suite) for arm64, which takes two to four minutes"
register_emulator
install_debian
mke2fs -q -t ext4 -d "$work/root" "$folder/disk.ext4" 1G
