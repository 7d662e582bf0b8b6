// A device without time: runs a Program's commands one after the other on plain arrays, and checks what they address.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler/program.h"
#include "hw/contract/gen/capabilities.h"
#include "hw/contract/gen/commands.h"

namespace npu::compiler::testing {

class CommandInterpreter {
 public:
  // Scratchpad, workspace and outputs start poisoned.
  CommandInterpreter(const Program& program, const contract::Capabilities& capabilities);

  void set_input(size_t port, std::span<const uint8_t> bytes);
  [[nodiscard]] std::vector<uint8_t> output(size_t port) const;
  [[nodiscard]] std::vector<uint8_t>& variable(size_t index) { return variables_[index]; }

  // Commands of the stream, without begin and end.
  [[nodiscard]] size_t size() const { return commands_.size(); }
  [[nodiscard]] std::span<const uint32_t> words(size_t i) const { return commands_[i]; }
  void execute(size_t i);
  void run();  // all, in stream order

  // What was wrong with the stream, in words; empty: nothing.
  std::vector<std::string> complaints;

 private:
  uint8_t* resolve(const contract::Address& address, int64_t low, int64_t high, bool write, bool dma);
  void complain(const std::string& what);

  const Program& program_;
  const contract::Capabilities& capabilities_;
  std::vector<std::span<const uint32_t>> commands_;
  std::vector<uint8_t> scratchpad_, constants_, workspace_, input_, output_;
  std::vector<std::vector<uint8_t>> variables_;
  std::vector<uint8_t> nowhere_;
  size_t current_ = 0;
};

}  // namespace npu::compiler::testing
