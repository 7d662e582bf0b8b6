// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/tflite_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/importer/tflite_generated.h"

namespace npu::importer {
namespace {

using contract::ErrorCode;
using graph::in_quotes;
using TfliteInts = flatbuffers::Vector<int32_t>;

constexpr int32_t kSequenceLstm = 44;  // of TensorFlow Lite's BuiltinOperator

std::string tensor_name_of(const tflite::Tensor& tensor) {
  return tensor.name() == nullptr ? "" : tensor.name()->str();
}

// One size of a tensor as the file has it, and what it becomes.
struct Size {
  int32_t given = 0;
  bool free = false;
  int32_t chosen = 0;  // 0: not settled yet
};

// The shape of one tensor. `tensor` is null where the file has no shape for it.
struct Shape {
  tflite::Tensor* tensor = nullptr;
  std::vector<Size> sizes;

  [[nodiscard]] bool has_free_size() const {
    return std::any_of(sizes.begin(), sizes.end(), [](const Size& size) { return size.free; });
  }
};

Shape shape_of(tflite::Tensor* tensor) {
  Shape shape;
  if (tensor == nullptr || tensor->shape() == nullptr) return shape;
  shape.tensor = tensor;
  const TfliteInts* signature = tensor->shape_signature();
  const bool has_signature = signature != nullptr && signature->size() == tensor->shape()->size();
  for (uint32_t i = 0; i < tensor->shape()->size(); ++i) {
    const int32_t given = tensor->shape()->Get(i);
    const bool free = given < 0 || (has_signature && signature->Get(i) < 0);
    shape.sizes.push_back({given, free, free ? 0 : given});
  }
  return shape;
}

// "5x4", or "?x4" where `free` sizes are not named.
std::string sizes_of(const Shape& shape, bool free) {
  std::vector<std::string> sizes;
  for (const Size& size : shape.sizes) sizes.push_back(free && size.free ? "?" : std::to_string(size.given));
  return fmt::format("{}", fmt::join(sizes, "x"));
}

// How free sizes of the inputs change: from the file's to the chosen ones.
using SizeChanges = std::map<int32_t, int32_t>;
// What has been written where: writers of files may give tensors one list of sizes in common.
using WrittenSizes = std::map<const uint8_t*, int32_t>;

// Settles the sizes of one graph. All of them are read before the first one is written, and those of every graph of the
// file must be, too, since a list of sizes may belong to tensors of several graphs.
class TfliteShaper {
 public:
  TfliteShaper(tflite::SubGraph& graph, std::string_view source) : source_(source) {
    auto* tensors = graph.mutable_tensors();
    for (uint32_t i = 0; tensors != nullptr && i < tensors->size(); ++i) {
      shapes_.push_back(shape_of(tensors->GetMutableObject(i)));
      names_.push_back(tensor_name_of(*tensors->Get(i)));
    }
    if (graph.inputs() == nullptr) return;
    for (const int32_t id : *graph.inputs()) {
      if (id >= 0 && static_cast<size_t>(id) < shapes_.size()) inputs_.push_back(static_cast<size_t>(id));
    }
  }

  // Settles the inputs' sizes. Returns a line about each that has free sizes and no chosen ones.
  std::vector<std::string> inputs(const graph::GivenShapes& chosen) {
    std::vector<std::string> names;
    for (const size_t id : inputs_) names.push_back(in_quotes(names_[id]));
    for (const auto& [name, sizes] : chosen) {
      const auto used = std::count(names.begin(), names.end(), in_quotes(name));
      if (used == 1) continue;
      throw Error(ErrorCode::kBadOption, fmt::format("--shape names {}, but the inputs of {} are {}", in_quotes(name),
                                                     source_, fmt::join(names, ", ")));
    }
    std::vector<std::string> notes;
    for (const size_t id : inputs_) {
      if (shapes_[id].tensor == nullptr) continue;
      if (const auto found = chosen.find(names_[id]); found != chosen.end()) {
        choose(id, found->second);
      } else if (shapes_[id].has_free_size()) {
        notes.push_back(keep(id));
      }
    }
    return notes;
  }

  // Settles the sizes of the other tensors, from those of the inputs.
  void others() {
    for (size_t id = 0; id < shapes_.size(); ++id) {
      for (size_t axis = 0; axis < shapes_[id].sizes.size(); ++axis) {
        Size& size = shapes_[id].sizes[axis];
        if (size.free && size.chosen == 0) size.chosen = followed(id, axis);
      }
    }
  }

  void write(WrittenSizes& written) const {
    for (size_t id = 0; id < shapes_.size(); ++id) {
      tflite::Tensor* tensor = shapes_[id].tensor;
      for (uint32_t axis = 0; axis < shapes_[id].sizes.size(); ++axis) {
        const Size& size = shapes_[id].sizes[axis];
        const bool followed = write(*tensor->mutable_shape(), axis, size.chosen, written) &&
                              (tensor->mutable_shape_signature() == nullptr ||
                               write(*tensor->mutable_shape_signature(), axis, size.chosen, written));
        if (!followed) cannot_follow(id, axis);
      }
    }
  }

 private:
  // False when another tensor with the same list needs another size there.
  static bool write(TfliteInts& list, uint32_t axis, int32_t size, WrittenSizes& written) {
    if (axis >= list.size()) return true;
    const auto [known, fresh] = written.try_emplace(list.Data() + axis * sizeof(int32_t), size);
    if (!fresh) return known->second == size;
    list.Mutate(axis, size);
    return true;
  }

  std::string keep(size_t id) {
    Shape& shape = shapes_[id];
    const std::string free = sizes_of(shape, true);
    for (Size& size : shape.sizes) {
      if (size.given < 1) {
        throw Error(
            ErrorCode::kFeatureUnsupported,
            fmt::format("{}: input {} has the free shape {}, for which the file gives no sizes; choose them with "
                        "--shape {}=SIZExSIZE...",
                        source_, in_quotes(names_[id]), free, names_[id]));
      }
      if (!size.free) continue;
      changes_.emplace(size.given, size.given);
      size.chosen = size.given;
    }
    return fmt::format(
        "{}: input {} has the free shape {}; taken as {}, which the file gives (--shape {}=... takes another)", source_,
        in_quotes(names_[id]), free, sizes_of(shape, false), names_[id]);
  }

  void choose(size_t id, const graph::Shape& sizes) {
    Shape& shape = shapes_[id];
    bool fits = sizes.size() == shape.sizes.size() && shape.has_free_size();
    for (size_t i = 0; fits && i < shape.sizes.size(); ++i) {
      fits = shape.sizes[i].free || shape.sizes[i].given == sizes[i];
    }
    if (!fits) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--shape {}={} does not fit the input's shape in {}, {}: only sizes with ? can be chosen",
                              names_[id], fmt::join(sizes, "x"), source_, sizes_of(shape, true)));
    }
    for (size_t i = 0; i < shape.sizes.size(); ++i) {
      Size& size = shape.sizes[i];
      if (!size.free) continue;
      size.chosen = static_cast<int32_t>(sizes[i]);
      const auto [known, fresh] = changes_.try_emplace(size.given, size.chosen);
      if (!fresh && known->second != size.chosen) cannot_follow(id, i);
    }
  }

  // The same size as an input's becomes what that one became; of a size made of them, such as a product, the factor.
  [[nodiscard]] int32_t followed(size_t id, size_t axis) const {
    const int32_t size = shapes_[id].sizes[axis].given;
    if (size < 1) cannot_follow(id, axis);
    const auto same = changes_.find(size);
    if (same != changes_.end()) return same->second;
    if (std::all_of(changes_.begin(), changes_.end(),
                    [](const auto& change) { return change.first == change.second; })) {
      return size;
    }
    if (changes_.size() != 1) cannot_follow(id, axis);
    const auto [from, to] = *changes_.begin();
    const int64_t product = int64_t{size} * to;
    if (from < 1 || product % from != 0 || product / from > INT32_MAX) cannot_follow(id, axis);
    return static_cast<int32_t>(product / from);
  }

  [[noreturn]] void cannot_follow(size_t id, size_t axis) const {
    throw Error(
        ErrorCode::kArgumentUnsupported,
        fmt::format("{}: what size {} of tensor {} is does not follow from the inputs' sizes; export the network "
                    "with fixed sizes",
                    source_, axis, in_quotes(names_[id])));
  }

  std::string source_;
  std::vector<Shape> shapes_;       // of each tensor
  std::vector<std::string> names_;  // of each tensor
  std::vector<size_t> inputs_;      // numbers of tensors
  SizeChanges changes_;
};

LstmScale lstm_scale_of(const tflite::Tensor& tensor) {
  const tflite::Quantization* from = tensor.quantization();
  LstmScale result;
  if (from == nullptr || from->scale() == nullptr) return result;
  result.count = from->scale()->size();
  if (result.count > 0) result.scale = from->scale()->Get(0);
  if (from->zero_point() != nullptr && from->zero_point()->size() > 0) result.zero = from->zero_point()->Get(0);
  return result;
}

}  // namespace

TfliteFile::TfliteFile(std::vector<uint8_t> bytes, std::string source, std::string_view function)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
  if (bytes_.size() < 16 || !tflite::VerifyModelBuffer(verifier)) {
    throw Error(ErrorCode::kFileDamaged,
                fmt::format("{} is not a whole TensorFlow Lite file: its tables cannot be read", source_));
  }
  const auto* graphs = tflite::GetModel(bytes_.data())->subgraphs();
  for (uint32_t i = 0; graphs != nullptr && i < graphs->size(); ++i) {
    const flatbuffers::String* name = graphs->Get(i)->name();
    if (name != nullptr && name->string_view() == function) main_graph_ = i;
  }
}

std::vector<std::string> TfliteFile::fix_shapes(const graph::GivenShapes& chosen) {
  auto* graphs = tflite::GetMutableModel(bytes_.data())->mutable_subgraphs();
  std::vector<TfliteShaper> shapers;
  for (uint32_t i = 0; graphs != nullptr && i < graphs->size(); ++i) {
    shapers.emplace_back(*graphs->GetMutableObject(i), source_);
  }
  std::vector<std::string> notes;
  for (uint32_t i = 0; i < shapers.size(); ++i) {
    std::vector<std::string> lines = shapers[i].inputs(i == main_graph_ ? chosen : graph::GivenShapes());
    shapers[i].others();
    if (i == main_graph_) notes = std::move(lines);
  }
  WrittenSizes written;
  for (const TfliteShaper& shaper : shapers) shaper.write(written);
  return notes;
}

std::vector<LstmFacts> TfliteFile::lstms() const {
  std::vector<LstmFacts> result;
  const tflite::Model* model = tflite::GetModel(bytes_.data());
  if (model->subgraphs() == nullptr || model->subgraphs()->size() == 0 || model->operator_codes() == nullptr)
    return result;
  const tflite::SubGraph* graph = model->subgraphs()->Get(main_graph_);
  if (graph->operators() == nullptr || graph->tensors() == nullptr) return result;
  const auto tensor = [&](const TfliteInts* list, uint32_t i) -> const tflite::Tensor* {
    if (list == nullptr || i >= list->size() || list->Get(i) < 0) return nullptr;
    const auto id = static_cast<uint32_t>(list->Get(i));
    return id < graph->tensors()->size() ? graph->tensors()->Get(id) : nullptr;
  };
  for (const tflite::Operator* op : *graph->operators()) {
    if (op->opcode_index() >= model->operator_codes()->size()) continue;
    const tflite::OperatorCode* code = model->operator_codes()->Get(op->opcode_index());
    if (std::max<int32_t>(code->deprecated_builtin_code(), code->builtin_code()) != kSequenceLstm) continue;
    LstmFacts& facts = result.emplace_back();
    for (uint32_t i = 0; i < facts.operands.size(); ++i) {
      if (const tflite::Tensor* operand = tensor(op->inputs(), i)) facts.operands[i] = lstm_scale_of(*operand);
    }
    if (const tflite::Tensor* hidden = tensor(op->intermediates(), 4)) facts.hidden = lstm_scale_of(*hidden);
    if (const tflite::Tensor* state = tensor(op->inputs(), kLstmOutputState))
      facts.output_state = tensor_name_of(*state);
    if (const tflite::Tensor* state = tensor(op->inputs(), kLstmCellState)) facts.cell_state = tensor_name_of(*state);
  }
  return result;
}

}  // namespace npu::importer
