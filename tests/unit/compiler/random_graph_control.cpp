// SPDX-License-Identifier: Apache-2.0
// COND_IF and WHILE_LOOP, whose blocks are random graphs.
#include <string>
#include <utility>

#include "tests/unit/compiler/random_graph_maker.h"

namespace npu::compiler::testing {

using graph::Op;

namespace {

constexpr int kDeepest = 2;
constexpr double kMostIterations = 3;

}  // namespace

RandomGraph::RandomGraph(RandomGraph& outer, std::string region, const Operands& operands)
    : random_(outer.random_()),
      max_dim_(outer.max_dim_),
      mixed_(outer.mixed_),
      depth_(outer.depth_ + 1),
      region_(std::move(region)) {
  for (const auto& [type, dims] : operands) add(b_.input({}, type, dims));
}

void RandomGraph::grow_control() {
  if (depth_ == kDeepest) return;
  chance(50) ? grow_cond_if() : grow_while_loop();
}

std::vector<RandomGraph::TensorId> RandomGraph::any_operands(Operands& kinds) {
  std::vector<TensorId> operands;
  for (int i = pick(1, 3); i > 0; --i) operands.push_back(any());
  for (const TensorId id : operands) kinds.emplace_back(type(id), shape(id));
  return operands;
}

std::string RandomGraph::branch(const Operands& operands, const Operands& results) {
  RandomGraph block(*this, region_ + "_" + std::to_string(blocks_++), operands);
  for (int i = pick(0, 3); i > 0; --i) block.grow();
  for (const auto& [type, dims] : results) block.b_.output(block.any_as(type, dims));
  b_.add_region(std::move(block.b_));
  return block.region_;
}

void RandomGraph::grow_cond_if() {
  Operands kinds, results;
  const std::vector<TensorId> operands = any_operands(kinds);
  for (int i = pick(1, 2); i > 0; --i) results.emplace_back(any_type(), any_shape(max_dim_));
  const TensorId condition = as_shape(partner(DType::kBool, {1}), {1});
  const std::string then_graph = branch(kinds, results), else_graph = branch(kinds, results);
  for (const TensorId id : b_.cond_if(condition, operands, then_graph, else_graph)) add(id);
}

// Counts down to 0, in any format.
void RandomGraph::grow_while_loop() {
  const DType count_type = chance(50) ? DType::kInt32 : any_real();
  const auto number = [&](graph::GraphBuilder& b, double value) {
    return b.constant(count_type, {1}, std::vector<double>{value});
  };
  Operands kinds = {{count_type, {1}}};
  std::vector<TensorId> operands = any_operands(kinds);
  operands.insert(operands.begin(), b_.minimum(any_as(count_type, {1}), number(b_, kMostIterations)));

  RandomGraph more(*this, region_ + "_" + std::to_string(blocks_++), kinds);
  more.b_.output(more.b_.op(Op::kGreater, {more.tensors_[0], number(more.b_, 0)}));
  RandomGraph body(*this, region_ + "_" + std::to_string(blocks_++), kinds);
  body.b_.output(body.b_.sub(body.tensors_[0], number(body.b_, 1)));
  for (int i = pick(0, 2); i > 0; --i) body.grow();
  for (size_t i = 1; i < kinds.size(); ++i) {
    const bool same = chance(20);
    body.b_.output(same ? body.tensors_[i] : body.any_as(kinds[i].first, kinds[i].second));
  }
  b_.add_region(std::move(more.b_));
  b_.add_region(std::move(body.b_));
  for (const TensorId id : b_.while_loop(operands, more.region_, body.region_)) add(id);
}

}  // namespace npu::compiler::testing
