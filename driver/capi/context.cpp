// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "driver/capi/handles.h"

using npu::capi::guarded;
using npu::capi::misuse;
using npu::capi::need;
using npu::contract::ErrorCode;

npu_status npu_context_create(npu_device* device, const npu_context_options* options, npu_context** context,
                              npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_create";
    need(context, kFunction, "context") = nullptr;
    npu_device& owner = need(device, kFunction, "device");
    const npu_context_options from = npu::capi::take_options(options, kFunction, "npu_context_options",
                                                             {offsetof(npu_context_options, double_buffer)});
    if (from.priority > 255) misuse(kFunction, fmt::format("priority is {}, but at most 255", from.priority));
    auto made = owner.device.create_context(
        {.priority = from.priority, .zero_init = from.zero_init, .double_buffer = from.double_buffer});
    *context = new npu_context{owner.device, std::move(made), from.double_buffer};
  });
}

void npu_context_destroy(npu_context* context) { delete context; }

npu_status npu_context_variables(npu_context* context, npu_variables** variables, npu_error** error) {
  return guarded(error, [&] {
    need(variables, "npu_context_variables", "variables") = nullptr;
    const npu_context& owner = need(context, "npu_context_variables", "context");
    *variables = new npu_variables{owner.context.variables()};
  });
}

size_t npu_variables_count(const npu_variables* variables) { return variables == nullptr ? 0 : variables->all.size(); }

npu_status npu_variables_get(const npu_variables* variables, size_t index, npu_variable_info* info, npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_variables_get";
    const auto& all = need(variables, kFunction, "variables").all;
    if (index >= all.size()) misuse(kFunction, fmt::format("index is {}, but there are {}", index, all.size()));
    const npu::runtime::VariableInfo& from = all[index];
    npu_variable_info told{};
    told.identity = from.identity.c_str();
    told.type = static_cast<npu_dtype>(from.type);
    told.rank = static_cast<uint32_t>(from.shape.size());
    told.shape = from.shape.data();
    told.bytes = from.bytes;
    told.offset = from.in_dram ? 0 : static_cast<uint32_t>(from.offset);
    told.index = from.index;
    told.is_written = from.is_written;
    told.dram_address = from.in_dram ? from.offset : 0;
    told.last_writer = from.last_writer.c_str();
    told.invocations = from.invocations;
    told.in_dram = from.in_dram;
    told.double_buffered = from.double_buffered;
    told.torn = from.torn;
    npu::capi::give(told, info, kFunction, "npu_variable_info", {offsetof(npu_variable_info, dram_address)});
  });
}

void npu_variables_destroy(npu_variables* variables) { delete variables; }

npu_status npu_context_read_variable(npu_context* context, const char* identity, void* bytes, size_t size,
                                     npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_read_variable";
    const npu_context& owner = need(context, kFunction, "context");
    const npu::graph::Value value = owner.context.read_variable(&need(identity, kFunction, "identity"));
    npu::capi::need_bytes(bytes, size, kFunction);
    npu::capi::need_size(size, value.bytes.size(), fmt::format("variable '{}'", identity), kFunction);
    std::copy(value.bytes.begin(), value.bytes.end(), static_cast<uint8_t*>(bytes));
  });
}

npu_status npu_context_write_variable(npu_context* context, const char* identity, const void* bytes, size_t size,
                                      npu_error** error) {
  return guarded(error, [&] {
    constexpr const char* kFunction = "npu_context_write_variable";
    npu_context& owner = need(context, kFunction, "context");
    const std::string_view wanted = &need(identity, kFunction, "identity");
    npu::capi::need_bytes(bytes, size, kFunction);
    const std::vector<npu::runtime::VariableInfo> all = owner.context.variables();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.identity == wanted; });
    if (found == all.end()) {
      throw npu::Error(ErrorCode::kVariableUndeclared,
                       fmt::format("{}: the context has no variable '{}'", kFunction, wanted));
    }
    if (std::any_of(found->shape.begin(), found->shape.end(), [](int64_t dimension) { return dimension < 0; })) {
      throw npu::Error(ErrorCode::kVariableMismatch,
                       fmt::format("{}: variable '{}' has no size as yet, for the first job says how large it is; run "
                                   "one first, or restore a snapshot",
                                   kFunction, wanted));
    }
    npu::capi::need_size(size, found->bytes, fmt::format("variable '{}'", wanted), kFunction);
    const auto* data = static_cast<const uint8_t*>(bytes);
    owner.context.write_variable(wanted, {found->type, found->shape, {data, data + size}});
  });
}

npu_status npu_context_clear_variable(npu_context* context, const char* identity, npu_error** error) {
  return guarded(error, [&] {
    npu_context& owner = need(context, "npu_context_clear_variable", "context");
    if (identity == nullptr) {
      owner.context.clear();
    } else {
      owner.context.clear(identity);
    }
  });
}
