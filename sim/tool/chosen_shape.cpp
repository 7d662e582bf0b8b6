// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/chosen_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::tool {

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
  throw Error(contract::ErrorCode::kBadOption,
              fmt::format("--shape needs NAME=5x4, each size from 1 to 2147483647, not {}", graph::in_quotes(text)));
}

}  // namespace npu::tool
