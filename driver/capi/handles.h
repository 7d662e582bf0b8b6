// SPDX-License-Identifier: Apache-2.0
// What the opaque handles of npu.h stand for, and what every function of the C API does the same way.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "driver/capi/npu.h"
#include "driver/capi/sized_job.h"
#include "driver/runtime/runtime.h"
#include "hw/contract/error.h"

struct npu_error_object {
  npu_status status = NPU_OK;
  std::string message;
  std::optional<npu::runtime::Fault> fault;
};

struct npu_device {
  explicit npu_device(npu::runtime::Device opened) : device(std::move(opened)) {}

  npu::runtime::Device device;
  std::mutex log_mutex;
  std::string log;  // taken from the device, but not yet by the caller
};

struct npu_context {
  npu::runtime::Device device;
  npu::runtime::Context context;
  bool double_buffer;  // programs are compiled for it
};

struct npu_variables {
  std::vector<npu::runtime::VariableInfo> all;
};

struct npu_scrub {
  npu::runtime::ScrubResult result;
};

struct npu_program {
  std::shared_ptr<npu::capi::Programs> programs;
};

struct npu_job {
  npu_job(std::shared_ptr<npu::capi::Programs> of, const npu::runtime::JobOptions& options)
      : sized(std::move(of), options) {}

  npu::capi::SizedJob sized;
  // Results must not change while they are copied: held by what sets inputs, starts the job, or reads its results.
  std::mutex mutex;

  [[nodiscard]] npu::runtime::Job& job() { return sized.job(); }
};

namespace npu::capi {

// The error that a function reports for what is being thrown; to be called in a catch block.
npu_status report(npu_error** error) noexcept;

// Runs the body of an exported function: nothing thrown leaves it.
template <typename Body>
npu_status guarded(npu_error** error, Body&& body) noexcept {
  try {
    if (error != nullptr) *error = nullptr;
    body();
    return NPU_OK;
  } catch (...) {
    return report(error);
  }
}

// Throws Error(bad_option): "npu_job_wait: <what>".
[[noreturn]] void misuse(const char* function, const std::string& what);

template <typename T>
T& need(T* pointer, const char* function, const char* parameter) {
  if (pointer == nullptr) misuse(function, std::string(parameter) + " is NULL");
  return *pointer;
}

// Bytes of a caller: may be NULL only when there are none.
void need_bytes(const void* bytes, size_t size, const char* function);

// Throws Error(bad_input) unless the caller's buffer has the size of the data.
void need_size(size_t size, uint64_t wanted, const std::string& whose, const char* function);

// The largest size that is believed of a structure of a later version.
inline constexpr size_t kMostStructBytes = 4096;

// The sizes that a structure had in earlier versions, where it was another.
using EarlierSizes = std::initializer_list<size_t>;

// Throws Error(bad_option) unless it is a possible size of a structure that has `known` bytes in this version: that, an
// earlier one, or a later version's.
void check_struct_size(size_t size, EarlierSizes earlier, size_t known, const char* function, const char* type);

// A structure of options as the library knows it; all zero for NULL. A new member must not lie in what was padding at
// the end of an earlier version, because callers do not clear that.
template <typename T>
T take_options(const T* given, const char* function, const char* type, EarlierSizes earlier = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  T options{};
  if (given == nullptr) return options;
  size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  check_struct_size(size, earlier, sizeof(T), function, type);
  std::memcpy(static_cast<void*>(&options), given, std::min(size, sizeof(T)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) misuse(function, std::string(type) + " has a member set that this version does not know");
  }
  return options;
}

// Fills a structure of the caller: members that this version does not know become 0.
template <typename T>
void give(T value, T* out, const char* function, const char* type, EarlierSizes earlier = {}) {
  static_assert(std::is_trivially_copyable_v<T>);
  need(out, function, type);
  const size_t size = out->struct_size;
  check_struct_size(size, earlier, sizeof(T), function, type);
  value.struct_size = size;
  std::memcpy(static_cast<void*>(out), &value, std::min(size, sizeof(T)));
  if (size > sizeof(T)) std::memset(reinterpret_cast<unsigned char*>(out) + sizeof(T), 0, size - sizeof(T));
}

// The interface of runtime/hal.h over a C back end; calls its destroy(). `ops` must be complete (check_ops).
std::unique_ptr<runtime::Hal> make_hal(const npu_hal_ops& ops);
// The caller's table. Throws Error(bad_option) when a function is missing or its version is another one.
npu_hal_ops check_ops(const npu_hal_ops* ops, const char* function);

}  // namespace npu::capi
