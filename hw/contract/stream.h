// SPDX-License-Identifier: Apache-2.0
// A command stream as a list of commands.
#pragma once

#include <cstdint>
#include <span>

#include "hw/contract/gen/commands.h"

namespace npu::contract {

// visit(header, words) for each command of the stream, in order, as long as it gives true. False where the stream goes
// on with something that is no whole command; commands are not looked at otherwise.
template <class Visit>
bool for_each_command(std::span<const uint32_t> stream, Visit&& visit) {
  while (!stream.empty()) {
    if (stream.size() < kHeaderWords) return false;
    const Header header = Header::decode(stream);
    if (header.words < kHeaderWords || header.words > stream.size()) return false;
    if (!visit(header, stream.first(header.words))) return true;
    stream = stream.subspan(header.words);
  }
  return true;
}

}  // namespace npu::contract
