#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# hosts.sh DIR N: N hosts on this one machine, for tests, until standard input ends.
#
# A host is a set of namespaces (network, host name, mounts, System V IPC) with an sshd of
# its own.  They are called host1 to hostN, have the addresses 10.78.0.1 to 10.78.0.N and
# are joined by a bridge that lives in a namespace as well; the machine's own network is not
# touched.  All see the same files but for /dev/shm, /run and /etc/hosts.
#
# Prints "ready" when all answer.  DIR, which has to exist, gets
#   ssh_config    for ssh -F: how to reach them from any of them, without a password
#   hostI.pid     the sshd of host I, and thus its namespaces (nsenter -t)
#   switch.pid    a process next to the bridge, whose ports are called hostI
#
# Needs root, iproute2 and openssh-server.
set -euo pipefail

dir=${1:?which folder?}
count=${2:?how many hosts?}

own_network=$(readlink /proc/self/ns/net)
declare -A networks=() # of the hosts and the switch
pids=()                # of their first processes

# What shares a network with this child of ours, if it is not our own, is to be killed at the end.
# The network is held open, as another one might get its number otherwise.
remember() {
    local network held
    grep -qs "^PPid:[[:space:]]*$$\$" "/proc/$1/status" || return 0
    exec {held}<"/proc/$1/ns/net" || return 0
    network=$(readlink "/proc/self/fd/$held")
    [[ $network == "$own_network" ]] || networks[${network//[\[\]]/?}]=$held
}

# Kills all that is on the hosts, whoever started it.
down() {
    local pid network
    for pid in "${pids[@]}"; do remember "$pid"; done
    for network in "${!networks[@]}"; do
        find /proc/[0-9]*/ns/net -maxdepth 0 -lname "$network" -printf '%h\n' 2>/dev/null |
            cut -d/ -f3 | xargs -r kill -KILL 2>/dev/null || true
    done
}

until_exists() {
    local tries
    for ((tries = 0; tries < 500; tries++)); do
        [[ ! -s $1 ]] || return 0
        sleep 0.02
    done
    echo "hosts.sh: $1 did not appear within 10 s:" >&2
    cat "$dir"/*.log >&2
    exit 1
}

keys() {
    local i
    ssh-keygen -q -t ed25519 -N '' -f "$dir/host_key"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/id"
    echo '127.0.0.1 localhost' >"$dir/etc_hosts"
    for ((i = 1; i <= count; i++)); do
        echo "10.78.0.$i host$i" >>"$dir/etc_hosts"
        echo "host$i,10.78.0.$i $(cut -d' ' -f1,2 "$dir/host_key.pub")" >>"$dir/known_hosts"
    done
    cat >"$dir/ssh_config" <<END
Host *
    IdentityFile "$dir/id"
    IdentitiesOnly yes
    UserKnownHostsFile "$dir/known_hosts"
    StrictHostKeyChecking yes
    BatchMode yes
    LogLevel ERROR
    ConnectTimeout 5
    SendEnv TMPDIR
END
}

switch() {
    unshare --net bash -ec "
        ip link add br0 type bridge
        ip link set br0 up
        echo \$\$ >'$dir/switch.pid'
        exec sleep infinity" </dev/null >"$dir/switch.log" 2>&1 &
    pids+=($!)
    disown
    until_exists "$dir/switch.pid"
}

host() {
    local i=$1
    cat >"$dir/sshd_config.$i" <<END
ListenAddress 10.78.0.$i
HostKey "$dir/host_key"
PidFile "$dir/host$i.pid"
AuthorizedKeysFile "$dir/id.pub"
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
AcceptEnv TMPDIR
MaxStartups 200
END
    unshare --net --uts --mount --ipc bash -ec "
        hostname host$i
        mount -t tmpfs tmpfs /dev/shm
        mount -t tmpfs tmpfs /run
        mkdir /run/sshd
        mount --bind '$dir/etc_hosts' /etc/hosts
        ip link add eth0 type veth peer name host$i netns $(<"$dir/switch.pid")
        ip addr add 10.78.0.$i/24 dev eth0
        ip link set lo up
        ip link set eth0 up
        nsenter -t $(<"$dir/switch.pid") -n ip link set host$i master br0 up
        exec /usr/sbin/sshd -D -e -f '$dir/sshd_config.$i'" \
        </dev/null >"$dir/host$i.log" 2>&1 &
    pids+=($!)
    disown
}

trap down EXIT
trap 'exit 1' HUP INT TERM
keys
switch
for ((i = 1; i <= count; i++)); do host "$i"; done
for ((i = 1; i <= count; i++)); do until_exists "$dir/host$i.pid"; done
for pid in "${pids[@]}"; do remember "$pid"; done
echo ready
cat >/dev/null
