#!/usr/bin/env bash
# Makes what the boards boot, from Debian's packages.
#
# Usage: image.sh containers FOLDER RELEASE...
#        image.sh arm FOLDER CONTAINERS RELEASE-PAGES=KERNEL-PACKAGE...
#
# "containers" makes a root file system of each release for this machine's processor.
# "arm" makes of these the disks of emulated ARM machines, and kernels for sizes of
# memory pages, such as trixie-16k, with their initial RAM disks.
set -euo pipefail
what=$1
folder=$(realpath "$2")
shift 2
recipe=$(realpath "$(dirname "$0")")
work=$(mktemp -d -p "$folder")
trap 'rm -rf "$work"' EXIT

make_container() {
  local release=$1 root=$folder/$1 log=$work/$1.log
  local packages=curl,dbus,iproute2,jq,openssh-server,procps,python3,sudo,systemd,systemd-sysv,tzdata,udev
  # Without an ID of the machine, systemd would take each boot for the first one
  mmdebstrap --mode=root --variant=minbase --include=$packages \
    --skip=cleanup/reproducible/machine-id "$release" "$root" 2>"$log" ||
    { tail -20 "$log"; return 1; }
  configure "$root"
}

# Configures the board as the guide expects it: on a network, with a user who can
# log in and use sudo.
configure() {
  local root=$1
  rm -f "$root/etc/resolv.conf" # its network has no name server
  echo board >"$root/etc/hostname"
  echo 127.0.0.1 localhost board >"$root/etc/hosts"
  chroot "$root" useradd --create-home --shell /bin/bash --groups sudo,adm pi
  echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
  # The key of each run is written there when the board boots
  echo 'AuthorizedKeysFile /etc/ssh/authorized_keys' \
    >"$root/etc/ssh/sshd_config.d/board.conf"
  # An emulated machine has a card e…, a container has host0. The number puts this
  # file before systemd's own for containers
  cat >"$root/etc/systemd/network/10-board.network" <<'END'
[Match]
Name=e* host0
[Network]
Address=10.0.2.15/24
Gateway=10.0.2.2
END
  chroot "$root" systemctl --quiet enable systemd-networkd
}

# Makes a disk for ARM: a container's files, which Debian's scripts have configured on
# this machine's processor, with those of the same packages for ARM in their place.
# Emulated, the scripts would take seven minutes.
make_disk() {
  local release=$1 container=$containers/$1 root=$work/$1/root arm=$work/$1/arm
  local log=$work/$1.log native packages
  mkdir -p "$work/$release"
  cp -a "$container" "$root"
  speed_up "$root"
  native=$(dpkg --print-architecture)
  if [ "$native" != arm64 ]; then
    packages=$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${Package},')
    mmdebstrap --mode=root --arch=arm64 --variant=extract \
      --include="${packages%,}" "$release" "$arm" 2>"$log" ||
      { tail -20 "$log"; return 1; }
    find "$root" -depth -name '*x86_64-linux-gnu*' -exec rm -r {} +
    rm "$root/etc/ld.so.cache"
    # mmdebstrap copies this machine's name and name servers, with which each sudo on
    # the board would wait for 20 s
    rm "$arm/etc/hostname" "$arm/etc/resolv.conf"
    tar -C "$arm" --exclude=./dev --exclude=./var/lib/dpkg -c . |
      tar -C "$root" -x --keep-directory-symlink
    rename_architecture "$root/var/lib/dpkg" "$native"
  fi
  mke2fs -q -t ext4 -d "$root" "$folder/disk-$release.ext4" 1500M
  rm -rf "${work:?}/$release/root" "$arm"
}

# Makes dpkg's database one of a system for ARM
rename_architecture() {
  local database=$1 native=$2 file
  sed -i "s/^Architecture: $native$/Architecture: arm64/" "$database/status"
  for file in "$database"/arch*; do echo arm64 >"$file"; done
  for file in "$database/info/"*":$native."*; do
    mv "$file" "${file/:$native./:arm64.}"
  done
}

# Switches off what makes an emulated boot or `systemctl daemon-reload` take twice as
# long, and what no check needs. The console only shows the kernel's messages.
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

# Unpacks a kernel, and makes an initial RAM disk with the drivers of the emulated
# disk, network card and 1-Wire bus.
make_kernel() {
  local name=${1%%=*} package=${1#*=} version
  local kernel=$work/$name/kernel initrd=$work/$name/initrd
  mkdir -p "$kernel" "$initrd"/{bin,dev,modules,proc,root}
  (cd "$kernel" && apt-get -qq -o APT::Sandbox::User=root \
    download "$package:arm64" busybox-static:arm64)
  for file in "$kernel"/*.deb; do dpkg -x "$file" "$kernel"; done
  cp "$kernel"/boot/vmlinuz-* "$folder/vmlinuz-$name"
  cp "$kernel/bin/busybox" "$initrd/bin"
  cp "$recipe/init.sh" "$initrd/init"

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
    >"$folder/initrd-$name"
}

# Runs a function for each of the other arguments, side by side
for_each() {
  local function=$1 argument jobs=() job
  shift
  for argument in "$@"; do
    $function "$argument" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job"; done
}

case $what in
containers)
  echo "Installing Debian: $*, which takes about a minute"
  for_each make_container "$@"
  ;;
arm)
  containers=$1
  shift
  echo "Making disks for ARM: ${*%%=*}, which takes about a minute"
  for_each make_kernel "$@"
  readarray -t releases < <(printf '%s\n' "${@%%-*}" | sort -u)
  for_each make_disk "${releases[@]}"
  ;;
esac
