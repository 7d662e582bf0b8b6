// SPDX-License-Identifier: Apache-2.0
#include "hw/engine/kernels.h"

#include <vector>

#include "hw/engine/kernel_sets.h"

namespace npu::engine {

namespace {

std::vector<const Kernels*> find_kernels() {
  std::vector<const Kernels*> found;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vnni");
  if (avx2 && avx512) found.push_back(avx512_kernels());
  if (avx2) found.push_back(avx2_kernels());
#endif
  found.push_back(plain_kernels());
  std::erase(found, nullptr);
  return found;
}

}  // namespace

std::span<const Kernels* const> supported_kernels() {
  static const std::vector<const Kernels*> kFound = find_kernels();
  return kFound;
}

}  // namespace npu::engine
