// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/gdb_protocol.h"

#include <algorithm>
#include <utility>

namespace npu::platform::gdb {

namespace {

constexpr char kEscape = '}';
constexpr char kEscapeBit = 0x20;
constexpr std::string_view kDigits = "0123456789abcdef";

int digit(char value) {
  if (value >= '0' && value <= '9') return value - '0';
  if (value >= 'a' && value <= 'f') return value - 'a' + 10;
  if (value >= 'A' && value <= 'F') return value - 'A' + 10;
  return -1;
}

uint8_t checksum(std::string_view text) {
  uint8_t sum = 0;
  for (const char value : text) sum = static_cast<uint8_t>(sum + static_cast<uint8_t>(value));
  return sum;
}

void append_hex(std::string& text, uint8_t value) {
  text += kDigits[value >> 4];
  text += kDigits[value & 15];
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == kEscape && i + 1 < text.size();
    plain += escaped ? static_cast<char>(text[++i] ^ kEscapeBit) : text[i];
  }
  return plain;
}

}  // namespace

void Parser::feed(std::string_view bytes) {
  for (const char value : bytes) byte(value);
}

std::optional<Input> Parser::next() {
  if (inputs_.empty()) return std::nullopt;
  Input input = std::move(inputs_.front());
  inputs_.pop_front();
  return input;
}

void Parser::byte(char value) {
  // Never part of a packet: the one before was cut off.
  if (value == '$') {
    state_ = State::kPayload;
    payload_.clear();
    too_long_ = false;
    return;
  }
  switch (state_) {
    case State::kBetween:
      between(value);
      break;
    case State::kPayload:
      if (value == '#') {
        state_ = State::kChecksumHigh;
      } else if (payload_.size() < kMaxPacket) {
        payload_ += value;
      } else {
        too_long_ = true;
      }
      break;
    case State::kChecksumHigh:
      checksum_high_ = value;
      state_ = State::kChecksumLow;
      break;
    case State::kChecksumLow:
      end_packet(value);
      state_ = State::kBetween;
      break;
  }
}

void Parser::between(char value) {
  if (value == '+') inputs_.push_back({Input::Kind::kAck, {}});
  if (value == '-') inputs_.push_back({Input::Kind::kResend, {}});
  if (value == '\x03') inputs_.push_back({Input::Kind::kInterrupt, {}});
}

void Parser::end_packet(char low) {
  if (too_long_) {
    inputs_.push_back({Input::Kind::kTooLong, {}});
    return;
  }
  const int upper = digit(checksum_high_), lower = digit(low);
  if (upper < 0 || lower < 0 || upper * 16 + lower != checksum(payload_)) {
    inputs_.push_back({Input::Kind::kDamaged, {}});
    return;
  }
  inputs_.push_back({Input::Kind::kPacket, without_escapes(payload_)});
}

std::string frame(std::string_view payload) {
  std::string text;
  text.reserve(payload.size() + 4);
  for (const char value : payload) {
    const bool special = value == '$' || value == '#' || value == kEscape || value == '*';
    if (special) text += kEscape;
    text += special ? static_cast<char>(value ^ kEscapeBit) : value;
  }
  const uint8_t sum = checksum(text);
  text.insert(text.begin(), '$');
  text += '#';
  append_hex(text, sum);
  return text;
}

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const uint8_t value : bytes) append_hex(text, value);
  return text;
}

std::optional<std::vector<uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int upper = digit(text[i]), lower = digit(text[i + 1]);
    if (upper < 0 || lower < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(upper * 16 + lower));
  }
  return bytes;
}

std::string register_to_hex(uint32_t value) {
  std::string text;
  for (int shift = 0; shift < 32; shift += 8) append_hex(text, static_cast<uint8_t>(value >> shift));
  return text;
}

std::optional<uint32_t> register_from_hex(std::string_view text) {
  const std::optional<std::vector<uint8_t>> bytes = from_hex(text);
  if (!bytes || bytes->size() != 4) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{(*bytes)[i]} << (8 * i);
  return value;
}

bool Fields::literal(std::string_view expected) {
  good_ = good_ && text_.starts_with(expected);
  if (good_) text_.remove_prefix(expected.size());
  return good_;
}

uint32_t Fields::number() {
  uint64_t value = 0;
  size_t digits = 0;
  for (; digits < text_.size() && digit(text_[digits]) >= 0 && value <= UINT32_MAX; ++digits) {
    value = value * 16 + static_cast<uint64_t>(digit(text_[digits]));
  }
  good_ = good_ && digits > 0 && value <= UINT32_MAX;
  if (!good_) return 0;
  text_.remove_prefix(digits);
  return static_cast<uint32_t>(value);
}

std::string_view Fields::rest() { return good_ ? std::exchange(text_, {}) : std::string_view(); }

}  // namespace npu::platform::gdb
