// SPDX-License-Identifier: Apache-2.0
// The table memory: rows that the loader writes, and for each group of four lanes a port for tables and one for
// parameter entries. What a port reads is there in the same cycle. See README.md.
module npu_table #(
  parameter int unsigned Ports = 2,
  parameter int unsigned Rows = 256,
  parameter int unsigned RowBytes = 32,
  parameter int unsigned Pairs = 0,  // next_o is there
  localparam int unsigned RowBits = $clog2(Rows),
  localparam int unsigned ByteBits = $clog2(Rows * RowBytes)
) (
  input  logic                              clk_i,

  input  logic                              write_i,
  input  logic                [RowBits-1:0] write_row_i,
  input  logic             [8*RowBytes-1:0] write_data_i,

  input  logic                              lookup_i,          // somebody looks at lookup_o
  input  logic   [Ports-1:0] [ByteBits-1:0] lookup_address_i,  // bytes; bit 0 does not count with wide
  input  logic                              lookup_wide_i,     // 16 bits, else 8, sign-extended
  output logic           [Ports-1:0] [15:0] lookup_o,
  output logic           [Ports-1:0] [15:0] next_o,            // wide: the entry behind, with Pairs

  input  logic                              entry_i,           // somebody looks at entry_o
  input  logic   [Ports-1:0] [ByteBits-1:3] entry_address_i,   // eight bytes each
  output logic           [Ports-1:0] [63:0] entry_o
);
  localparam int unsigned WordBits = $clog2(RowBytes) - 3;

  logic [RowBytes/8-1:0] [63:0] rows_q [Rows];
  always_ff @(posedge clk_i) if (write_i) rows_q[write_row_i] <= write_data_i;

  always_comb begin
    entry_o = '0;
    if (entry_i) begin
      for (int unsigned i = 0; i < Ports; i++) begin
        entry_o[i] = rows_q[entry_address_i[i][ByteBits-1-:RowBits]][entry_address_i[i][3+:WordBits]];
      end
    end
  end

  if (Pairs != 0) begin : gen_pairs
    logic [Ports-1:0] [ByteBits-1:1] behind;
    logic [Ports-1:0] [63:0] word_behind;
    always_comb begin
      behind = '0;
      word_behind = '0;
      next_o = '0;
      if (lookup_i && lookup_wide_i) begin
        for (int unsigned i = 0; i < Ports; i++) begin
          behind[i] = lookup_address_i[i][ByteBits-1:1] + 1'b1;
          word_behind[i] = rows_q[behind[i][ByteBits-1-:RowBits]][behind[i][3+:WordBits]];
          next_o[i] = word_behind[i][{behind[i][2:1], 4'd0}+:16];
        end
      end
    end
  end else begin : gen_no_pairs
    assign next_o = '0;
  end

  logic [Ports-1:0] [63:0] word;
  logic [Ports-1:0] [15:0] half;
  always_comb begin
    word = '0;
    half = '0;
    lookup_o = '0;
    if (lookup_i) begin
      for (int unsigned i = 0; i < Ports; i++) begin
        word[i] = rows_q[lookup_address_i[i][ByteBits-1-:RowBits]][lookup_address_i[i][3+:WordBits]];
        half[i] = word[i][{lookup_address_i[i][2:1], 4'd0}+:16];
        lookup_o[i] = half[i];
        if (!lookup_wide_i) begin
          lookup_o[i] = lookup_address_i[i][0] ? {{8{half[i][15]}}, half[i][15:8]} : {{8{half[i][7]}}, half[i][7:0]};
        end
      end
    end
  end
endmodule
