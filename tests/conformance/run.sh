#!/usr/bin/env bash
# Makes official conformance tests and runs them on the software reference.
#
#   tests/conformance/run.sh [--npu PROGRAM] [--junit FILE] [--json FILE] [--filter REGEX] [--quiet] [SELECTION...]
#
# SELECTION is what tests/conformance/generate.py takes: --profile int|fp|all, --extension all|none|NAME..., --operators
# OP..., --seed N, --part K, --jobs N, --cache DIR. PROGRAM is build/release/npu by default. Exit status: that of
# `npu conformance` (0, or 7 when a test does not pass), or 1 when the tests could not be made.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")

npu=$here/../../build/release/npu
selection=() run=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
      exit 0
      ;;
    --npu | --junit | --json | --filter)
      [[ $# -gt 1 ]] || { echo "run.sh: $1 needs a value" >&2 && exit 64; }
      if [[ $1 == --npu ]]; then npu=$2; else run+=("$1" "$2"); fi
      shift 2
      ;;
    --quiet)
      run+=("$1")
      shift
      ;;
    --jobs)
      [[ $# -gt 1 ]] || { echo "run.sh: $1 needs a value" >&2 && exit 64; }
      selection+=("$1" "$2")
      run+=("$1" "$2")
      shift 2
      ;;
    *)
      selection+=("$1")
      shift
      ;;
  esac
done

[[ -x $npu ]] || { echo "run.sh: there is no program $npu; build it, or name it with --npu" >&2 && exit 66; }
# Generation takes minutes of all processors: it gives way to others.
tests=$(nice "$here/generate.py" "${selection[@]}")
exec "$npu" conformance "$tests" "${run[@]}"
