#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# aarch64.sh SOURCE PMIX_CFLAGS FILE... - cross-compile the FILEs, the runtime and what
# is below it, for AArch64, without a warning, and run the runtime's checks as jobs of
# one rank in qemu-user.  Exit code 77: the tools are not there.
#
# PMIx and mimalloc need not be there for AArch64: a job of one rank calls neither the
# one, nor, without windows, the other.
set -eu
source=$1 pmix=$2
shift 2
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

cd "$source"
folders="-Iunet-backends/include -Iunet-backends -Igam/include -Igam -Ireliable/include -Ireliable
    -Iruntime/include -Iruntime/src -Iruntime/check"
for file in "$@"; do
    file=${file#"$source"/}
    case $file in
    runtime/*) defines= ;; # each says itself what it needs
    *) defines=-D_GNU_SOURCE ;;
    esac
    # shellcheck disable=SC2086 # flags
    "$cc" -std=gnu11 -O2 -g1 -Wall -Wextra -Werror -fno-pie $defines $folders "-I$work" $pmix \
        -c "$file" -o "$work/$(echo "$file" | tr / _).o"
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
    "$source/runtime/check/suite_test.cc")
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
