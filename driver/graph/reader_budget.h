// Bounds what reading a file may cost. Private to this folder.
#pragma once

#include <cstddef>

#include "hw/contract/error.h"

namespace npu::graph {

// A verified flatbuffer may use the same string or list from many places, so copying it can cost thousands of times the
// file's size. Every copy and every visited list element is paid from here; constants' data is never copied.
class Budget {
 public:
  // Enough for about 400,000 operators.
  static constexpr size_t kBytes = size_t{512} << 20;

  // Throws Error(budget_exceeded) when less than `bytes` are left.
  void spend(size_t bytes) {
    if (bytes > left_) {
      throw Error(contract::ErrorCode::kBudgetExceeded,
                  "names and lists would take more than " + std::to_string(kBytes >> 20) + " MiB of memory");
    }
    left_ -= bytes;
  }

 private:
  size_t left_ = kBytes;
};

}  // namespace npu::graph
