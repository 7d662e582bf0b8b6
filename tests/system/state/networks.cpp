// SPDX-License-Identifier: Apache-2.0
#include "tests/system/state/networks.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "driver/graph/builder.h"

namespace npu::test {
namespace {

using graph::DType;
using graph::GraphBuilder;
using graph::TensorId;

// What every rescaling of a network shares: a power of two, by the multiplier that the accumulator allows.
graph::Rescaling scale_by(bool scale32, int right_shift, double input_zp = 0, double output_zp = 0) {
  graph::Rescaling r;
  r.scale32 = scale32;
  r.multiplier = {scale32 ? double{1 << 30} : double{1 << 14}};
  r.shift = {static_cast<double>((scale32 ? 30 : 14) + right_shift)};
  r.input_zp = input_zp;
  r.output_zp = output_zp;
  return r;
}

std::vector<double> random_weights(int64_t count, int limit, std::mt19937& random) {
  std::uniform_int_distribution<int> draw(-limit, limit);
  std::vector<double> values(static_cast<size_t>(count));
  std::generate(values.begin(), values.end(), [&] { return draw(random); });
  return values;
}

// The table of a function of x / 16 (INT8), or x / 4096 (INT16, whose entries lie 128 apart), scaled to `one`.
std::vector<double> table_of(Precision precision, double (*function)(double), double one, double zero) {
  const bool wide = precision == Precision::kInt16x8;
  std::vector<double> entries;
  for (int i = 0; i < (wide ? 513 : 256); ++i) {
    const double x = wide ? (i - 256) * 128 / 4096.0 : (i - 128) / 16.0;
    entries.push_back(
        std::clamp(std::round(function(x) * one) + zero, wide ? -32768.0 : -128.0, wide ? 32767.0 : 127.0));
  }
  return entries;
}

// Builds layers of one precision on [1,1,1,C].
class StepCell {
 public:
  StepCell(GraphBuilder& builder, Precision precision, uint32_t seed)
      : b_(builder), precision_(precision), random_(seed) {}

  [[nodiscard]] DType type() const { return wide() ? DType::kInt16 : DType::kInt8; }

  // Fully connected, with about the variance of its input.
  TensorId dense(TensorId x, int64_t outputs) {
    const int64_t inputs = b_.tensor(x).shape.back();
    const TensorId weight =
        b_.constant(DType::kInt8, {outputs, 1, 1, inputs}, random_weights(outputs * inputs, 100, random_));
    const TensorId bias = b_.constant(wide() ? DType::kInt48 : DType::kInt32, {outputs},
                                      random_weights(outputs, wide() ? 200000 : 800, random_));
    // Weights have a deviation of 58: 2^6 times the root of the number of inputs takes it out again.
    const int shift = 6 + static_cast<int>(std::lround(std::log2(static_cast<double>(inputs)) / 2));
    return b_.rescale(b_.conv2d(x, weight, bias), type(), scale_by(!wide(), shift));
  }

  // As INT32 in units of 2^-8 (INT8) or 2^-15 (INT16).
  TensorId sigmoid(TensorId x) {
    const auto function = [](double v) { return 1 / (1 + std::exp(-v)); };
    if (!wide()) return widen(b_.table(x, table_of(precision_, function, 256, -128)), -128);
    return narrow_table(b_.table(x, table_of(precision_, function, 32767, 0)));
  }
  // As INT32 in units of 2^-7 (INT8) or 2^-15 (INT16).
  TensorId tanh(TensorId x) {
    const auto function = [](double v) { return std::tanh(v); };
    if (!wide()) return widen(b_.table(x, table_of(precision_, function, 128, 0)), 0);
    return narrow_table(b_.table(x, table_of(precision_, function, 32767, 0)));
  }
  TensorId widen(TensorId x, double zp) { return b_.rescale(x, DType::kInt32, scale_by(true, 0, zp)); }
  TensorId narrow(TensorId x, int shift) { return b_.rescale(x, type(), scale_by(true, shift)); }
  // The binary digits of a gate.
  [[nodiscard]] int gate_bits() const { return wide() ? 15 : 8; }
  TensorId one(double value) { return b_.constant(DType::kInt32, {1, 1, 1, 1}, {value}); }

 private:
  [[nodiscard]] bool wide() const { return precision_ == Precision::kInt16x8; }
  // A table of INT16 gives seven more fractional bits.
  TensorId narrow_table(TensorId x) { return b_.rescale(x, DType::kInt32, scale_by(true, 7)); }

  GraphBuilder& b_;
  Precision precision_;
  std::mt19937 random_;
};

// A constant matrix of INT8 for MATMUL, and the product rescaled to INT8.
TensorId project(GraphBuilder& b, TensorId x, int64_t width, std::mt19937& random) {
  const TensorId weight = b.constant(DType::kInt8, {1, width, width}, random_weights(width * width, 100, random));
  const int shift = 6 + static_cast<int>(std::lround(std::log2(static_cast<double>(width)) / 2));
  return b.rescale(b.matmul(x, weight), DType::kInt8, scale_by(true, shift));
}

// The window without its oldest row and with a new one.
TensorId push(GraphBuilder& b, TensorId variable, TensorId row) {
  const graph::Shape shape = b.tensor(variable).shape;
  const TensorId old = b.slice(b.read(variable), {0, 1, 0}, {1, shape[1] - 1, shape[2]});
  const TensorId window = b.concat({old, row}, 1);
  b.write(variable, window);
  return window;
}

// Weights of INT8 that add up to about 127: exponentials of what is below the largest score, times the reciprocal of
// their sum by a table. scores: INT8 [1,1,window].
TensorId softmax(GraphBuilder& b, TensorId scores, int64_t window) {
  const auto widen = [&](TensorId x) { return b.rescale(x, DType::kInt32, scale_by(true, 0)); };
  const TensorId below = b.sub(widen(scores), widen(b.reduce(graph::Op::kReduceMax, scores, 2)));  // -255 to 0
  std::vector<double> exponentials;
  for (int i = -128; i < 128; ++i) exponentials.push_back(std::round(127 * std::exp((i - 127) / 24.0)));
  const TensorId e = widen(b.table(b.rescale(below, DType::kInt8, scale_by(true, 0, 0, 127)), exponentials));
  int shift = 0;
  while ((127 * window) >> shift > 32767) ++shift;
  const TensorId sum = b.rescale(b.reduce(graph::Op::kReduceSum, e, 2), DType::kInt16, scale_by(true, shift));
  std::vector<double> reciprocals;
  for (int i = -256; i <= 256; ++i) reciprocals.push_back(i <= 1 ? 32767 : std::floor(32767.0 / i));
  // The table gives 2^22 * 128 / sum: e times that, by 2^22, is 128 e / sum.
  const TensorId weights = b.mul(e, b.table(sum, reciprocals));
  return b.rescale(weights, DType::kInt8, scale_by(true, 22 + shift));
}

// How well the query fits each of the keys: [1,1,window].
TensorId score(GraphBuilder& b, TensorId query, TensorId keys) {
  const int64_t width = b.tensor(keys).shape[2];
  const int shift = 5 + static_cast<int>(std::lround(std::log2(static_cast<double>(width)) / 2));
  return b.rescale(b.matmul(query, b.transpose(keys, {0, 2, 1})), DType::kInt8, scale_by(true, shift));
}

// What fits by these scores: [1,1,width].
TensorId find(GraphBuilder& b, TensorId scores, TensorId values) {
  const TensorId weights = softmax(b, scores, b.tensor(values).shape[1]);
  return b.rescale(b.matmul(weights, values), DType::kInt8, scale_by(true, 6));
}

// What the query finds: [1,1,width].
TensorId attend(GraphBuilder& b, TensorId query, TensorId keys, TensorId values) {
  return find(b, score(b, query, keys), values);
}

// The sum of two INT8 tensors, saturating.
TensorId mix(GraphBuilder& b, TensorId x, TensorId y) {
  const auto widen = [&](TensorId v) { return b.rescale(v, DType::kInt32, scale_by(true, 0)); };
  return b.rescale(b.add(widen(x), widen(y)), DType::kInt8, scale_by(true, 0));
}

}  // namespace

graph::Graph gru_step(const GruSizes& sizes, Precision precision, uint32_t seed) {
  GraphBuilder b;
  StepCell cell(b, precision, seed);
  const TensorId x = b.input("x", cell.type(), {1, 1, 1, sizes.inputs});
  const TensorId variable = b.variable("h", cell.type(), {1, 1, 1, sizes.units}, {{0}});
  const TensorId h = b.read(variable);
  const TensorId both = b.concat({x, h}, 3);
  const TensorId update = cell.sigmoid(cell.dense(both, sizes.units));
  const TensorId reset = cell.sigmoid(cell.dense(both, sizes.units));
  const TensorId from_h = b.mul(reset, cell.widen(cell.dense(h, sizes.units), 0));
  const TensorId from_x = cell.widen(cell.dense(x, sizes.units), 0);
  const TensorId sum = b.add(from_x, b.rescale(from_h, DType::kInt32, scale_by(true, cell.gate_bits())));
  const TensorId candidate = cell.tanh(cell.narrow(sum, 0));
  // h' = (1 - z) n + z h
  const TensorId keep = b.mul(update, cell.widen(h, 0));
  const TensorId take = b.mul(b.sub(cell.one(std::ldexp(1, cell.gate_bits())), update), candidate);
  // Each product has at most 30 bits and a sign, halved so that no sum overflows.
  const TensorId half_keep = b.rescale(keep, DType::kInt32, scale_by(true, 1));
  const TensorId half_take = b.rescale(take, DType::kInt32, scale_by(true, 1));
  const TensorId next = cell.narrow(b.add(half_keep, half_take), cell.gate_bits() - 1);
  b.write(variable, next);
  b.output(next, "y");
  return b.build();
}

graph::Graph attention_step(const AttentionSizes& sizes, uint32_t seed) {
  GraphBuilder b;
  std::mt19937 random(seed);
  TensorId x = b.reshape(b.input("x", DType::kInt8, {1, 1, 1, sizes.width}), {1, 1, sizes.width});
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const auto window = [&](const char* name) {
      return b.variable(name + std::to_string(layer), DType::kInt8, {1, sizes.window, sizes.width}, {{0}});
    };
    const TensorId keys = push(b, window("key_"), project(b, x, sizes.width, random));
    const TensorId values = push(b, window("value_"), project(b, x, sizes.width, random));
    const TensorId found = attend(b, project(b, x, sizes.width, random), keys, values);
    x = mix(b, project(b, found, sizes.width, random), x);
  }
  b.output(b.reshape(x, {1, 1, 1, sizes.width}), "y");
  return b.build();
}

graph::Graph cached_attention_step(const AttentionSizes& sizes, int64_t rows) {
  GraphBuilder b;
  const graph::Shape row = {1, 1, sizes.width};
  const TensorId mask = b.input("mask", DType::kInt8, {1, 1, rows});
  const TensorId query = b.input("query", DType::kInt8, row);
  // The first rows of a variable, before the input comes in front.
  const auto cached = [&](const char* variable, const char* name) {
    const TensorId cache = b.variable(variable, DType::kInt8, {1, sizes.window, sizes.width}, {{0}});
    const TensorId all = b.read(cache);
    const TensorId kept = b.slice(all, {0, 0, 0}, {1, sizes.window - 1, sizes.width});
    b.write(cache, b.concat({b.input(name, DType::kInt8, row), kept}, 1));
    return b.slice(all, {0, 0, 0}, {1, rows, sizes.width});
  };
  const TensorId keys = cached("keys", "key"), values = cached("values", "value");
  b.output(find(b, b.op(graph::Op::kBitwiseAnd, {score(b, query, keys), mask}), values), "y");
  return b.build();
}

int64_t attention_state_bytes(const AttentionSizes& sizes) { return 2 * sizes.layers * sizes.window * sizes.width; }

Pair encoder_decoder(int64_t window, int64_t width, uint32_t seed) {
  std::mt19937 random(seed);
  const auto memory = [&](GraphBuilder& b) { return b.variable("memory", DType::kInt8, {1, window, width}, {{0}}); };
  const auto row = [&](GraphBuilder& b) {
    return b.reshape(b.input("x", DType::kInt8, {1, 1, 1, width}), {1, 1, width});
  };

  GraphBuilder e;
  const TensorId code = project(e, row(e), width, random);
  static_cast<void>(push(e, memory(e), code));
  const TensorId count = e.variable("count", DType::kInt32, {1}, {{0}});
  const TensorId next = e.add(e.read(count), e.constant(DType::kInt32, {1}, {1}));
  e.write(count, next);
  e.output(code, "code");

  GraphBuilder d;
  const TensorId kept = d.read(memory(d));
  const TensorId found = attend(d, project(d, row(d), width, random), kept, kept);
  const TensorId last = d.variable("last", DType::kInt16, {1, 1, width}, {{-1}});
  const TensorId before = d.read(last);
  d.write(last, d.rescale(found, DType::kInt16, scale_by(true, -8)));
  d.output(found, "y");
  d.output(d.read(d.variable("count", DType::kInt32, {1}, {{0}})), "count");
  d.output(before, "before");
  return {e.build(), d.build()};
}

graph::Graph accumulators(int count, int64_t length) {
  GraphBuilder b;
  const auto widen = [&](TensorId x) { return b.rescale(x, DType::kInt32, scale_by(true, 0)); };
  const TensorId x = widen(b.input("x", DType::kInt8, {length}));
  TensorId sum = x;
  for (int i = 0; i < count; ++i) {
    const TensorId variable = b.variable("sum_" + std::to_string(i), DType::kInt8, {length}, {{0}});
    const TensorId next = b.rescale(b.add(widen(b.read(variable)), x), DType::kInt8, scale_by(true, 0));
    b.write(variable, next);
    sum = b.add(sum, widen(next));
  }
  b.output(sum, "y");
  return b.build();
}

graph::Value random_value(graph::DType type, const graph::Shape& shape, std::mt19937& random) {
  graph::Value value{type, shape, {}};
  value.bytes.resize(static_cast<size_t>(graph::element_count(shape).value() * graph::machine_width(type)));
  for (uint8_t& byte : value.bytes) byte = static_cast<uint8_t>(type == DType::kBool ? random() & 1 : random());
  return value;
}

std::vector<graph::Value> random_inputs(const graph::Graph& graph, std::mt19937& random) {
  std::vector<graph::Value> values;
  for (const TensorId id : graph.main().inputs) {
    const graph::Tensor& tensor = graph.main().tensors[id];
    values.push_back(random_value(tensor.type, tensor.shape, random));
  }
  return values;
}

}  // namespace npu::test
