// SPDX-License-Identifier: Apache-2.0
// An operator with its operands, as its rule sees it. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "driver/graph/dim.h"
#include "driver/graph/graph.h"
#include "hw/contract/error.h"

namespace npu::graph {

struct KnownSizes;

// The regions of a graph by name; must not outlive it.
class RegionIndex {
 public:
  explicit RegionIndex(const Graph& graph);
  // Null when there is none.
  [[nodiscard]] const Region* find(std::string_view name) const;
  [[nodiscard]] size_t size() const { return regions_.size(); }
  // Whether the file is of TOSA 1.1, which lists more types than 1.0.
  [[nodiscard]] bool is_later_version() const { return later_version_; }

 private:
  std::unordered_map<std::string_view, const Region*> regions_;
  bool later_version_;
};

class OperatorView {
 public:
  // `declared` is the block as it was before its sizes were known; null where they were from the beginning.
  OperatorView(const RegionIndex& regions, const Block& block, const Operator& op, size_t position,
               const Block* declared = nullptr)
      : regions_(regions), block_(block), op_(op), position_(position), declared_(declared) {}
  // With sizes that stay open: `known` has those of the tensors, and takes what the rule demands of them.
  OperatorView(const RegionIndex& regions, const Block& block, const Operator& op, size_t position, KnownSizes& known)
      : regions_(regions), block_(block), op_(op), position_(position), declared_(&block), known_(&known) {}

  [[nodiscard]] const RegionIndex& regions() const { return regions_; }
  [[nodiscard]] const Block& block() const { return block_; }
  [[nodiscard]] const Operator& op() const { return op_; }
  [[nodiscard]] const Attributes& attributes() const { return op_.attributes; }
  [[nodiscard]] const Tensor& input(size_t i) const { return block_.tensors[op_.inputs[i]]; }
  [[nodiscard]] const Tensor& output(size_t i) const { return block_.tensors[op_.outputs[i]]; }
  [[nodiscard]] const Shape& shape(size_t i) const { return input(i).shape; }

  // What rules make results of: numbers, and expressions where sizes stay open.
  [[nodiscard]] Dims dims(size_t i) const { return dims(block_, op_.inputs[i]); }
  [[nodiscard]] Dims output_dims(size_t i) const { return dims(block_, op_.outputs[i]); }
  [[nodiscard]] Dims dims(const Block& block, TensorId id) const;
  // The value of a shape, input `i`, of `length` sizes. One that is not constant fails with bad_argument.
  [[nodiscard]] Dims value(size_t i, int64_t length) const;
  // Whether input `i` is a constant, or a shape whose value is computed already.
  [[nodiscard]] bool has_value(size_t i) const;
  // Whether it holds; where that depends on sizes that stay open, it becomes a condition on them, and counts as held.
  // `why` is what people call the right side: "stride".
  [[nodiscard]] bool equal(const Dim& a, const Dim& b, const char* why = "") const;
  [[nodiscard]] bool equal(const Dims& a, const Dims& b) const;
  [[nodiscard]] bool at_least(const Dim& a, const Dim& b, const char* why = "") const;
  [[nodiscard]] bool multiple(const Dim& a, const Dim& b, const char* why = "") const;
  [[nodiscard]] bool power_of_two(const Dim& a) const;
  // `a` has a value: the functions in it are defined for their operands.
  [[nodiscard]] bool defined(const Dim& a) const;
  // All sizes are 1.
  [[nodiscard]] bool one_element(const Dims& dims) const { return equal(dims, Dims(dims.size(), Dim(1))); }
  [[nodiscard]] std::string text(const Dims& dims) const;
  [[nodiscard]] std::string text(const Dim& dim) const;

  // The file leaves this size of input `i` open.
  [[nodiscard]] bool is_symbol(size_t i, size_t dimension) const;

  // "weight 'layer_9'" and "output 'layer_10'"
  [[nodiscard]] std::string input_name(size_t i) const;
  [[nodiscard]] std::string output_name(size_t i) const;

  // The integers of input `i`, which must be one-dimensional of `length` (else bad_shape); nullopt when it is not
  // constant. Throws NotExpressible for a shape that depends on sizes that stay open.
  [[nodiscard]] std::optional<std::vector<int64_t>> constant(size_t i, int64_t length) const;
  // As above; a value that is not constant fails with bad_argument.
  [[nodiscard]] std::vector<int64_t> required_constant(size_t i, int64_t length) const;
  // Input `i` is a constant of one element that is not zero. Checks that it has one element.
  [[nodiscard]] bool zero_point_set(size_t i) const;
  // The rule of zero points: only `allowed` types may have one that is not zero.
  void require_zero_point_only_for(DType allowed, size_t operand, DType type) const;

  // Throws Error with the operator's name and place.
  [[noreturn]] void fail(contract::ErrorCode code, const std::string& reason) const;
  [[noreturn]] void bad_argument(const std::string& reason) const { fail(contract::ErrorCode::kBadArgument, reason); }
  [[noreturn]] void bad_shape(const std::string& reason) const { fail(contract::ErrorCode::kBadShape, reason); }
  // In a file of TOSA 1.1 the types of an operator of 1.0 may be legal, so there it is feature_unsupported.
  [[noreturn]] void bad_type(const std::string& reason) const;

 private:
  void require_length(size_t i, int64_t length) const;
  // The value of a shape that infer() has computed; null where it has none.
  [[nodiscard]] const Dims* computed_value(size_t i) const;
  [[nodiscard]] bool require(SizeRelation relation, const Dim& a, const Dim& b, const char* why) const;

  const RegionIndex& regions_;
  const Block& block_;
  const Operator& op_;
  size_t position_;
  const Block* declared_;
  KnownSizes* known_ = nullptr;
};

// Whether a tensor's value is known without running: the result of CONST or CONST_SHAPE.
[[nodiscard]] inline bool is_constant(const Tensor& tensor) { return tensor.has_data && !tensor.variable; }

}  // namespace npu::graph
