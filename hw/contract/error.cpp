// SPDX-License-Identifier: Apache-2.0
#include "hw/contract/error.h"

#include <cstdio>
#include <cstdlib>

namespace npu {

void panic(const char* file, int line, const std::string& message) {
  std::fprintf(stderr, "npu: internal error at %s:%d: %s\n", file, line, message.c_str());
  std::abort();
}

}  // namespace npu
