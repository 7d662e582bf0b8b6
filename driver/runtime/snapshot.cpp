// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <concepts>
#include <string_view>

#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

constexpr std::string_view kSnapshotMagic = "TNPUSTAT";
constexpr size_t kHeaderBytes = 24, kChecksumBytes = 4;
// The least that a variable takes in a file: four texts, invocations, rank, is_written, place.
constexpr size_t kLeastVariableBytes = 4 * 4 + 8 + 4 + 1 + 1;

[[noreturn]] void throw_bad(const std::string& what) {
  throw Error(ErrorCode::kBadSnapshot, fmt::format("the snapshot {}; save it again.", what));
}

uint32_t checksum(std::span<const uint8_t> bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

class Writer {
 public:
  template <std::integral T>
  void number(T value) {
    const auto bits = static_cast<uint64_t>(value);
    for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<uint8_t>(bits >> 8 * i));
  }
  void text(std::string_view text) {
    number(static_cast<uint32_t>(text.size()));
    raw({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  void raw(std::span<const uint8_t> bytes) {
    for (const uint8_t byte : bytes) bytes_.push_back(byte);
  }
  [[nodiscard]] std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : rest_(bytes) {}

  [[nodiscard]] size_t left() const { return rest_.size(); }
  std::span<const uint8_t> take(uint64_t bytes) {
    if (bytes > rest_.size()) throw_bad("is damaged: it says more than it holds");
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
};

// Bytes of a variable's elements. Throws Error(kBadSnapshot) for a type or shape that no variable has.
uint64_t content_bytes(const SnapshotVariable& variable) {
  // Not printed: a damaged file may say any number of dimensions.
  if (variable.shape.size() > graph::kMostRank) {
    throw_bad(fmt::format("says that variable {} has {} dimensions, which cannot be",
                          graph::in_quotes(variable.identity), variable.shape.size()));
  }
  const std::optional<int64_t> elements = graph::element_count(variable.shape);
  if (variable.type == graph::DType::kUnknown || !elements || *elements == 0) {
    throw_bad(fmt::format("says that variable {} is {}, which cannot be", graph::in_quotes(variable.identity),
                          graph::describe_type(variable.type, variable.shape)));
  }
  return static_cast<uint64_t>(*elements * graph::machine_width(variable.type));
}

void write(Writer& to, const SnapshotVariable& variable) {
  to.text(variable.identity);
  to.text(variable.tensor_name);
  to.text(graph::name(variable.type));
  to.text(variable.last_writer);
  to.number(variable.invocations);
  to.number(static_cast<uint32_t>(variable.shape.size()));
  for (const int64_t dimension : variable.shape) to.number(dimension);
  to.number(static_cast<uint8_t>(variable.is_written));
  to.number(static_cast<uint8_t>(variable.place));
  to.raw(variable.bytes);
}

SnapshotVariable read_variable(Reader& from) {
  SnapshotVariable variable;
  variable.identity = from.text();
  variable.tensor_name = from.text();
  const std::string type = from.text();
  variable.type = graph::dtype_from_name(type).value_or(graph::DType::kUnknown);
  variable.last_writer = from.text();
  variable.invocations = from.number<uint64_t>();
  const auto rank = from.number<uint32_t>();
  if (rank > graph::kMostRank) throw_bad(fmt::format("is damaged: it has a variable of {} dimensions", rank));
  for (uint32_t i = 0; i < rank; ++i) variable.shape.push_back(from.number<int64_t>());
  const auto is_written = from.number<uint8_t>();
  if (is_written > 1) throw_bad("is damaged: a variable is neither written nor unwritten");
  variable.is_written = is_written != 0;
  const auto place = from.number<uint8_t>();
  if (place > static_cast<uint8_t>(StatePlace::kDram)) throw_bad("is damaged: a variable lies in an unknown place");
  variable.place = static_cast<StatePlace>(place);
  const uint64_t bytes = content_bytes(variable);
  if (variable.is_written) {
    const std::span<const uint8_t> content = from.take(bytes);
    variable.bytes.assign(content.begin(), content.end());
  }
  return variable;
}

// The payload of a file whose header and checksum are right.
std::span<const uint8_t> payload_of(std::span<const uint8_t> file) {
  const std::span<const uint8_t> magic = file.first(std::min(file.size(), kSnapshotMagic.size()));
  if (!std::equal(magic.begin(), magic.end(), kSnapshotMagic.begin())) {
    throw Error(ErrorCode::kBadSnapshot, "this is no snapshot of variables; give one that was saved as such.");
  }
  if (file.size() < kHeaderBytes + kChecksumBytes) throw_bad("is truncated");
  Reader header(file.subspan(kSnapshotMagic.size()));
  const auto version = header.number<uint32_t>();
  if (version != kSnapshotVersion) {
    throw_bad(fmt::format("has format version {}, but this program knows version {}", version, kSnapshotVersion));
  }
  if (header.number<uint32_t>() != 0) throw_bad("is damaged: its header is impossible");
  const auto bytes = header.number<uint64_t>();
  const uint64_t held = file.size() - kHeaderBytes - kChecksumBytes;
  if (bytes != held) {
    throw_bad(fmt::format("is {}: it has {} bytes of content, but says {}", bytes > held ? "truncated" : "damaged",
                          held, bytes));
  }
  Reader sum(file.last(kChecksumBytes));
  if (sum.number<uint32_t>() != checksum(file.first(file.size() - kChecksumBytes))) {
    throw_bad("is damaged: its checksum does not fit its content");
  }
  return file.subspan(kHeaderBytes, held);
}

}  // namespace

void check_snapshot(const Snapshot& snapshot) {
  const SnapshotVariable* before = nullptr;
  for (const SnapshotVariable& variable : snapshot.variables) {
    const std::string name = graph::in_quotes(variable.identity);
    if (before != nullptr && before->identity >= variable.identity) {
      throw_bad(fmt::format("has variable {} twice or out of order", name));
    }
    before = &variable;
    const uint64_t wanted = variable.is_written ? content_bytes(variable) : 0;
    if (variable.bytes.size() != wanted) {
      throw_bad(fmt::format("has {} bytes of variable {} instead of {}", variable.bytes.size(), name, wanted));
    }
    if (const auto wrong = graph::find_out_of_range(variable.type, variable.bytes)) {
      throw_bad(fmt::format("says that element {} of variable {} is {}, but {} holds {}", wrong->index, name,
                            wrong->element, graph::name(variable.type), wrong->range));
    }
  }
}

std::vector<uint8_t> serialise(const Snapshot& snapshot) {
  check_snapshot(snapshot);
  Writer payload;
  payload.text(snapshot.label);
  payload.number(snapshot.owner);
  payload.number(static_cast<uint32_t>(snapshot.variables.size()));
  for (const SnapshotVariable& variable : snapshot.variables) write(payload, variable);
  Writer file;
  file.raw({reinterpret_cast<const uint8_t*>(kSnapshotMagic.data()), kSnapshotMagic.size()});
  file.number(kSnapshotVersion);
  file.number(uint32_t{0});
  file.number(uint64_t{payload.bytes().size()});
  file.raw(payload.bytes());
  file.number(checksum(file.bytes()));
  return std::move(file.bytes());
}

Snapshot parse_snapshot(std::span<const uint8_t> file) {
  Reader payload(payload_of(file));
  Snapshot snapshot;
  snapshot.label = payload.text();
  snapshot.owner = payload.number<uint32_t>();
  const auto count = payload.number<uint32_t>();
  if (count > payload.left() / kLeastVariableBytes) throw_bad("is damaged: it says more than it holds");
  snapshot.variables.reserve(count);
  for (uint32_t i = 0; i < count; ++i) snapshot.variables.push_back(read_variable(payload));
  if (payload.left() > 0) throw_bad("is damaged: something follows its last variable");
  check_snapshot(snapshot);
  return snapshot;
}

}  // namespace npu::runtime
