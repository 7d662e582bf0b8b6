// SPDX-License-Identifier: Apache-2.0
// SHA-256, so that reports name files by the hash that `sha256sum` prints.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

// OpenSSL's names.
struct evp_md_ctx_st;

namespace npu::report {

class Sha256 {
 public:
  // std::runtime_error: libcrypto is set up not to have it.
  Sha256();
  void add(const void* data, size_t bytes);
  // 64 hexadecimal digits; nothing can be added afterwards.
  [[nodiscard]] std::string hex();

 private:
  std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

}  // namespace npu::report
