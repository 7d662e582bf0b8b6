// SPDX-License-Identifier: Apache-2.0
// Parameter blocks in memory: a header, and an entry for each output channel or one for all (`structures` of
// hw/contract/commands.yaml). Front end and back end make blocks whose values come at run time field by field.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "driver/compiler/ir.h"

namespace npu::compiler {

// Bytes of a block with so many entries.
[[nodiscard]] int64_t bytes_of_block(int64_t entries);
// The block as it lies in memory.
[[nodiscard]] std::vector<uint8_t> bytes_of_params(const Params& params);
// Entries of a block that is a dense view of its bytes.
[[nodiscard]] int64_t entries_of_block(const View& block);

// Parts of a block: the bytes of its header, and those of `count` entries from `first` on, [count, bytes of an entry].
[[nodiscard]] View block_header(const View& block);
[[nodiscard]] View block_entries(const View& block, int64_t first, int64_t count);

namespace detail {
// Where a field lies in its structure, in bytes: as the contract's own writer stores it.
template <class Structure, class Field>
int64_t field_offset(Field Structure::*field) {
  Structure probe;
  probe.*field = static_cast<Field>(-1);
  std::array<uint8_t, Structure::kBytes> bytes{};
  probe.store(bytes.data());
  int64_t offset = 0;
  while (bytes.at(static_cast<size_t>(offset)) == 0) ++offset;
  return offset;
}
template <class Field>
contract::Element field_element() {
  return sizeof(Field) == contract::element_bytes(contract::Element::kI48) ? contract::Element::kI48
                                                                           : contract::Element::kI32;
}
}  // namespace detail

// A field of the header, [1], and one of all entries, [entries], of the element type that the field has.
template <class Field>
View header_field(const View& block, Field contract::ParameterHeader::*field) {
  return {block.buffer,
          block.offset + detail::field_offset(field),
          detail::field_element<Field>(),
          {1},
          {contract::ParameterHeader::kBytes}};
}
template <class Field>
View entry_field(const View& block, Field contract::ParameterEntry::*field) {
  return {block.buffer,
          block.offset + int64_t{contract::ParameterHeader::kBytes} + detail::field_offset(field),
          detail::field_element<Field>(),
          {entries_of_block(block)},
          {contract::ParameterEntry::kBytes}};
}

}  // namespace npu::compiler
