#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# State that survives, from nothing: sets up, builds, imports four trained wake-word networks, and shows two things.
#
# 1. A stream that stops after frame 20 and goes on in another process, on the NPU and on the software reference: outputs and
#    variables equal those of a stream that was not disturbed, in every bit.
# 2. Four networks that listen at once, each in a context of its own on one NPU, with frames interleaved at random and the device
#    powered down between frames (persistent SRAM in retention): every output equals that of the network alone.
#
#   sim/demo-state.sh [OUTPUT-FOLDER] [SEED]      the defaults are build/demo-state and 1
#
# Leaves there: the imported networks, the outputs, the saved variables, stream.json and streams.svg. Exit status 0 when all are
# equal, the two networks whose phrases are spoken heard them, and the other two heard nothing.
set -euo pipefail
# shellcheck source=sim/demo/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/demo/steps.sh"
begin 2 build/demo-state "$@"

seed=${2:-1}
[[ $seed =~ ^[0-9]{1,19}$ ]] || fail "SEED is a number, not $seed."
networks=(okay_nabu hey_jarvis alexa hey_mycroft)
stop=20
prepare

step "import ${networks[*]}, as their makers ship them"
for network in "${networks[@]}"; do "$npu" import "$models/$network.tflite" -o "$out/$network.tosa"; done

network=${networks[0]}
frames=sim/demo/data/${network}_frames.npy

step "$network: a stream that nothing disturbs"
"$npu" run "$out/$network.tosa" --input "$frames" --sequence --outputs "$out/whole" --save-state "$out/whole.state" --check reference |
  grep '^check'

step "the same, stopped after frame $stop"
"$npu" run "$out/$network.tosa" --input "$frames" --sequence --invocations "$stop" --outputs "$out/first" \
  --save-state "$out/stopped.state" >"$out/first.txt"
"$npu" state list "$out/stopped.state"

step "resumed in a new process, on the NPU and on the reference"
"$npu" run "$out/$network.tosa" --input "$frames" --sequence --skip "$stop" --resume "$out/stopped.state" --outputs "$out/rest" \
  --save-state "$out/end.state" >"$out/rest.txt"
"$npu" reference "$out/$network.tosa" --input "$frames" --sequence --skip "$stop" --resume "$out/stopped.state" \
  --outputs "$out/rest-reference" --save-state "$out/end-reference.state"
for rest in rest rest-reference; do
  "$python" sim/demo/same_stream.py "$out/whole/TosaOutput_0.npy" "$out/first/TosaOutput_0.npy" "$out/$rest/TosaOutput_0.npy"
done
for end in end end-reference; do "$npu" state diff "$out/whole.state" "$out/$end.state"; done

step "four networks at once, in four contexts, with power-downs between frames (seed $seed)"
"$python" -c 'import sys, numpy as np; np.save(sys.argv[1], np.concatenate([np.load(f) for f in sys.argv[2:]]))' "$out/frames.npy" \
  "$frames" "sim/demo/data/${networks[1]}_frames.npy"
streams=()
for network in "${networks[@]}"; do streams+=("$out/$network.tosa=$out/frames.npy"); done
"$npu" stream "${streams[@]}" --interleave "$seed" --retention --check undisturbed --outputs "$out/streams" --json "$out/stream.json"

step "what they heard"
"$python" sim/demo/show_streams.py --json "$out/stream.json" --outputs "$out/streams" --svg "$out/streams.svg" \
  --spoken "${networks[0]}" "${networks[1]}"

step "done"
echo "picture $out/streams.svg, what ran when $out/stream.json, variables after frame $stop $out/stopped.state"
