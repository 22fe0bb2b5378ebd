#!/bin/sh
# Boots a container, and ends it when its standard input ends. Nothing of this machine
# is changed, and nothing is left: the container has namespaces and a cgroup of its own,
# and keeps its changes in memory.
#
# Usage: unshare --mount --net container.sh ROOT FOLDER KEY
set -eu
cgroups=/sys/fs/cgroup

# systemd needs cgroups of version 2, which this machine may not use or have mounted
mount_cgroups() {
  umount --lazy $cgroups 2>/dev/null || true
  mount -t cgroup2 none $cgroups
}

# Runs the rest as the first process of namespaces in a cgroup, which it then removes
isolate() {
  trap : INT TERM # end after the container
  mount --make-rprivate /
  mount_cgroups
  group=$cgroups/datasensor-board-$$
  mkdir $group
  (
    echo 0 >$group/cgroup.procs
    exec unshare --mount --cgroup --pid --mount-proc --fork --kill-child \
      "$0" "$@" isolated
  ) || true
  until find $group -depth -type d -exec rmdir {} + 2>/dev/null; do sleep 0.05; done
}

boot() {
  root=$1 folder=$2 key=$3
  mount_cgroups
  mount -t tmpfs -o size=700M tmpfs "$folder"
  mkdir "$folder/changes" "$folder/work" "$folder/root"
  mount -t overlay overlay "$folder/root" \
    -o "lowerdir=$root,upperdir=$folder/changes,workdir=$folder/work"
  echo "ssh-ed25519 $key" >"$folder/root/etc/ssh/authorized_keys"
  exec 3<&0
  {
    cat <&3 >/dev/null
    kill -KILL -1 # all other processes in these namespaces
  } &
  ip link set lo up
  while :; do
    connect &
    code=0
    systemd-nspawn --quiet --register=no --keep-unit --boot \
      --directory="$folder/root" --machine=board --network-veth --resolv-conf=off \
      --timezone=off --link-journal=no --console=read-only </dev/null || code=$?
    [ $code = 133 ] || exit $code # not a reboot
  done
}

# Makes this network namespace the other machine in the container's network
connect() {
  until ip link set ve-board up; do sleep 0.05; done
  ip address add 10.0.2.2/24 dev ve-board
} 2>/dev/null

case ${4-} in
isolated) boot "$@" ;;
*) isolate "$@" ;;
esac
