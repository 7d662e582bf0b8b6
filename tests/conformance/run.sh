#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes official conformance tests and runs them on the software reference.
#
#   tests/conformance/run.sh [--npu PROGRAM] [--junit FILE] [--json FILE] [--filter REGEX] [--quiet] [SELECTION...]
#
# SELECTION is what tests/conformance/generate.py takes: --tosa-version 1.0.2|1.1.0-draft, --profile int|fp|all, --extension
# all|none|NAME..., --operators OP..., --seed N, --part K, --jobs N, --cache DIR. PROGRAM is build/release/npu by default. The tests stay in
# build/conformance, all of them some 37 GB; remove that folder to have the space back.
#
# Exit status: that of `npu conformance` (0; 7 when a test does not pass), 64 for wrong options, 66 when the program is not
# there or a report cannot be written, 130 or 143 when stopped by a signal, 1 when the tests could not be made.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")

fail() {  # STATUS SENTENCE
  echo "run.sh: $2" >&2
  exit "$1"
}

npu=$here/../../build/release/npu
selection=() run=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    --npu | --junit | --json | --filter | --jobs)
      [[ $# -gt 1 ]] || fail 64 "$1 needs a value"
      case $1 in
        --npu) npu=$2 ;;
        --jobs) selection+=("$1" "$2") run+=("$1" "$2") ;;
        *) run+=("$1" "$2") ;;
      esac
      shift 2
      ;;
    --quiet)
      run+=("$1")
      shift
      ;;
    *)
      selection+=("$1")
      shift
      ;;
  esac
done

[[ -f $npu && -x $npu ]] || fail 66 "there is no program $npu; build it, or name it with --npu"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# npu looks at its options before it looks for tests: with a folder that has none, that is all it complains of.
mkdir "$scratch/empty"
status=0
answer=$("$npu" conformance "$scratch/empty" "${run[@]}" 2>&1) || status=$?
if [[ $answer != *"no desc.json below"* ]]; then
  [[ $status -eq 64 || $status -eq 66 ]] || fail 66 "$npu does not answer as npu does"
  fail "$status" "${answer#npu: error: }"
fi

# Generation takes hours of all processors for the whole suite: it gives way to others. In the background, since the shell
# hears signals only while it waits.
NPU_CONFORMANCE_PROGRAM=run.sh nice "$here/generate.py" "${selection[@]}" > "$scratch/tests" &
generator=$!
trap 'kill "$generator" 2> /dev/null || true; wait "$generator" || exit "$?"; exit 143' INT TERM
wait "$generator"
trap - INT TERM
tests=$(< "$scratch/tests")
rm -rf "$scratch"
exec "$npu" conformance "$tests" "${run[@]}"
