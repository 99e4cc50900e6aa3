#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# aarch64.sh SOURCE PMIX_CFLAGS - cross-compile the runtime and what is below it for
# AArch64, without a warning, and run its checks as jobs of one rank in qemu-user.
# Exit code 77: the tools are not there.
#
# PMIx and mimalloc need not be there for AArch64: a job of one rank calls neither the
# one, nor, without windows, the other.
set -eu
source=$1 pmix=$2
cc=aarch64-linux-gnu-gcc
for tool in $cc qemu-aarch64; do
    command -v "$tool" >/dev/null || {
        echo "needs gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user"
        exit 77
    }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
header=$(echo '#include <mimalloc.h>' | cc -E - | sed -n 's/.*"\(.*mimalloc\.h\)".*/\1/p' | head -1)
cp "$header" "$work" # alone, as its folder is this machine's

# compile FILE FLAG...
compile() {
    file=$1
    shift
    "$cc" -std=gnu11 -O2 -g1 -Wall -Wextra -Werror -fno-pie "$@" -c "$file" \
        -o "$work/$(echo "${file#"$source"/}" | tr / _).o"
}

unet="-I$source/unet-backends/include"
for folder in core lane loopback shm udp; do
    for file in "$source/unet-backends/$folder"/*.c; do
        compile "$file" -D_GNU_SOURCE "$unet" "-I$source/unet-backends"
    done
done
for file in "$source"/gam/src/*.c; do
    compile "$file" -D_GNU_SOURCE "$unet" "-I$source/gam" "-I$source/gam/include"
done
for file in "$source"/runtime/src/*.c "$source"/runtime/check/*.c; do
    # shellcheck disable=SC2086 # flags
    compile "$file" "$unet" "-I$source/gam/include" "-I$source/runtime/include" \
        "-I$source/runtime/src" "-I$source/runtime/check" "-I$work" $pmix
done

aarch64-linux-gnu-nm "$work"/*.o | awk '$1 == "U" && $2 ~ /^(PMIx|mi)_/ { print $2 }' | sort -u |
    sed 's/.*/long &(void); long &(void) { __builtin_trap(); }/' >"$work/absent.c"
echo "_Bool mi_is_in_heap_region(const void *p); _Bool mi_is_in_heap_region(const void *p)
{ return !p; }" >"$work/heap.c"
sed -i /mi_is_in_heap_region/d "$work/absent.c"
for name in absent heap; do
    "$cc" -fno-pie -c "$work/$name.c" -o "$work/$name.o"
done
"$cc" -no-pie -o "$work/runtime_check" "$work"/*.o -lm

names=$(sed -n 's/.*passes_\(everywhere\|both_ways\)("\([a-z_]*\)").*/\2/p' \
    "$source/runtime/check/runtime_test.cc")
checks=0 failed=0
for check in $names; do
    checks=$((checks + 1))
    SPLITC_HEAP=64M timeout 100 qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/runtime_check" "$check" \
        >"$work/output" 2>&1 || {
        failed=$((failed + 1))
        echo "check $check fails on AArch64:"
        head -c 1000 "$work/output"
    }
done
echo "$checks checks on AArch64, $failed failed"
[ "$checks" -gt 50 ] && [ "$failed" -eq 0 ]
