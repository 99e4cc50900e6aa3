#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# bare.sh ROOT SOURCE COMMAND...: runs a command in a clone of what SOURCE has committed, or in a
# copy of SOURCE if that is no checkout, on a Debian 12 that nobody has touched: minimal, with git,
# and nothing else that this machine has.
#
# ROOT is made by mmdebstrap unless it is there.  The command runs in a copy of it, which is
# thrown away at the end, as root, in the clone or copy, "/root/split c": paths may have spaces.  Mounts,
# processes and System V IPC are its own; the kernel and the network are this machine's.
#
# Needs root, mmdebstrap and git.
set -euo pipefail

root=${1:?which root?}
source=${2:?which checkout or folder?}
shift 2

# How this machine's apt reaches its mirror is how the bare one's has to.
apt_options() {
    apt-config dump 2>/dev/null |
        grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Check-Date) ' || true
}

make_root() {
    local options=() option
    while IFS= read -r option; do options+=("--aptopt=$option"); done < <(apt_options)
    rm -rf --one-file-system "$root.new"
    mmdebstrap --quiet --variant=minbase --include=git,ca-certificates "${options[@]}" \
        bookworm "$root.new"
    mv "$root.new" "$root"
}

[[ -d $root ]] || make_root
work=$(mktemp -d "$root.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
cp -a "$root/." "$work/"
if [[ -e $source/.git ]]; then
    git -C "$source" bundle create -q "$work/root/split-c.bundle" HEAD
else
    cp -R "$source" "$work/root/split c"
fi

# As the first process of its namespaces: "$work" becomes the root.
enter() {
    set -euo pipefail
    mount --make-rprivate /
    mount --bind "$work" "$work"
    mount -t proc proc "$work/proc"
    mount -t sysfs sys "$work/sys"
    mount -t cgroup2 cgroup2 "$work/sys/fs/cgroup"
    mount --rbind /dev "$work/dev"
    mount -t tmpfs tmpfs "$work/dev/shm"
    mount -t tmpfs tmpfs "$work/run"
    cp -L /etc/resolv.conf /etc/hosts "$work/etc/"
    mkdir "$work/.host"
    cd "$work"
    # Not chroot, which whoever enters another mount namespace leaves.
    pivot_root . .host
    umount -l /.host
    rmdir /.host
    cd /root
    [[ -e "split c" ]] || git -c advice.detachedHead=false clone -q split-c.bundle "split c"
    cd "split c"
    exec env -i HOME=/root USER=root TERM=dumb LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

export work
export -f enter
# shellcheck disable=SC2016 # it is the other shell that has those arguments
unshare --mount --pid --fork --ipc --kill-child bash -c 'enter "$@"' bash "$@"
