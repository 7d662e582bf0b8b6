// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/tflite_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "driver/graph/text.h"
#include "hw/contract/error.h"
#include "sim/cli/tflite_generated.h"

namespace npu::cli {
namespace {

using contract::ErrorCode;
using graph::in_quotes;
using TfliteInts = flatbuffers::Vector<int32_t>;

constexpr int32_t kSequenceLstm = 44;  // of TensorFlow Lite's BuiltinOperator

std::string tensor_name_of(const tflite::Tensor& tensor) {
  return tensor.name() == nullptr ? "" : tensor.name()->str();
}

bool is_free(const tflite::Tensor& tensor, uint32_t axis) {
  const TfliteInts* signature = tensor.shape_signature();
  if (tensor.shape()->Get(axis) < 0) return true;
  return signature != nullptr && signature->size() == tensor.shape()->size() && signature->Get(axis) < 0;
}

bool has_free_size(const tflite::Tensor& tensor) {
  for (uint32_t i = 0; tensor.shape() != nullptr && i < tensor.shape()->size(); ++i) {
    if (is_free(tensor, i)) return true;
  }
  return false;
}

// "5x4", or "?x4" where `free` sizes are not named.
std::string sizes_of(const tflite::Tensor& tensor, bool free) {
  std::vector<std::string> sizes;
  for (uint32_t i = 0; i < tensor.shape()->size(); ++i) {
    sizes.push_back(free && is_free(tensor, i) ? "?" : std::to_string(tensor.shape()->Get(i)));
  }
  return fmt::format("{}", fmt::join(sizes, "x"));
}

// How free sizes of the inputs change: from the file's to the chosen ones.
using SizeChanges = std::map<int32_t, int32_t>;

class TfliteShaper {
 public:
  TfliteShaper(tflite::SubGraph& graph, std::string_view source) : graph_(graph), source_(source) {}

  std::vector<std::string> inputs(std::span<const ChosenShape> chosen) {
    std::vector<std::string> names;
    for (const int32_t id : numbers(graph_.inputs())) {
      if (tflite::Tensor* tensor = at(id)) names.push_back(in_quotes(tensor_name_of(*tensor)));
    }
    for (const ChosenShape& shape : chosen) {
      const auto used = std::count(names.begin(), names.end(), in_quotes(shape.input));
      if (used == 1) continue;
      throw Error(ErrorCode::kBadOption, fmt::format("--shape names {}, but the inputs of {} are {}",
                                                     in_quotes(shape.input), source_, fmt::join(names, ", ")));
    }
    std::vector<std::string> notes;
    for (const int32_t id : numbers(graph_.inputs())) {
      tflite::Tensor* tensor = at(id);
      if (tensor == nullptr || tensor->shape() == nullptr) continue;
      const auto found = std::find_if(chosen.begin(), chosen.end(),
                                      [&](const ChosenShape& shape) { return shape.input == tensor_name_of(*tensor); });
      if (found != chosen.end()) {
        choose(*tensor, *found);
      } else if (has_free_size(*tensor)) {
        notes.push_back(keep(*tensor));
      }
    }
    return notes;
  }

  void others() {
    if (graph_.tensors() == nullptr) return;
    for (uint32_t id = 0; id < graph_.tensors()->size(); ++id) {
      tflite::Tensor* tensor = at(static_cast<int32_t>(id));
      if (tensor == nullptr || tensor->shape() == nullptr) continue;
      for (uint32_t i = 0; i < tensor->shape()->size(); ++i) {
        if (!is_free(*tensor, i)) continue;
        set(*tensor, i, settled_.count(tensor) > 0 ? tensor->shape()->Get(i) : followed(*tensor, i));
      }
    }
  }

 private:
  static std::vector<int32_t> numbers(const TfliteInts* list) {
    return list == nullptr ? std::vector<int32_t>() : std::vector<int32_t>(list->begin(), list->end());
  }

  tflite::Tensor* at(int32_t id) {
    auto* tensors = graph_.mutable_tensors();
    if (tensors == nullptr || id < 0 || static_cast<uint32_t>(id) >= tensors->size()) return nullptr;
    return tensors->GetMutableObject(static_cast<uint32_t>(id));
  }

  // Writers may give tensors one list in common, so no size is written twice in different ways.
  void set(tflite::Tensor& tensor, uint32_t axis, int32_t size) {
    TfliteInts* shape = tensor.mutable_shape();
    const auto [known, fresh] = written_.try_emplace(shape->Data() + axis * sizeof(int32_t), size);
    if (!fresh && known->second != size) cannot_follow(tensor, axis);
    shape->Mutate(axis, size);
    if (tensor.mutable_shape_signature() != nullptr && axis < tensor.shape_signature()->size()) {
      tensor.mutable_shape_signature()->Mutate(axis, size);
    }
  }

  std::string keep(tflite::Tensor& tensor) {
    const std::string free = sizes_of(tensor, true);
    for (uint32_t i = 0; i < tensor.shape()->size(); ++i) {
      const int32_t size = tensor.shape()->Get(i);
      if (size < 1) {
        throw Error(
            ErrorCode::kFeatureUnsupported,
            fmt::format("{}: input {} has the free shape {}, for which the file gives no sizes; choose them with "
                        "--shape {}=SIZExSIZE...",
                        source_, in_quotes(tensor_name_of(tensor)), free, tensor_name_of(tensor)));
      }
      if (is_free(tensor, i)) changes_.emplace(size, size);
    }
    settled_.insert({&tensor, true});
    return fmt::format(
        "{}: input {} has the free shape {}; taken as {}, which the file gives (--shape {}=... takes another)", source_,
        in_quotes(tensor_name_of(tensor)), free, sizes_of(tensor, false), tensor_name_of(tensor));
  }

  void choose(tflite::Tensor& tensor, const ChosenShape& shape) {
    const std::string free = sizes_of(tensor, true);
    bool fits = shape.sizes.size() == tensor.shape()->size() && has_free_size(tensor);
    for (uint32_t i = 0; fits && i < tensor.shape()->size(); ++i) {
      fits = is_free(tensor, i) || tensor.shape()->Get(i) == shape.sizes[i];
    }
    if (!fits) {
      throw Error(ErrorCode::kBadOption,
                  fmt::format("--shape {}={} does not fit the input's shape in {}, {}: only sizes with ? can be chosen",
                              shape.input, fmt::join(shape.sizes, "x"), source_, free));
    }
    for (uint32_t i = 0; i < tensor.shape()->size(); ++i) {
      if (!is_free(tensor, i)) continue;
      const auto size = static_cast<int32_t>(shape.sizes[i]);
      const auto [known, fresh] = changes_.try_emplace(tensor.shape()->Get(i), size);
      if (!fresh && known->second != size) cannot_follow(tensor, i);
      new_sizes_[{&tensor, i}] = size;
    }
    settled_.insert({&tensor, true});
    for (uint32_t i = 0; i < tensor.shape()->size(); ++i) {
      if (new_sizes_.count({&tensor, i}) > 0) tensor.mutable_shape()->Mutate(i, new_sizes_[{&tensor, i}]);
    }
  }

  // The same size as an input's becomes what that one became; of a size made of them, such as a product, the factor.
  int32_t followed(const tflite::Tensor& tensor, uint32_t axis) {
    const int32_t size = tensor.shape()->Get(axis);
    if (size < 1) cannot_follow(tensor, axis);
    const auto same = changes_.find(size);
    if (same != changes_.end()) return same->second;
    if (std::all_of(changes_.begin(), changes_.end(),
                    [](const auto& change) { return change.first == change.second; })) {
      return size;
    }
    if (changes_.size() != 1) cannot_follow(tensor, axis);
    const auto [from, to] = *changes_.begin();
    const int64_t product = int64_t{size} * to;
    if (from < 1 || product % from != 0 || product / from > INT32_MAX) cannot_follow(tensor, axis);
    return static_cast<int32_t>(product / from);
  }

  [[noreturn]] void cannot_follow(const tflite::Tensor& tensor, uint32_t axis) const {
    throw Error(
        ErrorCode::kArgumentUnsupported,
        fmt::format("{}: what size {} of tensor {} is does not follow from the inputs' sizes; export the network "
                    "with fixed sizes",
                    source_, axis, in_quotes(tensor_name_of(tensor))));
  }

  tflite::SubGraph& graph_;
  std::string source_;
  SizeChanges changes_;
  std::map<const tflite::Tensor*, bool> settled_;
  std::map<std::pair<const tflite::Tensor*, uint32_t>, int32_t> new_sizes_;
  std::map<const uint8_t*, int32_t> written_;
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

ChosenShape parse_chosen_shape(const std::string& text) {
  const size_t equals = text.rfind('=');
  ChosenShape shape;
  bool good = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
  if (good) shape.input = text.substr(0, equals);
  for (size_t at = equals + 1; good && at <= text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    int32_t size = 0;
    const auto [stop, failure] = std::from_chars(text.data() + at, text.data() + end, size);
    good = failure == std::errc() && stop == text.data() + end && size >= 1;
    shape.sizes.push_back(size);
    at = end + 1;
  }
  if (good) return shape;
  throw Error(ErrorCode::kBadOption, fmt::format("--shape needs NAME=5x4, not {}", in_quotes(text)));
}

TfliteFile::TfliteFile(std::vector<uint8_t> bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
  if (bytes_.size() < 16 || !tflite::VerifyModelBuffer(verifier)) {
    throw Error(ErrorCode::kFileDamaged,
                fmt::format("{} is not a whole TensorFlow Lite file: its tables cannot be read", source_));
  }
}

std::vector<std::string> TfliteFile::fix_shapes(std::span<const ChosenShape> chosen) {
  tflite::Model* model = tflite::GetMutableModel(bytes_.data());
  std::vector<std::string> notes;
  auto* graphs = model->mutable_subgraphs();
  for (uint32_t i = 0; graphs != nullptr && i < graphs->size(); ++i) {
    tflite::SubGraph* graph = graphs->GetMutableObject(i);
    TfliteShaper shaper(*graph, source_);
    std::vector<std::string> lines = shaper.inputs(i == 0 ? chosen : std::span<const ChosenShape>());
    shaper.others();
    if (i == 0) notes = std::move(lines);
  }
  return notes;
}

std::vector<LstmFacts> TfliteFile::lstms() const {
  std::vector<LstmFacts> result;
  const tflite::Model* model = tflite::GetModel(bytes_.data());
  if (model->subgraphs() == nullptr || model->subgraphs()->size() == 0 || model->operator_codes() == nullptr)
    return result;
  const tflite::SubGraph* graph = model->subgraphs()->Get(0);
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

}  // namespace npu::cli
