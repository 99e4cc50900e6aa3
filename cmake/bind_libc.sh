#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# bind_libc.sh ARCHIVE CC NM OBJCOPY [NAME...] - make an archive's calls of libc calls
# of libc, but for those of the given names.
#
# A program may have a function or a variable of its own named poll, time or send, and
# the linker would give it to our archives, too.  A reference to poll@GLIBC_2.2.5 is
# one to libc's alone.  Where libc's names have no versions nothing changes.
set -eu
archive=$1 cc=$2 nm=$3 objcopy=$4
shift 4

names=$archive.libc
trap 'rm -f "$names"' EXIT
{
    for library in libc.so.6 libm.so.6; do
        "$nm" -D --defined-only "$("$cc" -print-file-name=$library)"
    done
    "$nm" -u "$archive"
} | awk -v kept="$*" '
    BEGIN { n = split(kept, name); for (i = 1; i <= n; i++) keep[name[i]] = 1 }
    split($3, part, "@@") == 2 { version[part[1]] = part[2] }
    $1 == "U" && !($2 in keep) { used[$2] = 1 }
    END { for (u in used) if (u in version) print u, u "@" version[u] }
' >"$names"
"$objcopy" --redefine-syms="$names" "$archive"
