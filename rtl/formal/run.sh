#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Proves properties of the RTL: yosys reads the proofs of this folder, the solvers of yosys-abc decide them.
#
#   rtl/formal/run.sh [--markdown] [NAME...]     without names: all of them
#
# Behind each proof come its mutants: the same proof with one line of the RTL broken, which must fail. A line for each,
# with its time. Exit status 0: all proved and all mutants found; 1: not; 77: yosys is not installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v yosys >/dev/null || ! command -v yosys-abc >/dev/null; then
  echo "rtl/formal/run.sh: yosys is not installed (sim/setup.sh formal installs it)" >&2
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
markdown=false
wanted=()
for argument in "$@"; do
  if [[ $argument == --markdown ]]; then markdown=true; else wanted+=("$argument"); fi
done
status=0
ran=0

# Of the contract's package what yosys can read: the codes, not the structures with arrays behind them.
sed '/typedef struct packed/,$d' hw/contract/gen/npu_contract_pkg.sv >"$work/npu_contract_pkg.sv"
echo endpackage >>"$work/npu_contract_pkg.sv"

declare -A files=(
  [fifo]="rtl/lib/npu_fifo.sv"
  [arbiter]="rtl/lib/npu_arbiter.sv"
  [ecc_code]="rtl/lib/npu_ecc_pkg.sv rtl/lib/npu_ecc_encode.sv rtl/lib/npu_ecc_syndrome.sv"
  [ecc_decode]="rtl/lib/npu_ecc_pkg.sv rtl/lib/npu_ecc_syndrome.sv rtl/lib/npu_ecc_decode.sv"
  [dma_walk]="rtl/blocks/dma_address/npu_dma_walk.sv"
  [rescale]="$work/npu_contract_pkg.sv rtl/blocks/float/npu_float_pkg.sv rtl/blocks/rescale/npu_rescale_lane.sv"
  [float_order]="$work/npu_contract_pkg.sv rtl/blocks/float/npu_float_pkg.sv"
  [float_narrow]="$work/npu_contract_pkg.sv rtl/blocks/float/npu_float_pkg.sv"
)
# How: `pdr` finds an inductive invariant, so for ever; `sat` decides a function without state, for all inputs; `bmc N`
# for N cycles.
declare -A how=(
  [fifo]="pdr" [arbiter]="pdr" [ecc_code]="sat" [ecc_decode]="sat" [dma_walk]="bmc 26" [rescale]="bmc 8"
  [float_order]="sat" [float_narrow]="sat"
)
declare -A what=(
  [fifo]="3 entries: each comes out once, in order; full and empty are told"
  [arbiter]="5 requesters: one grant, to one that asks, after at most 4 to others"
  [ecc_code]="64 bits of any data: syndrome 0; each of 72 flips adds a constant of its own"
  [ecc_decode]="each single error corrected, each of 2,556 double ones told"
  [dma_walk]="2 dimensions: beats inside of what the descriptor spans, as many as it has bytes; an offset for each row of an index"
  [rescale]="4-bit values and multipliers: rounds half up, adds the zero point, clips"
  [float_order]="all FP32: comparisons are those of integers in the same order; clamped within the limits"
  [float_narrow]="all FP32 to each smaller format: the nearest number, ties to even, overflow and NaN"
)

# Writes $work/proof.aig. That a signal has two drivers, or none, is only a warning to yosys, but not here.
translate() {
  local name=$1
  shift
  yosys -q -e 'conflict|no driver' -p "read_verilog -sv -Irtl/lib $* rtl/formal/$name.sv; prep -top $name -flatten;
    memory_map; async2sync; opt; techmap; opt; dffunmap; setundef -undriven -anyseq; aigmap; opt_clean;
    write_aiger -zinit $work/proof.aig" >"$work/yosys.log" 2>&1
}

# Prints proved, refuted or unknown.
solve() {
  local log=$work/abc.log prepare="read_aiger $work/proof.aig; fold; orpos; scleanup; dc2"
  case $1 in
    sat) yosys-abc -c "read_aiger $work/proof.aig; iprove" ;;
    pdr) yosys-abc -c "$prepare; pdr -T 120" ;;
    bmc) yosys-abc -c "$prepare; bmc3 -F $2 -T 240" ;;
  esac >"$log" 2>&1
  if grep -Eq "^UNSATISFIABLE|^Property proved|^No output asserted in ${2:-no} frames" "$log"; then
    echo proved
  elif grep -Eq '^SATISFIABLE|was asserted in frame' "$log"; then
    echo refuted
  else
    echo unknown
  fi
}

row() {
  if $markdown; then echo "| $1 | $2 | $3 | $4 | ${5//|/\\|} |"; else printf '%-12s %-8s %-9s %6s s  %s\n' "$@"; fi
}

# check NAME RESULT-WANTED TEXT FILES...
check() {
  local name=$1 expected=$2 text=$3 begin=$EPOCHREALTIME result=unreadable seconds
  shift 3
  # shellcheck disable=SC2086  # a list of words
  if translate "$name" "$@"; then result=$(solve ${how[$name]}); fi
  seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  row "$name" "${how[$name]}" "$result" "$seconds" "$text"
  if [[ $result != "$expected" ]]; then
    echo "rtl/formal/run.sh: $name: $expected was expected ($text)" >&2
    cat "$work"/*.log >&2
    status=1
  fi
}

is_wanted() { [[ ${#wanted[@]} -eq 0 || " ${wanted[*]} " == *" $1 "* ]]; }

prove() {
  is_wanted "$1" || return 0
  ran=$((ran + 1))
  # shellcheck disable=SC2086  # a list of words
  check "$1" proved "${what[$1]}" ${files[$1]}
}

# mutant NAME FILE OLD NEW: the proof must fail when OLD (a fixed text) stands as NEW in FILE.
mutant() {
  local name=$1 file=$2 old=$3 new=$4 broken=$work/mutant.sv
  is_wanted "$name" || return 0
  awk -v old="$old" -v new="$new" '
    { at = index($0, old) }
    at && !done { $0 = substr($0, 1, at - 1) new substr($0, at + length(old)); done = 1 }
    { print }
    END { exit !done }' "$file" >"$broken" || {
    echo "rtl/formal/run.sh: $file has no '$old' to break" >&2
    exit 1
  }
  # shellcheck disable=SC2086  # a list of words
  check "$name" refuted "mutant: \`$new\` for \`$old\`" ${files[$name]/$file/$broken}
}

if $markdown; then
  printf '| proof | method | result | seconds | what |\n|---|---|---|---|---|\n'
fi
prove fifo
mutant fifo rtl/lib/npu_fifo.sv "IndexWidth'(Depth - 1)" "IndexWidth'(Depth - 2)"
mutant fifo rtl/lib/npu_fifo.sv "valid_i && ready_o" "valid_i"
prove arbiter
mutant arbiter rtl/lib/npu_arbiter.sv "~(grant_o | (grant_o - 1'b1))" "~(grant_o - 1'b1)"
prove ecc_code
mutant ecc_code rtl/lib/npu_ecc_syndrome.sv "npu_ecc_pkg::Mask3)" "(npu_ecc_pkg::Mask3 ^ 64'h100))"
prove ecc_decode
mutant ecc_decode rtl/lib/npu_ecc_pkg.sv "position = 3" "position = 4"
mutant ecc_decode rtl/lib/npu_ecc_decode.sv "!odd && syndrome" "syndrome"
prove dma_walk
mutant dma_walk rtl/blocks/dma_address/npu_dma_walk.sv "piece_ends ? left_q[BytesWidth-1:0]" "piece_ends ? BytesWidth'(PortBytes)"
mutant dma_walk rtl/blocks/dma_address/npu_dma_walk.sv "restarts[i] = !found" "restarts[i] = 1'b0"
mutant dma_walk rtl/blocks/dma_address/npu_dma_walk.sv "i >= RowDims ? next_address : next_row" "next_address"
mutant dma_walk rtl/blocks/dma_address/npu_dma_walk.sv "joined && !(indexed_q && 32'(i) < RowDims)" "joined"
prove rescale
mutant rescale rtl/blocks/rescale/npu_rescale_lane.sv "64'sd1 <<< (shift_q2 - 6'd1)" "(64'sd1 <<< (shift_q2 - 6'd1)) - 64'sd1"
prove float_order
mutant float_order rtl/blocks/float/npu_float_pkg.sv "(is_zero(one) && is_zero(other))) less = 1'b0" "1'b0) less = 1'b0"
mutant float_order rtl/blocks/float/npu_float_pkg.sv "less(most, clamp) ? most" "less(most, value) ? value"
prove float_narrow
mutant float_narrow rtl/blocks/float/npu_float_pkg.sv "(placed[26] || placed[24:0] != '0)" "placed[26]"
mutant float_narrow rtl/blocks/float/npu_float_pkg.sv "if (shift > 9'd25) shift = 9'd25" "if (shift > 9'd24) shift = 9'd24"
mutant float_narrow rtl/blocks/float/npu_float_pkg.sv "{16'h007e, 16'h007f, 16'h007f}" "{16'h007d, 16'h007f, 16'h007f}"

if [[ $ran -eq 0 ]]; then
  echo "rtl/formal/run.sh: there is no proof '${wanted[*]}': choose from ${!files[*]}" >&2
  exit 64
fi
exit $status
