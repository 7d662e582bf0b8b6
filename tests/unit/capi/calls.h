// SPDX-License-Identifier: Apache-2.0
// Calls of the C API in tests, and what they report.
#pragma once

#include <gtest/gtest.h>
#include <npu.h>

#include <string>

namespace npu::test {

// A structure of the API, as C writes `{.struct_size = sizeof ...}`.
template <typename T>
T sized() {
  T made{};
  made.struct_size = sizeof made;
  return made;
}

// What a call reported; destroyed with the object.
struct ErrorBox {
  ErrorBox() = default;
  ~ErrorBox() { npu_error_destroy(error); }
  ErrorBox(const ErrorBox&) = delete;
  ErrorBox& operator=(const ErrorBox&) = delete;

  // For the last parameter of a call; forgets what was there.
  npu_error** out() {
    npu_error_destroy(error);
    error = nullptr;
    return &error;
  }
  [[nodiscard]] std::string message() const { return npu_error_message(error); }

  npu_error* error = nullptr;
};

// `call` with its last argument left open must succeed.
#define EXPECT_OK(box, call) EXPECT_EQ(call, NPU_OK) << (box).message()
#define ASSERT_OK(box, call) ASSERT_EQ(call, NPU_OK) << (box).message()
// The call must fail with a status, report the same in its error, and say something.
#define EXPECT_FAILS(box, wanted, call)                        \
  do {                                                         \
    EXPECT_EQ(call, wanted) << (box).message();                \
    EXPECT_EQ(npu_error_status((box).error), wanted) << #call; \
    EXPECT_NE((box).message(), "") << #call;                   \
  } while (false)

}  // namespace npu::test
