// SPDX-License-Identifier: Apache-2.0
// Element types: extending, cutting and limiting values. Functions, for the VPU applies them to a lane after the other.
package npu_cast_pkg;

  // Bytes of an element on a port: of 48 bits those of a half, which come one after the other. Floating point is none
  // of a block's types without `floats`.
  function automatic logic [2:0] port_bytes(input logic floats, input npu_contract_pkg::element_e type_arg);
    case (type_arg)
      npu_contract_pkg::ElementI8, npu_contract_pkg::ElementBool: port_bytes = 3'd1;
      npu_contract_pkg::ElementI16: port_bytes = 3'd2;
      default: port_bytes = 3'd4;
    endcase
    if (floats) begin
      case (type_arg)
        npu_contract_pkg::ElementF16, npu_contract_pkg::ElementBf16: port_bytes = 3'd2;
        npu_contract_pkg::ElementF8e4m3, npu_contract_pkg::ElementF8e5m2: port_bytes = 3'd1;
        default: ;
      endcase
    end
  endfunction

  // The low bits of a value, sign-extended from an element type; bool: whether it is anything but 0.
  function automatic logic [63:0] keep(input npu_contract_pkg::element_e type_arg, input logic [63:0] value);
    case (type_arg)
      npu_contract_pkg::ElementI8: keep = {{56{value[7]}}, value[7:0]};
      npu_contract_pkg::ElementI16: keep = {{48{value[15]}}, value[15:0]};
      npu_contract_pkg::ElementI32: keep = {{32{value[31]}}, value[31:0]};
      npu_contract_pkg::ElementI48: keep = {{16{value[47]}}, value[47:0]};
      default: keep = {63'd0, value != 64'd0};
    endcase
  endfunction

  // The low bits of a value, zero-extended.
  function automatic logic [63:0] mask(input npu_contract_pkg::element_e type_arg, input logic [63:0] value);
    case (type_arg)
      npu_contract_pkg::ElementI8: mask = {56'd0, value[7:0]};
      npu_contract_pkg::ElementI16: mask = {48'd0, value[15:0]};
      npu_contract_pkg::ElementI32: mask = {32'd0, value[31:0]};
      npu_contract_pkg::ElementI48: mask = {16'd0, value[47:0]};
      default: mask = {63'd0, value[0]};
    endcase
  endfunction

  // What a load makes of an element's bytes, the lowest ones of `data`. A byte that is not 0 is true.
  function automatic logic [63:0] extend(input npu_contract_pkg::element_e type_arg, input logic zero,
                                         input logic [63:0] data);
    if (type_arg == npu_contract_pkg::ElementI48) extend = data;
    else if (type_arg == npu_contract_pkg::ElementBool) extend = {63'd0, data[7:0] != 8'd0};
    else extend = zero ? mask(type_arg, data) : keep(type_arg, data);
  endfunction

  // Limits of a type to clip to; types but int8 and int16 have those of int32.
  function automatic logic signed [31:0] low(input npu_contract_pkg::element_e type_arg, input logic no_sign);
    case (type_arg)
      npu_contract_pkg::ElementI8: low = no_sign ? 32'sd0 : -32'sd128;
      npu_contract_pkg::ElementI16: low = no_sign ? 32'sd0 : -32'sd32768;
      default: low = 32'sh8000_0000;
    endcase
  endfunction
  function automatic logic signed [31:0] high(input npu_contract_pkg::element_e type_arg, input logic no_sign);
    case (type_arg)
      npu_contract_pkg::ElementI8: high = no_sign ? 32'sd255 : 32'sd127;
      npu_contract_pkg::ElementI16: high = no_sign ? 32'sd65535 : 32'sd32767;
      default: high = 32'sh7fff_ffff;
    endcase
  endfunction

  function automatic logic signed [63:0] limit(input logic signed [63:0] value, input logic signed [31:0] least,
                                               input logic signed [31:0] most);
    limit = (value < 64'(least)) ? 64'(least) : value;
    limit = (limit > 64'(most)) ? 64'(most) : limit;
  endfunction

endpackage : npu_cast_pkg
