// SPDX-License-Identifier: Apache-2.0
// What the fuzz target asks of every input; also run on seeds and on inputs that were findings once, as ordinary tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hw/contract/error.h"

namespace npu::fuzz {

// How far an input came.
enum class Stage : uint8_t { kRead, kValidated, kRun };

struct Answer {
  Stage stage = Stage::kRead;                           // the last one that began
  contract::ErrorCode code = contract::ErrorCode::kOk;  // why that one refused the input; kOk: it did not
  std::string message;
};

// Reads, validates, analyses, writes and runs a file, with inputs that follow from its bytes and within small budgets.
// Refusing it is a fine answer. Aborts when a part contradicts another one: a legal graph is refused behind the
// validator with a code that only illegal ones get, changes when it is written, or gives other results the second time.
[[nodiscard]] Answer judge(std::span<const uint8_t> file);

}  // namespace npu::fuzz
