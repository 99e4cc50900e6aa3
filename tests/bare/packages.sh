#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What a user does with the packages: install them, compile README's example, run it on 4 ranks;
# and what an administrator does: have dkms build the module, and remove everything again.
#
# For a machine that may be spoilt, as root, in a folder with the packages and README.md (bare.sh).
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

say() { printf 'packages: %s\n' "$*"; }

die() {
    printf 'packages: %s\n' "$*" >&2
    exit 1
}

install() {
    apt-get install -y "$@" >log 2>&1 || {
        tail -n 30 log >&2
        die "apt-get install $* failed"
    }
}

# The first lines between ```LANGUAGE and ``` in README.md.
first_block() { awk -v open="\`\`\`$1" '$0 == open { on = 1; next } /^```$/ { if (on) exit } on' README.md; }

# The command of README that begins with build/bin/$1, as who has the packages types it.
command_of() { sed -nE "s|^    build/bin/($1 [^-].*\|$1 -[On].*)|\1|p" README.md | head -n 1; }

user() { setpriv --reuid=user --regid=user --init-groups env HOME=/home/user bash -ec "cd; $1"; }

apt-get update >log 2>&1
dpkg-query -W -f '${Package}\n' | sort >before

say "apt install ./splitc*.deb"
install ./splitc*.deb
useradd -m user

first_block c >/home/user/pi.sc
compile=$(command_of splitcc) run=$(command_of unetrun)
[[ $compile == *pi.sc* && $run == *"-n 4"* ]] || die "README's commands have changed: '$compile', '$run'"
say "$compile && $run"
said=$(user "$compile && $run")
say "it printed: $said"
[[ $said == "pi is 3.14159265"* ]] || die "README's example does not compute pi"

say "a C program over gam, by pkg-config"
install pkg-config
printf '#include <gam/gam.h>\nint main(void) { return GAM_RANKS_MAX == 0; }\n' >/home/user/plain.c
# shellcheck disable=SC2016 # the user's shell
user 'cc plain.c -o plain $(pkg-config --cflags --libs gam); ./plain'

say "unetsock"
user 'unetsock --stats true' 2>&1 | grep -q '^unetsock: 0 connections' || die "unetsock does not work"

say "apt install linux-headers-amd64 ./unet-fe-dkms*.deb"
install linux-headers-amd64 ./unet-fe-dkms*.deb
kernel=$(basename /lib/modules/*-amd64)
dkms status | grep -E "^unet_fe/[0-9.]+, $kernel, .*: installed" || die "dkms has not installed the module for $kernel: $(dkms status)"
modinfo -k "$kernel" unet_fe | grep '^license'
getent group unet >/dev/null || die "there is no group unet"

say "apt purge"
apt-get purge -y splitc splitc-dev splitc-doc unet-fe-dkms >log 2>&1 || die "$(tail -n 20 log)"
rest=$(find / -xdev \( -path /proc -o -path /sys -o -path /root -o -path /home \) -prune -o \
    \( -iname '*splitc*' -o -iname '*split-c*' -o -iname '*unetrun*' -o -iname '*unet_fe*' -o -path '*/include/unet*' \) -print)
[[ -z $rest ]] || die "left behind: $rest"
say "all is well"
