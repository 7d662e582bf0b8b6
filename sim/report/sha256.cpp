// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sha256.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <new>
#include <stdexcept>

namespace npu::report {

namespace {

// libcrypto looks for the algorithm when it is first asked, and that may find no memory; then it may not even have the
// memory to say so.
void check(int done) {
  if (done == 1) return;
  const auto error = ERR_peek_error();
  if (error == 0 || ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) throw std::bad_alloc();
  throw std::runtime_error("libcrypto does not compute SHA-256; its configuration leaves it out");
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  check(context_ != nullptr ? EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) : 0);
}

void Sha256::add(const void* data, size_t bytes) { check(EVP_DigestUpdate(context_.get(), data, bytes)); }

std::string Sha256::hex() {
  std::array<uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  check(EVP_DigestFinal_ex(context_.get(), digest.data(), &length));
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace npu::report
