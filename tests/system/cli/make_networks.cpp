// SPDX-License-Identifier: Apache-2.0
// Writes the small networks that cli_test.py feeds to `npu` into the folder given on the command line.
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>

#include "driver/graph/builder.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/system/cli/shared_state_networks.h"
#include "tests/system/sized/open_networks.h"

namespace {

using namespace npu::graph;

constexpr DType kI8 = DType::kInt8;
constexpr DType kI16 = DType::kInt16;
constexpr DType kI32 = DType::kInt32;

std::vector<double> ramp(size_t count, double first, double step) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<double>(i % 11);
  return values;
}

// INT8[1, 8, 8, 4] -> INT8[1, 8, 8, 8]: a convolution with its rescale and clamp.
Graph convolution() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 8, 8, 4});
  const TensorId weights = b.constant(kI8, {8, 3, 3, 4}, ramp(8 * 3 * 3 * 4, -5, 1));
  const TensorId bias = b.constant(kI32, {8}, ramp(8, -100, 20));
  const TensorId sums = b.conv2d(x, weights, bias, {.pad = {1, 1, 1, 1}, .input_zp = -3});
  const TensorId scaled = b.rescale(sums, kI8, {.multiplier = {1 << 30}, .shift = {37}, .output_zp = 4});
  b.output(b.clamp(scaled, -100, 100), "y");
  return b.build();
}

// Two inputs and names that file names cannot hold.
Graph odd_names() {
  GraphBuilder b;
  const TensorId left = b.input("left=a", kI32, {2, 3});
  const TensorId right = b.input("right:0", kI32, {2, 3});
  b.output(b.add(left, right), "sum/of both");
  b.output(b.sub(left, right), "..");
  return b.build();
}

// Lists an output twice, and an input as an output.
Graph listed_twice() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 4});
  const TensorId y = b.clamp(x, -100, 100);
  for (const char* name : {"y", "y"}) b.output(y, name);
  b.output(x, "x");
  return b.build();
}

// Adds every input to a variable that starts at [1, 2, 3, 4].
Graph running_sum() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 4});
  const TensorId state = b.variable("sum/state", kI8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const TensorId old = b.read(state);
  const TensorId wide = b.add(b.cast(old, kI32), b.cast(x, kI32));
  const TensorId sum = b.cast(wide, kI8);
  b.write(state, sum);
  b.output(sum, "y");
  return b.build();
}

// Gives the running sum of others and what it had kept itself, and declares the former behind the read where `late`.
Graph follower(bool late) {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 4});
  const TensorId state = b.variable("sum/state", kI8, {1, 4}, std::vector<double>{5, 5, 5, 5});
  const TensorId sum = b.read(state);
  if (late) {
    b.declare(state);
    b.write(state, x);
    b.output(sum, "y");
    return b.build();
  }
  const TensorId own = b.variable("follower/state", kI8, {1, 4}, std::vector<double>{0, 0, 0, 0});
  const TensorId kept = b.read(own);
  b.write(own, b.op(Op::kBitwiseXor, {sum, x}));
  b.output(b.op(Op::kBitwiseXor, {sum, kept}), "y");
  return b.build();
}

// Reads a variable that was never written.
Graph unwritten(const std::string& input = "x", const std::string& identity = "lost/state",
                const std::string& output = "y") {
  GraphBuilder b;
  const TensorId x = b.input(input, kI8, {1, 4});
  const TensorId state = b.variable(identity, kI8, {1, 4});
  const TensorId sum = b.add(b.cast(b.read(state), kI32), b.cast(x, kI32));
  b.write(state, x);
  b.output(b.cast(sum, kI8), output);
  return b.build();
}

// The same with names that would steer a terminal.
Graph hostile_names() { return unwritten("x\x1b[31m", "lost\x1b]0;title\x07\nstate", "y\x1b[31m\n"); }

// Adds two sequences to a variable each, and gives both sums and their difference.
Graph two_sums() {
  GraphBuilder b;
  std::vector<TensorId> sums;
  for (const char* name : {"left", "right"}) {
    const TensorId state = b.variable(std::string(name) + "/state", kI32, {1, 4}, std::vector<double>{1, 2, 3, 4});
    sums.push_back(b.add(b.read(state), b.input(name, kI32, {1, 4})));
    b.write(state, sums.back());
    b.output(sums.back(), std::string(name) + " sum");
  }
  b.output(b.sub(sums[0], sums[1]), "difference");
  return b.build();
}

// Running sums on INT16, whose variables TOSA 1.0 does not have.
Graph running_sum_16() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI16, {1, 4});
  const TensorId state = b.variable("sum/state", kI16, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const TensorId sum = b.cast(b.add(b.cast(b.read(state), kI32), b.cast(x, kI32)), kI16);
  b.write(state, sum);
  b.output(sum, "y");
  return b.build();
}

// More state than any machine's persistent SRAM.
Graph large_state() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 100000});
  const TensorId state = b.variable("large/state", kI8, {1, 100000});
  b.write(state, x);
  b.output(b.rescale(x, kI8), "y");
  return b.build();
}

// INT8[1, 4] -> INT8[1, 4 * 2^20].
Graph large_output() {
  GraphBuilder b;
  b.output(b.tile(b.input("x", kI8, {1, 4}), {1, 1 << 20}), "y");
  return b.build();
}

// Each of these has much of one kind of work: of the MXU's array, of its weights, and of the VPU.
Graph much_compute() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 32, 32, 64});
  const TensorId weights = b.constant(kI8, {64, 3, 3, 64}, ramp(64 * 3 * 3 * 64, -5, 1));
  const TensorId sums = b.conv2d(x, weights, b.constant(kI32, {64}, ramp(64, -100, 20)), {.pad = {1, 1, 1, 1}});
  b.output(b.rescale(sums, kI8, {.multiplier = {1 << 30}, .shift = {40}}), "much compute");
  return b.build();
}

Graph many_weights() {
  GraphBuilder b;
  TensorId x = b.input("x", kI8, {1, 1, 1, 512});
  for (int i = 0; i < 3; ++i) {
    const TensorId weights = b.constant(kI8, {512, 1, 1, 512}, ramp(512 * 512, -5 + i, 1));
    const TensorId sums = b.conv2d(x, weights, b.constant(kI32, {512}, ramp(512, -100, 20)));
    x = b.rescale(sums, kI8, {.multiplier = {1 << 30}, .shift = {40}});
  }
  b.output(x, "many weights");
  return b.build();
}

Graph many_passes() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 32, 32, 64});
  b.output(b.max_pool2d(x, {11, 11}, {1, 1}, {5, 5, 5, 5}), "many passes");
  return b.build();
}

// The sum of two tensors with scales of their own, as a residual connection has it.
Graph residual() {
  GraphBuilder b;
  const TensorId left = b.rescale(b.input("left", kI8, {1, 4, 4, 8}), kI32, {.multiplier = {1 << 30}, .shift = {20}});
  const TensorId right = b.rescale(b.input("right", kI8, {1, 4, 4, 8}), kI32, {.multiplier = {1 << 30}, .shift = {21}});
  const TensorId sum = b.rescale(b.add(left, right), kI8, {.multiplier = {1 << 30}, .shift = {40}});
  b.output(b.clamp(sum, 0, 100), "y");
  return b.build();
}

// Gives what it got the time before. Two fit the persistent SRAM of edge, three do not.
Graph much_state() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 24000});
  const TensorId state = b.variable("much/state", kI8, {1, 24000}, std::vector<double>(24000, 1));
  const TensorId old = b.read(state);
  b.output(b.rescale(old, kI8), "y");
  b.write(state, x);
  return b.build();
}

// More variables than the table of any preset has entries.
Graph many_variables() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 4});
  for (int i = 0; i < 200; ++i) b.write(b.variable("many/state_" + std::to_string(i), kI8, {1, 4}), x);
  b.output(b.rescale(x, kI8), "y");
  return b.build();
}

// An input in 100 outputs.
Graph many_outputs() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 4});
  for (int i = 0; i < 100; ++i) {
    std::string name = "y";
    name += std::to_string(i);
    b.output(b.clamp(x, -i - 1, i), name);
  }
  return b.build();
}

// Input and output are unsigned bits in INT8 tensors.
Graph unsigned_ports() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {1, 4});
  const TensorId inside = b.rescale(x, kI8, {.input_zp = 128, .input_unsigned = true});
  const TensorId y = b.rescale(inside, kI8, {.output_zp = 128, .output_unsigned = true});
  b.output(y, "y");
  return b.build();
}

// Nothing that the device computes.
Graph floating_point() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp32, {4});
  b.output(b.add(x, x), "y");
  return b.build();
}

// FP16[1, 4, 4, 2] -> FP16[1, 4, 4, 3].
Graph halves() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp16, {1, 4, 4, 2});
  const TensorId weights = b.constant(DType::kFp16, {3, 1, 1, 2}, ramp(6, -5, 1));
  b.output(b.conv2d(x, weights, b.constant(DType::kFp16, {3}, ramp(3, -1, 2))), "y");
  return b.build();
}

// FP32[1, 1, 1, 64] -> FP32[1, 1, 1, 8]: sums whose rounding depends on their order.
Graph singles() {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kFp32, {1, 1, 1, 64});
  std::vector<double> weights = ramp(8 * 64, -256, 1);
  for (double& weight : weights) weight /= 97;
  const TensorId filter = b.constant(DType::kFp32, {8, 1, 1, 64}, weights);
  b.output(b.conv2d(x, filter, b.constant(DType::kFp32, {8}, {0.1})), "y");
  return b.build();
}

// REQUIRE fails where 0 comes in.
Graph division() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI32, {4});
  b.output(b.op(Op::kIntDiv, {b.constant(kI32, {4}, ramp(4, 10, 3)), x}), "y");
  return b.build();
}

// No input at all.
Graph constant_only() {
  GraphBuilder b;
  const TensorId one = b.constant(kI32, {4}, ramp(4, 1, 1));
  b.output(b.add(one, one), "y");
  return b.build();
}

Graph other_version() {
  Graph graph = convolution();
  graph.version.major = 2;
  return graph;
}

// [?, 4] and [?, 4] to [2 ?, 2, 2]: what exporters write of a network with a free batch.
Graph open_sizes() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {-1, 4}), y = b.input("y", kI8, {-1, 4});
  const TensorId mixed = b.raw(Op::kBitwiseXor, {x, y}, {}, kI8, {-1, 4});
  Attributes axis;
  axis.axis = 0;
  const TensorId both = b.raw(Op::kConcat, {mixed, y}, axis, kI8, {-1, 4});
  b.output(b.raw(Op::kReshape, {both, b.shape({-1, 2, 2})}, {}, kI8, {-1, 2, 2}), "z");
  return b.build();
}

// [?, 4] to [?, 4, ?], which a network alone does not decide; the sum with [?, 4, 5] does.
Graph open_reshape(bool decided) {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {-1, 4}), like = b.input("like", kI8, {-1, 4, 5});
  const TensorId parts = b.raw(Op::kReshape, {x, b.shape({-1, 4, -1})}, {}, kI8, {-1, 4, -1});
  b.rename(parts, "parts");
  b.output(decided ? b.raw(Op::kBitwiseXor, {parts, like}, {}, kI8, {-1, 4, 5}) : parts, "y");
  return b.build();
}

// [?, 4] XOR [3, 4], which decides the size.
Graph decided() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {-1, 4}), y = b.input("y", kI8, {3, 4});
  b.output(b.raw(Op::kBitwiseXor, {x, y}, {}, kI8, {-1, 4}), "z");
  return b.build();
}

// [?, 4] XOR [3, 5].
Graph contradictory() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {-1, 4}), y = b.input("y", kI8, {3, 5});
  b.output(b.raw(Op::kBitwiseXor, {x, y}, {}, kI8, {-1, -1}), "z");
  return b.build();
}

// [rows, 4] to [rows / 2, 8], with shapes that operators compute; asserts that there are no rows left.
Graph computed_shapes(int64_t rows) {
  GraphBuilder b;
  const auto shape_of = [&](Op op, const std::vector<TensorId>& operands) {
    return b.ops(op, operands, {}, {npu::graph::DType::kShape})[0];
  };
  const TensorId x = b.input("x", kI8, {rows, 4});
  const TensorId size = shape_of(Op::kDim, {x}), two = b.shape({2});
  b.ops(Op::kAssertEqualShape, {shape_of(Op::kModShape, {size, two}), b.shape({0})}, {}, {});
  const TensorId half = shape_of(Op::kDivFloorShape, {size, two});
  const TensorId sizes = shape_of(Op::kConcatShape, {half, b.shape({8})});
  b.output(b.raw(Op::kReshape, {x, sizes}, {}, kI8, {rows < 0 ? -1 : rows / 2, 8}), "y");
  return b.build();
}

// The state XOR x, as many rows as x has.
Graph open_state() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {-1, 4});
  const TensorId state = b.variable("state", kI8, {0, 4});
  const TensorId next =
      b.raw(Op::kBitwiseXor, {b.raw(Op::kVariableRead, {state}, {}, kI8, {-1, 4}), x}, {}, kI8, {-1, 4});
  b.output(next, "y");
  b.write(state, next);
  return b.build();
}

// A convolution of images of any number and size, XOR the state, which takes the largest of each channel.
Graph open_images() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {2, 6, 6, 4});
  const TensorId weights = b.constant(kI8, {8, 3, 3, 4}, ramp(8 * 3 * 3 * 4, -5, 1));
  const TensorId sums = b.conv2d(x, weights, b.constant(kI32, {8}, ramp(8, -100, 20)), {.pad = {1, 1, 1, 1}});
  const TensorId scaled = b.rescale(sums, kI8, {.multiplier = {1 << 30}, .shift = {37}});
  const TensorId state = b.variable("largest", kI8, {1, 1, 1, 8}, ramp(8, 0, 1));
  const TensorId y = b.op(Op::kBitwiseXor, {scaled, b.read(state)});
  b.output(y, "y");
  TensorId largest = y;
  for (const int32_t axis : {0, 1, 2}) {
    Attributes along;
    along.axis = axis;
    largest = b.op(Op::kReduceMax, {largest}, along);
  }
  b.write(state, largest);
  return npu::test::with_open_images(b.build());
}

// Gives what it got by way of a variable, which has as many rows.
Graph open_kept() {
  GraphBuilder b;
  const TensorId x = b.input("x", kI8, {-1, 4});
  const TensorId state = b.variable("kept", kI8, {0, 4});
  b.write(state, x);
  b.output(b.raw(Op::kVariableRead, {state}, {}, kI8, {-1, 4}), "y");
  return b.build();
}

// A shape that its operator cannot give.
Graph wrong_shape() {
  Graph graph = convolution();
  graph.main().tensors[graph.main().outputs.at(0)].shape = {1, 8, 8, 9};
  return graph;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    const std::filesystem::path folder = argv[1];
    const auto write = [&](const char* name, const Graph& graph) {
      write_tosa(folder / (std::string(name) + ".tosa"), graph);
    };
    write("open_sizes", open_sizes());
    write("open_state", open_state());
    write("open_images", open_images());
    write("open_kept", open_kept());
    write("open_stream", npu::test::open_rows(1).graph);
    write("open_reshape", open_reshape(true));
    write("undecided_reshape", open_reshape(false));
    write("contradictory", contradictory());
    write("decided", decided());
    write("open_shapes", computed_shapes(-1));
    write("computed_shapes", computed_shapes(4));
    write("unequal_shapes", computed_shapes(5));
    write("convolution", convolution());
    write("odd_names", odd_names());
    write("listed_twice", listed_twice());
    write("running_sum", running_sum());
    write("running_sum_16", running_sum_16());
    write("follower", follower(false));
    write("declared_late", follower(true));
    write("unwritten", unwritten());
    write("hostile_names", hostile_names());
    write("two_sums", two_sums());
    write("large_state", large_state());
    write("large_output", large_output());
    write("much_state", much_state());
    write("many_variables", many_variables());
    write("many_outputs", many_outputs());
    write("unsigned", unsigned_ports());
    write("much_compute", much_compute());
    write("many_weights", many_weights());
    write("many_passes", many_passes());
    write("residual", residual());
    write("floating_point", floating_point());
    write("halves", halves());
    write("singles", singles());
    write("division", division());
    write("constant_only", constant_only());
    write("other_version", other_version());
    write("wrong_shape", wrong_shape());
    write("encoder", npu::test::encoder());
    write("decoder", npu::test::decoder());
    write("much_reader", npu::test::much_reader());
    write("other_decoder", npu::test::other_decoder());
  } catch (const npu::Error& error) {
    std::fprintf(stderr, "make_networks: %s\n", error.what());
    return 1;
  }
  return 0;
}
