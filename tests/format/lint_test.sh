#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fails when a linter finds something in the files of one language.
#
#   tests/format/lint_test.sh python           ruff, by ruff.toml of this folder
#   tests/format/lint_test.sh shell            shellcheck
#   tests/format/lint_test.sh systemverilog    verible-verilog-lint
#
# Exit status 0: nothing found; 1: something found; 77: the linter is missing, or this is no git checkout. With NPU_REQUIRE_CHECKS
# set, 1 instead of 77.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

skip() {
  echo "lint: $*" >&2
  exit "$([[ -n ${NPU_REQUIRE_CHECKS:-} ]] && echo 1 || echo 77)"
}

# The linter $1: the pinned one of `sim/setup.sh checks`, else that of PATH where it has the pinned version $2 (empty: any).
tool() {
  local found=build/checks/bin/$1
  [[ -x $found ]] || found=$(command -v "$1") || skip "$1 is missing: sim/setup.sh checks installs it"
  [[ -z $2 || $("$found" --version) == *"$2"* ]] || skip "$found is not version $2: sim/setup.sh checks installs that"
  echo "$found"
}

pinned() { sed -n "s/^$1==//p" tests/format/requirements.txt; }

mapfile -t tracked < <(git ls-files --cached --others --exclude-standard 2>/dev/null)
files=()
take() {
  local file
  for file in "${tracked[@]}"; do
    if [[ $file =~ $1 && -f $file ]]; then files+=("$file"); fi
  done
  [[ ${#tracked[@]} -gt 0 ]] || skip "this is no git checkout, so nothing tells the project's files from others"
  [[ ${#files[@]} -gt 0 ]] || { echo "lint: found no files" >&2; exit 1; }
}

case ${1:-} in
  python)
    ruff=$(tool ruff "$(pinned ruff)")
    take '\.py$'
    "$ruff" check --no-cache --quiet --config tests/format/ruff.toml "${files[@]}"
    ;;
  shell)
    shellcheck=$(tool shellcheck "")
    take '(\.sh|^\.ci/run)$'
    "$shellcheck" --external-sources "${files[@]}"
    ;;
  systemverilog)
    verible=$(tool verible-verilog-lint "")
    take '\.svh?$'
    # Blocking assignments are left to Verilator's BLKSEQ, which knows the locals of a block; rtl/lib/npu_lint.vlt has the exceptions.
    "$verible" --rules=line-length=length:120,-always-ff-non-blocking "${files[@]}"
    ;;
  *)
    echo "lint: choose python, shell or systemverilog, not '${1:-}'" >&2
    exit 64
    ;;
esac
echo "lint: ${#files[@]} files of $1 have nothing to find"
