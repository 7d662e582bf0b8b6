// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "driver/program_file/program_file.h"
#include "hw/contract/error.h"
#include "tests/fuzz/program_judge.h"

namespace npu::program_file {

// The code and message of what `call` throws; ok for nothing.
inline std::pair<contract::ErrorCode, std::string> error_in(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {contract::ErrorCode::kOk, ""};
}

inline std::pair<contract::ErrorCode, std::string> refusal_of(std::span<const uint8_t> bytes) {
  return error_in([&] { static_cast<void>(parse(bytes)); });
}

}  // namespace npu::program_file
