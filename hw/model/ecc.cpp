// SPDX-License-Identifier: Apache-2.0
#include "hw/model/ecc.h"

#include <algorithm>
#include <bit>

namespace npu::model {

void Ecc::flip(uint64_t word, uint32_t bit) {
  Wrong& wrong = wrong_[word];
  if (bit < kDataBits) {
    wrong.data ^= uint64_t{1} << bit;
  } else {
    wrong.check ^= static_cast<uint8_t>(1u << (bit - kDataBits));
  }
  if (wrong.data == 0 && wrong.check == 0) wrong_.erase(word);
}

namespace {

template <class Bits>
int wrong_bits(const Bits& word) {
  return std::popcount(word.data) + std::popcount(word.check);
}

}  // namespace

std::vector<engine::WrongWord> Ecc::wrong_words(uint64_t low, uint64_t high) const {
  std::vector<engine::WrongWord> words;
  const uint64_t end = (high + kWordBytes - 1) / kWordBytes;
  for (auto word = wrong_.lower_bound(low / kWordBytes); word != wrong_.end() && word->first < end; ++word) {
    words.push_back({word->first, word->second.data, word->second.check});
  }
  return words;
}

bool Ecc::correct(Words::iterator& word) {
  if (wrong_bits(word->second) == 1) {
    ++corrected_;
    word = wrong_.erase(word);
    return true;
  }
  ++uncorrectable_;
  address_ = static_cast<uint32_t>(word->first * kWordBytes);
  ++word;
  return false;
}

void Ecc::correct_one(Words::iterator& word) {
  if (wrong_bits(word->second) != 1) {
    ++word;
  } else {
    static_cast<void>(correct(word));
  }
}

std::optional<uint64_t> Ecc::read(uint64_t low, uint64_t high) {
  const uint64_t end = (high + kWordBytes - 1) / kWordBytes;
  for (auto word = wrong_.lower_bound(low / kWordBytes); word != wrong_.end() && word->first < end;) {
    const uint64_t first = word->first * kWordBytes;
    if (correct(word)) continue;
    const uint64_t row_end = std::min(end, (first / row_bytes_ + 1) * row_bytes_ / kWordBytes);
    while (word != wrong_.end() && word->first < row_end) correct_one(word);
    return first;
  }
  return std::nullopt;
}

void Ecc::wrote(uint64_t low, uint64_t high) {
  const uint64_t first = (low + kWordBytes - 1) / kWordBytes, end = high / kWordBytes;
  if (first < end) wrong_.erase(wrong_.lower_bound(first), wrong_.lower_bound(end));
}

void Ecc::replace(uint64_t low, uint64_t high) {
  const auto word = wrong_.find(low / kWordBytes);
  if (word == wrong_.end()) return;
  for (uint64_t byte = low; byte < high; ++byte) word->second.data &= ~(uint64_t{0xff} << (byte % kWordBytes * 8));
  word->second.check = 0;
  if (word->second.data == 0) wrong_.erase(word);
}

uint32_t Ecc::scrub() {
  uint32_t failed = 0;
  for (auto word = wrong_.begin(); word != wrong_.end();) failed += correct(word) ? 0 : 1;
  return failed;
}

void Ecc::reset() {
  clear();
  corrected_ = uncorrectable_ = address_ = 0;
}

}  // namespace npu::model
