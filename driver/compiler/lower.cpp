#include "driver/compiler/lower.h"

#include "driver/compiler/lower/emitter.h"
#include "driver/compiler/lower/facts.h"
#include "driver/compiler/lower/plan.h"
#include "driver/compiler/lower/refusals.h"

namespace npu::compiler {

Module lower(const graph::Graph& graph, const contract::Capabilities&) {
  const Facts facts(graph.main());
  require_support(graph, facts);
  const Plan plan = make_plan(facts);
  return Emitter(facts, plan).run();
}

}  // namespace npu::compiler
