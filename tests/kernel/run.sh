#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# run.sh BUILD [--kernel debian|debug] [--nics LIST] [--suites LIST] [--seconds N] [--rounds N]
#              [--patience N]
# run.sh --check [OPTIONS]
# builds the kernel module, boots Debian's kernel, or one that looks for mistakes, in virtual machines
# with each kind of network card, and tests it there.  On a machine that does much else, things may
# last N times as long.  Ends with 0 if all went well; what it made is in BUILD/kernel, the
# guests' consoles in BUILD/kernel/log.  --check only looks at the options.
set -euo pipefail

root=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")")
kernel=debian
nics=tulip,e1000e,virtio-net-pci
suites=conformance,attacks,gam,vmmc,ip,exchange,splitc,atm-usb,atm-cells,atm-cost
seconds=60
rounds=10
patience=1
boot_settings=""
failed=0

die() {
    printf 'kernel: %s\n' "$*" >&2
    exit 1
}

say() { printf 'kernel: %s\n' "$*"; }

build=${1-}
shift || true
while (($#)); do
    case $1 in
    --kernel) kernel=${2-} ;;
    --nics) nics=${2-} ;;
    --suites) suites=${2-} ;;
    --seconds) seconds=${2-} ;;
    --rounds) rounds=${2-} ;;
    --patience) patience=${2-} ;;
    *) die "unknown option '$1'" ;;
    esac
    shift 2 || die "$1 needs a value"
done
# The others are what these share.
known=$(cd "$root/tests/kernel/suite" && echo * | sed -E 's/\b(atm|common|jobs) //g')
for suite in ${suites//,/ }; do
    [[ " $known " == *" $suite "* ]] || die "no suite '$suite'; there are $known"
done
case $kernel in
debian | debug) ;;
*) die "no kernel '$kernel'; there are debian and debug" ;;
esac
[[ $build != --check ]] || exit 0
[[ -d $build/test ]] || die "the first argument has to be a build folder with the kernel_tests"
work=$(readlink -f -- "$build")/kernel
[[ $work != *[[:space:]:]* ]] || die "Linux is not built below a path with a space or a colon: $work"
mkdir -p "$work"
rm -rf "$work/log"
# shellcheck source=tests/kernel/kernels.sh
. "$root/tests/kernel/kernels.sh"
# shellcheck source=tests/kernel/guests.sh
. "$root/tests/kernel/guests.sh"

# ---- what is tested --------------------------------------------------------------

use_kernel() {
    local version series
    version=$(packaged_version) || die "no kernel headers here; install linux-headers-amd64"
    series=$(cut -d. -f1,2 <<<"$version")
    case $kernel in
    debian)
        use_packaged_kernel "$version" || die "apt-get cannot fetch linux-image-$version"
        say "kernel $version"
        ;;
    debug)
        say "building a kernel of linux-source-$series with tests/kernel/debug.config"
        use_debug_kernel "$series" || die "there is no kernel: see $work/debug.log"
        check_style "$series" || die "checkpatch.pl finds errors"
        patience=$((5 * patience)) guest_megabytes=1500
        suites=$(printf '%s' ",$suites," | sed 's/,atm-[a-z]*//g; s/^,//; s/,$//') # it has no ATM
        boot_settings="acpi=off" # whose interpreter gives up, as slow as it is then
        ;;
    esac
}

prepare() {
    rm -f "$work/unet_fe_timing.ko"
    if [[ ,$suites, == *,sections,* ]]; then
        build_module TIMING=y >"$work/module.log" 2>&1
        cp "$work/module/fe/module/unet_fe.ko" "$work/unet_fe_timing.ko"
    fi
    build_module C=2 >"$work/module.log" 2>&1 ||
        die "the module does not build: $(tail -n 5 "$work/module.log")"
    if grep -E '(warning|error):' "$work/module.log"; then
        die "the compiler or sparse complains about the module"
    fi
    local ip=("$build"/test/ip_fe_test)
    if [[ ! -e ${ip[0]} ]]; then
        say "left out: TCP and UDP, since this build has no liblwip-dev"
        ip=()
    fi
    rm -rf "$work/adapter"
    if [[ ,$suites, == *,atm-c* ]]; then
        build_adapter >"$work/adapter.log" 2>&1 ||
            die "the ATM adapter does not build: $(tail -n 5 "$work/adapter.log")"
    fi
    make_initrd "${ip[@]}" "$build"/test/{kernel_hostile,kernel_fuzz,kernel_exchange} \
        "$build"/test/atm_cost "$build"/test/{unet_fe_test,unet_mux_test,gam_fe_test,vmmc_fe_test,runtime_check} "$build"/bin/{unetrun,kernel_bench} \
        "$build"/benchmarks/{ssort,rsort,mm}
}

# ---- what it says -------------------------------------------------------------------

# What a kernel in trouble prints.
trouble='Oops|BUG:|WARNING:|Kernel panic|general protection|KASAN|UBSAN|INFO: (trying|suspicious|task|rcu)'
splats() { grep -aEc "$trouble" "$@" || true; }

# judge NIC SUITE LOG: says what became of each part.
judge() {
    local what="$1 $2" log=$3/a.log name code bad=0
    while read -r name code; do
        ((code == 0)) && continue
        say "$what: $name FAILED with $code"
        bad=1
    done < <(grep -ao '^GUEST result .*' "$log" | tr -d '\r' | cut -d' ' -f3,4)
    grep -aq '^GUEST a ends' "$log" || {
        say "$what: FAILED, the guest did not come to its end"
        bad=1
    }
    if grep -aEq "$trouble" "$3"/?.log; then
        say "$what: FAILED, the kernel complains"
        bad=1
    fi
    { grep -aE '^(fuzz|exchange|ssort|rsort|mm|atm):|^  check|test cases|^GUEST (pages|slabs):' "$log" || true; } |
        tr -d '\r' | sed "s/^/kernel: $what: /"
    if ((bad)); then
        failed=1
        tail -n 40 "$log" | tr -d '\r'
    fi
}

run_suite() {
    local nic=$1 suite=$2 log=$work/log/$1-$2
    guest_settings="$boot_settings seconds=$seconds messages=3000 rounds=$rounds patience=$patience"
    case $suite in
    attacks) # several at once
        guest_cpus=2 one_guest "$nic" "$suite" "$log" $((300 * patience + seconds)) || true
        ;;
    exchange) two_guests "$nic" "$suite" "$log" $((200 * patience)) || true ;;
    docs) # sees this machine's files
        guest_settings+=" root=$root" guest_megabytes=2500 \
            guest_devices="-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on" \
            one_guest "$nic" "$suite" "$log" $((900 * patience)) || true
        ;;
    sections) # a clock that counts instructions
        guest_clock="-accel tcg,thread=single -icount shift=0" \
            two_guests "$nic" "$suite" "$log" $((400 * patience)) || true
        ;;
    atm-usb)
        [[ -x $build/test/atm_modem ]] || {
            say "$nic $suite: not run: no libusbredirparser-dev when the build was configured"
            return
        }
        guest_devices="-device qemu-xhci -chardev socket,id=c,path=$work/modem/NODE -device usb-redir,chardev=c" \
            with_modems two_guests "$nic" "$suite" "$log" $((400 * patience)) || true
        ;;
    atm-cost) # a clock that counts instructions
        guest_clock="-accel tcg,thread=single -icount shift=0" \
            one_guest "$nic" "$suite" "$log" $((300 * patience)) || true
        ;;
    splitc | atm-cells | bench) two_guests "$nic" "$suite" "$log" $((400 * patience)) || true ;;
    *) one_guest "$nic" "$suite" "$log" $((300 * patience + seconds)) || true ;;
    esac
    judge "$nic" "$suite" "$log"
}

# What each card is tested with: the first with everything, others with what depends on them.
suites_of() {
    local nic=$1 suite
    for suite in ${suites//,/ }; do
        [[ $suite != ip || -e $build/test/ip_fe_test ]] || continue
        case $nic/$suite in
        "${nics%%,*}"/* | */exchange | */conformance | */bench) echo "$suite" ;;
        esac
    done
}

use_kernel
prepare
for nic in ${nics//,/ }; do
    [[ -n ${drivers[$nic]-} ]] || die "no card '$nic'; there are ${!drivers[*]}"
    for suite in $(suites_of "$nic"); do
        run_suite "$nic" "$suite"
    done
done

count() { cat "$work"/log/*/a.log | tr -d '\r' | grep -aoE "$1" | grep -oE '[0-9]+' | awk '{ n += $1 } END { print n + 0 }'; }
attacks=$(cat "$work"/log/*attacks/a.log 2>/dev/null | grep -aoE 'in [0-9]+ test cases|test cases: +[0-9]+' | grep -oE '[0-9]+' | head -n 1 || true)
say "attacks tried: ${attacks:-0}, frames: $(count '[0-9]+ (messages there|messages sent,|received,)'), oopses: $(splats -h "$work"/log/*/?.log | awk '{ n += $1 } END { print n + 0 }'), leaks: $(cat "$work"/log/*/a.log | tr -d '\r' | grep -acE '^GUEST result (.*-leaks|unload) [1-9]' || true)"
if ((failed)); then
    die "not all is well; see $work/log"
fi
say "all is well"
