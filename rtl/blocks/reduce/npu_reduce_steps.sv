// SPDX-License-Identifier: Apache-2.0
// The passes of a vpu_reduce tile, one a cycle. See README.md.
module npu_reduce_steps #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Tree = 0,  // a vector can be folded in one pass
  parameter int unsigned Float = 0,  // values may be floating point
  localparam int unsigned LaneBits = $clog2(Lanes)
) (
  input  logic                                  clk_i,
  input  npu_contract_pkg::vpu_reduce_command_t command_i,
  input  logic                                  init_i,
  input  logic                                  next_i,       // to the next pass
  // The walk: over the results, or, without inner elements, over the axis, anew for each result.
  output logic                     [3:0] [31:0] dims_o,
  input  logic                           [31:0] place_i,      // of lane 0 in the innermost dimension
  input  logic                                  walk_last_i,
  output logic                                  walk_next_o,
  output logic                                  walk_init_o,
  // This pass.
  output logic                                  last_o,       // of the tile
  output logic                                  load_o,
  output logic                                  store_o,
  output logic                                  fold_o,
  output logic                                  tree_o,
  output logic                                  whole_o,      // fold all lanes at once
  output logic                                  first_o,      // of a result
  output logic                                  second_o,     // pass of argmax
  output logic                   [LaneBits-1:0] level_o,      // of the tree; whole: which accumulator
  output logic                                  single_o,     // store: results of consecutive rows, from lane 0
  output logic                   [LaneBits-1:0] rows_o,       //   to this one
  output logic                     [3:0] [31:0] stride_o,
  output logic                           [31:0] base_o,
  output logic                           [31:0] index_o,
  // Of the tile.
  output logic                                  across_o,
  output logic                     [LaneBits:0] used_o
);
  typedef enum logic [1:0] {
    PhaseFold,
    PhaseTree,
    PhaseStore
  } phase_e;

  phase_e phase_q;
  logic second_q, across, argmax, whole, pass_last, fold_last, tree_last, group_last;
  logic [31:0] position_q, src_q, row_q, dst_q, outer_left_q, src_bytes, dst_bytes;
  logic [LaneBits-1:0] level_q, levels, rows_q;
  assign across = command_i.inner == 32'd1;
  assign argmax = command_i.op == npu_contract_pkg::ReduceOpArgmax;
  assign across_o = across;
  assign whole = Tree != 0 && across && !argmax && command_i.op != npu_contract_pkg::ReduceOpProduct;
  assign used_o = (command_i.axis > 32'(Lanes)) ? (LaneBits + 1)'(Lanes) : (LaneBits + 1)'(command_i.axis);
  always_comb begin
    levels = '0;
    for (int unsigned i = 0; i < LaneBits; i++) if (32'(used_o) > (32'd1 << i)) levels = LaneBits'(i + 1);
  end
  assign src_bytes = 32'(npu_cast_pkg::port_bytes(Float != 0, command_i.type_));
  assign dst_bytes = argmax ? 32'd4 : src_bytes;

  always_comb begin
    dims_o = {command_i.inner, command_i.outer, 32'd1, 32'd1};
    stride_o = store_o ? {dst_bytes, command_i.dst_outer_stride, 32'd0, 32'd0}
                       : {src_bytes, command_i.src_outer_stride, 32'd0, 32'd0};
    base_o = store_o ? '0 : src_q;
    if (across) begin
      dims_o = {command_i.axis, 32'd1, 32'd1, 32'd1};
      stride_o = {store_o ? command_i.dst_outer_stride : command_i.src_axis_stride, 32'd0, 32'd0, 32'd0};
      base_o = store_o ? dst_q : row_q;
    end
  end

  assign pass_last = !argmax || second_q;
  assign fold_last = pass_last && (across ? walk_last_i : position_q + 32'd1 == command_i.axis);
  assign tree_last = pass_last && level_q + 1'b1 == levels;
  assign load_o = phase_q == PhaseFold && !second_q;
  assign fold_o = phase_q == PhaseFold;
  assign tree_o = phase_q == PhaseTree;
  assign whole_o = whole && fold_o;
  assign store_o = phase_q == PhaseStore;
  assign first_o = fold_o && position_q == '0;
  assign second_o = second_q;
  // A row after the other into its accumulator, until all have one or no row is left; else one row, into the first.
  assign group_last = !whole || rows_q == LaneBits'(Lanes - 1) || outer_left_q == 32'd1;
  assign level_o = whole ? rows_q : level_q;
  assign rows_o = rows_q;
  assign single_o = across && store_o;
  assign index_o = across ? place_i : position_q;
  assign last_o = store_o && (across ? outer_left_q == 32'd1 : walk_last_i);
  assign walk_next_o = across ? fold_o && pass_last && !walk_last_i : store_o;
  assign walk_init_o = across && (store_o || (fold_last && fold_o && !group_last));

  always_ff @(posedge clk_i) begin
    if (init_i) begin
      phase_q <= PhaseFold;
      second_q <= 1'b0;
      position_q <= '0;
      level_q <= '0;
      rows_q <= '0;
      {src_q, row_q, dst_q} <= '0;
      outer_left_q <= command_i.outer;
    end else if (next_i) begin
      second_q <= !pass_last;
      case (phase_q)
        PhaseFold: begin
          if (pass_last) begin
            position_q <= position_q + 32'd1;
            src_q <= src_q + command_i.src_axis_stride;
          end
          if (fold_last && !group_last) begin
            position_q <= '0;
            rows_q <= rows_q + 1'b1;
            row_q <= row_q + command_i.src_outer_stride;
            outer_left_q <= outer_left_q - 32'd1;
          end else if (fold_last) begin
            phase_q <= (across && !whole && levels != '0) ? PhaseTree : PhaseStore;
          end
        end
        PhaseTree: begin
          if (pass_last) level_q <= level_q + 1'b1;
          if (tree_last) phase_q <= PhaseStore;
        end
        default: begin
          phase_q <= PhaseFold;
          second_q <= 1'b0;
          position_q <= '0;
          level_q <= '0;
          rows_q <= '0;
          src_q <= '0;
          row_q <= row_q + command_i.src_outer_stride;
          dst_q <= dst_q + (whole ? command_i.dst_outer_stride << LaneBits : command_i.dst_outer_stride);
          outer_left_q <= outer_left_q - 32'd1;
        end
      endcase
    end
  end

endmodule
