// SPDX-License-Identifier: Apache-2.0
#include "sim/report/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace npu::report {
namespace {

std::string sha256(const std::string& text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.hex();
}

// Test vectors of FIPS 180-4's example pages.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeNoDifference) {
  Sha256 hash;
  for (int i = 0; i < 1000; ++i) hash.add(std::string(1000, 'a').data(), 1000);
  EXPECT_EQ(hash.hex(), sha256(std::string(1000000, 'a')));
}

}  // namespace
}  // namespace npu::report
