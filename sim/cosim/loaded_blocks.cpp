// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "hw/contract/error.h"
#include "sim/cosim/block_source.h"

namespace npu::cosim {
namespace {

constexpr const char* kModule = "libnpu_rtl.so";

[[noreturn]] void refuse_module(const std::string& why) {
  throw Error(contract::ErrorCode::kCannotRead, fmt::format("cannot use the RTL module {}: {}", kModule, why));
}

// Closes a module without it, so that one that is built in its place can be opened.
template <typename Function>
Function* symbol_of(void* module, const char* symbol) {
  void* const address = dlsym(module, symbol);
  if (address == nullptr) {
    dlclose(module);
    refuse_module(fmt::format("it has no symbol {}", symbol));
  }
  return reinterpret_cast<Function*>(address);
}

}  // namespace

const rtl::BlockMakers* find_block_makers() {
  void* const module = dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    // The loader has no code for its errors: only a missing module is no mistake, a missing library of it is one.
    const char* const error = dlerror();
    const std::string why = error == nullptr ? "the loader does not say why" : error;
    if (!why.starts_with(kModule) || why.find("No such file") == std::string::npos) refuse_module(why);
    return nullptr;
  }
  const std::string version = symbol_of<rtl::ModuleVersion>(module, "npu_rtl_source_version")();
  if (version != rtl::source_version()) {
    dlclose(module);
    refuse_module(
        fmt::format("it was built from other sources (version {}) than this program (version {}); build both "
                    "again",
                    version, rtl::source_version()));
  }
  return symbol_of<rtl::ModuleBlocks>(module, "npu_rtl_blocks")();
}

}  // namespace npu::cosim
