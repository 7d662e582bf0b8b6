// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/text.h"

#include <algorithm>
#include <cstdint>

namespace npu::graph {

namespace {

// A character of UTF-8 that starts at `at`: its length and code point. Length 0: the bytes there are none.
struct Character {
  size_t length = 0;
  uint32_t code = 0;
};

Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {1, first};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < length) return {};
  uint32_t code = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3fU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[length] || code > 0x10ffff || surrogate) return {};
  return {length, code};
}

// Whether a terminal does something else with it than show it: controls, and marks that turn the direction of the text
// around.
bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

void add_printable(std::string& out, std::string_view bytes, const Character& character) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (character.length > 0 && !is_control(character.code)) {
    out += bytes;
    return;
  }
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

}  // namespace

std::string printable(std::string_view text, size_t longest) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const Character character = character_at(text, at);
    const size_t length = std::max<size_t>(character.length, 1);
    if (at + length > longest) break;
    add_printable(out, text.substr(at, length), character);
    at += length;
  }
  return at < text.size() ? out + "..." : out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    const std::string_view bytes = text.substr(at, std::max<size_t>(character.length, 1));
    if (bytes == "\n" || bytes == "\t") {
      out += bytes;
    } else {
      add_printable(out, bytes, character);
    }
    at += bytes.size();
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out(1, '\'');
  out += printable(text);
  out += '\'';
  return out;
}

std::string describe(const Operator& op, size_t position) {
  std::string text = "operator " + std::to_string(position) + " (" + std::string(name(op.op));
  if (!op.location.empty()) {
    text += ", " + printable(op.location);
  }
  return text + ")";
}

std::string describe_type(DType type, const Shape& shape) { return std::string(name(type)) + to_string(shape); }

std::string describe_type(const Tensor& tensor) { return describe_type(tensor.type, tensor.shape); }

}  // namespace npu::graph
