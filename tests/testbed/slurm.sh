#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# slurm.sh DIR SSH_CONFIG HOST...: Slurm on the hosts of hosts.sh, started from the first of
# them, where the controller runs; it ends with the hosts.  Returns when all hosts are idle.
# Slurm's programs want SLURM_CONF=DIR/slurm.conf in their environment.
#
# Needs munge, slurmctld, slurmd, slurm-client and slurm-wlm-basic-plugins.
set -euo pipefail

dir=${1:?which folder?}
ssh_config=${2:?which ssh_config?}
shift 2
cpus=2

# Slurm's daemons say why they end in their logs alone.
tell_of_failure() {
    local status=$?
    ((status == 0)) && return
    echo "slurm.sh: ended with $status; the logs:" >&2
    tail -n 5 "$dir"/*.log "$dir"/munge/log >&2
}

authentication() {
    mkdir "$dir/munge"
    (umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
    munged --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" \
        --pid-file="$dir/munge/pid" --log-file="$dir/munge/log" --seed-file="$dir/munge/seed"
}

configuration() {
    local host
    mkdir "$dir/state"
    cat <<END
ClusterName=testbed
SlurmctldHost=$1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
TmpFS=$dir/tmp.%n
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    for host in "$@"; do
        mkdir "$dir/tmp.$host" "$dir/spool.$host"
        echo "NodeName=$host NodeAddr=$(getent hosts "$host" | cut -d' ' -f1) CPUs=$cpus"
    done
}

until_idle() {
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        [[ $(sinfo -h -t idle -o %D 2>/dev/null) != "$1" ]] || return 0
        sleep 0.1
    done
    echo "slurm.sh: the hosts are not idle after 20 s:" >&2
    sinfo -R >&2 || true
    exit 1
}

trap tell_of_failure EXIT
# Nothing here uses cgroups; yet slurmd, left to look which kind there is, refuses a mixture.
echo 'CgroupPlugin=cgroup/v1' >"$dir/cgroup.conf"
authentication
configuration "$@" >"$dir/slurm.conf"
export SLURM_CONF=$dir/slurm.conf
slurmctld -c
for host in "$@"; do
    ssh -F "$ssh_config" "$host" "SLURM_CONF=$SLURM_CONF slurmd -N $host"
done
until_idle $#
