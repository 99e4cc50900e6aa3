# shellcheck shell=bash disable=SC2034 # what is set here is for who sources this
# SPDX-License-Identifier: BSD-3-Clause
#
# kernels.sh - the kernel that virtual machines boot, and the module for it.  To be sourced; needs
# $root (the project) and $work (a folder for what is made).  Sets
#   kernel_image    the kernel itself
#   kernel_build    what modules are built against
#   kernel_modules  a folder that has the kernel's modules, at any depth

: "${root:?}" "${work:?}"

# The newest kernel whose headers are here.
packaged_version() {
    local newest
    newest=$(printf '%s\n' /usr/src/linux-headers-*-amd64 | sort -V | tail -n 1)
    [[ -e $newest ]] || return 1
    echo "${newest#/usr/src/linux-headers-}"
}

# unpack_package NAME FOLDER: without installing it.
unpack_package() {
    [[ ! -e $2 ]] || return 0
    mkdir -p "$work/download"
    (cd "$work/download" && apt-get download "$1" >/dev/null) || return 1
    dpkg -x "$work/download/$1"_*.deb "$2.part" || return 1
    mv "$2.part" "$2"
}

# ---- Debian's kernel -------------------------------------------------------------

# The kernel proper, which boots faster than one that unpacks itself.
unpack_image() {
    [[ ! -e $2 ]] || return 0
    python3 - "$1" "$2" <<'PYTHON'
import lzma, sys
packed = open(sys.argv[1], "rb").read()
start = packed.index(b"\xfd7zXZ\x00")
open(sys.argv[2], "wb").write(lzma.LZMADecompressor().decompress(packed[start:]))
PYTHON
}

use_packaged_kernel() {
    local version=$1 image=$work/image-$1
    unpack_package "linux-image-$version" "$image" || return 1
    unpack_image "$image/boot/vmlinuz-$version" "$work/vmlinux-$version" || return 1
    kernel_image=$work/vmlinux-$version
    kernel_build=/usr/src/linux-headers-$version
    kernel_modules=$image/lib/modules/$version
}

# ---- one that looks for mistakes, from Debian's source --------------------------------

# unpack_source SERIES, which is 6.1 or the like: $work/linux-source-SERIES.
unpack_source() {
    unpack_package "linux-source-$1" "$work/source-$1" || return 1
    [[ -e $work/linux-source-$1/Makefile ]] ||
        tar -C "$work" -xf "$work/source-$1/usr/src/linux-source-$1.tar.xz"
}

# Small, but for what debug.config asks for.
configure_debug_kernel() {
    local source=$1 out=$2
    mkdir -p "$out"
    make -C "$source" O="$out" tinyconfig &&
        (cd "$out" && "$source/scripts/kconfig/merge_config.sh" -m -O "$out" .config \
            "$root/tests/kernel/debug.config") &&
        make -C "$source" O="$out" olddefconfig &&
        cp "$root/tests/kernel/debug.config" "$out/debug.config"
}

use_debug_kernel() {
    local series=$1 source=$work/linux-source-$1 out=$work/debug-$1 cc=gcc
    unpack_source "$series" || return 1
    if ! cmp -s "$root/tests/kernel/debug.config" "$out/debug.config"; then
        configure_debug_kernel "$source" "$out" >"$work/debug.log" 2>&1 || return 1
    fi
    if command -v ccache >/dev/null; then
        cc="ccache gcc"
    fi
    make -C "$out" CC="$cc" -j"$(nproc)" bzImage modules >"$work/debug.log" 2>&1 </dev/null ||
        return 1
    kernel_image=$out/arch/x86/boot/bzImage
    kernel_build=$out
    kernel_modules=$out/drivers
}

# ---- the module ---------------------------------------------------------------------

# build_module ARGUMENTS...: $work/module/fe/module/unet_fe.ko.
build_module() {
    rm -rf "$work/module"
    mkdir -p "$work/module"
    cp -r "$root/unet-backends/fe" "$root/unet-backends/include" "$work/module"
    make -C "$work/module/fe/module" KERNEL_BUILD="$kernel_build" "$@"
}

# build_adapter: $work/adapter/atm_adapter.ko, test equipment.
build_adapter() {
    rm -rf "$work/adapter"
    cp -r "$root/tests/kernel/atm/adapter" "$work/adapter"
    make -C "$kernel_build" M="$work/adapter" modules
}

# The kernel's own judgement of how the module is written; its errors are ours.
check_style() {
    local source=$work/linux-source-$1

    ! (
        cd "$root/unet-backends/fe/module" || exit
        perl "$source/scripts/checkpatch.pl" --no-tree --terse --show-types -f ./*.c ./*.h || true
    ) | grep -E ' ERROR:'
}
