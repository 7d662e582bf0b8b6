// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_lstm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hw/contract/error.h"
#include "sim/importer/mlir_writer.h"

namespace npu::importer {
namespace {

using contract::ErrorCode;

constexpr std::string_view kLstmName = "tfl.unidirectional_sequence_lstm";
// The graph has some forty operators a step.
constexpr int64_t kMostLstmSteps = 2048;
enum LstmGate : size_t { kInputGate, kForgetGate, kCellGate, kOutputGate, kGates };

struct LstmTensorType {
  std::vector<int64_t> shape;
  std::string element;
};

// Of "tensor<1x4xi8>"; nullopt for other types and for unknown sizes.
std::optional<LstmTensorType> lstm_tensor_of(const std::string& type) {
  constexpr std::string_view kHead = "tensor<";
  if (!type.starts_with(kHead) || !type.ends_with('>')) return std::nullopt;
  LstmTensorType result;
  const char* at = type.c_str() + kHead.size();
  while (std::isdigit(static_cast<unsigned char>(*at)) != 0) {
    char* end = nullptr;
    result.shape.push_back(std::strtoll(at, &end, 10));
    if (*end != 'x') return std::nullopt;
    at = end + 1;
  }
  result.element = std::string(at, type.c_str() + type.size() - 1);
  if (result.element.find_first_of("?*<") != std::string::npos) return std::nullopt;
  return result;
}

// A constant of [rows, columns] as one of [rows, 1, 1, columns].
std::string as_kernel(std::string_view attribute, const MlirValue& kernel) {
  std::string text;
  const size_t end = attribute.rfind("> : tensor<");
  std::string_view values = attribute.substr(0, end);
  const size_t rows = values.find("<[[");
  if (rows == std::string_view::npos) {  // one value for all, or bytes
    text = values;
  } else {
    text = std::string(values.substr(0, rows + 2));
    for (const char c : values.substr(rows + 2, values.size() - rows - 3)) {
      text += c == '[' ? "[[[" : c == ']' ? "]]]" : std::string(1, c);
    }
    text += "]";
  }
  return text + "> : " + kernel.type();
}

// TABLE's 513 values for the function of an int16 whose unit is `unit`, in units of 2^-15. The line between two of
// them is off by most in the middle; half of that is taken off at both, as TensorFlow Lite does.
template <typename Function>
std::string lstm_table_of(double unit, Function function) {
  constexpr int kEntries = 513, kStep = 128;
  const auto at = [&](double index) { return function((index - 256) * kStep * unit) * 32768; };
  std::vector<int64_t> values;
  for (int i = 0; i < kEntries; ++i) {
    const double here = at(i);
    const double below = at(i - 0.5) - (at(i - 1) + here) / 2, above = at(i + 0.5) - (at(i + 1) + here) / 2;
    const double better = i + 1 < kEntries ? here + (below + above) / 4 : here;
    values.push_back(std::clamp<int64_t>(std::llround(better), -32768, 32767));
  }
  return fmt::format("[{}]", fmt::join(values, ", "));
}

double lstm_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class Lstm {
 public:
  Lstm(const MlirOperation& op, const std::unordered_map<std::string, const MlirOperation*>& constants,
       LstmContext& context, const LstmFacts* facts, std::vector<MlirOperation>& to)
      : op_(op),
        constants_(constants),
        context_(context),
        facts_(facts),
        to_(to, context.text, context.new_value, op.location) {
    check_variant();
    check_types();
  }

  std::vector<MlirOperation> expand() {
    const std::string output_state = variable_name(facts_ == nullptr ? "" : facts_->output_state, "output_state");
    const std::string cell_state = variable_name(facts_ == nullptr ? "" : facts_->cell_state, "cell_state");
    prepare();
    const std::string cell_element = int8_ ? "i16" : "f32";
    const std::vector<int64_t> state_shape = {batch_, cells_};
    std::vector<MlirOperation> variables;
    variables.push_back(
        to_.declaration(output_state, state_shape, x_.element, int8_ ? std::to_string(state_zero_) : "0.0"));
    variables.push_back(to_.declaration(cell_state, state_shape, cell_element, int8_ ? "0" : "0.0"));
    hidden_ = to_.reshape(to_.read(output_state, state_shape, x_.element), {batch_, 1, 1, cells_});
    cell_ = to_.reshape(to_.read(cell_state, state_shape, cell_element), {batch_, 1, 1, cells_});
    std::vector<MlirValue> outputs;
    for (int64_t t = 0; t < steps_; ++t) {
      if (int8_) {
        step_int8(t);
      } else {
        step_float(t);
      }
      outputs.push_back(to_.reshape(
          hidden_, time_major_ ? std::vector{int64_t{1}, batch_, cells_} : std::vector{batch_, int64_t{1}, cells_}));
    }
    to_.write(output_state, to_.reshape(hidden_, state_shape));
    to_.write(cell_state, to_.reshape(cell_, state_shape));
    result_ = to_.concat(outputs, time_major_ ? 0 : 1);
    return variables;
  }

  [[nodiscard]] const MlirValue& result() const { return result_; }

 private:
  [[noreturn]] void refuse(const std::string& what, ErrorCode code = ErrorCode::kOperatorUnsupported) const {
    throw Error(code, fmt::format("{}: an LSTM (UNIDIRECTIONAL_SEQUENCE_LSTM) {}", context_.source, what));
  }

  [[nodiscard]] bool has(size_t operand) const { return op_.operand_types[operand] != "none"; }

  [[nodiscard]] LstmTensorType type(size_t operand, const char* what) const {
    auto found = lstm_tensor_of(signless(op_.operand_types[operand]));
    if (!found) refuse(fmt::format("has {} of type {}", what, op_.operand_types[operand]), ErrorCode::kBadStructure);
    return *std::move(found);
  }

  void check_variant() {
    if (op_.operands.size() != kLstmOperands)
      refuse("has another number of operands than 24", ErrorCode::kBadStructure);
    const auto none_of = [&](size_t first, size_t last, const char* what) {
      for (size_t i = first; i < last; ++i) {
        if (has(i)) refuse(fmt::format("with {} is not imported; export it without, as Keras' LSTM is", what));
      }
    };
    none_of(kLstmPeephole, kLstmBias, "peephole connections");
    none_of(kLstmProjection, kLstmOutputState, "a projection");
    none_of(kLstmNormalisation, kLstmOperands, "layer normalisation");
    const std::string_view activation = string_property(op_.properties, "fused_activation_function");
    if (activation != "TANH")
      refuse(fmt::format("with the activation {} is not imported; export it with tanh", activation));
    if (property(op_.properties, "diagonal_recurrent_tensors") == "true") {
      refuse("with diagonal recurrent weights is not imported; export it with whole matrices");
    }
    time_major_ = property(op_.properties, "time_major") == "true";
    clip_ = std::strtod(std::string(property(op_.properties, "cell_clip")).c_str(), nullptr);
    coupled_ = !has(kLstmWeights + kInputGate);
  }

  void check_types() {
    const LstmTensorType x = type(kLstmInput, "an input");
    const LstmTensorType recurrent = type(kLstmRecurrent + kForgetGate, "recurrent weights");
    const LstmTensorType cell = type(kLstmCellState, "a cell state");
    int8_ = x.element == "i8";
    const std::string weights = int8_ ? "i8" : "f32", bias = int8_ ? "i32" : "f32", state = int8_ ? "i16" : "f32";
    if (x.shape.size() != 3 || recurrent.shape.size() != 2)
      refuse("has an input that is not of rank 3", ErrorCode::kBadStructure);
    batch_ = x.shape[time_major_ ? 1 : 0];
    steps_ = x.shape[time_major_ ? 0 : 1];
    cells_ = recurrent.shape[0];
    const int64_t channels = x.shape[2];
    const auto expect = [&](size_t operand, const std::string& element, const std::vector<int64_t>& shape,
                            const char* what) {
      const LstmTensorType found = type(operand, what);
      if (found.element != element) {
        refuse(fmt::format(
            "with an input of type {} and {} of type {} is not imported; export it as float32, or quantised "
            "throughout with int8 activations and weights",
            x.element, what, found.element));
      }
      if (found.shape != shape)
        refuse(fmt::format("has {} of another shape than its input asks for", what), ErrorCode::kBadStructure);
    };
    expect(kLstmInput, int8_ ? "i8" : "f32", x.shape, "an input");
    for (size_t gate = coupled_ ? kForgetGate : kInputGate; gate < kGates; ++gate) {
      expect(kLstmWeights + gate, weights, {cells_, channels}, "weights");
      expect(kLstmRecurrent + gate, weights, {cells_, cells_}, "recurrent weights");
      expect(kLstmBias + gate, bias, {cells_}, "a bias");
    }
    expect(kLstmOutputState, x.element, {batch_, cells_}, "an output state");
    expect(kLstmCellState, state, {batch_, cells_}, "a cell state");
    x_ = {op_.operands[kLstmInput], x.shape, x.element};
    if (steps_ > kMostLstmSteps) {
      refuse(fmt::format(
          "of {} steps is not imported, at most {} are; export it for shorter pieces, and run them one after "
          "the other: its state stays",
          steps_, kMostLstmSteps));
    }
    if (int8_) check_scales();
  }

  void check_scales() {
    if (facts_ == nullptr) refuse("of int8 needs its scales, which MLIR does not have; import the .tflite file itself");
    const auto one = [&](const LstmScale& scale, const char* what) {
      if (scale.count != 1 || !(scale.scale > 0) || !std::isfinite(scale.scale)) {
        refuse(fmt::format("of int8 whose {} has {} scales is not imported; export it with one scale a tensor", what,
                           scale.count));
      }
    };
    one(facts_->operands[kLstmInput], "input");
    one(facts_->operands[kLstmOutputState], "output state");
    one(facts_->operands[kLstmCellState], "cell state");
    one(facts_->hidden, "hidden output (an intermediate tensor)");
    for (size_t gate = coupled_ ? kForgetGate : kInputGate; gate < kGates; ++gate) {
      one(facts_->operands[kLstmWeights + gate], "weights");
      one(facts_->operands[kLstmRecurrent + gate], "recurrent weights");
    }
    int exponent = 0;
    cell_unit_ = facts_->operands[kLstmCellState].scale;
    if (std::frexp(cell_unit_, &exponent) != 0.5 || exponent > -8 || exponent < -14) {
      refuse(fmt::format(
          "whose cell state has the scale {} is not imported; it has to be a power of two from 2^-15 to 2^-9",
          cell_unit_));
    }
    state_zero_ = facts_->operands[kLstmOutputState].zero;
  }

  MlirValue kernel(size_t operand) {
    const auto found = constants_.find(op_.operands[operand]);
    if (found == constants_.end()) refuse("whose weights are no constants is not imported");
    const LstmTensorType matrix = type(operand, "weights");
    const MlirValue shape{"", {matrix.shape[0], 1, 1, matrix.shape[1]}, matrix.element};
    return to_.constant_of(shape.shape, shape.element, as_kernel(property(found->second->properties, "values"), shape));
  }

  // What does not change from step to step: constants, and the input's part of each gate for all steps.
  void prepare() {
    const std::vector<int64_t> image = {x_.shape[0], x_.shape[1], 1, x_.shape[2]};
    const MlirValue x = to_.reshape(x_, image);
    no_bias_ = to_.constant({cells_}, int8_ ? "i32" : "f32", int8_ ? "0" : "0.0");
    for (size_t gate = coupled_ ? kForgetGate : kInputGate; gate < kGates; ++gate) {
      const MlirValue bias{op_.operands[kLstmBias + gate], {cells_}, int8_ ? "i32" : "f32"};
      const int64_t zero = int8_ ? facts_->operands[kLstmInput].zero : 0;
      from_input_[gate] = to_.convolve(x, kernel(kLstmWeights + gate), bias, zero);
      recurrent_[gate] = kernel(kLstmRecurrent + gate);
      if (!int8_) continue;
      // TensorFlow Lite saturates here, then once more behind the sum with the recurrent part.
      const double factor =
          facts_->operands[kLstmWeights + gate].scale * facts_->operands[kLstmInput].scale / kGateUnit;
      from_input_[gate] = widened(to_.rescale(from_input_[gate], "i16", checked(factor), true));
    }
    if (int8_) {
      sigmoid_ = to_.constant({513}, "i16", lstm_table_of(kGateUnit, lstm_sigmoid));
      tanh_ = to_.constant({513}, "i16", lstm_table_of(kGateUnit, [](double x) { return std::tanh(x); }));
      cell_tanh_ = cell_unit_ == kGateUnit
                       ? tanh_
                       : to_.constant({513}, "i16", lstm_table_of(cell_unit_, [](double x) { return std::tanh(x); }));
      if (coupled_) one_ = to_.constant({batch_, 1, 1, cells_}, "i32", "32767");
    } else if (coupled_) {
      one_ = to_.constant({batch_, 1, 1, cells_}, "f32", "1.0");
    }
  }

  [[nodiscard]] MlirScale checked(double factor) const {
    const MlirScale scale = mlir_scale(factor);
    if (scale.shift < 2) refuse(fmt::format("with the factor {} between its scales is not imported", factor));
    return scale;
  }

  MlirValue widened(const MlirValue& value) { return to_.rescale(value, "i32", {}); }
  MlirValue saturated(const MlirValue& value) { return to_.rescale(value, "i16", {}); }

  // The input's part of a gate in a step.
  MlirValue part(size_t gate, int64_t step) {
    const MlirValue& all = from_input_[gate];
    const MlirValue one = time_major_ ? to_.slice(all, {step, 0, 0, 0}, {1, batch_, 1, cells_})
                                      : to_.slice(all, {0, step, 0, 0}, {batch_, 1, 1, cells_});
    return to_.reshape(one, {batch_, 1, 1, cells_});
  }

  MlirValue gate_float(size_t gate, int64_t step, std::string_view activation) {
    const MlirValue recurrent = to_.convolve(hidden_, recurrent_[gate], no_bias_, 0);
    return to_.unary(activation, to_.binary("tosa.add", part(gate, step), recurrent));
  }

  void step_float(int64_t step) {
    const MlirValue forget = gate_float(kForgetGate, step, "tosa.sigmoid");
    const MlirValue input =
        coupled_ ? to_.binary("tosa.sub", one_, forget) : gate_float(kInputGate, step, "tosa.sigmoid");
    const MlirValue candidate = gate_float(kCellGate, step, "tosa.tanh");
    const MlirValue output = gate_float(kOutputGate, step, "tosa.sigmoid");
    cell_ = to_.binary("tosa.add", to_.multiply(forget, cell_), to_.multiply(input, candidate));
    if (clip_ > 0) cell_ = to_.clamp(cell_, fmt::format("{:.9e}", -clip_), fmt::format("{:.9e}", clip_));
    hidden_ = to_.multiply(output, to_.unary("tosa.tanh", cell_));
  }

  // TABLE gives 7 bits more than the result has.
  MlirValue looked_up(const MlirValue& value, const MlirValue& table) {
    return to_.rescale(to_.table(value, table), "i16", {1 << 30, 37});
  }

  MlirValue gate_int8(size_t gate, int64_t step, const MlirValue& activation) {
    const double factor =
        facts_->operands[kLstmRecurrent + gate].scale * facts_->operands[kLstmOutputState].scale / kGateUnit;
    const MlirValue sum = to_.convolve(hidden_, recurrent_[gate], no_bias_, state_zero_);
    const MlirValue recurrent = to_.rescale(sum, "i32", checked(factor), true);
    return looked_up(saturated(to_.binary("tosa.add", part(gate, step), recurrent)), activation);
  }

  // Gates are in units of 2^-15, the cell in its own.
  void step_int8(int64_t step) {
    const MlirValue forget = gate_int8(kForgetGate, step, sigmoid_);
    const MlirValue input =
        coupled_ ? saturated(to_.binary("tosa.sub", one_, widened(forget))) : gate_int8(kInputGate, step, sigmoid_);
    const MlirValue candidate = gate_int8(kCellGate, step, tanh_);
    const MlirValue output = gate_int8(kOutputGate, step, sigmoid_);
    const MlirValue kept = to_.rescale(to_.multiply(forget, cell_), "i32", {1 << 30, 45});
    const MlirValue added = to_.rescale(to_.multiply(input, candidate), "i32",
                                        {1 << 30, 30 + 30 + static_cast<int32_t>(std::lround(std::log2(cell_unit_)))});
    cell_ = saturated(to_.binary("tosa.add", kept, added));
    if (clip_ > 0) {
      const auto limit = static_cast<int64_t>(std::clamp(clip_ / cell_unit_, -32768.0, 32767.0));
      cell_ = to_.clamp(cell_, std::to_string(-limit), std::to_string(limit));
    }
    const MlirValue product = to_.multiply(output, looked_up(cell_, cell_tanh_));
    hidden_ =
        to_.rescale(product, "i8", checked(std::ldexp(1.0, -30) / facts_->hidden.scale), true, facts_->hidden.zero);
  }

  // That of the tensor in the file; letters that MLIR would escape become '_'.
  std::string variable_name(std::string name, const char* other) {
    for (char& c : name) {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 &&
          std::string_view("_/.-:").find(c) == std::string_view::npos)
        c = '_';
    }
    if (name.empty()) name = fmt::format("lstm/{}", other);
    std::vector<std::string>& taken = context_.taken_variables;
    std::string free = name;
    for (int i = 1; std::find(taken.begin(), taken.end(), free) != taken.end(); ++i)
      free = fmt::format("{}_{}", name, i);
    taken.push_back(free);
    return free;
  }

  static constexpr double kGateUnit = 1.0 / 4096;  // of a gate before its activation

  const MlirOperation& op_;
  const std::unordered_map<std::string, const MlirOperation*>& constants_;
  LstmContext& context_;
  const LstmFacts* facts_;
  MlirWriter to_;
  bool time_major_ = false, coupled_ = false, int8_ = false;
  double clip_ = 0, cell_unit_ = 0;
  int64_t batch_ = 0, steps_ = 0, cells_ = 0, state_zero_ = 0;
  MlirValue x_, no_bias_, one_, sigmoid_, tanh_, cell_tanh_, hidden_, cell_, result_;
  std::array<MlirValue, kGates> from_input_, recurrent_;
};

}  // namespace

std::vector<MlirOperation> expand_lstms(std::vector<MlirOperation>& operations, LstmContext context) {
  const auto is_lstm = [](const MlirOperation& op) { return op.name == kLstmName; };
  const auto count = static_cast<size_t>(std::count_if(operations.begin(), operations.end(), is_lstm));
  std::vector<MlirOperation> variables;
  if (count == 0) return variables;
  if (context.facts != nullptr && context.facts->size() != count) {
    throw Error(
        ErrorCode::kOperatorUnsupported,
        fmt::format("{} has {} LSTMs, of which the converter leaves {}, so that it is not known whose the scales are; "
                    "export the network without those that nothing uses",
                    context.source, context.facts->size(), count));
  }
  const std::vector<MlirOperation> before = std::move(operations);
  std::unordered_map<std::string, const MlirOperation*> constants;
  for (const MlirOperation& op : before) {
    if (op.name == "tosa.const") constants.emplace(op.result, &op);
  }
  operations.clear();
  size_t index = 0;
  for (const MlirOperation& op : before) {
    if (op.name == "tfl.no_value") continue;
    if (!is_lstm(op)) {
      operations.push_back(op);
      continue;
    }
    const LstmFacts* facts = context.facts == nullptr ? nullptr : &(*context.facts)[index++];
    Lstm lstm(op, constants, context, facts, operations);
    for (MlirOperation& variable : lstm.expand()) variables.push_back(std::move(variable));
    operations.back().result = op.result;
  }
  return variables;
}

}  // namespace npu::importer
