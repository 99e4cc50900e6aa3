#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# demo.sh BUILD_FOLDER - sort a real file with both sorts and both variants, and
# multiply two matrices, on 4 ranks; compare every result with an independent one.
set -euo pipefail

build=$1
ranks=4
folder=$build/demo
input=$folder/input.keys
expected=$folder/expected.keys
bytes=100000000

# What a program's report says on a line: report_field LABEL COLUMN < report
report_field() {
    awk -v label="$1" -v column="$2" '$1 == label { print $column }'
}

print_head() {
    printf '%-7s %-8s %5s %-22s %10s %12s %6s  %s\n' \
        program variant ranks problem time rate comm result
}

# print_row PROGRAM VARIANT PROBLEM RESULT < report
print_row() {
    local report
    report=$(cat)
    printf '%-7s %-8s %5d %-22s %8.3f s %6.1f M %-3s %5.1f%%  %s\n' "$1" "$2" "$ranks" "$3" \
        "$(report_field time 2 <<<"$report")" "$(report_field rate 2 <<<"$report")" \
        "$(report_field rate 4 <<<"$report" | sed 's/keys/k/; s/flops/f/')" \
        "$(report_field communication 4 <<<"$report")" "$4"
}

# run PROGRAM ARGS...: prints the program's report.
run() {
    timeout 300 "$build/bin/unetrun" -n "$ranks" "$build/benchmarks/$1" "${@:2}" </dev/null
}

# Programs and libraries of this machine, one behind the other.
make_input() {
    mkdir -p "$folder"
    [[ -s $input ]] && return
    printf 'demo: making %s from the files of /usr/bin and /usr/lib\n' "$input"
    { find /usr/bin /usr/lib -type f -size +16k -readable -print0 | sort -z |
        xargs -0 cat 2>/dev/null || true; } | head -c "$bytes" >"$input.new" || true
    truncate -s "$(($(stat -c %s "$input.new") / 4 * 4))" "$input.new"
    mv "$input.new" "$input"
}

# By std::sort, which knows nothing of the sorts to be verified.
make_expected() {
    [[ $expected -nt $input ]] && return
    printf 'demo: sorting it with std::sort, to compare with\n'
    "$build/bin/sort_keys" "$input" "$expected.new"
    mv "$expected.new" "$expected"
}

demo_sort() {
    local program=$1 variant=$2 report result=verified

    rm -f "$folder/output.keys"
    report=$(run "$program" --input "$input" --output "$folder/output.keys" \
        --variant "$variant")
    cmp -s "$folder/output.keys" "$expected" || result=WRONG
    print_row "$program" "$variant" "$(($(stat -c %s "$input") / 4)) keys" \
        "$result" <<<"$report"
    [[ $result == verified ]]
}

demo_multiply() {
    local report result

    report=$(run mm --blocks 8 --block-size 128 --check)
    result=$(report_field check 2 <<<"$report")
    print_row mm "" "1024 x 1024 doubles" "$result" <<<"$report"
    [[ $result == verified ]]
}

main() {
    make_input
    make_expected
    print_head
    for program in ssort rsort; do
        for variant in small bulk; do
            demo_sort "$program" "$variant"
        done
    done
    demo_multiply
    rm -f "$folder/output.keys"
}

main
