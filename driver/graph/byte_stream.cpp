// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/byte_stream.h"

#include <algorithm>
#include <boost/crc.hpp>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

constexpr size_t kFrameHeaderBytes = 24, kChecksumBytes = 4;

uint32_t checksum(std::span<const uint8_t> bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::string in_words(uint32_t version, uint32_t layout) {
  std::string text = std::to_string(version);
  if (layout != 0) text.append(".").append(std::to_string(layout));
  return text;
}

}  // namespace

void ByteReader::damaged(const std::string& what) const {
  kind_->damaged(what);
  panic(__FILE__, __LINE__, "an error of a file was not thrown");
}

std::vector<uint8_t> framed(const FileKind& kind, std::span<const uint8_t> payload) {
  NPU_CHECK(kind.magic.size() == sizeof(uint64_t));
  ByteWriter file;
  file.bytes().reserve(kFrameHeaderBytes + payload.size() + kChecksumBytes);
  file.raw({reinterpret_cast<const uint8_t*>(kind.magic.data()), kind.magic.size()});
  file.number(kind.version);
  file.number(kind.layout);
  file.number(uint64_t{payload.size()});
  file.raw(payload);
  file.number(checksum(file.bytes()));
  return std::move(file.bytes());
}

bool has_magic(const FileKind& kind, std::span<const uint8_t> file) {
  return file.size() >= kind.magic.size() && std::equal(kind.magic.begin(), kind.magic.end(), file.begin());
}

uint32_t version_of(const FileKind& kind, std::span<const uint8_t> file) {
  if (!has_magic(kind, file) || file.size() < kFrameHeaderBytes) return 0;
  return ByteReader(file.subspan(kind.magic.size()), kind).number<uint32_t>();
}

std::span<const uint8_t> payload_of(const FileKind& kind, std::span<const uint8_t> file) {
  const std::span<const uint8_t> magic = file.first(std::min(file.size(), kind.magic.size()));
  if (!std::equal(magic.begin(), magic.end(), kind.magic.begin())) kind.foreign();
  if (file.size() < kFrameHeaderBytes + kChecksumBytes) kind.damaged("is truncated");
  ByteReader header(file.subspan(kind.magic.size()), kind);
  const auto version = header.number<uint32_t>();
  const auto layout = header.number<uint32_t>();
  if (version == kind.version && layout != kind.layout && kind.layout == 0) {
    kind.damaged("is damaged: its header is impossible");
  }
  if (version != kind.version || layout != kind.layout) {
    kind.other_version("has format version " + in_words(version, layout) + ", but this program knows version " +
                       in_words(kind.version, kind.layout));
  }
  const auto bytes = header.number<uint64_t>();
  const uint64_t held = file.size() - kFrameHeaderBytes - kChecksumBytes;
  if (bytes != held) {
    kind.damaged(std::string("is ") + (bytes > held ? "truncated" : "damaged") + ": it has " + std::to_string(held) +
                 " bytes of content, but says " + std::to_string(bytes));
  }
  ByteReader sum(file.last(kChecksumBytes), kind);
  if (sum.number<uint32_t>() != checksum(file.first(file.size() - kChecksumBytes))) {
    kind.damaged("is damaged: its checksum does not fit its content");
  }
  return file.subspan(kFrameHeaderBytes, held);
}

}  // namespace npu::graph
