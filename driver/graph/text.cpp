// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/text.h"

namespace npu::graph {

std::string printable(std::string_view text, size_t longest) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return text.size() > longest ? out + "..." : out;
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
