// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/parameter_parts.h"

#include "driver/compiler/parameter_block.h"

namespace npu::compiler::backend {
namespace {

using contract::ParameterEntry;
using contract::ParameterHeader;

View new_block(int64_t entries, StepParts& parts) {
  return parts.intermediate({bytes_of_block(entries)}, contract::Element::kI8);
}

View copy_of(const View& block, StepParts& parts) {
  const View made = new_block(entries_of_block(block), parts);
  parts.copy(block, made);
  return made;
}

}  // namespace

View part_of_block(const View& block, Range channels, StepParts& parts) {
  const View header = block_header(block), entries = block_entries(block, channels.start, channels.count);
  if (const auto data = parts.data(block)) {
    const auto bytes_of = [&](const View& part) {
      return data->subspan(static_cast<size_t>(part.offset - block.offset), static_cast<size_t>(elements(part.dims)));
    };
    const auto first = bytes_of(header), rest = bytes_of(entries);
    std::vector<uint8_t> bytes(first.begin(), first.end());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return parts.constant(std::move(bytes), {bytes_of_block(channels.count)}, block.type);
  }
  const View made = new_block(channels.count, parts);
  parts.copy(header, block_header(made));
  parts.copy(entries, block_entries(made, 0, channels.count));
  return made;
}

View block_without_bias(const View& block, StepParts& parts) {
  const View made = copy_of(block, parts);
  parts.fill(entry_field(made, &ParameterEntry::bias), 0);
  return made;
}

View block_of_sums(const View& block, StepParts& parts) {
  const View made = copy_of(block, parts);
  parts.fill(header_field(made, &ParameterHeader::input_zp), 0);
  return made;
}

View block_with(const Params& params, int32_t ParameterHeader::*field, const View& from, StepParts& parts) {
  const View made = new_block(std::ssize(params.entries), parts);
  parts.copy(parts.constant(bytes_of_params(params), made.dims, made.type), made);
  parts.copy(header_field(from, field), header_field(made, field));
  return made;
}

}  // namespace npu::compiler::backend
