# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016,SC2154  # run.sh sets the variables; single quotes are for the machine's shell
# Half-prepared machines, sourced by run.sh: each sets up, or fails with one sentence.

# The machine that most cases start from: all of `sim/setup.sh build python` is there, and a clone of HEAD that was never
# configured.
make_prepared() {
  say "prepared machine"
  start prepared
  place_clone prepared dev
  on prepared dev "sim/setup.sh build python" >"$work/logs/prepared.log" 2>&1 ||
    broken prepared "the set-up failed" "$work/logs/prepared.log"
  stop prepared keep
}

# half NAME LAYER USER PREPARE COMMAND STATUS PATTERN: on a new machine on top of LAYER (base or prepared), root runs PREPARE,
# then USER runs COMMAND. It must end with STATUS; its output must have a line that matches PATTERN, and where it fails
# the standard error must have no other line.
half() {
  local name=$1 layer=$2 user=$3 prepare=$4 command=$5 wanted=$6 pattern=$7 status=0 begun=$SECONDS lower=$work/base
  local log=$work/logs/case-$1.log
  [[ ${#chosen[@]} -eq 0 || " ${chosen[*]} " == *" $name "* ]] || return 0
  tried=$((tried + 1))
  say "case $name"
  if [[ $layer == prepared ]]; then
    [[ -n ${prepared:-} ]] || make_prepared
    prepared=yes
    lower=$work/machines/prepared/upper:$work/base
  fi
  start case "$lower"
  [[ $layer == prepared ]] || place_clone case "$user"
  on case root "cd / && $prepare" >"$log" 2>&1 || broken "$name" "the machine could not be prepared" "$log"
  on case "$user" "$command" >"$log" 2>"$log.err" || status=$?
  stop case
  cat "$log.err" >>"$log"
  [[ $status -eq $wanted ]] || broken "$name" "\`$command\` ended with exit status $status, not $wanted" "$log"
  grep -qE -- "$pattern" "$log" || broken "$name" "\`$command\` does not say '$pattern'" "$log"
  [[ $wanted -eq 0 || $(wc -l <"$log.err") -eq 1 ]] || broken "$name" "\`$command\` fails with more than one sentence" "$log"
  summary+=("$(printf '%5d s  case %s: %s' "$((SECONDS - begun))" "$name" "$(grep -m 1 -E -- "$pattern" "$log")")")
}

# run_cases [NAME...]: these cases, or all.
run_cases() {
  local -a chosen=("$@")
  local tried=0 prepared=
  local configure="cmake --preset release -DNPU_WITH_RTL=OFF"
  local sources="\$(find /etc/apt -name '*sources.list')"
  local install="apt-get install -qq -y --no-install-recommends"

  half gtest-without-gmock prepared dev "$install libgtest-dev" "$configure" 0 "No tests: .*there is no GTest::gmock; "
  half googletest-without-yaml prepared dev "$install libgmock-dev" \
    "! /usr/bin/python3 -c 'import yaml' 2>/dev/null && $configure && ctest --test-dir build/release -N" 0 "^Total Tests: [1-9][0-9]"
  half no-tests-in-the-demo prepared dev "$install libgtest-dev" \
    "source sim/demo/steps.sh && demo=demo out=build/demo npu=true python=true && cmake() { command echo cmake \"\$@\"; } && prepare && cat build/configure-release.log" \
    0 "NPU_BUILD_TESTS=OFF"
  half verilator-missing prepared dev "dpkg --purge --force-depends verilator" "set -o pipefail; { cmake --preset release 2>&1 | grep -A1 'CMake Error' | tail -n 1; } >&2" \
    1 "Verilator was not found: install it \(sim/setup.sh build does\)"
  half without-verilator prepared dev "dpkg --purge --force-depends verilator" "$configure" 0 "Generating done"
  half no-ccache prepared dev "dpkg --purge ccache" "$configure" 0 "Generating done"
  half broken-ccache prepared dev "printf '#!/bin/sh\nexit 1\n' >/usr/local/bin/ccache; chmod +x /usr/local/bin/ccache" \
    "$configure && cmake --build build/release --target npu_contract" 0 "ccache does not work: compiling without a cache"
  # The oldest that a Debian with C++20's compilers had.
  half old-ccache prepared dev \
    "sed 's/ $release/ bullseye/; /security\|updates/d' $sources >/etc/apt/sources.list.d/old.list && apt-get -qq update && $install --allow-downgrades ccache/bullseye" \
    "ccache --version | head -n 1 && $configure && cmake --build build/release --target npu_contract" 0 "^ccache version 4\.2"
  half old-cmake-first prepared dev "/home/dev/tosa-npu/build/venv/bin/pip install -q --target /opt/cmake cmake==3.20.5 && ln -s /opt/cmake/cmake/data/bin/cmake /usr/local/bin" \
    "sim/demo.sh" 1 "^setup: /usr/local/bin/cmake is CMake 3\.20\.5, but 3\.25 is needed: "
  half old-cmake-behind prepared dev "/home/dev/tosa-npu/build/venv/bin/pip install -q --target /opt/cmake cmake==3.20.5 && ln -s /opt/cmake/cmake/data/bin/cmake /usr/local/bin" \
    "export PATH=/usr/bin:\$PATH && sim/setup.sh build && $configure" 0 "Generating done"
  half new-cmake-first prepared dev "/home/dev/tosa-npu/build/venv/bin/pip install -q --target /opt/cmake cmake==4.1.0 && ln -s /opt/cmake/cmake/data/bin/cmake /usr/local/bin" \
    "cmake --version && sim/setup.sh build && $configure" 0 "^cmake version 4\.1"
  half bare-python-first prepared dev "python3 -m venv --without-pip /opt/python && ln -s /opt/python/bin/python3 /usr/local/bin/python3" \
    "$configure" 0 "Generating done"
  half python-without-venv prepared plain "dpkg --purge --force-depends python3-venv python3.11-venv; mv /home/dev/tosa-npu /home/plain; chown -R plain: /home/plain" \
    "sim/setup.sh python" 1 "^setup: sudo did not let us install python3-venv\.$"
  half python-without-venv-sudo prepared dev "dpkg --purge --force-depends python3-venv python3.11-venv" \
    "rm -rf build/venv && sim/setup.sh python" 0 "^setup: ready \(python\)"
  half pip-without-network prepared dev true \
    "rm -rf build/venv && PIP_INDEX_URL=http://127.0.0.1:9/ PIP_RETRIES=0 sim/setup.sh python" 1 \
    "^setup: pip could not install sim/requirements.txt: ERROR: "
  half apt-without-network base root "sed -i 's|http[s]*://[^ ]*|http://127.0.0.1:9/|' $sources; rm -rf /var/lib/apt/lists/*" \
    "sim/setup.sh build" 1 "^setup: apt-get could not install .*: E: "
  half no-sudo base plain true "sim/demo.sh" 1 "^setup: sudo did not let us install .*cmake"
  half others-build-folder prepared plain "mv /home/dev/tosa-npu /home/plain" "sim/demo.sh" 1 "build: it belongs to dev\.$|setup.lock: it belongs to dev\.$"
  [[ $tried -gt 0 ]] || { echo "fresh: there is no case ${chosen[*]} (tests/fresh/cases.sh lists them)." >&2; exit 64; }
  stop prepared
}
