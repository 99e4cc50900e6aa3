# shellcheck shell=bash disable=SC2154 # kernels.sh sets some
# SPDX-License-Identifier: BSD-3-Clause
#
# guests.sh - two virtual machines on one Ethernet.  To be sourced; needs $root (the project), $work (a
# folder for what is made) and what kernels.sh sets.

: "${root:?}" "${work:?}"

# Drivers in the order of loading, by QEMU's name of the device.
declare -A drivers=(
    [tulip]="tulip"
    [e1000e]="e1000e"
    [virtio-net-pci]="virtio_ring,virtio,virtio_pci_legacy_dev,virtio_pci_modern_dev,virtio_pci,failover,net_failover,virtio_net"
)

# The libraries that a file needs, at the same places below $1.
copy_libraries() {
    local into=$1 library
    while read -r library; do
        [[ -e $into$library ]] && continue
        mkdir -p "$into$(dirname "$library")"
        cp -L "$library" "$into$library"
    done < <(ldd "$2" 2>/dev/null | grep -o '/[^ ]*')
}

# A program into $1/bin, without what is for debuggers, and what it needs.
copy_program() {
    strip --strip-debug -o "$1/bin/${2##*/}" "$2"
    copy_libraries "$@"
}

# What PMIx loads when it starts.
copy_pmix() {
    local into=$1 folder file
    folder=$(dirname "$(pkg-config --variable=libdir pmix)")
    mkdir -p "$into$folder/lib" "$into$folder/share"
    cp -r "$folder/lib/pmix" "$into$folder/lib/"
    cp -r "$folder/share/pmix"* "$into$folder/share/"
    for file in "$folder"/lib/pmix/*.so; do
        copy_libraries "$into" "$file"
    done
}

# Machines a and b log into each other by `ssh -F /etc/ssh/config` without a password.  One
# connection to each serves all, for beginning one takes seconds here.
add_ssh() {
    local tree=$1 keys=$1/etc/ssh
    copy_program "$tree" /usr/bin/ssh
    copy_program "$tree" /usr/sbin/sshd
    mkdir -p "$keys" "$tree/run/sshd"
    ssh-keygen -q -t ed25519 -N '' -f "$keys/key"
    echo "a,b $(cut -d' ' -f1,2 "$keys/key.pub")" >"$keys/known_hosts"
    printf '%s\n' 'HostKey /etc/ssh/key' 'AuthorizedKeysFile /etc/ssh/key.pub' 'StrictModes no' \
        'UsePAM no' >"$keys/sshd_config"
    printf '%s\n' 'IdentityFile /etc/ssh/key' 'UserKnownHostsFile /etc/ssh/known_hosts' \
        'BatchMode yes' 'KexAlgorithms curve25519-sha256' 'ControlMaster auto' \
        'ControlPath /tmp/ssh-%h' 'ControlPersist yes' >"$keys/config"
}

# Users, and names of machines.
add_names() {
    printf '%s\n' 'root:x:0:0::/:/bin/sh' 'sshd:x:100:65534::/run/sshd:/bin/false' >"$1/etc/passwd"
    printf '%s\n' '127.0.0.1 localhost' '10.0.0.1 a' '10.0.0.2 b' >"$1/etc/hosts"
}

# make_initrd PROGRAM...: $work/initrd, with the suites of tests/kernel.
make_initrd() {
    local tree=$work/tree name file
    rm -rf "$tree"
    mkdir -p "$tree"/{bin,proc,sys,dev,etc,lib/modules,suite,tmp}
    cp /bin/busybox "$tree/bin/"
    for name in $(/bin/busybox --list | grep -vx busybox); do
        ln -s busybox "$tree/bin/$name"
    done
    add_names "$tree"
    add_ssh "$tree"
    copy_pmix "$tree"
    # shellcheck disable=SC2048 # words are what is wanted
    for name in mii dummy netfs fscache 9pnet 9pnet_virtio 9p overlay ${drivers[*]//,/ } \
        atm usb-common usbcore xhci-hcd xhci-pci usbatm xusbatm; do
        file=$(find "$kernel_modules" -name "$name.ko")
        [[ -z $file ]] || cp "$file" "$tree/lib/modules/"
    done
    cp "$work/module/fe/module/unet_fe.ko" "$tree/lib/modules/"
    [[ ! -e $work/adapter/atm_adapter.ko ]] || cp "$work/adapter/atm_adapter.ko" "$tree/lib/modules/"
    [[ ! -e $work/unet_fe_timing.ko ]] || cp "$work/unet_fe_timing.ko" "$tree/lib/modules/"
    cp "$root/tests/kernel/init" "$tree/init"
    cp "$root"/tests/kernel/suite/* "$tree/suite/"
    for file in "$@"; do
        copy_program "$tree" "$file"
    done
    (cd "$tree" && find . | cpio -o -H newc --owner 0:0 --quiet | gzip -1) >"$work/initrd"
}

# guest NODE NIC SUITE LOG SECONDS: becomes a virtual machine.  NODE in $guest_devices becomes a or b.
guest() {
    local node=$1 nic=$2 suite=$3 log=$4 seconds=$5 other=a mac=2 guest_devices=${guest_devices-}
    [[ $node == a ]] && other=b mac=1
    # shellcheck disable=SC2086 # words are what is wanted
    exec timeout -k 5 "$seconds" qemu-system-x86_64 ${guest_clock:--accel tcg,thread=multi} \
        -smp "${guest_cpus:-1}" -m "${guest_megabytes:-512}" \
        -nographic -no-reboot -nodefaults -monitor none -serial "file:$log/$node.log" \
        -kernel "$kernel_image" -initrd "$work/initrd" \
        -netdev "dgram,id=n,local.type=unix,local.path=$log/$node.socket,remote.type=unix,remote.path=$log/$other.socket" \
        -device "$nic,netdev=n,mac=52:54:00:00:00:0$mac,romfile=" ${guest_devices//NODE/$node} \
        -append "console=ttyS0 quiet panic=-1 oops=panic panic_on_warn=1 net.ifnames=0 no_timer_check node=$node nic=${drivers[$nic]} suite=$suite ${guest_settings-}"
}

# one_guest NIC SUITE LOG SECONDS: runs until it ends.
one_guest() {
    local log=$3 a
    rm -rf "$log"
    mkdir -p "$log"
    guest a "$@" >"$log/a.qemu" 2>&1 </dev/null &
    a=$!
    # shellcheck disable=SC2064 # this one, now
    trap "kill $a 2>/dev/null; wait $a 2>/dev/null" EXIT
    wait "$a"
    trap - EXIT
    rm -f "$log"/?.socket
}

# two_guests NIC SUITE LOG SECONDS: runs until guest a ends.
two_guests() {
    local log=$3 a b
    rm -rf "$log"
    mkdir -p "$log"
    guest b "$@" >"$log/b.qemu" 2>&1 </dev/null &
    b=$!
    guest a "$@" >"$log/a.qemu" 2>&1 </dev/null &
    a=$!
    # shellcheck disable=SC2064 # these two, now
    trap "kill $a $b 2>/dev/null; wait $a $b 2>/dev/null" EXIT
    wait "$a"
    kill "$b" 2>/dev/null
    wait "$b" 2>/dev/null
    trap - EXIT
    rm -f "$log"/?.socket
}

# with_modems COMMAND...: machines have USB modems at an ATM switch, if they say so in $guest_devices.
with_modems() {
    local status=0 switch
    rm -rf "$work/modem"
    mkdir -p "$work/modem"
    mkfifo "$work/modem/ready"
    "$build/test/atm_modem" "$work/modem/a" "$work/modem/b" >"$work/modem/ready" 2>"$work/modem/log" &
    switch=$!
    exec {modem_says}<"$work/modem/ready"
    read -r -u "$modem_says" || true # that it is ready
    "$@" || status=$?
    kill "$switch" 2>/dev/null || true
    wait "$switch" || true
    cat <&"$modem_says"
    exec {modem_says}<&-
    return "$status"
}
