// SPDX-License-Identifier: Apache-2.0
// Where in DRAM a program's pieces are taken to lie: as the runtime allocates them where it holds nothing else
// (dram_needs.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "driver/compiler/play/channel.h"
#include "driver/compiler/program.h"
#include "driver/compiler/schedule/emit.h"

namespace npu::compiler::play {

class Places {
 public:
  // The variables must outlive this.
  Places(std::span<const backend::Command> commands, uint64_t stream_bytes, std::span<const Variable> variables);

  [[nodiscard]] uint64_t stream() const { return stream_; }
  [[nodiscard]] Channel::Place of(const contract::Address& address) const;

 private:
  [[nodiscard]] bool in_dram(const contract::Address& address) const;
  // Of a variable each has its own.
  using Key = std::pair<contract::Region, uint16_t>;
  [[nodiscard]] static Key key_of(const contract::Address& address);

  std::span<const Variable> variables_;
  std::map<Key, uint64_t> bases_;
  uint64_t stream_ = 0;
};

}  // namespace npu::compiler::play
