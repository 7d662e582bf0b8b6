// SPDX-License-Identifier: Apache-2.0
#include "tests/system/sized/open_networks.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"
#include "tests/system/state/networks.h"
#include "tests/unit/graph/samples.h"

namespace npu::test {
namespace {

using graph::Attributes;
using graph::DType;
using graph::GraphBuilder;
using graph::Op;
using graph::TensorId;

std::vector<double> ramp(size_t count, double first, double step) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<double>(i % 11);
  return values;
}

// Little endian, as a file has it.
std::vector<int64_t> sizes_of(const graph::Tensor& shape) {
  std::vector<int64_t> sizes(shape.data.size() / sizeof(int64_t));
  std::memcpy(sizes.data(), shape.data.data(), shape.data.size());
  return sizes;
}

// Makes shapes that name `size`, or have it in front, results of operators.
class ShapeOpener {
 public:
  enum class Where : uint8_t { kAnywhere, kInFront };
  ShapeOpener(graph::Graph& graph, int64_t size, int32_t axis, Where where)
      : graph_(graph), size_(size), axis_(axis), where_(where) {}

  void run() {
    graph::Block& block = graph_.main();
    const size_t count = block.tensors.size();
    std::vector<graph::Operator> before;
    for (TensorId id = 0; id < count; ++id) {
      if (block.tensors[id].type != DType::kShape || !block.tensors[id].has_data) continue;
      const std::vector<int64_t> sizes = sizes_of(block.tensors[id]);
      const auto end = where_ == Where::kInFront ? sizes.begin() + 1 : sizes.end();
      if (!sizes.empty() && std::find(sizes.begin(), end, size_) != end) open(id, sizes, before);
    }
    block.operators.insert(block.operators.begin(), before.begin(), before.end());
  }

 private:
  void open(TensorId id, const std::vector<int64_t>& sizes, std::vector<graph::Operator>& before) {
    graph::Block& block = graph_.main();
    std::erase_if(block.operators,
                  [&](const graph::Operator& op) { return !op.outputs.empty() && op.outputs.front() == id; });
    graph::Operator concat;
    concat.op = Op::kConcatShape;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int64_t size = sizes[i];
      const TensorId part = add_shape("part_of_" + block.tensors[id].name);
      graph::Operator op;
      op.outputs = {part};
      if (size == size_ && (i == 0 || where_ == Where::kAnywhere)) {
        op.op = Op::kDim;
        op.attributes.axis = axis_;
        op.inputs = {block.inputs.front()};
      } else {
        op.op = Op::kConstShape;
        auto data = std::make_shared<std::vector<uint8_t>>(sizeof(int64_t));
        std::memcpy(data->data(), &size, sizeof(size));
        block.tensors[part].data = *data;
        block.tensors[part].has_data = true;
        graph_.storage.push_back(std::move(data));
      }
      before.push_back(op);
      concat.inputs.push_back(part);
    }
    concat.outputs = {id};
    block.tensors[id].data = {};
    block.tensors[id].has_data = false;
    before.push_back(concat);
  }

  TensorId add_shape(const std::string& name) {
    std::vector<graph::Tensor>& tensors = graph_.main().tensors;
    graph::Tensor& tensor = tensors.emplace_back();
    tensor.name = name + "_" + std::to_string(tensors.size());
    tensor.type = DType::kShape;
    tensor.shape = {1};
    return static_cast<TensorId>(tensors.size() - 1);
  }

  graph::Graph& graph_;
  int64_t size_;
  int32_t axis_;
  Where where_;
};

}  // namespace

graph::Graph with_open_images(graph::Graph graph) {
  for (graph::Tensor& tensor : graph.main().tensors) {
    if (tensor.has_data || tensor.variable || tensor.shape.size() != 4) continue;
    for (size_t i = 0; i < 3; ++i) tensor.shape[i] = tensor.shape[i] > 1 ? -1 : 1;
  }
  return graph;
}

OpenNetwork open_rows(int64_t most) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4}), w = b.input("w", DType::kInt8, {-1, 4});
  const TensorId state = b.variable("largest", DType::kInt8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  const TensorId mixed = b.raw(Op::kBitwiseXor, {x, w}, {}, DType::kInt8, {-1, 4});
  const TensorId y = b.raw(Op::kBitwiseXor, {mixed, b.read(state)}, {}, DType::kInt8, {-1, 4});
  Attributes axis;
  axis.axis = 0;
  b.write(state, b.raw(Op::kReduceMax, {y}, axis, DType::kInt8, {1, 4}));
  b.output(y, "y");
  return {"rows", b.build(), {{"x.0", 1, most}}};
}

OpenNetwork open_early_write(int64_t most) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, 4}), w = b.input("w", DType::kInt8, {-1, 4});
  const TensorId state = b.variable("largest", DType::kInt8, {1, 4}, std::vector<double>{1, 2, 3, 4});
  Attributes axis;
  axis.axis = 0;
  b.output(b.raw(Op::kBitwiseNot, {b.read(state)}, {}, DType::kInt8, {1, 4}), "old");
  b.write(state, b.raw(Op::kReduceMax, {x}, axis, DType::kInt8, {1, 4}));
  b.output(b.raw(Op::kBitwiseXor, {x, w}, {}, DType::kInt8, {-1, 4}), "y");
  return {"early write", b.build(), {{"x.0", 1, most}}};
}

OpenNetwork open_images(int64_t most_images, int64_t least, int64_t most) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {2, 7, 7, 4});
  const TensorId weights = b.constant(DType::kInt8, {16, 3, 3, 4}, ramp(16UL * 3 * 3 * 4, -5, 1));
  const TensorId sums =
      b.conv2d(x, weights, b.constant(DType::kInt32, {16}, ramp(16, -100, 20)), {.pad = {1, 1, 1, 1}});
  const TensorId scaled = b.rescale(sums, DType::kInt8, {.multiplier = {1 << 30}, .shift = {37}});
  const TensorId depth = b.constant(DType::kInt8, {3, 3, 16, 1}, ramp(3UL * 3 * 16, -4, 1));
  const TensorId spread =
      b.depthwise_conv2d(scaled, depth, b.constant(DType::kInt32, {16}, ramp(16, 50, -7)), {.pad = {1, 1, 1, 1}});
  const TensorId again = b.rescale(spread, DType::kInt8, {.multiplier = {1 << 30}, .shift = {35}});
  const TensorId both = b.op(Op::kBitwiseAnd, {scaled, again});
  const TensorId point = b.constant(DType::kInt8, {8, 1, 1, 16}, ramp(8UL * 16, -3, 1));
  const TensorId narrow = b.rescale(b.conv2d(both, point, b.constant(DType::kInt32, {8}, ramp(8, 3, 1)), {}),
                                    DType::kInt8, {.multiplier = {1 << 30}, .shift = {36}});
  const TensorId state = b.variable("largest", DType::kInt8, {1, 1, 1, 8}, ramp(8, 0, 1));
  const TensorId y = b.op(Op::kBitwiseXor, {narrow, b.read(state)});
  b.output(y, "y");
  TensorId largest = y;
  for (const int32_t axis : {0, 1, 2}) {
    Attributes along;
    along.axis = axis;
    largest = b.op(Op::kReduceMax, {largest}, along);
  }
  b.write(state, largest);
  return {"images", with_open_images(b.build()), {{"x.0", 1, most_images}, {"x.1", least, most}, {"x.2", least, most}}};
}

OpenNetwork open_tables(int64_t most) {
  constexpr int64_t kRows = 4, kColumns = 64;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {kRows, -1});
  const TensorId table = b.constant(DType::kInt8, {kRows, kColumns}, ramp(kRows * kColumns, -90, 17));
  Attributes axis;
  axis.axis = 1;
  const auto shape = [&](Op op, const std::vector<TensorId>& operands, const Attributes& attributes = {}) {
    return graph::samples::on_shapes(b, op, operands, attributes);
  };
  const TensorId columns = shape(Op::kDim, {x}, axis), none = b.shape({0});
  const TensorId size = shape(Op::kConcatShape, {b.shape({kRows}), columns});
  const TensorId behind = shape(Op::kSubShape, {b.shape({kColumns}), columns});
  const auto part = [&](TensorId start) {
    return b.raw(Op::kSlice, {table, shape(Op::kConcatShape, {none, start}), size}, {}, DType::kInt8, {kRows, -1});
  };
  const TensorId first = b.raw(Op::kBitwiseXor, {x, part(none)}, {}, DType::kInt8, {kRows, -1});
  b.output(first, "first");
  b.output(b.raw(Op::kBitwiseXor, {x, part(behind)}, {}, DType::kInt8, {kRows, -1}), "last");
  return {"tables", b.build(), {{"x.1", 1, most}}};
}

OpenNetwork open_state(int64_t most_rows, int64_t most_columns) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {-1, -1});
  const TensorId state = b.variable("kept", DType::kInt8, {-1, -1});
  const TensorId before = b.raw(Op::kVariableRead, {state}, {}, DType::kInt8, {-1, -1});
  const TensorId y = b.raw(Op::kBitwiseXor, {x, before}, {}, DType::kInt8, {-1, -1});
  b.write(state, y);
  b.output(y, "y");
  return {"state", b.build(), {{"x.0", 1, most_rows}, {"x.1", 1, most_columns}}};
}

OpenNetwork open_cache(int64_t most) {
  constexpr int64_t kColumns = 4;
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, {1, kColumns}), seen = b.input("seen", DType::kInt8, {-1, 1});
  const TensorId cache = b.variable("cache", DType::kInt8, {most, kColumns}, ramp(most * kColumns, -90, 17));
  const auto slice = [&](TensorId of, TensorId start, TensorId size, int64_t rows) {
    return b.raw(Op::kSlice, {of, start, size}, {}, DType::kInt8, {rows, kColumns});
  };
  const TensorId older = slice(b.read(cache), b.shape({1, 0}), b.shape({most - 1, kColumns}), most - 1);
  const TensorId rows = b.concat({older, x}, 0);
  b.write(cache, rows);
  const auto shape = [&](Op op, const std::vector<TensorId>& operands) {
    return graph::samples::on_shapes(b, op, operands);
  };
  Attributes axis;
  axis.axis = 0;
  const TensorId count = graph::samples::on_shapes(b, Op::kDim, {seen}, axis);
  const TensorId first = shape(Op::kSubShape, {b.shape({most}), count});
  const TensorId latest = slice(rows, shape(Op::kConcatShape, {first, b.shape({0})}),
                                shape(Op::kConcatShape, {count, b.shape({kColumns})}), -1);
  const TensorId mixed = b.raw(Op::kBitwiseXor, {latest, seen}, {}, DType::kInt8, {-1, kColumns});
  b.output(b.raw(Op::kReduceMax, {mixed}, axis, DType::kInt8, {1, kColumns}), "y");
  return {"cache", b.build(), {{"seen.0", 1, most}}};
}

OpenNetwork open_attention_cache(int64_t most) {
  constexpr int64_t kRows = 17;  // no other size of it is so
  const graph::Graph fixed = cached_attention_step({.window = most, .width = 32}, kRows);
  return {"attention cache", open_up(fixed, kRows, 2), {{"mask.2", 1, most}}};
}

std::vector<OpenNetwork> open_networks() {
  std::vector<OpenNetwork> networks;
  networks.push_back(open_tables(12));
  networks.push_back(open_rows(300));
  networks.push_back(open_early_write(90));
  networks.push_back(open_images(3, 1, 12));
  networks.push_back(open_cache(40));
  return networks;
}

graph::Graph with_open_batch(const graph::Graph& graph) {
  graph::Graph open = graph;
  ShapeOpener(open, 1, 0, ShapeOpener::Where::kInFront).run();
  for (graph::Tensor& tensor : open.main().tensors) {
    if ((tensor.has_data && !tensor.variable) || tensor.type == DType::kShape || tensor.shape.size() < 2) continue;
    if (tensor.shape.front() == 1) tensor.shape.front() = -1;
    if (!tensor.variable) continue;
    tensor.data = {};
    tensor.has_data = false;
  }
  return open;
}

graph::Graph open_up(const graph::Graph& graph, int64_t size, int32_t axis) {
  graph::Graph open = graph;
  ShapeOpener(open, size, axis, ShapeOpener::Where::kAnywhere).run();
  for (graph::Tensor& tensor : open.main().tensors) {
    if (tensor.has_data || tensor.type == DType::kShape) continue;
    std::replace(tensor.shape.begin(), tensor.shape.end(), size, int64_t{-1});
  }
  return open;
}

}  // namespace npu::test
