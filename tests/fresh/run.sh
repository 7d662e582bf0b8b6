#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries what the README promises on machines that have nothing: a bare Debian 12 in a folder (mmdebstrap), a clean clone of
# HEAD without ../shared, and the README's commands in it. Each step's time is printed.
#
#   tests/fresh/run.sh [gate|cases|nightly] [CASE...]     gate is the default
#
#   gate      the README's commands (the tests: smoke) as a user with sudo, then sim/demo.sh as root; with the host's compiler cache
#   cases     half-prepared machines (cases.sh): each sets up, or fails with one sentence; CASE... chooses some of them
#   nightly   cases, then the README's commands (the tests: full) as a user with sudo and as root, from a new base and without a cache
#
# Exit status 0 when all passed, 77 after one sentence where this cannot be tried, 1 when something failed.
# Everything lies in build/fresh, logs in build/fresh/logs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(cd "$here/../.." && pwd)
work=$project/build/fresh
cache=yes
summary=()

say() { printf '\n== fresh: %s (after %d s)\n' "$*" "$SECONDS"; }
skip() {
  echo "fresh: skipped: $*."
  exit 77
}

# broken NAME WHAT LOG
broken() {
  tail -n 30 "$3" >&2
  echo "fresh: $1: $2 (see $3)" >&2
  exit 1
}

# shellcheck source=tests/fresh/machine.sh
source "$here/machine.sh"
# shellcheck source=tests/fresh/cases.sh
source "$here/cases.sh"

# try NAME USER COMMAND: the command must succeed.
try() {
  local log=$work/logs/$1-$2.log begun=$SECONDS
  say "$1, $2: $3"
  on "$1" "$2" "$3" >"$log" 2>&1 || broken "$1" "as $2, \`$3\` ended with exit status $?" "$log"
  tail -n 2 "$log"
  summary+=("$(printf '%5d s  %s, %s: %s' "$((SECONDS - begun))" "$1" "$2" "$3")")
}

# commands NAME USER COMMAND...: on a bare machine, one after the other.
commands() {
  local name=$1 user=$2 command
  shift 2
  start "$name"
  place_clone "$name" "$user"
  for command in "$@"; do try "$name" "$user" "$command"; done
  stop "$name"
}

# What the host has compiled is there for the machines, and what they compile is kept for the next run. Users of the machines
# cannot write to what belongs to the host's users, so the folders are copies and the files hard links.
seed_cache() {
  local host
  mkdir -p "$work/ccache"
  if host=$(ccache --get-config cache_dir 2>/dev/null) && [[ -d $host ]]; then
    cp -rln "$host/." "$work/ccache/" 2>/dev/null || cp -rn "$host/." "$work/ccache/" 2>/dev/null || true
    rm -rf "$work/ccache/tmp"
  fi
  find "$work/ccache" -type d -exec chmod 0777 {} +
}

check_host() {
  [[ -z ${NPU_FRESH_MACHINE:-} ]] || skip "this is such a machine"
  local tool
  for tool in mmdebstrap unshare chroot apt-get git; do
    command -v "$tool" >/dev/null || skip "$tool is missing (sim/setup.sh fresh installs it)"
  done
  git -c safe.directory='*' -C "$project" rev-parse --quiet --verify HEAD >/dev/null || skip "$project is no git clone"
  [[ $EUID -eq 0 ]] || skip "only root may make machines"
  mkdir -p "$work"/{logs,machines,archives/partial}
  unshare --mount bash -c "mkdir -p '$work/try'/{lower,upper,work,root} &&
    mount -t overlay overlay -o 'lowerdir=$work/try/lower,upperdir=$work/try/upper,workdir=$work/try/work' '$work/try/root'" \
    2>/dev/null || skip "root may not mount an overlay in $work"
  rm -rf "$work/try"
}

level=${1:-gate}
case $level in
  gate | cases | nightly) shift $(($# > 0)) ;;
  -h | --help)
    sed -n '3,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
    exit 0
    ;;
  *)
    echo "tests/fresh/run.sh: there is no level '$level': choose gate, cases or nightly." >&2
    exit 64
    ;;
esac
if [[ ${NPU_FRESH_NAMESPACE:-} != "$PPID" ]]; then
  check_host
  exec 8>"$work/.lock"
  flock -n 8 || skip "another run is using $work"
  # Recognised by the process that set it, so that the variable is not set by accident.
  NPU_FRESH_NAMESPACE=$$ unshare --mount --propagation private bash "$0" "$level" "$@"
  exit
fi

# What the network needs of the environment: the variables' names.
mapfile -t passed < <(compgen -e | grep -E '^(PIP_[A-Z_]+|(https?|no|all)_proxy|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$')

say "base machine"
[[ $level != nightly ]] || rm -f "$work/base.stamp"
make_base
seed_cache
case $level in
  gate)
    commands user dev sim/demo.sh sim/demo-state.sh "tests/run.sh smoke"
    commands root root sim/demo.sh
    ;;
  cases) run_cases "$@" ;;
  nightly)
    run_cases
    cache=no
    commands user dev sim/demo.sh sim/demo-state.sh tests/run.sh
    commands root root sim/demo.sh sim/demo-state.sh tests/run.sh
    ;;
esac
say "$level passed"
printf '%s\n' "${summary[@]}"
