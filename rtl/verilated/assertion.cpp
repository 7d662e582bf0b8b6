// SPDX-License-Identifier: Apache-2.0
// Verilator prints the text of an assertion that fails and then ends the process; here it is kept, and ends nothing.
// Part of npu_verilator, whose sources call this in the place of printf and of their own vl_stop.
#include "rtl/verilated/assertion.h"

#include <verilated.h>

#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

namespace npu::rtl {
namespace {

thread_local std::string failed_assertion;

// "[24] %Error: npu_fifo.sv:52: Assertion failed in fifo.npu_fifo.CountInRange: 'assert' failed."
std::string rule_of(std::string_view text) {
  constexpr std::string_view kBegin = "%Error: ", kEnd = ": 'assert' failed";
  if (const size_t begin = text.find(kBegin); begin != std::string_view::npos)
    text.remove_prefix(begin + kBegin.size());
  return std::string(text.substr(0, text.find(kEnd)));
}

}  // namespace

std::string take_failed_assertion() { return std::exchange(failed_assertion, {}); }

}  // namespace npu::rtl

extern "C" int npu_verilator_print(const char* format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (std::string_view(text).find("Assertion failed in ") == std::string_view::npos) {
    std::fputs(text, stderr);
  } else if (npu::rtl::failed_assertion.empty()) {
    npu::rtl::failed_assertion = npu::rtl::rule_of(text);
  }
  return length;
}

void vl_stop(const char*, int, const char*) { Verilated::threadContextp()->gotError(true); }
