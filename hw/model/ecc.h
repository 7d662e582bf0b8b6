// SPDX-License-Identifier: Apache-2.0
// Error correction of a memory: words of 8 bytes with 8 check bits each, of which one wrong bit is put right and two
// are found. The memory keeps its bytes as they were meant; here stands which stored bits are wrong, so a memory
// without any costs nothing. It is read by rows: all words of a row are looked at together.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "hw/engine/persistent_back_end.h"

namespace npu::model {

class Ecc {
 public:
  static constexpr uint32_t kWordBytes = 8, kDataBits = 64, kWordBits = 72;

  // `row_bytes` is the width of the memory's port.
  explicit Ecc(uint32_t row_bytes = kWordBytes) : row_bytes_(row_bytes) {}

  // Turns a stored bit of the word with that number around: 0 to 63 its data, then its check bits.
  void flip(uint64_t word, uint32_t bit);
  [[nodiscard]] bool clean() const { return wrong_.empty(); }
  // The words of bytes [low, high) that have wrong bits.
  [[nodiscard]] std::vector<engine::WrongWord> wrong_words(uint64_t low, uint64_t high) const;
  [[nodiscard]] bool right(uint64_t low, uint64_t high) const { return clean() || wrong_words(low, high).empty(); }

  // Bytes [low, high) are read: each of their words that has one wrong bit is put right. The first byte of a word that
  // has more, with whose row it stops.
  std::optional<uint64_t> read(uint64_t low, uint64_t high);
  // They were written: words that were replaced as a whole are right now.
  void wrote(uint64_t low, uint64_t high);
  // Bytes [low, high) of one word get new values, whatever the word holds: what was wrong among them and in the check
  // bits is gone.
  void replace(uint64_t low, uint64_t high);
  // Reads all words. How many have two wrong bits.
  uint32_t scrub();
  // All words are written.
  void clear() { wrong_.clear(); }
  // And the counts are 0.
  void reset();

  [[nodiscard]] uint32_t corrected() const { return corrected_; }          // bits
  [[nodiscard]] uint32_t uncorrectable() const { return uncorrectable_; }  // times
  // First byte of the last word with two wrong bits.
  [[nodiscard]] uint32_t address() const { return address_; }

 private:
  struct Wrong {
    uint64_t data = 0;
    uint8_t check = 0;
  };
  using Words = std::map<uint64_t, Wrong>;

  // Puts a word right, or counts that it cannot; the word behind it, and whether it is right.
  [[nodiscard]] bool correct(Words::iterator& word);
  // Puts it right if it has one wrong bit, and else leaves it alone; the word behind it.
  void correct_one(Words::iterator& word);

  uint32_t row_bytes_;
  Words wrong_;
  uint32_t corrected_ = 0, uncorrectable_ = 0, address_ = 0;
};

}  // namespace npu::model
