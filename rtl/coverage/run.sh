#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the lines and toggles of the RTL blocks that their tests reach.
#
#   rtl/coverage/run.sh [--markdown FILE] [--check [--page FILE]] [--missing BLOCK]
#
#   --markdown FILE   also writes the summary to FILE
#   --check           exit status 1 when a block is below the targets of rtl/coverage/summary.py
#   --page FILE       with --check: also when FILE is not what --markdown writes
#   --missing BLOCK   prints the uncovered points of a block instead of the summary
#
# Builds small blocks that count (-DNPU_RTL_COVERAGE=ON) and their tests in build/coverage, and runs these.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

for argument in "$@"; do
  if [[ $argument == -h || $argument == --help ]]; then
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
  fi
done

build=$root/build/coverage
log=$build/coverage.log
export NPU_COVERAGE_DIR=$build/counts
mkdir -p "$build"

# quietly COMMAND...: what it says matters only when it fails.
quietly() {
  "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "rtl/coverage/run.sh: '$*' failed" >&2
    exit 70
  }
}

quietly cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DNPU_RTL_COVERAGE=ON
quietly cmake --build "$build" --parallel "$(nproc)" --target block_tests
rm -rf "$NPU_COVERAGE_DIR"
mkdir "$NPU_COVERAGE_DIR"
quietly ctest --test-dir "$build" --label-regex '^block$' --no-tests=error --output-on-failure --parallel "$(nproc)"
"$root/rtl/coverage/summary.py" "$NPU_COVERAGE_DIR" "$@"
