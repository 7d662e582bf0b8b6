// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_types.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "sim/importer/mlir_text.h"

namespace npu::importer {
namespace {

constexpr std::string_view kTensorHead = "tensor<";

bool is_digit_character(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool has_rank(std::string_view type) {
  return !type.starts_with(kTensorHead) || !type.substr(kTensorHead.size()).starts_with("*x");
}

bool is_unsigned(std::string_view type) {
  const size_t at = type.find("ui");
  return at != std::string_view::npos && at > 0 && (type[at - 1] == 'x' || type[at - 1] == '<') &&
         at + 2 < type.size() && is_digit_character(type[at + 2]);
}

bool has_known_element(std::string_view type) {
  constexpr std::array<std::string_view, 11> kKnown = {"i1",  "i4",  "i8",   "i16",      "i32",   "i48",
                                                       "f16", "f32", "bf16", "f8E4M3FN", "f8E5M2"};
  if (!type.starts_with(kTensorHead)) return true;
  const std::string plain = signless(type);
  std::string_view element = std::string_view(plain).substr(kTensorHead.size());
  element = element.substr(0, element.rfind('>'));
  for (size_t end = 0; (end = element.find('x')) != std::string_view::npos;) {
    const std::string_view size = element.substr(0, end);
    if (size != "?" && size != "*" && !std::all_of(size.begin(), size.end(), is_digit_character)) break;
    element.remove_prefix(end + 1);
  }
  element = element.substr(0, element.find(','));  // an encoding
  return std::find(kKnown.begin(), kKnown.end(), element) != kKnown.end();
}

}  // namespace npu::importer
