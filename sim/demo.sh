#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The main job, from nothing: sets up, builds, imports a trained wake-word network, streams a spoken phrase through it on the NPU, each
# frame a job for its firmware, and checks every element against the software reference and every frame against TensorFlow Lite's
# own runtime.
#
#   sim/demo.sh [OUTPUT-FOLDER]      the default is build/demo
#
# Leaves there: the imported network, the outputs, report.json, layers.csv, trace.json (open it at ui.perfetto.dev) and
# probability.svg. Exit status 0 when the phrase was detected and no element differs.
set -euo pipefail
# shellcheck source=sim/demo/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo/steps.sh"
begin 1 build/demo "$@"

network=okay_nabu
frames=sim/demo/data/${network}_frames.npy
prepare

step "import $network.tflite, as its makers ship it"
"$npu" import "$models/$network.tflite" -o "$out/$network.tosa"
"$npu" info "$out/$network.tosa"

step "stream the phrase through firmware and engines, frame after frame, and check against the reference"
"$npu" run "$out/$network.tosa" --input "$frames" --sequence --outputs "$out" --check reference \
  --json "$out/report.json" --csv "$out/layers.csv" --trace "$out/trace.json" | tee "$out/run.txt"

step "what it heard"
"$python" sim/demo/show.py --model "$network" --frames "$frames" --device "$out/TosaOutput_0.npy" \
  --svg "$out/probability.svg"

step "done"
grep -E 'differ' "$out/run.txt"
grep -A 1 '^firmware' "$out/run.txt"
echo "picture $out/probability.svg, trace $out/trace.json, report $out/report.json"
