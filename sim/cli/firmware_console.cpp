// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/firmware_console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "driver/graph/text.h"
#include "sim/tool/say.h"

namespace npu::cli {
namespace {

constexpr std::string_view kLogPrefix = "firmware: ";
constexpr std::string_view kUartPrefix = "firmware uart: ";

// One call a line, so that lines of the simulation's thread and of the caller's do not mix. On a terminal a line of
// progress may stand in the way.
void print_line(std::string_view prefix, std::string_view line) {
  static const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const std::string text = fmt::format("{}{}{}\n", terminal ? "\r\033[K" : "", prefix, graph::printable_lines(line));
  tool::say_error_text(text);
}

}  // namespace

class FirmwareConsole::Uart {
 public:
  ~Uart() {
    if (!line_.empty()) print_line(kUartPrefix, line_);
  }

  // In the simulation's thread.
  void put(char character) {
    if (character == '\r') return;
    if (character != '\n' && line_.size() < kLongest) {
      line_ += character;
      return;
    }
    print_line(kUartPrefix, line_);
    line_.clear();
    if (character != '\n') line_ += character;
  }

 private:
  // Firmware that never ends a line must not fill the memory.
  static constexpr size_t kLongest = 4096;
  std::string line_;
};

FirmwareConsole::FirmwareConsole(bool on) : uart_(on ? std::make_shared<Uart>() : nullptr) {}

std::function<void(char)> FirmwareConsole::uart() const {
  if (!uart_) return {};
  return [uart = uart_](char character) { uart->put(character); };
}

void FirmwareConsole::show(runtime::Device& device) const {
  if (!uart_) return;
  const std::string log = device.take_firmware_log();
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    print_line(kLogPrefix, std::string_view(log).substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace npu::cli
