// SPDX-License-Identifier: Apache-2.0
// How tests ask for the error of a call.
#pragma once

#include <string>

#include "hw/contract/error.h"

namespace npu::test {

// The code of the Error that `call` throws, kOk without one, and what it says in `text`.
template <typename Call>
[[nodiscard]] contract::ErrorCode code_of(Call&& call, std::string* text = nullptr) {
  try {
    call();
  } catch (const Error& error) {
    if (text != nullptr) *text = error.what();
    return error.code();
  }
  return contract::ErrorCode::kOk;
}

}  // namespace npu::test
