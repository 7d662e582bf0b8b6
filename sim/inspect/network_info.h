// SPDX-License-Identifier: Apache-2.0
// What a network is, needs and costs, and what a machine supports of it: the content of `npu info`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "driver/compiler/support.h"
#include "driver/graph/analyse.h"
#include "driver/graph/graph.h"
#include "hw/presets/preset.h"
#include "sim/report/bound.h"
#include "sim/report/room_bound.h"
#include "sim/workload/network.h"

namespace npu::inspect {

struct VariableNeed {
  std::string identity, tensor;
  graph::DType type;
  graph::Shape shape;
  int64_t bytes = 0;
  bool initialised = false;
};

// Operators of one kind with the same types on the same engine.
struct OperatorGroup {
  std::string name, type, engine;
  int64_t count = 0;
};

// What the variables take of the persistent SRAM in a context that has the machine to itself.
struct PersistentNeed {
  uint64_t bytes = 0, available = 0;  // each variable rounded up to the port's width; without the variable table
  uint64_t entries = 0, available_entries = 0;

  [[nodiscard]] bool fits() const { return bytes <= available && has_entries(); }
  [[nodiscard]] bool has_entries() const { return entries <= available_entries; }
};

// What the compiler expects, without any data.
struct Estimate {
  uint64_t cycles = 0;
  double microseconds = 0;
  report::Bound bound;  // of any invocation
  std::optional<report::RoomBound> room;
  std::vector<compiler::Layer> layers;
  std::string why_not;  // there is none: the reason, in a sentence
};

// What a network is, and what a machine makes of it.
struct NetworkInfo {
  const workload::Network& network;
  std::string machine;
  graph::Needs needs;
  int64_t macs = 0;
  int64_t constants = 0, constant_bytes = 0;
  std::vector<VariableNeed> variables;
  int64_t variable_bytes = 0;
  PersistentNeed persistent;
  std::vector<OperatorGroup> operators;
  std::vector<compiler::SupportRow> refused;
  int64_t operator_count = 0;  // without constants
  Estimate estimate;
};

// `network` outlives the result. Throws Error: what the compiler's support() throws; a network that the machine cannot
// run has an estimate without cycles.
[[nodiscard]] NetworkInfo inspect_network(const workload::Network& network, const presets::Preset& preset);

// "1.0.0", with " draft" behind it where the file says so.
[[nodiscard]] std::string version_text(const graph::Version& version);

// For people; `layers`: with the estimate of each layer.
[[nodiscard]] std::string to_text(const NetworkInfo& info, bool layers);
// As a JSON document in ASCII, the schema npu-info.
[[nodiscard]] std::string to_json_text(const NetworkInfo& info);

}  // namespace npu::inspect
