# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034  # npu, python and models are for the scripts that source this
# The common part of the demo scripts. They source it, with their arguments, before they change the folder.

# Prints a script's comment up to its first command.
usage() { sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; }
step() { printf '\n== %s\n' "$*"; }
fail() {
  echo "$demo: $*" >&2
  exit 1
}

# begin MOST-ARGUMENTS DEFAULT-FOLDER [ARGUMENT...]: answers --help, refuses what it does not know, sets $out to the
# folder for results, as the caller means it, and goes to the root of the project.
begin() {
  local most=$1 folder=$2
  shift 2
  demo=$(basename "$0" .sh)
  case ${1:-} in
    -h | --help)
      usage
      exit 0
      ;;
    -*) fail "there is no option $1 (see --help)." ;;
  esac
  [[ $# -le $most ]] || fail "takes at most $most argument(s), not $# (see --help)."
  out=${1:-$folder}
  [[ $# -eq 0 || $out == /* ]] || out=$PWD/$out
  cd "$(dirname "${BASH_SOURCE[0]}")/../.." || fail "cannot enter the project's folder."
  npu=build/release/npu
  python=build/venv/bin/python
}

# Sets up, makes the folder and builds, each only as far as it is missing; sets $models to the folder with the trained
# networks.
prepare() {
  step "set-up"
  sim/setup.sh build python
  mkdir -p "$out" 2>/dev/null || fail "cannot create the folder $out."
  [[ -w $out ]] || fail "cannot write to the folder $out."

  step "build"
  # Without tests, unless this folder has them already: CMake deletes what a configuration no longer builds.
  local -a options=()
  grep -qs '^NPU_BUILD_TESTS:[A-Z]*=ON$' build/release/CMakeCache.txt || options=(-DNPU_BUILD_TESTS=OFF)
  cmake --preset release "${options[@]}" >build/configure-release.log 2>&1 ||
    fail "cmake could not configure: $(grep -m 1 -A 1 'CMake Error' build/configure-release.log | tail -n 1) (see build/configure-release.log)."
  cmake --build build/release --parallel "$(nproc)" --target npu || fail "the build failed, as said above."
  models=$("$python" -c 'import pathlib, pymicro_wakeword as p; print(pathlib.Path(p.__file__).parent / "models")')
}
