#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# within.sh COMMAND...: the command on the first of two hosts (hosts.sh), with its exit code.
#
# Its environment has
#   JOB_HOSTS       what unetrun wants to hear of the two
#   OTHER_NETWORK   the network of the second, for setns
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")

not_run() {
    echo "not run: $1"
    exit 0
}

[[ $(id -u) == 0 ]] || not_run "only root can make hosts out of namespaces"
[[ -x /usr/sbin/sshd ]] || not_run "/usr/sbin/sshd is missing (Debian: openssh-server)"
unshare --net --mount --uts --ipc ip link add type veth 2>/dev/null ||
    not_run "this root may make no namespaces or veth devices (Debian: iproute2, util-linux)"

dir=$(mktemp -d)
coproc bed { exec "$here/hosts.sh" "$dir" 2; }
pid=$! input=${bed[1]} # which bash forgets when the hosts are gone

finish() {
    exec {input}>&-
    wait "$pid" || true
    rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM

read -r word <&"${bed[0]}" && [[ $word == ready ]]
printf '#!/bin/sh\nexec ssh -F "%s" "$@"\n' "$dir/ssh_config" >"$dir/rsh"
chmod +x "$dir/rsh"
export JOB_HOSTS="--hosts host1,host2 --rsh $dir/rsh"
OTHER_NETWORK=/proc/$(<"$dir/host2.pid")/ns/net
export OTHER_NETWORK
nsenter -t "$(<"$dir/host1.pid")" -n -u -m -i -- "$@"
