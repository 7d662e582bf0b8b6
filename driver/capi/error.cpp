// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "driver/capi/handles.h"

namespace npu::capi {
namespace {

using contract::ErrorCode;

npu_error* make_error(npu_status status, const char* message) noexcept {
  try {
    auto made = std::make_unique<npu_error>();
    made->status = status;
    made->message = message;
    return made.release();
  } catch (...) {
    return nullptr;
  }
}

npu_status give_error(npu_error** error, ErrorCode code, const char* message) noexcept {
  const auto status = static_cast<npu_status>(code);
  if (error != nullptr) *error = make_error(status, message);
  return status;
}

npu_status give_fault(npu_error** error, const runtime::FaultError& thrown) noexcept {
  const npu_status status = give_error(error, thrown.code(), thrown.what());
  if (error == nullptr || *error == nullptr) return status;
  if (thrown.code() == ErrorCode::kJobCancelled) return status;  // the caller's wish: there is no place of a fault
  try {
    (*error)->fault = thrown.fault();
  } catch (...) {
    (*error)->fault.reset();  // no memory for the layer's name
  }
  return status;
}

}  // namespace

npu_status report(npu_error** error) noexcept {
  try {
    throw;
  } catch (const runtime::FaultError& thrown) {
    return give_fault(error, thrown);
  } catch (const Error& thrown) {
    return give_error(error, thrown.code(), thrown.what());
  } catch (const std::bad_alloc&) {
    return give_error(error, ErrorCode::kBudgetExceeded, "the host has not enough memory for that");
  } catch (const std::exception& thrown) {
    return give_error(error, ErrorCode::kBug, thrown.what());
  } catch (...) {
    return give_error(error, ErrorCode::kBug, "something unknown was thrown");
  }
}

void misuse(const char* function, const std::string& what) {
  throw Error(ErrorCode::kBadOption, fmt::format("{}: {}", function, what));
}

void need_bytes(const void* bytes, size_t size, const char* function) {
  if (bytes == nullptr && size > 0) misuse(function, "bytes is NULL");
}

void need_size(size_t size, uint64_t wanted, const std::string& whose, const char* function) {
  if (size == wanted) return;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {} has {} bytes, not {}", function, whose, wanted, size));
}

void check_struct_size(size_t size, EarlierSizes earlier, size_t known, const char* function, const char* type) {
  if (size >= known && size <= kMostStructBytes) return;
  if (std::find(earlier.begin(), earlier.end(), size) != earlier.end()) return;
  misuse(function, fmt::format("struct_size of {} is {}, but must be sizeof({}), which is {} in this version", type,
                               size, type, known));
}

}  // namespace npu::capi

using npu::contract::ErrorCode;

uint32_t npu_api_version(void) { return NPU_API_VERSION; }

npu_class npu_status_class(npu_status status) {
  return status < 0 ? NPU_CLASS_INTERNAL : npu::contract::exit_status(static_cast<ErrorCode>(status));
}

const char* npu_status_name(npu_status status) { return npu::contract::name(static_cast<ErrorCode>(status)).data(); }

const char* npu_status_describe(npu_status status) {
  return npu::contract::describe(static_cast<ErrorCode>(status)).data();
}

const char* npu_class_name(npu_class kind) {
  switch (kind) {
    case NPU_CLASS_VALID:
      return "valid";
    case NPU_CLASS_UNPREDICTABLE:
      return "unpredictable";
    case NPU_CLASS_ILLEGAL_GRAPH:
      return "illegal_graph";
    case NPU_CLASS_UNSUPPORTED:
      return "unsupported";
    case NPU_CLASS_RESOURCE:
      return "resource";
    case NPU_CLASS_DEVICE_FAULT:
      return "device_fault";
    case NPU_CLASS_STATE_LOST:
      return "state_lost";
    case NPU_CLASS_CHECK_FAILED:
      return "check_failed";
    case NPU_CLASS_USAGE:
      return "usage";
    case NPU_CLASS_IO:
      return "io";
    case NPU_CLASS_INTERNAL:
      return "internal";
    default:
      return "?";
  }
}

npu_error* npu_error_create(npu_status status, const char* message) {
  if (status == NPU_OK) return nullptr;
  return npu::capi::make_error(status, message == nullptr ? "" : message);
}

void npu_error_destroy(npu_error* error) { delete error; }

npu_status npu_error_status(const npu_error* error) { return error == nullptr ? NPU_OK : error->status; }

npu_class npu_error_class(const npu_error* error) { return npu_status_class(npu_error_status(error)); }

const char* npu_error_message(const npu_error* error) { return error == nullptr ? "" : error->message.c_str(); }

bool npu_error_fault(const npu_error* error, npu_fault* fault) {
  if (error == nullptr || fault == nullptr || !error->fault) return false;
  const npu_status status = npu::capi::guarded(nullptr, [&] {
    const npu::runtime::Fault& from = *error->fault;
    npu_fault told{};
    told.status = error->status;
    told.command = from.command;
    told.other = from.other;
    told.queue = static_cast<uint32_t>(from.queue);
    told.layer = from.layer.value_or(NPU_NO_LAYER);
    told.layer_name = from.layer_name.c_str();
    told.region = static_cast<uint32_t>(from.address.region);
    told.variable = from.address.variable;
    told.address = from.address.offset;
    told.cycle = from.cycle;
    npu::capi::give(told, fault, "npu_error_fault", "npu_fault");
  });
  return status == NPU_OK;
}
