// SPDX-License-Identifier: Apache-2.0
// GDB's remote serial protocol as text: packets and the fields in them, without a socket and without a CPU.
//
// A packet is `$payload#xx`, xx its checksum; in the payload `}` escapes the byte after it. Between packets come `+`
// and
// `-` (received well, send again) and 0x03 (stop the CPU).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npu::platform::gdb {

// Bytes of the longest packet that is taken, between `$` and `#`; the debugger is told so.
inline constexpr size_t kMaxPacket = 0x4000;

struct Input {
  enum class Kind : uint8_t {
    kPacket,     // data: the payload, without escapes
    kDamaged,    // the checksum is wrong
    kTooLong,    // a packet of more than kMaxPacket bytes
    kAck,        // +
    kResend,     // -
    kInterrupt,  // 0x03
  };
  Kind kind;
  std::string data;
};

// Cuts a stream of bytes, however it comes in pieces, into packets. Bytes that belong to none are skipped.
class Parser {
 public:
  void feed(std::string_view bytes);
  // What came next, or nothing until more bytes come.
  [[nodiscard]] std::optional<Input> next();

 private:
  enum class State : uint8_t { kBetween, kPayload, kChecksumHigh, kChecksumLow };
  void byte(char value);
  void between(char value);
  void end_packet(char low);

  State state_ = State::kBetween;
  std::string payload_;  // as sent
  bool too_long_ = false;
  char checksum_high_ = 0;
  std::deque<Input> inputs_;
};

// `$payload#xx`, with escapes where they are needed.
[[nodiscard]] std::string frame(std::string_view payload);

// Bytes as pairs of hexadecimal digits, and back; nothing when the text is something else.
[[nodiscard]] std::string to_hex(std::span<const uint8_t> bytes);
[[nodiscard]] std::optional<std::vector<uint8_t>> from_hex(std::string_view text);
// A register's value: its four bytes, little endian.
[[nodiscard]] std::string register_to_hex(uint32_t value);
[[nodiscard]] std::optional<uint32_t> register_from_hex(std::string_view text);

// Reads the fields of a command from left to right. After the first mistake nothing is found any more.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  // The text goes on with `expected`, and is behind it now.
  bool literal(std::string_view expected);
  // A hexadecimal number of at most 32 bits, at least one digit; 0 and a mistake otherwise.
  uint32_t number();
  // All that is left.
  std::string_view rest();
  // Everything was there, and nothing is left.
  [[nodiscard]] bool complete() const { return good_ && text_.empty(); }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::string_view text_;
  bool good_ = true;
};

}  // namespace npu::platform::gdb
