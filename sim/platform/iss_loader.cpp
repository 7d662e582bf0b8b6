// SPDX-License-Identifier: Apache-2.0
#include "sim/platform/iss_loader.h"

#include <dlfcn.h>

#include <exception>
#include <new>

#include "hw/contract/error.h"
#include "hw/model/iss_module.h"

namespace npu::platform {

namespace {

constexpr const char* kDefaultModule = "libnpu_iss.so";

template <typename Function>
Function* find_symbol(void* module, const std::string& file, const char* symbol) {
  void* const address = dlsym(module, symbol);
  if (address == nullptr) {
    throw Error(contract::ErrorCode::kCannotRead,
                "'" + file + "' is no instruction-set simulator: it has no symbol " + symbol);
  }
  return reinterpret_cast<Function*>(address);
}

}  // namespace

model::IssFactory load_iss(const std::string& path) {
  const std::string file = path.empty() ? kDefaultModule : path;
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* const why = dlerror();
    throw Error(contract::ErrorCode::kCannotRead, "cannot open the instruction-set simulator of the control CPU: " +
                                                      std::string(why == nullptr ? file.c_str() : why));
  }
  const uint32_t version = find_symbol<model::IssModuleVersion>(module, file, "npu_iss_version")();
  if (version != model::kIssModuleVersion) {
    throw Error(contract::ErrorCode::kCannotRead, "'" + file + "' is an instruction-set simulator of version " +
                                                      std::to_string(version) + "; this program needs version " +
                                                      std::to_string(model::kIssModuleVersion));
  }
  auto* const create = find_symbol<model::IssModuleCreate>(module, file, "npu_iss_create");
  return [create, file](const model::IssConfig& config) {
    try {
      return std::unique_ptr<model::Iss>(create(config));
    } catch (const std::bad_alloc&) {
      throw Error(contract::ErrorCode::kBudgetExceeded,
                  "this computer has not enough memory for the instruction-set simulator of the control CPU, which "
                  "takes more than 1 GiB of address space; npu run --bypass-firmware goes without it");
    } catch (const std::exception& exception) {
      throw Error(contract::ErrorCode::kCannotRead, "'" + file + "' made no simulator: " + exception.what());
    }
  };
}

}  // namespace npu::platform
