// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/input_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::workload {

namespace fs = std::filesystem;
using contract::ErrorCode;
using graph::in_quotes;

namespace {

std::string names(const std::vector<GraphPort>& ports) {
  std::string text;
  for (const GraphPort& port : ports) text += (text.empty() ? "" : ", ") + in_quotes(port.name);
  return text.empty() ? "none" : text;
}

}  // namespace

NamedFile split(const std::vector<GraphPort>& ports, const std::string& argument) {
  for (size_t at = argument.rfind('='); at != std::string::npos && at > 0; at = argument.rfind('=', at - 1)) {
    const auto port = std::find_if(ports.begin(), ports.end(), [&](const GraphPort& p) {
      return p.name == std::string_view(argument).substr(0, at);
    });
    if (port != ports.end()) return {static_cast<size_t>(port - ports.begin()), argument.substr(at + 1)};
  }
  const size_t equals = argument.rfind('=');
  std::error_code ignored;
  if (ports.size() == 1 && (equals == std::string::npos || fs::exists(argument, ignored))) return {0, argument};
  if (equals == std::string::npos) {
    throw Error(ErrorCode::kBadInput, fmt::format("the network has {} inputs ({}), so {} needs a name: NAME=FILE.npy",
                                                  ports.size(), names(ports), in_quotes(argument)));
  }
  throw Error(ErrorCode::kBadInput, fmt::format("the network has no input {}; there are: {}",
                                                in_quotes(argument.substr(0, equals)), names(ports)));
}

std::string label(const GraphPort& port) { return "input " + in_quotes(port.name); }

void throw_missing(const GraphPort& port) {
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} ({}) is missing; add --input {}", label(port),
                          graph::describe_type(port.type, port.shape), in_quotes(port.name + "=FILE.npy")));
}

}  // namespace npu::workload
