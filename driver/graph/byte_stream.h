// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as bytes, little endian, for the files that the driver makes; and the frame around such files.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::graph {

class ByteWriter {
 public:
  template <std::integral T>
  void number(T value) {
    const auto bits = static_cast<uint64_t>(value);
    for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<uint8_t>(bits >> 8 * i));
  }
  // u32 length, then the bytes.
  void text(std::string_view text) {
    number(static_cast<uint32_t>(text.size()));
    raw({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  void raw(std::span<const uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// What a kind of file is, and how its errors are thrown: each of the functions throws.
struct FileKind {
  std::string_view magic;  // 8 bytes
  uint32_t version = 0;    // of the format
  uint32_t layout = 0;     // of the content, where a version alone does not tell it
  void (*foreign)() = nullptr;
  void (*damaged)(const std::string& what) = nullptr;        // "is truncated"
  void (*other_version)(const std::string& what) = nullptr;  // "has format version 1, but this program knows version 2"
};

class ByteReader {
 public:
  ByteReader(std::span<const uint8_t> bytes, const FileKind& kind) : rest_(bytes), kind_(&kind) {}
  ByteReader(std::span<const uint8_t>, const FileKind&&) = delete;  // it keeps the address

  [[nodiscard]] size_t left() const { return rest_.size(); }
  [[noreturn]] void damaged(const std::string& what) const;
  std::span<const uint8_t> take(uint64_t bytes) {
    if (bytes > rest_.size()) damaged("is damaged: it says more than it holds");
    const std::span<const uint8_t> taken = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return taken;
  }
  template <std::integral T>
  T number() {
    uint64_t bits = 0;
    const std::span<const uint8_t> bytes = take(sizeof(T));
    for (size_t i = 0; i < sizeof(T); ++i) bits |= uint64_t{bytes[i]} << 8 * i;
    return static_cast<T>(bits);
  }
  std::string text() {
    const std::span<const uint8_t> bytes = take(number<uint32_t>());
    return {bytes.begin(), bytes.end()};
  }

 private:
  std::span<const uint8_t> rest_;
  const FileKind* kind_;
};

// The frame: magic, u32 version, u32 layout, u64 bytes of the payload, the payload, u32 CRC-32 (IEEE 802.3) of
// everything before.
[[nodiscard]] std::vector<uint8_t> framed(const FileKind& kind, std::span<const uint8_t> payload);
[[nodiscard]] bool has_magic(const FileKind& kind, std::span<const uint8_t> file);
// What a file of the kind says of its version; 0 where it says nothing.
[[nodiscard]] uint32_t version_of(const FileKind& kind, std::span<const uint8_t> file);
// The payload of a file whose frame is right; throws as `kind` says.
[[nodiscard]] std::span<const uint8_t> payload_of(const FileKind& kind, std::span<const uint8_t> file);

}  // namespace npu::graph
