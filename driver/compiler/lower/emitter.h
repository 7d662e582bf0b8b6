// SPDX-License-Identifier: Apache-2.0
// Builds the Module: knows where every tensor lives, and gives families their operands and results as views.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/grouping.h"
#include "driver/compiler/lower/views.h"
#include "hw/contract/gen/capabilities.h"

namespace npu::compiler {

// What the emitters of a graph's blocks make together.
struct Emission {
  Module module;
  std::map<std::string, BufferId> variables;  // by identity
  // Constants that are shared: by the hash of their bytes, and by what Facts know.
  std::unordered_multimap<size_t, BufferId> contents;
  std::map<std::shared_ptr<const std::vector<uint8_t>>, BufferId> constants;
  std::map<std::string, uint32_t> layer_names;  // and the number of the next copy
  uint32_t labels = 0;                          // used so far
  uint32_t most_iterations = 0;                 // of a loop
  uint64_t most_steps = kMostCommands;
  bool merges = true;  // steps get the fewest dimensions that express them
};

// One for each block, and of the blocks that control flow names one for each time that it does.
class Emitter {
 public:
  // All four must outlive this; every live operator must have passed its family's check.
  Emitter(const Facts& facts, const Grouping& grouping, const contract::Capabilities& capabilities, Emission& emission);

  // The block that runs first, with ports and variables: the whole module.
  void run();
  // A block of control flow: its inputs lie at `inputs`, and its results had better be made at `results`, one an
  // output, where they may be. Gives where they are.
  [[nodiscard]] std::vector<View> run_nested(std::span<const View> inputs,
                                             std::span<const std::optional<View>> results);

  // For families:
  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const contract::Capabilities& capabilities() const { return capabilities_; }

  // Where a tensor lives, views followed; copies it first where strides cannot express a view.
  [[nodiscard]] View read(graph::TensorId id);
  // Operand of an operator, copied to a dense buffer if the operator's family does not accept it as it lies.
  [[nodiscard]] View read_operand(const graph::Operator& op, size_t operand);
  // As read(), and dense.
  [[nodiscard]] View read_dense(graph::TensorId id);

  // Where the step that makes a tensor writes it, with the dimensions `as` (same elements). A concatenation or an
  // output that wants it in place decides, unless the place lacks the dense innermost dimension that `inner_dense` asks
  // for.
  [[nodiscard]] View place(graph::TensorId id, const Dims& as, bool inner_dense);
  [[nodiscard]] View place(graph::TensorId id) { return place(id, facts_.tensor(id).shape, false); }

  // A new dense buffer for what passes from one step of a family to the next.
  [[nodiscard]] View intermediate(std::string name, contract::Element type, const Dims& dims);

  // Says where a tensor lives that no step of its own makes.
  void set_place(graph::TensorId id, const View& view) { values_[id] = view; }
  // A place of its own for a tensor's value.
  [[nodiscard]] View new_dense(graph::TensorId id);
  // Copies the tensor from `view` into a dense buffer where it lives from now on.
  View materialise(graph::TensorId id, const View& view);

  [[nodiscard]] Emission& emission() { return emission_; }
  [[nodiscard]] BufferId add_buffer(Buffer buffer);
  [[nodiscard]] View variable(graph::TensorId id) const;
  // A dense constant of raw bytes; equal ones share a buffer.
  [[nodiscard]] View constant_blob(std::vector<uint8_t> bytes);
  // The same as a tensor of these elements.
  [[nodiscard]] View constant(std::vector<uint8_t> bytes, contract::Element type, const Dims& dims);
  [[nodiscard]] View zeros(contract::Element type, const Dims& dims);

  // Throws Error(argument_unsupported) for a step that no program has room for.
  void add(Work work);
  // A CopyStep from src to dst, of equal dims, with the fewest dimensions that express it.
  void add_copy(View src, View dst, bool commit = false);
  void add_fill(View dst, uint64_t value);
  [[nodiscard]] Layer& layer() { return module_.layers[layer_]; }

 private:
  void declare_variables();
  void make_ports();
  // The places that outputs should have, one an output.
  void wish_places(std::span<const std::optional<View>> outputs);
  void wish_parts(const graph::Operator& op, const View& whole);
  void wish(graph::TensorId id, const View& view);
  [[nodiscard]] bool readable(graph::TensorId id, const View& view) const;
  void emit_group(const Group& group);
  void copy_outputs();
  // Numbers layers by their first steps. A concatenation whose parts were made in place has no step, and no row.
  void order_layers();
  void begin_layer(const std::vector<size_t>& ops, std::optional<contract::Engine> engine);
  void begin_layer(Layer layer);
  [[nodiscard]] std::string position_of(size_t op) const;
  // Shapes and window of an operator.
  void describe(const graph::Operator& op, Layer& layer) const;

  [[nodiscard]] View constant_view(graph::TensorId id);
  [[nodiscard]] BufferId add_constant(const std::string& name, std::vector<uint8_t> bytes);
  // The same where equal bytes share a buffer.
  [[nodiscard]] BufferId share_constant(const std::string& name, std::vector<uint8_t> bytes);
  // What a view operator's result looks like when its operand is `in`.
  [[nodiscard]] std::optional<View> derive(const graph::Operator& op, const View& in) const;

  const Facts& facts_;
  const Grouping& grouping_;
  const contract::Capabilities& capabilities_;
  Emission& emission_;
  Module& module_;
  uint32_t layer_ = 0;
  std::vector<std::optional<View>> values_;  // by tensor: where it lives
  std::vector<std::optional<View>> wishes_;  // by tensor: where its maker should put it
};

}  // namespace npu::compiler
