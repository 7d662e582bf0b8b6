// SPDX-License-Identifier: Apache-2.0
// Bounds what reading a file may cost. Private to this folder.
#pragma once

#include <algorithm>
#include <cstddef>

#include "hw/contract/error.h"

namespace npu::graph {

// A verified flatbuffer may use the same string or list from many places, so copying it can cost thousands of times the
// file's size. Every copy and every visited list element is paid from here; constants' data is never copied. A file
// that shares nothing takes about ten times its size, so that a small file must do with little.
class Budget {
 public:
  explicit Budget(size_t file_bytes) : bytes_(std::min(kMost, kLeast + kMostTimes * file_bytes)) {}

  // Throws Error(budget_exceeded) when less than `bytes` are left.
  void spend(size_t bytes) {
    if (bytes > left_) {
      throw Error(contract::ErrorCode::kBudgetExceeded,
                  "names and lists would take more than " + std::to_string(bytes_ >> 20) + " MiB of memory");
    }
    left_ -= bytes;
  }

 private:
  static constexpr size_t kMost = size_t{512} << 20;  // about 400,000 operators
  static constexpr size_t kLeast = size_t{4} << 20;
  static constexpr size_t kMostTimes = 128;

  size_t bytes_;
  size_t left_ = bytes_;
};

}  // namespace npu::graph
