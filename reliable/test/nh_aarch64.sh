#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# nh_aarch64.sh RELIABLE - cross-compile NH for AArch64, where NEON is its best variant, and compare
# the variants in qemu-user.
set -eu
cd "$1"
cc=aarch64-linux-gnu-gcc
for tool in $cc qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "not run: needs gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user"
        exit 0
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cc" -std=gnu11 -O2 -Wall -Wextra -Werror -I. -o "$work/nh_check" test/nh_check.c src/nh.c \
    src/nh_avx2.c src/nh_neon.c
timeout 100 qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/nh_check" | tee "$work/says"
grep -q 'best variant is neon' "$work/says"
