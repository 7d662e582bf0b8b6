#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up from nothing, builds and tests.
#
#   tests/run.sh [smoke|full|fresh|nightly [K/N]]     full is the default
#
#   smoke     release build; unit tests but the long ones, and the checks of contract, layering and format
#   full      release build with every test but the nightly ones, then the unit tests again with address and
#             undefined-behaviour sanitizers, a minute of fuzzing, and `fresh`
#   fresh     only the README's commands, the tests at tier smoke, on a bare machine with the compiler cache (tests/fresh/run.sh gate);
#             exit status 77 where no such machine can be made
#   nightly   as full, with the nightly tests, ten minutes of fuzzing from another random seed, clang-tidy, and all of tests/fresh.
#             nightly K/N is the K-th of N parts of it, for N machines or nights: each has its share of the nightly tests, and part 1
#             what full has, too; the last one fuzzes, and does clang-tidy and tests/fresh
#
# Exit status 0 when everything passed, else that of what failed first.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

level=${1:-full}
case $level in
  smoke | full | fresh | nightly) ;;
  -h | --help)
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  *)
    echo "tests/run.sh: there is no level '$level': choose smoke, full, fresh or nightly." >&2
    exit 64
    ;;
esac

part=1 parts=1
if [[ $# -gt 1 ]]; then
  if [[ $level != nightly || $# -gt 2 || ! $2 =~ ^([1-9][0-9]?)/([1-9][0-9]?)$ ]] ||
    ((BASH_REMATCH[1] > BASH_REMATCH[2])); then
    echo "tests/run.sh: '${*:2}' behind '$level': only nightly has parts, K/N such as 2/4, K from 1 to N." >&2
    exit 64
  fi
  part=${BASH_REMATCH[1]} parts=${BASH_REMATCH[2]}
fi
# What this run has: the first part, the last part.
first=$((part == 1)) last=$((part == parts))

jobs=$(nproc)
summary=()

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  step "build $preset"
  # The configuration's chatter matters only when it fails.
  if ! cmake --preset "$preset" >"build/configure-$preset.log" 2>&1; then
    cat "build/configure-$preset.log" >&2
    return 1
  fi
  cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# check NAME PRESET BUDGET CTEST-ARGUMENTS...: runs tests, says where their time went (BUDGET: seconds of all of them), and keeps
# ctest's closing line for the end.
check() {
  local name=$1 preset=$2 budget=$3 log=build/ctest-$2.log junit=$PWD/build/ctest-$2.xml status=0
  shift 3
  step "test $name"
  rm -rf "build/$preset/test-results"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$jobs" --output-junit "$junit" "$@" 2>&1 |
    tee "$log" || status=$?
  summary+=("$name: $(grep -E 'tests passed' "$log" || echo 'no test ran')")
  /usr/bin/python3 tests/tools/slowest.py "build/$preset" "$junit" --budget "$budget" --name "$name" | tee "$log.slowest" || true
  summary+=("$(tail -n 1 "$log.slowest")")
  return "$status"
}

# fuzz OPTIONS...: fuzzes, and keeps what was reached for the end.
fuzz() {
  local log=build/fuzz-run.log status=0
  step "fuzz"
  tests/fuzz/run.sh "$@" 2>&1 | tee "$log" || status=$?
  mapfile -t -O "${#summary[@]}" summary < <(grep '^fuzz: ' "$log")
  return "$status"
}

# begin_fresh LEVEL: the README's commands on bare machines, where such machines can be made, beside what follows: much of their
# time is waiting for archives and unpacking them.
machines=
begin_fresh() {
  step "fresh machines: $1, beside what follows"
  setsid tests/fresh/run.sh "$1" >build/fresh-run.log 2>&1 &
  machines=$!
}

# end_fresh: waits for them, and shows what they have said and say.
end_fresh() {
  local log=build/fresh-run.log status=0
  step "fresh machines"
  tail --lines=+1 --follow --pid="$machines" "$log"
  wait "$machines" || status=$?
  machines=
  if [[ $status -eq 77 ]]; then
    summary+=("$(tail -n 1 "$log")")
    return 0
  fi
  if [[ $status -eq 0 ]]; then
    summary+=("fresh machines: passed")
  else
    summary+=("fresh machines: $(tail -n 1 "$log")")
  fi
  return "$status"
}

# A signal ends this script with the status of the last command, so that only one that came to its end has passed.
ended=false
finish() {
  local status=$?
  [[ $status -ne 0 ]] || $ended || status=143
  [[ -z $machines ]] || kill -- "-$machines" 2>/dev/null || true
  step "$level $([[ $status -eq 0 ]] && echo passed || echo "failed, exit status $status")"
  [[ ${#summary[@]} -eq 0 ]] || printf '%s\n' "${summary[@]}"
}
trap finish EXIT

mkdir -p build
step "set-up"
if [[ $level == fresh ]]; then
  sim/setup.sh fresh
  tests/fresh/run.sh gate
  ended=true
  exit
fi
groups=(build tests python checks)
[[ $level == smoke ]] || groups+=(fuzz formal fresh)
sim/setup.sh "${groups[@]}"

# The set-up has just made the Python environments and installed the linters: tests that need them must not be skipped.
export NPU_REQUIRE_NETWORKS=1 NPU_REQUIRE_CHECKS=1
if [[ $level == smoke ]]; then
  build release smoke_tests
else
  build release
fi
case $level in
  smoke) check release release 100 --label-regex '^(unit|smoke)$' ;;
  full) check release release 900 --label-exclude nightly ;;
  nightly)
    ! ((first)) || check release release 900 --label-exclude nightly
    check "nightly tests, part $part of $parts" release 20000 --label-regex nightly --tests-information "$part,,$parts"
    ;;
esac

# SystemC's coroutines switch stacks, which the check for use after return cannot follow.
# Where memory was allocated and freed is said in four frames: whole stacks of every allocation take long.
export ASAN_OPTIONS=detect_stack_use_after_return=0:malloc_context_size=4
export UBSAN_OPTIONS=print_stacktrace=1

threads() {
  build tsan runtime_test capi_test
  GTEST_FILTER='Threads.*:Monitor.*:FirmwareJob.*:FirmwareFault.*:CompletionTest.*' \
    check "threads with their sanitizer" tsan 120 --tests-regex '^(runtime_test|capi_test)$'
}

case $level in
  full)
    begin_fresh gate
    build asan unit_tests
    check "unit tests with sanitizers" asan 900 --label-regex '^unit'
    threads
    fuzz --seconds 60
    fuzz --program --seconds 20
    end_fresh
    ;;
  nightly)
    if ((first)); then
      build asan unit_tests
      check "unit tests with sanitizers" asan 3600 --label-regex '^(nightly_)?unit'
      threads
    fi
    if ((last)); then
      fuzz --seconds 600 --seed "$(date +%Y%m%d)"
      fuzz --program --seconds 200 --seed "$(date +%Y%m%d)"
      begin_fresh nightly
      end_fresh
      # Each source file by itself, as clang-tidy and editors read it: it must not live on what its batch includes.
      build debug
      step "clang-tidy"
      find hw driver sim -name '*.cpp' -print0 | xargs -0 -n 4 -P "$jobs" clang-tidy --quiet -p build/debug
    fi
    ;;
esac
ended=true
