// SPDX-License-Identifier: Apache-2.0
// The VPU: one element-wise, pooling or reduction tile, from the decoded command to the bytes of its results. See
// README.md.
`include "npu_assert.svh"

module npu_vpu #(
  parameter int unsigned Lanes = 8,
  parameter int unsigned Registers = 16,
  parameter int unsigned Rows = 256,  // of the table memory, 4 * Lanes bytes each
  parameter int unsigned Rescale = 0,  // one with one entry takes one pass, and a product with a shift
  parameter int unsigned Tree = 0,     // a vector is reduced in one pass
  parameter int unsigned Pairs = 0,    // a table's entry comes with the next one
  parameter int unsigned Shared = 0,   // loads and stores share passes
  parameter int unsigned Float = 0,    // there is floating point
  // Of ports; leave as they are.
  localparam int unsigned RowBytes = 4 * Lanes,
  localparam int unsigned CountBits = $clog2(RowBytes) + 1
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,

  input  logic                                  start_valid_i,
  output logic                                  start_ready_o,
  input  npu_contract_pkg::opcode_e             opcode_i,  // which of the commands it is
  input  npu_contract_pkg::vpu_ewise_command_t  ewise_i,
  input  npu_contract_pkg::operand_t      [7:0] operands_i,
  input  npu_contract_pkg::uop_t         [31:0] uops_i,
  input  npu_contract_pkg::vpu_pool_command_t   pool_i,
  input  npu_contract_pkg::vpu_reduce_command_t reduce_i,
  output logic                                  done_o,

  output logic                                  param_valid_o,
  input  logic                                  param_ready_i,
  output logic                            [2:0] param_operand_o,
  output logic                           [31:0] param_offset_o,
  output logic                  [CountBits-1:0] param_count_o,
  input  logic                 [8*RowBytes-1:0] param_data_i,

  output logic                                  operand_valid_o,
  input  logic                                  operand_ready_i,
  output logic                            [2:0] operand_operand_o,
  output logic                            [2:0] operand_bytes_o,   // of an element: 1, 2 or 4
  output logic                      [Lanes-1:0] operand_lanes_o,
  output logic              [Lanes-1:0]  [31:0] operand_offset_o,
  input  logic              [Lanes-1:0]  [31:0] operand_data_i,

  output logic                                  result_valid_o,
  input  logic                                  result_ready_i,
  output logic                            [2:0] result_operand_o,
  output logic                            [2:0] result_bytes_o,
  output logic                      [Lanes-1:0] result_lanes_o,
  output logic              [Lanes-1:0]  [31:0] result_offset_o,
  output logic              [Lanes-1:0]  [31:0] result_data_o
);
  localparam int unsigned Groups = Lanes / 4;
  localparam int unsigned LaneBits = $clog2(Lanes);
  localparam int unsigned RowBits = $clog2(Rows);
  localparam int unsigned ByteBits = $clog2(Rows * RowBytes);

  // A pass on its way through the stages.
  typedef struct packed {
    logic final_;  // of the tile
    logic first;   // of its micro-operation
    logic last;
    logic load;
    logic store;
    logic high;    // the upper half of 48 bits
    logic shares;  // a load that the micro-operation reads in place of the register of its result
    logic zeros;   // extend what is loaded, not its sign
    logic fold;    // into the accumulators: a vector
    logic tree;    // each other
    logic whole;   // into one of them, all lanes of the vector
    logic start;   // of their result
    logic divide;  // the reciprocal of an average
    logic finish;  // the average
    logic [LaneBits-1:0] level;  // of the tree, or which accumulator
    logic [31:0] index;
    logic [5:0] pass;
    logic [2:0] operand;
    npu_contract_pkg::element_e type_;
    npu_contract_pkg::uop_t uop;
  } pass_t;

  typedef enum logic [2:0] {
    StateIdle,
    StateSetup,
    StateBlobs,
    StateIssue,
    StateDrain
  } state_e;

  state_e state_q;
  logic ewise_q, pool_q;
  npu_contract_pkg::vpu_ewise_command_t command_q;
  npu_contract_pkg::vpu_pool_command_t pooling_q;
  npu_contract_pkg::vpu_reduce_command_t reduce_q;
  npu_contract_pkg::operand_t [7:0] operands_q;
  npu_contract_pkg::uop_t uops_q [32];

  logic start, advance, blobs_done, blobs_any, issue_last, done_q, d_valid_q;
  assign start_ready_o = state_q == StateIdle;
  assign start = start_valid_i && start_ready_o;
  assign done_o = done_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StateIdle;
    end else begin
      unique case (state_q)
        StateIdle: if (start) state_q <= StateSetup;
        StateSetup: state_q <= blobs_any ? StateBlobs : StateIssue;
        StateBlobs: if (blobs_done) state_q <= StateIssue;
        StateIssue: if (issue_last && advance) state_q <= StateDrain;
        default: if (d_valid_q) state_q <= StateIdle;
      endcase
    end
  end
  always_ff @(posedge clk_i) begin
    if (start) begin
      ewise_q <= opcode_i == npu_contract_pkg::OpcodeVpuEwise;
      command_q <= ewise_i;
      pool_q <= opcode_i == npu_contract_pkg::OpcodeVpuPool;
      pooling_q <= pool_i;
      reduce_q <= reduce_i;
      operands_q <= operands_i;
      for (int unsigned i = 0; i < 32; i++) uops_q[i] <= uops_i[i];
    end
  end

  // Parameter blocks and tables.
  localparam int unsigned PoolParams = 2;  // as an operand
  logic average;
  logic [7:0] [31:0] blob_bytes;
  logic table_write;
  logic [RowBits-1:0] table_row;
  logic [7:0] [RowBits-1:0] blob_row;
  npu_contract_pkg::parameter_header_t [7:0] blob_header;
  always_comb begin
    for (int unsigned i = 0; i < 8; i++) begin
      blob_bytes[i] = (ewise_q && i < 32'(command_q.operand_count)) ? operands_q[i].bytes : '0;
    end
    if (average) blob_bytes[PoolParams] = 32'd32;
  end
  assign average = pool_q && pooling_q.mode == npu_contract_pkg::PoolModeAvg;
  assign blobs_any = blob_bytes != '0;
  npu_vpu_blobs #(.RowBytes(RowBytes), .Rows(Rows)) u_blobs (
    .clk_i,
    .rst_ni,
    .init_i(state_q == StateSetup),
    .bytes_i(blob_bytes),
    .done_o(blobs_done),
    .valid_o(param_valid_o),
    .ready_i(param_ready_i),
    .operand_o(param_operand_o),
    .offset_o(param_offset_o),
    .count_o(param_count_o),
    .data_i(param_data_i),
    .write_o(table_write),
    .write_row_o(table_row),
    .row_o(blob_row),
    .header_o(blob_header)
  );

  // Fetch: the passes of a vector, then the next vector.
  logic f_valid, f_next, walk_init, walk_next, walk_last;
  logic [3:0] [31:0] dims, f_first, f_place, f_stride;
  logic [31:0] f_base;
  logic [Lanes-1:0] [31:0] f_inner;
  logic [Lanes-1:0] [1:0] f_step, f_steps;
  logic [Lanes-1:0] f_inside, f_lanes, reduce_results;
  pass_t f, f_ewise, f_pool, f_reduce;
  assign f_valid = state_q == StateIssue;
  assign f_next = f_valid && advance;
  npu_vpu_walk #(.Lanes(Lanes)) u_walk (
    .clk_i,
    .dims_i(dims),
    .init_i(walk_init),
    .next_i(walk_next),
    .first_o(f_first),
    .inner_o(f_inner),
    .step_o(f_step),
    .inside_o(f_inside),
    .last_o(walk_last)
  );

  // A program.
  logic ewise_last, f_last, vector_end, uop_last, load_shares, store_shares;
  logic [4:0] pc_q;
  logic [5:0] pass_q, pass_last;
  logic [1:0] uop_count;
  npu_contract_pkg::uop_t uop, load_uop, store_uop;
  npu_contract_pkg::uop_t [2:0] next_uops;
  logic [2:0] next_there;
  npu_contract_pkg::element_e [7:0] types;
  npu_contract_pkg::element_e f_type;
  always_comb begin
    for (int unsigned i = 0; i < 3; i++) begin
      next_uops[i] = uops_q[pc_q+5'(i)];
      next_there[i] = 8'(pc_q) + 8'(i) < command_q.uop_count;
    end
    for (int unsigned i = 0; i < 8; i++) types[i] = operands_q[i].type_;
  end
  assign load_uop = next_uops[0];
  npu_vpu_group #(.Rescale(Rescale), .Pairs(Pairs), .Shared(Shared)) u_group (
    .uops_i(next_uops),
    .there_i(next_there),
    .types_i(types),
    .owner_o(uop),
    .last_o(pass_last),
    .load_o(load_shares),
    .store_o(store_shares),
    .store_uop_o(store_uop),
    .count_o(uop_count)
  );
  assign uop_last = 8'(pc_q) + 8'(uop_count) == command_q.uop_count;
  assign f_type = operands_q[f_ewise.operand].type_;
  assign f_last = pass_q == pass_last;
  assign vector_end = f_last && uop_last;
  assign ewise_last = vector_end && walk_last;
  always_comb begin
    f_ewise = '0;
    f_ewise.first = pass_q == '0;
    f_ewise.shares = load_shares && f_ewise.first;
    f_ewise.load = uop.op == npu_contract_pkg::UopLoad || f_ewise.shares;
    f_ewise.store = uop.op == npu_contract_pkg::UopStore || (store_shares && f_last);
    f_ewise.high = pass_q[0] && (uop.op == npu_contract_pkg::UopLoad || uop.op == npu_contract_pkg::UopStore);
    f_ewise.zeros = load_uop.imm0[0];
    f_ewise.pass = pass_q;
    f_ewise.operand = f_ewise.store ? store_uop.b[2:0] : load_uop.a[2:0];
    f_ewise.uop = uop;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pc_q <= '0;
      pass_q <= '0;
    end else if (f_next && ewise_q) begin
      pass_q <= f_last ? '0 : pass_q + 1'b1;
      if (f_last) pc_q <= uop_last ? '0 : pc_q + 5'(uop_count);
    end
  end

  // A reduction.
  logic reduce_last, reduce_init, reduce_next, reduce_across, reduce_second, reduce_single;
  logic [3:0] [31:0] reduce_dims, reduce_stride;
  logic [31:0] reduce_base;
  logic [LaneBits:0] reduce_used;
  logic reduce_load, reduce_store, reduce_fold, reduce_tree, reduce_whole, reduce_start;
  logic [LaneBits-1:0] reduce_level, reduce_rows;
  logic [31:0] reduce_index;
  npu_reduce_steps #(.Lanes(Lanes), .Tree(Tree), .Float(Float)) u_reduce_steps (
    .clk_i,
    .command_i(reduce_q),
    .init_i(state_q == StateSetup),
    .next_i(f_next && !ewise_q && !pool_q),
    .dims_o(reduce_dims),
    .place_i(f_first[3]),
    .walk_last_i(walk_last),
    .walk_next_o(reduce_next),
    .walk_init_o(reduce_init),
    .last_o(reduce_last),
    .load_o(reduce_load),
    .store_o(reduce_store),
    .fold_o(reduce_fold),
    .tree_o(reduce_tree),
    .whole_o(reduce_whole),
    .first_o(reduce_start),
    .second_o(reduce_second),
    .level_o(reduce_level),
    .single_o(reduce_single),
    .rows_o(reduce_rows),
    .stride_o(reduce_stride),
    .base_o(reduce_base),
    .index_o(reduce_index),
    .across_o(reduce_across),
    .used_o(reduce_used)
  );
  always_comb begin
    // To the lanes it is a load, or nothing.
    f_reduce = '0;
    f_reduce.uop.op = reduce_load ? npu_contract_pkg::UopLoad : npu_contract_pkg::UopStore;
    f_reduce.load = reduce_load;
    f_reduce.store = reduce_store;
    f_reduce.fold = reduce_fold;
    f_reduce.tree = reduce_tree;
    f_reduce.whole = reduce_whole;
    f_reduce.start = reduce_start;
    f_reduce.level = reduce_level;
    f_reduce.index = reduce_index;
    f_reduce.pass = 6'(reduce_second);
    f_reduce.operand = 3'(reduce_store);
    f_reduce.type_ = reduce_q.type_;
    if (reduce_store && reduce_q.op == npu_contract_pkg::ReduceOpArgmax) begin
      f_reduce.type_ = npu_contract_pkg::ElementI32;
    end
  end

  // A pooling.
  logic pool_last, pool_fold, pool_first, pool_divide, pool_finish, pool_store;
  logic [2:0] pool_pass;
  logic [3:0] [31:0] pool_stride;
  logic [31:0] pool_base, pool_row, pool_column;
  npu_pool_steps #(.Float(Float)) u_pool_steps (
    .clk_i,
    .command_i(pooling_q),
    .init_i(state_q == StateSetup),
    .next_i(f_next && pool_q),
    .walk_last_i(walk_last),
    .last_o(pool_last),
    .fold_o(pool_fold),
    .first_o(pool_first),
    .divide_o(pool_divide),
    .finish_o(pool_finish),
    .finish_pass_o(pool_pass),
    .store_o(pool_store),
    .stride_o(pool_stride),
    .base_o(pool_base),
    .row_o(pool_row),
    .column_o(pool_column)
  );
  always_comb begin
    f_pool = '0;
    f_pool.uop.op = pool_fold ? npu_contract_pkg::UopLoad : npu_contract_pkg::UopStore;
    f_pool.load = pool_fold;
    f_pool.store = pool_store;
    f_pool.fold = pool_fold;
    f_pool.start = pool_first;
    f_pool.divide = pool_divide;
    f_pool.finish = pool_finish;
    f_pool.pass = 6'(pool_pass);
    f_pool.operand = 3'(pool_store);
    f_pool.type_ = pooling_q.type_;
  end

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) reduce_results[i] = LaneBits'(i) <= reduce_rows;
  end
  always_comb begin
    f = f_ewise;
    f.last = f_last;
    f.type_ = f_type;
    issue_last = ewise_last;
    dims = command_q.dims;
    walk_init = state_q == StateSetup;
    walk_next = f_next && vector_end;
    f_stride = operands_q[f_ewise.operand].stride;
    f_base = f_ewise.high ? 32'd4 : 32'd0;
    f_lanes = f_inside;
    f_place = f_first;
    f_steps = f_step;
    if (pool_q) begin
      f = f_pool;
      issue_last = pool_last;
      dims = {pooling_q.channels, pooling_q.out_w, pooling_q.out_h, 32'd1};
      walk_next = f_next && pool_store;
      f_stride = pool_stride;
      f_base = pool_base;
    end else if (!ewise_q) begin
      f = f_reduce;
      issue_last = reduce_last;
      dims = reduce_dims;
      walk_init = state_q == StateSetup || (f_next && reduce_init);
      walk_next = f_next && reduce_next;
      f_stride = reduce_stride;
      f_base = reduce_base;
      if (reduce_single) begin
        // Not where the walk stands: a result a lane, `stride` apart.
        f_lanes = reduce_results;
        f_place = '0;
        f_steps = '1;
      end
    end
    f.final_ = issue_last;
  end

  // All stages move together, and stand while a request waits for memory.
  logic a_valid_q, r_valid_q, l_valid_q, g_valid_q, x_valid_q, w_valid_q, s_valid_q, m_valid_q;
  pass_t a_q, r_q, l_q, g_q, x_q, w_q, s_q, m_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {a_valid_q, r_valid_q, l_valid_q, g_valid_q, x_valid_q, w_valid_q, s_valid_q, m_valid_q} <= '0;
      d_valid_q <= 1'b0;
      done_q <= 1'b0;
    end else begin
      if (advance) begin
        {a_valid_q, r_valid_q, l_valid_q, g_valid_q, x_valid_q, w_valid_q, s_valid_q, m_valid_q} <=
            {f_valid, a_valid_q, r_valid_q, l_valid_q, g_valid_q, x_valid_q, w_valid_q, s_valid_q};
      end
      d_valid_q <= advance && m_valid_q && m_q.final_;
      done_q <= d_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    if (advance) {a_q, r_q, l_q, g_q, x_q, w_q, s_q, m_q} <= {f, a_q, r_q, l_q, g_q, x_q, w_q, s_q};
  end

  // Address: offsets of loads and stores, entries of a RESCALE.
  logic [3:0] [31:0] a_first_q, a_stride_q;
  logic [31:0] a_base_q, a_row_q, a_column_q;
  logic [Lanes-1:0] [31:0] a_inner_q;
  logic [Lanes-1:0] [1:0] a_step_q;
  logic [Lanes-1:0] a_inside_q, r_inside_q;
  always_ff @(posedge clk_i) begin
    if (advance) begin
      a_first_q <= f_place;
      a_inner_q <= f_inner;
      a_step_q <= f_steps;
      a_inside_q <= f_lanes;
      a_stride_q <= f_stride;
      a_base_q <= f_base;
      a_row_q <= pool_row;
      a_column_q <= pool_column;
      r_inside_q <= a_inside_q;
    end
  end
  npu_vpu_address #(.Lanes(Lanes)) u_address (
    .clk_i,
    .take_i(advance && a_valid_q && (a_q.load || a_q.store)),
    .dims_i(dims),
    .stride_i(a_stride_q),
    .base_i(a_base_q),
    .first_i(a_first_q),
    .step_i(a_step_q),
    .offset_o(operand_offset_o)
  );

  // Pooling: rows and columns of the input that the lanes meet, found like offsets; those outside of it do not count.
  logic [Lanes-1:0] [31:0] r_row, r_column, l_count_q;
  logic [Lanes-1:0] r_lanes;
  logic a_position;
  assign a_position = advance && a_valid_q && pool_q && a_q.fold;
  npu_vpu_address #(.Lanes(Lanes)) u_row (
    .clk_i,
    .take_i(a_position),
    .dims_i(dims),
    .stride_i({32'd0, 32'd0, 32'(pooling_q.stride_y), 32'd0}),
    .base_i(a_row_q),
    .first_i(a_first_q),
    .step_i(a_step_q),
    .offset_o(r_row)
  );
  npu_vpu_address #(.Lanes(Lanes)) u_column (
    .clk_i,
    .take_i(a_position),
    .dims_i(dims),
    .stride_i({32'd0, 32'(pooling_q.stride_x), 32'd0, 32'd0}),
    .base_i(a_column_q),
    .first_i(a_first_q),
    .step_i(a_step_q),
    .offset_o(r_column)
  );
  always_comb begin
    r_lanes = r_inside_q;
    if (pool_q && r_q.fold) begin
      for (int unsigned i = 0; i < Lanes; i++) begin
        r_lanes[i] = r_inside_q[i] && r_row[i] < pooling_q.in_h && r_column[i] < pooling_q.in_w;
      end
    end
  end
  // Positions from `first` on, `size` of them, that lie in 0 .. end - 1.
  function automatic logic [31:0] overlap(logic signed [31:0] first, logic [15:0] size, logic signed [31:0] limit);
    logic signed [31:0] from, to;
    from = (first < 0) ? '0 : first;
    to = first + 32'(size);
    if (to > limit) to = limit;
    return (to > from) ? to - from : '0;
  endfunction
  function automatic logic [Lanes-1:0] [31:0] counts(logic [Lanes-1:0] [31:0] row, logic [Lanes-1:0] [31:0] column);
    for (int unsigned i = 0; i < Lanes; i++) begin
      counts[i] = overlap(row[i], pooling_q.kernel_h, pooling_q.in_h) *
                  overlap(column[i], pooling_q.kernel_w, pooling_q.in_w);
    end
  endfunction
  always_ff @(posedge clk_i) if (advance && r_valid_q && average && r_q.start) l_count_q <= counts(r_row, r_column);

  logic entry_take, lookup, lookup_wide;
  logic [7:0] lookup_operand;
  logic [Groups-1:0] [10:0] lookup_offset;
  logic [Groups-1:0] [ByteBits-1:0] lookup_address;
  logic [Groups-1:0] [ByteBits-1:3] entry_address;
  logic [Groups-1:0] [15:0] lookup_data, lookup_next;
  logic [Groups-1:0] [63:0] entry_data;
  assign entry_take = a_valid_q && a_q.uop.op == npu_contract_pkg::UopRescale;
  always_comb begin
    entry_address = '0;
    lookup_address = '0;
    if (entry_take) begin
      for (int unsigned g = 0; g < Groups; g++) begin
        // Multiplier and shift are the last eight bytes of the entry; entries follow a header of 32 bytes.
        entry_address[g] = {blob_row[a_q.uop.b[2:0]], {ByteBits-RowBits-3{1'b0}}} + (ByteBits-3)'(5) +
                           (a_q.uop.imm0[8] ? (ByteBits-3)'({a_inner_q[4*g+32'(a_q.pass[1:0])], 1'b0}) : '0);
      end
    end
    if (lookup) begin
      for (int unsigned g = 0; g < Groups; g++) begin
        lookup_address[g] = {blob_row[lookup_operand[2:0]], {ByteBits-RowBits{1'b0}}} + ByteBits'(lookup_offset[g]);
      end
    end
  end
  npu_table #(.Ports(Groups), .Rows(Rows), .RowBytes(RowBytes), .Pairs(Pairs)) u_table (
    .clk_i,
    .write_i(table_write),
    .write_row_i(table_row),
    .write_data_i(param_data_i),
    .lookup_i(lookup),
    .lookup_address_i(lookup_address),
    .lookup_wide_i(lookup_wide),
    .lookup_o(lookup_data),
    .next_o(lookup_next),
    .entry_i(entry_take),
    .entry_address_i(entry_address),
    .entry_o(entry_data)
  );

  // Operand read. A request that was granted while the result waits keeps its data.
  logic operand_wants, operand_taken_q, result_wants, result_taken_q;
  logic [Lanes-1:0] [31:0] taken_q, l_data_q;
  assign operand_wants = r_valid_q && r_q.load;
  assign operand_valid_o = operand_wants && !operand_taken_q;
  assign operand_operand_o = r_q.operand;
  assign operand_lanes_o = r_lanes;
  assign result_wants = m_valid_q && m_q.store;
  assign result_valid_o = result_wants && !result_taken_q;
  assign advance = !(operand_valid_o && !operand_ready_i) && !(result_valid_o && !result_ready_i);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      operand_taken_q <= 1'b0;
      result_taken_q <= 1'b0;
    end else begin
      operand_taken_q <= !advance && operand_wants && (operand_taken_q || operand_ready_i);
      result_taken_q <= !advance && result_wants && (result_taken_q || result_ready_i);
    end
  end
  always_ff @(posedge clk_i) begin
    if (operand_valid_o && operand_ready_i && !advance) taken_q <= operand_data_i;
    if (advance && operand_wants) l_data_q <= operand_taken_q ? taken_q : operand_data_i;
  end

  assign operand_bytes_o = npu_cast_pkg::port_bytes(Float != 0, r_q.type_);
  assign result_bytes_o = npu_cast_pkg::port_bytes(Float != 0, m_q.type_);

  // Align: extend, or make FP32; 48 bits come in two halves.
  logic [Lanes-1:0] [63:0] g_data_q, value, result;
  logic [Lanes-1:0] [31:0] low_q;
  function automatic logic [Lanes-1:0] [63:0] aligned(logic [Lanes-1:0] [31:0] data, logic [Lanes-1:0] [31:0] low);
    for (int unsigned i = 0; i < Lanes; i++) begin
      aligned[i] = (l_q.type_ == npu_contract_pkg::ElementI48)
                       ? {data[i], low[i]} : npu_cast_pkg::extend(l_q.type_, l_q.zeros, {32'd0, data[i]});
      if (Float != 0 && npu_float_pkg::is_float(l_q.type_)) begin
        aligned[i] = 64'($signed(npu_float_pkg::widen(l_q.type_, data[i])));
      end
    end
  endfunction
  always_ff @(posedge clk_i) begin
    if (advance && l_valid_q && l_q.load) begin
      low_q <= l_data_q;
      g_data_q <= aligned(l_data_q, low_q);
    end
  end

  logic joins;
  npu_contract_pkg::uop_e join_op;
  logic [Lanes-1:0] [31:0] join_a, join_b, joined;
  npu_vector_alu #(
    .Lanes(Lanes), .Registers(Registers), .Rescale(Rescale), .Pairs(Pairs), .Float(Float)
  ) u_alu (
    .clk_i,
    .rst_ni,
    .advance_i(advance),
    .entry_take_i(entry_take),
    .entry_place_i(a_q.pass[1:0]),
    .entry_i(entry_data),
    .valid_i(g_valid_q),
    .first_i(g_q.first),
    .last_i(g_q.last),
    .pass_i(g_q.pass),
    .uop_i(g_q.uop),
    .shares_i(g_q.shares),
    .header_i(blob_header[g_q.uop.b[2:0]]),
    .data_i(g_data_q),
    .lookup_o(lookup),
    .lookup_wide_o(lookup_wide),
    .lookup_operand_o(lookup_operand),
    .lookup_offset_o(lookup_offset),
    .lookup_i(lookup_data),
    .next_i(lookup_next),
    .join_i(joins),
    .join_op_i(join_op),
    .join_ignore_nan_i(ignore_nan),
    .join_a_i(join_a),
    .join_b_i(join_b),
    .joined_o(joined),
    .value_o(value),
    .result_o(result)
  );

  // Accumulators, in the execute stage. FP32 values meet in the lanes' arithmetic.
  logic [Lanes-1:0] [31:0] x_values, folded, averages, w_folded_q, fold_a, fold_b, reciprocals;
  logic folds_floats, ignore_nan;
  npu_contract_pkg::reduce_op_e fold_op;
  logic [31:0] fold_init;
  always_comb begin
    fold_op = reduce_q.op;
    fold_init = '0;
    if (pool_q) begin
      fold_op = average ? npu_contract_pkg::ReduceOpSum : npu_contract_pkg::ReduceOpMax;
      if (!average) fold_init = npu_cast_pkg::low(pooling_q.type_, 1'b0);
      if (!average && folds_floats) fold_init = {1'b1, npu_float_pkg::Infinity[30:0]};
    end
  end
  assign folds_floats = Float != 0 && npu_float_pkg::is_float(pool_q ? pooling_q.type_ : reduce_q.type_);
  assign ignore_nan = pool_q ? pooling_q.ignore_nan : reduce_q.ignore_nan;
  assign joins = folds_floats && x_valid_q && !ewise_q && (x_q.fold || x_q.tree || x_q.finish);
  assign join_a = x_q.finish ? folded : fold_a;
  assign join_b = x_q.finish ? reciprocals : fold_b;
  always_comb begin
    case (fold_op)
      npu_contract_pkg::ReduceOpSum: join_op = npu_contract_pkg::UopFadd;
      npu_contract_pkg::ReduceOpMax: join_op = npu_contract_pkg::UopFmax;
      npu_contract_pkg::ReduceOpMin: join_op = npu_contract_pkg::UopFmin;
      default: join_op = npu_contract_pkg::UopFmul;
    endcase
    if (x_q.finish) join_op = npu_contract_pkg::UopFmul;
  end
  logic [Lanes-1:0] x_inside;
  assign x_values = half_of(value, 1'b0);
  npu_reduce #(.Lanes(Lanes), .Tree(Tree), .Float(Float)) u_reduce (
    .clk_i,
    .advance_i(advance),
    .op_i(fold_op),
    .fold_i(x_valid_q && x_q.fold),
    .tree_i(x_valid_q && x_q.tree),
    .whole_i(x_q.whole),
    .first_i(x_q.start),
    .second_i(x_q.pass[0]),
    .level_i(x_q.level),
    .used_i(reduce_used),
    .init_i(fold_init),
    .index_i(x_q.index),
    .spread_i(reduce_across),
    .lanes_i(x_inside),
    .value_i(x_values),
    .float_i(folds_floats),
    .ignore_nan_i(ignore_nan),
    .zero_i(average),
    .join_a_o(fold_a),
    .join_b_o(fold_b),
    .joined_i(joined),
    .result_o(folded)
  );
  npu_pool #(.Lanes(Lanes), .Float(Float)) u_pool (
    .clk_i,
    .advance_i(advance && x_valid_q),
    .first_i(x_q.start),
    .divide_i(x_q.divide),
    .finish_i(x_q.finish),
    .pass_i(x_q.pass[2:0]),
    .input_zp_i(blob_header[PoolParams].input_zp),
    .output_zp_i(blob_header[PoolParams].output_zp),
    .low_i(npu_cast_pkg::low(pooling_q.type_, 1'b0)),
    .high_i(npu_cast_pkg::high(pooling_q.type_, 1'b0)),
    .count_i(l_count_q),
    .sum_i(folded),
    .float_i(folds_floats),
    .reciprocal_o(reciprocals),
    .product_i(joined),
    .result_o(averages)
  );
  always_ff @(posedge clk_i) if (advance && x_q.store) w_folded_q <= average ? averages : folded;

  // Results, and the offsets that went with them from operand read on.
  localparam int unsigned Delay = 6;  // align, register read, execute, register write, align, result write
  logic [Lanes-1:0] [31:0] offset_q [Delay];
  logic [Lanes-1:0] inside_q [Delay];
  logic [Lanes-1:0] [31:0] w_values, s_data_q, m_data_q;
  logic [Delay-1:0] delay_store;
  function automatic logic [Lanes-1:0] [31:0] half_of(logic [Lanes-1:0] [63:0] values, logic high);
    for (int unsigned i = 0; i < Lanes; i++) half_of[i] = high ? values[i][63:32] : values[i][31:0];
  endfunction
  // FP32 becomes the element's format; an f32 of a program moves as it is.
  function automatic logic [Lanes-1:0] [31:0] stored(logic [Lanes-1:0] [31:0] values);
    for (int unsigned i = 0; i < Lanes; i++) begin
      stored[i] = values[i];
      if (npu_float_pkg::is_float(w_q.type_)) begin
        stored[i] = npu_float_pkg::narrow(w_q.type_, ewise_q ? values[i] : npu_float_pkg::one_nan(values[i]));
      end
    end
  endfunction
  assign w_values = ewise_q ? half_of(result, w_q.high) : w_folded_q;
  assign delay_store = {s_q.store, w_q.store, x_q.store, g_q.store, l_q.store, r_q.store};
  always_ff @(posedge clk_i) begin
    if (advance) begin
      if (delay_store[0]) offset_q[0] <= operand_offset_o;
      inside_q[0] <= r_lanes;
      for (int unsigned i = 1; i < Delay; i++) begin
        if (delay_store[i]) offset_q[i] <= offset_q[i-1];
        inside_q[i] <= inside_q[i-1];
      end
      if (w_q.store) s_data_q <= (Float != 0) ? stored(w_values) : w_values;
      if (s_q.store) m_data_q <= s_data_q;
    end
  end
  assign x_inside = inside_q[2];
  assign result_operand_o = m_q.operand;
  assign result_lanes_o = inside_q[Delay-1];
  assign result_offset_o = offset_q[Delay-1];
  assign result_data_o = m_data_q;

  `NPU_ASSERT_STABLE(OperandStable, operand_valid_o, operand_ready_i, {operand_operand_o, operand_lanes_o})
  `NPU_ASSERT_STABLE(ResultStable, result_valid_o, result_ready_i, {result_operand_o, result_lanes_o})

endmodule
