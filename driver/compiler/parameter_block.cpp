// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/parameter_block.h"

#include "hw/contract/error.h"

namespace npu::compiler {

using contract::ParameterEntry;
using contract::ParameterHeader;

int64_t bytes_of_block(int64_t entries) {
  return int64_t{ParameterHeader::kBytes} + entries * int64_t{ParameterEntry::kBytes};
}

std::vector<uint8_t> bytes_of_params(const Params& params) {
  std::vector<uint8_t> bytes(static_cast<size_t>(bytes_of_block(std::ssize(params.entries))));
  params.header.store(bytes.data());
  uint8_t* out = bytes.data() + ParameterHeader::kBytes;
  for (const ParameterEntry& entry : params.entries) {
    entry.store(out);
    out += ParameterEntry::kBytes;
  }
  return bytes;
}

int64_t entries_of_block(const View& block) {
  NPU_CHECK(block.type == contract::Element::kI8 && block.dims.size() == 1);
  return (block.dims[0] - int64_t{ParameterHeader::kBytes}) / int64_t{ParameterEntry::kBytes};
}

View block_header(const View& block) {
  return {block.buffer, block.offset, block.type, {ParameterHeader::kBytes}, {1}};
}

View block_entries(const View& block, int64_t first, int64_t count) {
  return {block.buffer,
          block.offset + bytes_of_block(first),
          block.type,
          {count, ParameterEntry::kBytes},
          {ParameterEntry::kBytes, 1}};
}

}  // namespace npu::compiler
