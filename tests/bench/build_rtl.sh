#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Benchmark: seconds to Verilate and compile all RTL from scratch, without ccache, on two cores; exit status 1 when that
# is longer than six minutes. Arguments go to cmake:
#
#   tests/bench/build_rtl.sh                         the RTL of every build: all blocks and presets, and the wrong ones
#   tests/bench/build_rtl.sh -DNPU_RTL_TRACE=ON      and the traced ones
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

limit=360
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CCACHE_DISABLE=1

now() { date +%s.%N; }
configure() { cmake --preset release "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }; }
build() { taskset -c 0,1 cmake --build "$folder/on" -j2 --target "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }; }

# Verilator runs while CMake configures: what that takes is the difference to a build without RTL.
start=$(now)
configure -B "$folder/off" -DNPU_WITH_RTL=OFF "$@"
without=$(now)
configure -B "$folder/on" -DNPU_WITH_RTL=ON "$@"
with=$(now)
build npu_contract
targets=(npu_rtl npu_rtl_wrong)
if grep -q '^NPU_RTL_TRACE:BOOL=ON' "$folder/on/CMakeCache.txt"; then targets+=(npu_rtl_traced); fi
ready=$(now)
build "${targets[@]}"
end=$(now)

awk -v start="$start" -v without="$without" -v with="$with" -v ready="$ready" -v end="$end" -v limit="$limit" 'BEGIN {
  verilate = (with - without) - (without - start); compile = end - ready; all = verilate + compile
  printf "Verilating %.1f s, compiling %.1f s: %.1f s of at most %d s\n", verilate, compile, all, limit
  exit all > limit
}'
