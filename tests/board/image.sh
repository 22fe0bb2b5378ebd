#!/usr/bin/env bash
# Makes the images of the emulated boards, from Debian's packages: for each, a disk
# with a release of Debian for arm64, a kernel and its initial RAM disk.
#
# Usage: image.sh FOLDER RELEASE=KERNEL-PACKAGE...
set -euo pipefail
folder=$(realpath "$1")
shift
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
  local release=$1 root=$work/$1/root log=$work/$1.log
  local packages=curl,dbus,iproute2,jq,openssh-server,procps,python3,sudo,systemd,systemd-sysv,tzdata,udev
  # Without an ID of the machine, systemd would take each boot for the first one
  mmdebstrap --mode=root --arch=arm64 --variant=minbase --include=$packages \
    --skip=cleanup/reproducible/machine-id \
    "$release" "$root" 2>"$log" || { tail -20 "$log"; return 1; }
  configure_debian "$root"
  mke2fs -q -t ext4 -d "$root" "$folder/disk-$release.ext4" 1500M
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
  speed_up "$root"
}

# Switches off what makes a boot or `systemctl daemon-reload` take twice as long, and
# what no check needs. The console only shows the kernel's messages.
speed_up() {
  local root=$1 system=$1/etc/systemd generator
  chroot "$root" systemctl --quiet mask serial-getty@ttyAMA0.service \
    apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
    e2scrub_all.timer e2scrub_reap.service getty@tty1.service \
    dev-hugepages.mount modprobe@.service sys-kernel-debug.mount \
    sys-kernel-tracing.mount systemd-binfmt.service systemd-logind.service \
    systemd-modules-load.service systemd-network-generator.service \
    systemd-update-utmp.service systemd-update-utmp-runlevel.service
  mkdir -p "$system"/{system-generators,system/systemd-udev-trigger.service.d}
  for generator in "$root"/usr/lib/systemd/system-generators/*; do
    ln -s /dev/null "$system/system-generators/${generator##*/}"
  done
  cat >"$system/system/systemd-udev-trigger.service.d/board.conf" <<'END'
[Service]
ExecStart=
ExecStart=udevadm trigger --action=add --subsystem-match=net
ExecStart=udevadm trigger --action=add --sysname-match=ttyAMA0
END
}

# Unpacks a kernel, and makes an initial RAM disk with the drivers of the
# emulated disk, network card and 1-Wire bus.
install_kernel() {
  local release=$1 package=$2 kernel=$work/$1/kernel initrd=$work/$1/initrd version
  mkdir -p "$kernel" "$initrd"/{bin,dev,modules,proc,root}
  (cd "$kernel" && apt-get -qq -o APT::Sandbox::User=root \
    download "$package:arm64" busybox-static:arm64)
  for file in "$kernel"/*.deb; do dpkg -x "$file" "$kernel"; done
  cp "$kernel"/boot/vmlinuz-* "$folder/vmlinuz-$release"
  cp "$kernel/bin/busybox" "$initrd/bin"
  cp "$recipe/init" "$initrd/init"

  version=$(ls "$kernel/lib/modules")
  depmod -b "$kernel" "$version"
  for module in virtio_pci virtio_blk ext4 virtio_net autofs4 wire; do
    modprobe -d "$kernel" -S "$version" --show-depends $module
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
    while read -r file; do
      cp "$file" "$initrd/modules"
      basename "${file%.xz}" >>"$initrd/modules/order"
    done
  find "$initrd/modules" -name '*.xz' -exec xz -d {} +
  (cd "$initrd" && find . | cpio --quiet -o -H newc | gzip -1) \
    >"$folder/initrd-$release"
}

for board in "$@"; do
  echo "Unpacking ${board#*=}"
  install_kernel "${board%%=*}" "${board#*=}"
done
echo "Installing Debian for arm64: ${*%%=*}, which takes about eight minutes"
register_emulator
installations=()
for board in "$@"; do
  install_debian "${board%%=*}" &
  installations+=($!)
done
for installation in "${installations[@]}"; do wait "$installation"; done
