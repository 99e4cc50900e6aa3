#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# bind_libc.sh ARCHIVE CC NM OBJCOPY - make an archive's calls of libc calls of libc.
#
# A program may have a function or a variable of its own named poll, time or send, and
# the linker would give it to our archives, too.  A reference to poll@GLIBC_2.2.5 is
# one to libc's alone.  Where libc's names have no versions nothing changes.
set -eu
archive=$1 cc=$2 nm=$3 objcopy=$4

names=$archive.libc
trap 'rm -f "$names"' EXIT
{
    for library in libc.so.6 libm.so.6; do
        "$nm" -D --defined-only "$("$cc" -print-file-name=$library)"
    done
    "$nm" -u "$archive"
} | awk '
    split($3, part, "@@") == 2 { version[part[1]] = part[2] }
    $1 == "U" { used[$2] = 1 }
    END { for (name in used) if (name in version) print name, name "@" version[name] }
' >"$names"
"$objcopy" --redefine-syms="$names" "$archive"
