// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "driver/graph/byte_stream.h"
#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "driver/runtime/variable_sizes.h"
#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;
using graph::ByteReader;
using graph::ByteWriter;

// The least that a variable takes in a file of version 2: four texts, invocations, rank, is_written, place.
constexpr size_t kLeastVariableBytes = 4 * 4 + 8 + 4 + 1 + 1;

[[noreturn]] void throw_bad(const std::string& what) {
  throw Error(ErrorCode::kBadSnapshot, fmt::format("the snapshot {}; save it again.", what));
}

void throw_foreign() {
  throw Error(ErrorCode::kBadSnapshot, "this is no snapshot of variables; give one that was saved as such.");
}

constexpr graph::FileKind kind_of(uint32_t version) {
  return {.magic = "TNPUSTAT",
          .version = version,
          .layout = 0,
          .foreign = throw_foreign,
          .damaged = throw_bad,
          .other_version = throw_bad};
}
constexpr graph::FileKind kFixedFile = kind_of(kSnapshotVersion), kSizedFile = kind_of(kSizedSnapshotVersion);

bool is_sized(const SnapshotVariable& variable) { return !variable.largest.empty(); }

// Whether largest sizes are such of a variable: it is no larger, and open dimensions have some.
bool fits_largest(const SnapshotVariable& variable) {
  if (!is_sized(variable)) return !has_open(variable.shape);
  if (variable.largest.size() != variable.shape.size() || (variable.is_written && has_open(variable.shape))) {
    return false;
  }
  return std::equal(variable.shape.begin(), variable.shape.end(), variable.largest.begin(), std::less_equal<>());
}

// Bytes of a variable's elements. Throws Error(kBadSnapshot) for a type or shape that no variable has.
uint64_t content_bytes(const SnapshotVariable& variable) {
  // Not printed: a damaged file may say any number of dimensions.
  if (variable.shape.size() > graph::kMostRank) {
    throw_bad(fmt::format("says that variable {} has {} dimensions, which cannot be",
                          graph::in_quotes(variable.identity), variable.shape.size()));
  }
  const auto count = [](const graph::Shape& shape) { return graph::element_count(shape).value_or(0); };
  const bool fits = fits_largest(variable);
  const graph::Shape shape = fits && is_sized(variable) ? filled({variable.shape, variable.largest}) : variable.shape;
  if (variable.type == graph::DType::kUnknown || !fits || count(shape) == 0 ||
      (is_sized(variable) && count(variable.largest) == 0)) {
    throw_bad(fmt::format("says that variable {} is {}, which cannot be", graph::in_quotes(variable.identity),
                          graph::describe_type(variable.type, variable.shape)));
  }
  return static_cast<uint64_t>(count(shape) * graph::machine_width(variable.type));
}

void write(ByteWriter& to, const SnapshotVariable& variable, bool with_largest) {
  to.text(variable.identity);
  to.text(variable.tensor_name);
  to.text(graph::name(variable.type));
  to.text(variable.last_writer);
  to.number(variable.invocations);
  to.number(static_cast<uint32_t>(variable.shape.size()));
  for (const int64_t dimension : variable.shape) to.number(dimension);
  if (with_largest) to.number(static_cast<uint8_t>(is_sized(variable)));
  for (const int64_t dimension : variable.largest) to.number(dimension);
  to.number(static_cast<uint8_t>(variable.is_written));
  to.number(static_cast<uint8_t>(variable.place));
  to.raw(variable.bytes);
}

bool read_bool(ByteReader& from, const char* otherwise) {
  const auto number = from.number<uint8_t>();
  if (number > 1) throw_bad(otherwise);
  return number != 0;
}

SnapshotVariable read_variable(ByteReader& from, bool with_largest) {
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
  if (with_largest && read_bool(from, "is damaged: a variable has sizes neither open nor fixed")) {
    for (uint32_t i = 0; i < rank; ++i) variable.largest.push_back(from.number<int64_t>());
  }
  variable.is_written = read_bool(from, "is damaged: a variable is neither written nor unwritten");
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
  ByteWriter payload;
  payload.text(snapshot.label);
  payload.number(snapshot.owner);
  payload.number(static_cast<uint32_t>(snapshot.variables.size()));
  const bool sized = std::any_of(snapshot.variables.begin(), snapshot.variables.end(), is_sized);
  for (const SnapshotVariable& variable : snapshot.variables) write(payload, variable, sized);
  return graph::framed(sized ? kSizedFile : kFixedFile, payload.bytes());
}

Snapshot parse_snapshot(std::span<const uint8_t> file) {
  const bool fixed = graph::version_of(kFixedFile, file) == kSnapshotVersion;
  const graph::FileKind& kind = fixed ? kFixedFile : kSizedFile;
  ByteReader payload(graph::payload_of(kind, file), kind);
  Snapshot snapshot;
  snapshot.label = payload.text();
  snapshot.owner = payload.number<uint32_t>();
  const auto count = payload.number<uint32_t>();
  if (count > payload.left() / kLeastVariableBytes) throw_bad("is damaged: it says more than it holds");
  snapshot.variables.reserve(count);
  for (uint32_t i = 0; i < count; ++i) snapshot.variables.push_back(read_variable(payload, !fixed));
  if (payload.left() > 0) throw_bad("is damaged: something follows its last variable");
  check_snapshot(snapshot);
  return snapshot;
}

}  // namespace npu::runtime
