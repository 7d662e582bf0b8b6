// SPDX-License-Identifier: Apache-2.0
// Files that no writer makes: a graph of one operator, z = op(x, y), with knobs for everything that a reader must
// notice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/graph/tosa_generated.h"

namespace npu::graph {

struct RawFile {
  int32_t major = 1, minor = 0, patch = 0;
  bool draft = false;
  uint64_t features = 0;
  bool regions = true;
  uint32_t op = static_cast<uint32_t>(tosa::Op::ADD);
  tosa::Attribute table = tosa::Attribute::AddAttribute;
  bool attributes = true;      // false: type of the table, but no table
  uint32_t nan_mode = 0;       // of MaximumAttribute
  std::vector<uint8_t> limit;  // of ClampAttribute
  std::vector<std::string> inputs = {"x", "y"}, outputs = {"z"}, graph_inputs = {"x", "y"};
  std::string shape_name;  // a shape beside the tensors
  uint32_t shape_rank = 0;
  std::vector<uint8_t> shape_data;
  // Of tensor y:
  std::optional<std::string> name = "y";
  std::vector<int32_t> shape = {3};
  uint32_t type = static_cast<uint32_t>(tosa::DType::INT32);
  std::vector<uint8_t> data;
  bool variable = false, unranked = false;
  uint64_t offset = 0, size = 0;
  uint32_t scale_type = 0;

  [[nodiscard]] std::shared_ptr<const std::vector<uint8_t>> bytes() const;
};

}  // namespace npu::graph
