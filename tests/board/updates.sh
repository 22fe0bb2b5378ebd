# An image, updates, outages and the removal.
# shellcheck shell=bash disable=SC2016,SC2154 # dpkg's variables; begin is a word
set -e

## A minimal image that is made without systemd running has what it needs
# It has no documents
echo 'path-exclude=/usr/share/doc/*' >/etc/dpkg/dpkg.cfg.d/minimal
groupdel plugdev
shows '*datasensor is not started: it needs systemd, which is not running here*' \
  unshare --mount sh -c 'mount -t tmpfs tmpfs /run && apt-get -qq install -y "$0"' \
  /packages/datasensor_arm64.deb
systemctl reboot

## At its first boot, it starts
serves 48.312
systemctl is-enabled datasensor datasensor-sensor
shows '*plugdev*' id -nG datasensor-sensor
ls /usr/share/datasensor/sensors.sh
fails ls /usr/share/doc/datasensor

## An update keeps the settings, and so does an older package
# Nobody is there whom apt could ask about the examples
settings 'FLAGS=--stdin --json' 'SENSOR=echo 21.5'
serves 21.5
install_package datasensor_99.0.0_arm64.deb
shows 99.0.0 dpkg-query -f '${Version}' -W datasensor
serves 21.5
[ "/proc/$(systemctl show -P MainPID datasensor)/exe" -ef /usr/bin/datasensor ]
install_package
shows "$(dpkg-deb -f /packages/datasensor_arm64.deb Version)" dpkg-query -f '${Version}' -W datasensor
serves 21.5

## After a boot without a network, both run
# This unit holds back what waits for a network
printf '%s\n' '[Unit]' Before=network-online.target '[Service]' Type=oneshot \
  'ExecStart=sleep infinity' >/etc/systemd/system/hold.service
systemctl -q add-wants multi-user.target network-online.target hold.service
systemctl reboot

## There is a reading before the network is there
shows 21.5 curl -fsS -m 5 http://127.0.0.1:5000/datasensor
shows $'activating\nactive' systemctl is-active hold datasensor
systemctl disable -q hold
systemctl stop hold

## An empty executable is tried again with few lines, and one command repairs it
systemctl stop datasensor
truncate -s 0 /usr/bin/datasensor
SECONDS=0
fails systemctl start datasensor
shows 2 systemctl show -P NRestarts datasensor
[ $SECONDS -ge 15 ]
logs 'status=203/EXEC'
[ "$(journalctl -q -u 'datasensor*' --since "$begin" | wc -l)" -le 30 ]
dpkg -i /packages/datasensor_arm64.deb
serves 21.5

## After systemctl disable, an update starts nothing
systemctl -q disable --now datasensor
install_package datasensor_99.0.0_arm64.deb
fails systemctl is-active datasensor datasensor-sensor
systemctl reboot

## Nor does a boot
systemctl is-system-running --wait || true
fails systemctl is-active datasensor datasensor-sensor
systemctl -q enable --now datasensor
serves 21.5

## A removal keeps the settings
apt-get -qq remove -y datasensor
fails curl -sS -m 5 http://board:5000/datasensor
grep -x 'SENSOR=echo 21.5' /etc/default/datasensor
install_package
serves 21.5

## A purge leaves nothing
apt-get -qq purge -y datasensor
fails curl -sS -m 5 http://board:5000/datasensor
fails systemctl is-active datasensor datasensor-sensor
fails ls /run/datasensor
shows '' find / -xdev -name '*datasensor*' ! -path '/packages/*' ! -path '/root/*' \
  ! -path '/var/log/*' ! -name 'systemd-private-*'
