#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Imports the wake-word networks that the Python environment ships: import_networks.sh NPU VENV OUTPUT-FOLDER.
# Without the environment: exit status 77 (skipped), or 1 where NPU_REQUIRE_NETWORKS says that it must be there.
set -euo pipefail
npu=$1 venv=$2 out=$3
models=$(compgen -G "$venv/lib/python3*/site-packages/pymicro_wakeword/models" || true)
if [[ -z $models ]]; then
  echo "no Python environment in $venv: run sim/setup.sh python"
  exit "$([[ -n ${NPU_REQUIRE_NETWORKS:-} ]] && echo 1 || echo 77)"
fi
mkdir -p "$out"
for network in okay_nabu hey_jarvis alexa hey_mycroft; do
  if [[ ! -f $out/$network.tosa || $models/$network.tflite -nt $out/$network.tosa ]]; then
    "$npu" import "$models/$network.tflite" -o "$out/$network.tosa"
  fi
done
