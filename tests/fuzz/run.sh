#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a fuzz target with clang and runs it: that of networks, or with --program that of compiled programs.
#
#   tests/fuzz/run.sh [--program] [--seconds N] [--seed N] [--jobs N]
#                                             60 seconds, seed 1 and a process for each core by default
#   tests/fuzz/run.sh [--program] --replay FILE...
#                                             judges files, findings or others, and says of each whether the reference
#                                             ran it, or it is a program, or why it was refused
#
# Every process starts from the seeds that the project's own builder makes, with a random seed of its own, which is
# printed. An input that makes it crash, contradict itself, or take more than 10 seconds or 1.5 GiB is a
# finding: the script keeps it in build/fuzz/findings, with the log of its process in build/fuzz. Exit status 0, 1 after a finding or a build that fails,
# 64 for a wrong command line, 66 for a file that cannot be read.
set -euo pipefail
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

root=$PWD
seconds=60
seed=1
jobs=$(nproc)
folder=build/fuzz
kind=tosa
findings=$folder/findings
limits=(-rss_limit_mb=1536 -timeout=10 -max_len=16384)
dictionary=(-dict=tests/fuzz/tosa.dict)
# A small quarantine, so that the limit bounds the memory of an input; SIGABRT prints where our own checks fail.
export ASAN_OPTIONS=quarantine_size_mb=16:detect_stack_use_after_return=0:handle_abort=1
export UBSAN_OPTIONS=print_stacktrace=1

usage() {
  echo "tests/fuzz/run.sh: $* (see tests/fuzz/run.sh --help)." >&2
  exit 64
}

# check_readable FILE...: an argument that is not a file would be an option or a corpus to the target.
check_readable() {
  local file
  for file in "$@"; do
    if [[ ! -f $file || ! -r $file ]]; then
      echo "tests/fuzz/run.sh: cannot read $file: there is no such file that can be read." >&2
      exit 66
    fi
  done
}

build() {
  mkdir -p build
  if ! cmake --preset fuzz >build/configure-fuzz.log 2>&1; then
    cat build/configure-fuzz.log >&2
    exit 1
  fi
  cmake --build --preset fuzz --parallel "$(nproc)"
}

# The values that libFuzzer compares are among what it tries; without a fixed layout, pointers are among them too.
fixed_layout=()
if setarch -R true 2>/dev/null; then
  fixed_layout=(setarch -R)
fi

# run NUMBER: becomes one process; its corpus grows in a folder of its own, so that it depends on its random seed alone.
run() {
  local corpus=$folder/corpus-$1
  rm -rf "$corpus"
  "$folder/tests/fuzz/make_seeds" "$kind" "$corpus" >/dev/null
  # One change at a time: the mutator makes several itself, and changes of illegal graphs leave them illegal.
  exec "${fixed_layout[@]}" "$folder/tests/fuzz/${kind}_fuzz" "${limits[@]}" "${dictionary[@]}" -seed=$((seed + $1)) -max_total_time="$seconds" -reload=0 \
    -mutate_depth=1 -print_final_stats=1 -artifact_prefix="$findings/" "$corpus" \
    >"$folder/fuzz-$1.log" 2>&1
}

# summary NUMBER: "70192 inputs, 9904 edges covered, corpus of 2046 files".
summary() {
  local log=$folder/fuzz-$1.log inputs edges files
  inputs=$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(sed -nE 's/.* cov: ([0-9]+) .*/\1/p' "$log" | tail -n 1)
  files=$(sed -nE 's/.* corp: ([0-9]+)\/.*/\1/p' "$log" | tail -n 1)
  echo "fuzz: seed $((seed + $1)): ${inputs:-?} inputs, ${edges:-?} edges covered, corpus of ${files:-?} files"
}

# The last counts of a log, "70192 inputs, 9904 edges covered".
so_far() {
  sed -nE 's/^#([0-9]+).* cov: ([0-9]+) .*/\1 inputs, \2 edges covered/p' "$1" | tail -n 1
}

# Every half minute, how far the processes are; the sleeping process keeps no output open.
progress() {
  local number
  while sleep 30 >/dev/null 2>&1; do
    for ((number = 0; number < jobs; ++number)); do
      echo "  after $SECONDS s, seed $((seed + number)): $(so_far "$folder/fuzz-$number.log")"
    done
  done
}

while [[ $# -gt 0 ]]; do
  case $1 in
    --seconds | --seed | --jobs)
      [[ ${2:-} =~ ^[0-9]{1,9}$ ]] || usage "$1 needs a number"
      printf -v "${1#--}" '%d' "$((10#$2))"
      shift 2
      ;;
    --program)
      kind=program
      dictionary=()
      shift
      ;;
    --replay)
      shift
      [[ $# -gt 0 ]] || usage "--replay needs files"
      (cd "$here" && check_readable "$@")
      build
      cd "$here"
      NPU_FUZZ_VERDICTS=1 exec "$root/$folder/tests/fuzz/${kind}_fuzz" "${limits[@]}" "$@"
      ;;
    -h | --help)
      sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    *) usage "there is no option '$1'" ;;
  esac
done
[[ $seconds -gt 0 && $jobs -gt 0 ]] || usage "--seconds and --jobs must be at least 1"

build
mkdir -p "$findings"
touch "$folder/started"
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true' EXIT
for ((number = 0; number < jobs; ++number)); do
  run "$number" &
  processes+=($!)
done
SECONDS=0
progress &
processes+=($!)
failed=0
for ((number = 0; number < jobs; ++number)); do
  wait "${processes[$number]}" || failed=1
  summary "$number"
done
if [[ $failed -ne 0 ]]; then
  while IFS= read -r file; do
    echo "fuzz: finding $file; replay it with: tests/fuzz/run.sh$([[ $kind == tosa ]] || echo " --$kind") --replay $file" >&2
  done < <(find "$findings" -type f -newer "$folder/started")
  grep -hE '^(==.*ERROR|SUMMARY|npu: internal error)|runtime error' "$folder"/fuzz-*.log >&2 || true
fi
exit "$failed"
