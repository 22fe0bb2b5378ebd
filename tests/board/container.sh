#!/usr/bin/env bash
# Makes the image of a board, and boots a board from it, as a container.
#
# Usage: container.sh image FOLDER RELEASE
#        container.sh boot IMAGE FOLDER
#
# "image" installs a release of Debian in a new folder. "boot" mounts everything over
# FOLDER, in namespaces of its own and in memory, prints the id of a process in these
# namespaces, and runs until its standard input ends. Then nothing is left. In these
# namespaces, FOLDER has
#   root     the board's files
#   console  what its boot has printed
#   pc       the folder of a PC in the board's network. Its "card" is the board's root: a
#            board starts again when it has ended, but not while there is a file "off"
set -euo pipefail
board=10.0.2.15 pc=10.0.2.2

make_image() {
  local root=$1 release=$2
  local packages=curl,dbus,iproute2,jq,openssh-server,procps,python3,sudo,systemd,systemd-sysv,tzdata,udev
  trap 'kill -KILL $! 2>/dev/null; wait $!; rm -rf "$root"; exit 1' ERR INT TERM
  # Without an ID of the machine, systemd would take each boot for the first one
  unshare --mount --pid --mount-proc --fork --kill-child \
    mmdebstrap --quiet --mode=root --variant=minbase --include=$packages \
    --skip=cleanup/reproducible/machine-id "$release" "$root" </dev/null &
  wait $!
  rm -f "$root/etc/resolv.conf" # its network has no name server
  echo board >"$root/etc/hostname"
  echo "127.0.0.1 localhost board" >"$root/etc/hosts"
  chroot "$root" useradd --create-home --shell /bin/bash --groups sudo,adm pi
  echo 'pi ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/pi"
  # The processor's temperature, as each Raspberry Pi has it
  mkdir -p "$root/srv/thermal/thermal_zone0"
  echo 48312 >"$root/srv/thermal/thermal_zone0/temp"
  echo /srv/thermal /sys/class/thermal none bind >"$root/etc/fstab"
  # The number puts this file before systemd's own
  cat >"$root/etc/systemd/network/10-board.network" <<END
[Match]
Name=host0
[Network]
Address=$board/24
Gateway=$pc
END
  chroot "$root" systemctl --quiet enable systemd-networkd
}

# Runs the rest as the first process of namespaces in a cgroup, which it then removes
isolate() {
  local group=$cgroups/datasensor-board-$$
  trap : INT TERM # ends after the container
  mount --make-rprivate /
  mount_cgroups
  mkdir "$group"
  (
    echo $BASHPID >"$group/cgroup.procs"
    exec unshare --mount --cgroup --pid --fork --kill-child "$0" isolated "$@"
  ) || true
  until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; do sleep 0.05; done
}

# systemd needs cgroups of version 2, which this machine may not use or have mounted
cgroups=/sys/fs/cgroup
mount_cgroups() {
  umount --lazy $cgroups 2>/dev/null || true
  mount -t cgroup2 none $cgroups
}

boot() {
  local image=$1 folder=$2 pid
  read -r pid _ </proc/self/stat # as the machine sees it
  mount -t proc proc /proc
  mount_cgroups
  mount -t tmpfs -o size=700M tmpfs "$folder"
  mkdir "$folder"/{changes,work,root,pc}
  mount -t overlay overlay "$folder/root" \
    -o "lowerdir=$image,upperdir=$folder/changes,workdir=$folder/work"
  ln -s ../root "$folder/pc/card"
  ip link set lo up
  give_access "$folder"
  echo "$pid"
  keep_running "$folder" </dev/null >"$folder/console" 2>&1 &
  read -r _ || true
  kill -KILL -1 # all other processes in these namespaces
}

# Makes "ssh BOARD" and "http://BOARD" lead to the board
give_access() {
  local folder=$1
  ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
  mkdir -m 700 "$folder/root/home/pi/.ssh"
  cp "$folder/key.pub" "$folder/root/home/pi/.ssh/authorized_keys"
  chown -R 1000:1000 "$folder/root/home/pi/.ssh"
  cat >"$folder/ssh_config" <<END
User pi
IdentityFile $folder/key
StrictHostKeyChecking no
UserKnownHostsFile /dev/null
LogLevel FATAL
# A shared connection is many times faster; one to a board that is off ends after 10 s
ControlMaster auto
ControlPath $folder/ssh
ControlPersist yes
ConnectTimeout 5
ServerAliveInterval 1
ServerAliveCountMax 10
END
  { cat /etc/hosts; echo "$board BOARD"; } >"$folder/hosts"
  mount --bind "$folder/ssh_config" /etc/ssh/ssh_config
  mount --bind "$folder/hosts" /etc/hosts
}

keep_running() {
  local folder=$1
  while :; do
    join_network &
    systemd-nspawn --quiet --register=no --keep-unit --boot --directory="$folder/root" \
      --machine=board --network-veth --resolv-conf=off --timezone=off \
      --link-journal=no --console=read-only || true
    while [ -e "$folder/pc/off" ]; do sleep 0.05; done
  done
}

# Makes this network namespace the PC's end of the container's network
join_network() {
  until ip link set ve-board up; do sleep 0.05; done
  ip address add $pc/24 dev ve-board
} 2>/dev/null

case $1 in
image) make_image "$2" "$3" ;;
boot) exec unshare --mount --net "$0" isolate "${@:2}" ;;
isolate) isolate "${@:2}" ;;
isolated) boot "${@:2}" ;;
esac
