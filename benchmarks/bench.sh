#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# bench.sh BUILD_FOLDER [--quick] - the Split-C suite over some sizes and numbers of ranks;
# each row is the best of several runs.
set -euo pipefail

build=$1
runs=5
all_ranks=(1 2 4)
keys_each=(65536 524288)
if [[ ${2-} == --quick ]]; then
    runs=1
    all_ranks=(2)
    keys_each=(65536)
fi

# shellcheck source=benchmarks/runs.sh
source "$(dirname -- "$0")/runs.sh"

# The report with the least time of several runs.
best_of() {
    local best="" least="" report time i
    for ((i = 0; i < runs; i++)); do
        report=$(run_ranks "$@")
        time=$(report_field time 2 <<<"$report")
        if [[ -z $least ]] || awk "BEGIN { exit !($time < $least) }"; then
            least=$time
            best=$report
        fi
    done
    printf '%s\n' "$best"
}

bench_sorts() {
    local ranks keys program variant
    for program in ssort rsort; do
        for variant in small bulk; do
            for keys in "${keys_each[@]}"; do
                for ranks in "${all_ranks[@]}"; do
                    best_of "$ranks" "$program" --keys $((keys * ranks)) --variant "$variant" |
                        print_row "$program" "$variant" "$ranks" "$keys keys a rank" ""
                done
            done
        done
    done
}

bench_mm() {
    local ranks shape
    for shape in "8 128" "16 16"; do
        for ranks in "${all_ranks[@]}"; do
            best_of "$ranks" mm --blocks "${shape% *}" --block-size "${shape#* }" |
                print_row mm "" "$ranks" "${shape/ / blocks of }" ""
        done
    done
}

print_head ""
bench_sorts
bench_mm
