// SPDX-License-Identifier: Apache-2.0
// Where a value's entry lies in a table: int8 has 256 entries of a byte; int16 has 513 of two bytes, one every 128
// values, the last behind the largest value; one of 32 bits has 256 of four bytes.
package npu_table_pkg;

  // Bytes from the table's begin. `next`: the entry behind, int16 only.
  function automatic logic [10:0] offset(input logic wide, input logic next, input logic signed [63:0] value);
    logic [15:0] clipped;
    clipped = value[15:0];
    if (value < -64'sd32768) clipped = 16'h8000;
    if (value > 64'sd32767) clipped = 16'h7fff;
    // The highest bit turned over is half of the table added.
    if (wide) offset = {{1'b0, !clipped[15], clipped[14:7]} + {9'd0, next}, 1'b0};
    else offset = {3'd0, !value[7], value[6:0]};
  endfunction

  // Bytes from the begin of a table of 32 bits, whose first entry is that of the value `first`. `high`: its upper half.
  function automatic logic [10:0] offset32(logic high, logic signed [63:0] value, logic signed [31:0] first);
    logic signed [64:0] index;
    index = 65'(value) - 65'(first);
    if (index < 0) index = '0;
    if (index > 65'sd255) index = 65'sd255;
    offset32 = {1'b0, index[7:0], high, 1'b0};
  endfunction

endpackage : npu_table_pkg
