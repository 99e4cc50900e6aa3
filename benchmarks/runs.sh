# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
#
# runs.sh - how demo.sh runs a program and prints a row of its table.
# Expects $build, the build folder.

# What a program's report says on a line: report_field LABEL COLUMN < report
report_field() {
    awk -v label="$1" -v column="$2" '$1 == label { print $column }'
}

print_head() {
    printf '%-7s %-8s %5s %-22s %10s %12s %6s  %s\n' \
        program variant ranks problem time rate comm "$1"
}

# print_row PROGRAM VARIANT RANKS PROBLEM RESULT < report
print_row() {
    local report
    report=$(cat)
    printf '%-7s %-8s %5d %-22s %8.3f s %6.1f M %-3s %5.1f%%  %s\n' "$1" "$2" "$3" "$4" \
        "$(report_field time 2 <<<"$report")" "$(report_field rate 2 <<<"$report")" \
        "$(report_field rate 4 <<<"$report" | sed 's/keys/k/; s/flops/f/')" \
        "$(report_field communication 4 <<<"$report")" "$5"
}

# run_ranks RANKS PROGRAM ARGS...: prints the program's report.
run_ranks() {
    local ranks=$1 program=$2
    shift 2
    timeout "${RUN_LIMIT:-300}" "${build:?}/bin/unetrun" -n "$ranks" \
        "${build:?}/benchmarks/$program" "$@" </dev/null
}
