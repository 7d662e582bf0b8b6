// SPDX-License-Identifier: Apache-2.0
// Walks the elements of a tile, Lanes at a time, in order: where each lane stands in four dimensions. See README.md.
module npu_vpu_walk #(
  parameter int unsigned Lanes = 8
) (
  input  logic                     clk_i,
  input  logic        [3:0] [31:0] dims_i,      // outermost first
  input  logic                     init_i,      // to the first vector
  input  logic                     next_i,      // to the next one
  output logic        [3:0] [31:0] first_o,     // where lane 0 stands
  output logic [Lanes-1:0]  [31:0] inner_o,     // index of the innermost dimension
  output logic [Lanes-1:0]   [1:0] step_o,      // from the lane before to this one: the outermost dimension that moves
  output logic [Lanes-1:0]         inside_o,    // before the end of the tile
  output logic                     last_o       // vector of the tile
);
  // Lane indices fit in so many bits with room for their products.
  localparam int unsigned Limit = 2 * Lanes;
  localparam int unsigned SmallBits = 2 * $clog2(Limit) + 2;
  typedef logic [SmallBits-1:0] small_t;
  typedef struct packed {
    logic [32:0] d0;  // beyond its dimension: outside of the tile
    logic [31:0] d1, d2, d3;
  } place_t;
  typedef struct packed {
    logic [Lanes-1:0] [32:0] d0;
    logic [Lanes-1:0] [31:0] d1, d2, d3;
  } places_t;

  // Dimensions and the products of the inner ones; those above the lanes' indices divide them to 0 whatever they are.
  function automatic small_t saturate(small_t value);
    return (value > small_t'(Limit)) ? small_t'(Limit) : value;
  endfunction
  function automatic small_t narrow(logic [31:0] dim);
    return (dim > 32'(Limit)) ? small_t'(Limit) : small_t'(dim);
  endfunction

  // A number of at most Lanes in the digits of the four dimensions. The numbers are constants: tables over n and p.
  function automatic place_t digits(small_t number, small_t n3, small_t n2, small_t n1);
    place_t at;
    small_t p2, p1, rows, planes, boxes, d3, d2, d1;
    p2 = saturate(n3 * n2);
    p1 = saturate(p2 * n1);
    rows = number / n3;
    planes = number / p2;
    boxes = number / p1;
    d3 = number - n3 * rows;
    d2 = rows - n2 * planes;
    d1 = planes - n1 * boxes;
    at.d3 = 32'(d3);
    at.d2 = 32'(d2);
    at.d1 = 32'(d1);
    at.d0 = 33'(boxes);
    return at;
  endfunction

  function automatic place_t moved(place_t from, place_t by, logic [3:0] [31:0] dims);
    place_t to;
    logic [32:0] d1, d2, d3;
    logic c1, c2, c3;
    d3 = 33'(from.d3) + 33'(by.d3);
    c3 = d3 >= 33'(dims[3]);
    d2 = 33'(from.d2) + 33'(by.d2) + 33'(c3);
    c2 = d2 >= 33'(dims[2]);
    d1 = 33'(from.d1) + 33'(by.d1) + 33'(c2);
    c1 = d1 >= 33'(dims[1]);
    to.d0 = from.d0 + by.d0 + 33'(c1);
    to.d1 = c1 ? d1[31:0] - dims[1] : d1[31:0];
    to.d2 = c2 ? d2[31:0] - dims[2] : d2[31:0];
    to.d3 = c3 ? d3[31:0] - dims[3] : d3[31:0];
    return to;
  endfunction

  // All lanes: at the tile's begin, or a vector further.
  function automatic places_t all(logic init, places_t from, place_t by, logic [3:0] [31:0] dims);
    place_t to;
    for (int unsigned i = 0; i < Lanes; i++) begin
      to = init ? digits(small_t'(i), narrow(dims[3]), narrow(dims[2]), narrow(dims[1]))
                : moved({from.d0[i], from.d1[i], from.d2[i], from.d3[i]}, by, dims);
      {all.d0[i], all.d1[i], all.d2[i], all.d3[i]} = to;
    end
  endfunction

  places_t at_q;
  place_t by_q, after;
  always_ff @(posedge clk_i) begin
    if (init_i) by_q <= digits(small_t'(Lanes), narrow(dims_i[3]), narrow(dims_i[2]), narrow(dims_i[1]));
    if (init_i || next_i) at_q <= all(init_i, at_q, by_q, dims_i);
  end

  assign after = moved({at_q.d0[0], at_q.d1[0], at_q.d2[0], at_q.d3[0]}, by_q, dims_i);
  assign last_o = after.d0 >= 33'(dims_i[0]);
  logic unused_after;
  assign unused_after = ^{after.d1, after.d2, after.d3};
  assign first_o = {at_q.d3[0], at_q.d2[0], at_q.d1[0], at_q.d0[0][31:0]};
  assign inner_o = at_q.d3;
  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      inside_o[i] = at_q.d0[i] < 33'(dims_i[0]);
      step_o[i] = (at_q.d3[i] != '0) ? 2'd3 : (at_q.d2[i] != '0) ? 2'd2 : (at_q.d1[i] != '0) ? 2'd1 : 2'd0;
    end
  end

endmodule
