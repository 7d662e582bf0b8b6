// SPDX-License-Identifier: Apache-2.0
// Snapshot files and differences between snapshots.
#include "driver/runtime/snapshot.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "driver/runtime/variable_sizes.h"
#include "tests/unit/runtime/fixture.h"

namespace npu::runtime {
namespace {

using contract::ErrorCode;

SnapshotVariable variable(const std::string& identity, std::vector<uint8_t> bytes,
                          graph::DType type = graph::DType::kInt8) {
  const auto elements = static_cast<int64_t>(bytes.size()) / graph::machine_width(type);
  return {identity, "Variable_1", type, {elements}, true, std::move(bytes), "conv2d_3", 20, StatePlace::kDram};
}

Snapshot example() {
  Snapshot snapshot{
      "net.tosa", {variable("a", {1, 2, 3, 4}), {}, variable("stream/c", {9, 0}, graph::DType::kInt16)}, 3};
  snapshot.variables[1] = {"b", "", graph::DType::kFp32, {1, 3}, false, {}, "", 0, StatePlace::kPersistentSram};
  return snapshot;
}

Snapshot of(std::vector<SnapshotVariable> variables) { return {"", std::move(variables), 5}; }

std::pair<ErrorCode, std::string> refusal(std::span<const uint8_t> file) {
  return error_of([&] { static_cast<void>(parse_snapshot(file)); });
}

TEST(SnapshotFile, ReadsWhatWasWritten) {
  EXPECT_EQ(parse_snapshot(serialise(example())), example());
  EXPECT_EQ(parse_snapshot(serialise({})), Snapshot{});
}

Snapshot sized() {
  Snapshot snapshot = of({variable("bound", {7, 8}), variable("open", {})});
  snapshot.variables[0].largest = {5};
  snapshot.variables[1].shape = {kOpenSize, 3};
  snapshot.variables[1].largest = {4, 3};
  snapshot.variables[1].is_written = false;
  return snapshot;
}

TEST(SnapshotFile, HasVariablesOfOpenSize) {
  const std::vector<uint8_t> file = serialise(sized());
  EXPECT_EQ(parse_snapshot(file), sized());
  EXPECT_EQ(serialise(example())[8], kSnapshotVersion) << "others are files as before";
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_EQ(refusal(std::span(file).first(bytes)).first, ErrorCode::kBadSnapshot) << bytes << " bytes";
  }
}

TEST(SnapshotFile, OpenSizesHaveRoom) {
  const auto refused = [](auto change) {
    Snapshot wrong = sized();
    change(wrong.variables);
    return error_of([&] { static_cast<void>(parse_snapshot(serialise(wrong))); }).first;
  };
  using Variables = std::vector<SnapshotVariable>;
  EXPECT_EQ(refused([](Variables& all) { all[0].largest = {1}; }), ErrorCode::kBadSnapshot);
  EXPECT_EQ(refused([](Variables& all) { all[0].largest = {5, 1}; }), ErrorCode::kBadSnapshot);
  EXPECT_EQ(refused([](Variables& all) { all[1].largest = {}; }), ErrorCode::kBadSnapshot);
  EXPECT_EQ(refused([](Variables& all) { all[1].largest = {INT64_MAX, INT64_MAX}; }), ErrorCode::kBadSnapshot);
  EXPECT_EQ(refused([](Variables& all) { all[1].is_written = true; }), ErrorCode::kBadSnapshot);
}

// What level "none" runs can be saved, so that it can be read again.
TEST(SnapshotFile, HasAnyRankThatAGraphMayHave) {
  Snapshot deep = of({variable("v", {7})});
  deep.variables[0].shape.assign(32, 1);
  EXPECT_EQ(parse_snapshot(serialise(deep)), deep);
  deep.variables[0].shape.assign(33, 1);
  EXPECT_CONTAINS(error_of([&] { static_cast<void>(serialise(deep)); }).second, "33 dimensions");
}

TEST(SnapshotFile, LaysOutAsDocumented) {
  const std::vector<uint8_t> file = serialise(of({variable("v", {7})}));
  const std::string text(file.begin(), file.end());
  const std::string want(
      "TNPUSTAT\2\0\0\0\0\0\0\0\x56\0\0\0\0\0\0\0"  // header
      "\0\0\0\0\5\0\0\0\1\0\0\0"                    // label, owner, count
      "\1\0\0\0v\x0a\0\0\0Variable_1\4\0\0\0INT8"   // identity, tensor, type
      "\x08\0\0\0conv2d_3\x14\0\0\0\0\0\0\0"        // writer, invocations
      "\1\0\0\0\1\0\0\0\0\0\0\0\1\2\7",             // rank, dimension, is_written, place, content
      24 + 12 + 5 + 14 + 8 + 12 + 8 + 15);
  ASSERT_EQ(file.size(), want.size() + 4);
  EXPECT_EQ(text.substr(0, 16), want.substr(0, 16));
  EXPECT_EQ(text.substr(24, want.size() - 24), want.substr(24));
  EXPECT_EQ(file[16], want.size() - 24);
}

TEST(SnapshotFile, EveryTruncationIsRefused) {
  const std::vector<uint8_t> file = serialise(example());
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    EXPECT_EQ(refusal(std::span(file).first(bytes)).first, ErrorCode::kBadSnapshot) << bytes << " bytes";
  }
  RecordProperty("compared", static_cast<int>(file.size()));
}

TEST(SnapshotFile, EveryWrongBitIsRefused) {
  std::vector<uint8_t> file = serialise(example());
  for (size_t bit = 0; bit < file.size() * 8; ++bit) {
    file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_EQ(refusal(file).first, ErrorCode::kBadSnapshot) << "bit " << bit;
    file[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_EQ(parse_snapshot(file), example());
  RecordProperty("compared", static_cast<int>(file.size() * 8));
}

TEST(SnapshotFile, SaysWhatIsWrong) {
  std::vector<uint8_t> file = serialise(example());
  const std::vector<uint8_t> foreign(100, 'x');
  EXPECT_CONTAINS(refusal(foreign).second, "no snapshot of variables");
  EXPECT_CONTAINS(refusal(std::span(file).first(40)).second, "truncated");
  file.push_back(0);
  EXPECT_CONTAINS(refusal(file).second, "damaged");
  file.pop_back();
  file[8] = 4;
  EXPECT_CONTAINS(refusal(file).second, "format version 4, but this program knows version 3");
  file[8] = 2;
  file.back() ^= 1;
  EXPECT_CONTAINS(refusal(file).second, "checksum");
}

// Contents that a checksum does not protect from: an attacker who can write files can write checksums.
TEST(SnapshotFile, ImpossibleContentsAreRefusedWithoutTakingTheMemoryThatTheyClaim) {
  const auto sealed = [](std::vector<uint8_t> payload) {
    // The checksum is that of a file with as long a payload of the same bytes, taken from the writer: found by trial.
    std::vector<uint8_t> file = {'T', 'N', 'P', 'U', 'S', 'T', 'A', 'T', 2, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 8; ++i) file.push_back(static_cast<uint8_t>(uint64_t{payload.size()} >> 8 * i));
    file.insert(file.end(), payload.begin(), payload.end());
    uint32_t crc = 0xffffffff;
    for (const uint8_t byte : file) {
      crc ^= byte;
      for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
    for (int i = 0; i < 4; ++i) file.push_back(static_cast<uint8_t>(~crc >> 8 * i));
    return file;
  };
  const std::vector<uint8_t> good = serialise(example());
  const std::vector<uint8_t> payload(good.begin() + 24, good.end() - 4);
  ASSERT_EQ(sealed(payload), good);

  // A million dimensions, and an unknown place.
  std::vector<uint8_t> deep(payload.begin(), payload.begin() + 20 + 5 + 14 + 8 + 12 + 8);
  ASSERT_EQ(payload[deep.size()], 1);  // the rank
  deep.insert(deep.end(), {0x40, 0x42, 0x0f, 0});
  deep.resize(deep.size() + 8'000'000, 1);
  const auto [deep_code, deep_text] = refusal(sealed(deep));
  EXPECT_EQ(deep_code, ErrorCode::kBadSnapshot);
  EXPECT_CONTAINS(deep_text, "1000000 dimensions");
  EXPECT_LT(deep_text.size(), 200u);
  std::vector<uint8_t> elsewhere = payload;
  const size_t place = 20 + 5 + 14 + 8 + 12 + 8 + 4 + 8 + 1;
  ASSERT_EQ(elsewhere[place], static_cast<uint8_t>(StatePlace::kDram));
  elsewhere[place] = 3;
  EXPECT_CONTAINS(refusal(sealed(elsewhere)).second, "an unknown place");

  // Every number of the payload as large as it gets, and random damage behind a right checksum.
  int refused = 0, tried = 0;
  for (size_t at = 0; at + 4 <= payload.size(); ++at) {
    std::vector<uint8_t> bad = payload;
    std::fill_n(bad.begin() + static_cast<ptrdiff_t>(at), 4, uint8_t{0xff});
    refused += static_cast<int>(refusal(sealed(bad)).first == ErrorCode::kBadSnapshot);
    ++tried;
  }
  EXPECT_GT(refused, tried / 2);
  const uint64_t seed = 20260101;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<uint8_t> bad = payload;
    for (uint64_t n = 1 + random() % 4; n > 0; --n) bad[random() % bad.size()] = static_cast<uint8_t>(random());
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    const ErrorCode code = refusal(sealed(bad)).first;
    ASSERT_TRUE(code == ErrorCode::kBadSnapshot || code == ErrorCode::kOk) << "seed " << seed << ", trial " << i;
  }
}

TEST(SnapshotFile, ImpossibleSnapshotsAreNotWritten) {
  const auto code = [](const Snapshot& snapshot) {
    return error_of([&] { static_cast<void>(serialise(snapshot)); }).first;
  };
  EXPECT_EQ(code(of({variable("b", {1}), variable("a", {1})})), ErrorCode::kBadSnapshot);
  Snapshot deep = of({variable("a", {1})});
  deep.variables[0].shape = graph::Shape(6, 1);
  EXPECT_EQ(code(deep), ErrorCode::kOk);
  deep.variables[0].shape = graph::Shape(33, 1);
  EXPECT_EQ(code(deep), ErrorCode::kBadSnapshot);
  EXPECT_EQ(code(of({variable("a", {1}), variable("a", {1})})), ErrorCode::kBadSnapshot);
  Snapshot wrong = of({variable("a", {1, 2})});
  wrong.variables[0].bytes.pop_back();
  EXPECT_EQ(code(wrong), ErrorCode::kBadSnapshot);
  wrong.variables[0].shape = {-1};
  EXPECT_EQ(code(wrong), ErrorCode::kBadSnapshot);
  wrong.variables[0].is_written = false;
  EXPECT_EQ(code(wrong), ErrorCode::kBadSnapshot);
}

TEST(SnapshotFile, ElementsThatTheirTypeHasNoRoomForAreRefused) {
  const auto check = [](graph::DType type, int64_t element) {
    std::vector<uint8_t> bytes(static_cast<size_t>(graph::machine_width(type)) * 3);
    std::memcpy(bytes.data() + bytes.size() / 3, &element, bytes.size() / 3);
    return error_of([&] { check_snapshot(of({variable("a", bytes, type)})); });
  };
  using graph::DType;
  constexpr int64_t kHalf = int64_t{1} << 47;
  const std::vector<std::tuple<DType, int64_t, int64_t>> ranges = {
      {DType::kBool, 0, 1}, {DType::kInt4, -8, 7}, {DType::kInt48, -kHalf, kHalf - 1}};
  for (const auto& [type, low, high] : ranges) {
    EXPECT_EQ(check(type, low).first, ErrorCode::kOk) << graph::name(type);
    EXPECT_EQ(check(type, high).first, ErrorCode::kOk) << graph::name(type);
    EXPECT_EQ(check(type, low - 1).first, ErrorCode::kBadSnapshot) << graph::name(type);
    EXPECT_EQ(check(type, high + 1).first, ErrorCode::kBadSnapshot) << graph::name(type);
  }
  EXPECT_CONTAINS(check(DType::kBool, 2).second, "element 1 of variable 'a' is 2, but BOOL holds 0 and 1");
  for (const DType type : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kFp32, DType::kFp16, DType::kBf16}) {
    EXPECT_EQ(check(type, -0x7f3a'1234'5678).first, ErrorCode::kOk) << graph::name(type);
  }
}

TEST(SnapshotDiff, EqualSnapshotsDoNotDiffer) {
  Snapshot other = example();
  other.label = "other.tosa";
  other.owner = 1;
  other.variables[0].place = StatePlace::kHost;
  other.variables[0].invocations = 7;
  other.variables[0].last_writer = "host";
  EXPECT_TRUE(diff(example(), other).empty());
}

TEST(SnapshotDiff, CountsElementsAndSaysWhereTheFirstIs) {
  Snapshot a = of({variable("v", {1, 2, 3, 4, 5, 6}), variable("w", {0})});
  a.variables[0].shape = {2, 3};
  Snapshot b = a;
  b.variables[0].bytes[4] = 0xfb;  // -5
  b.variables[0].bytes[5] = 7;
  const std::vector<SnapshotDifference> found = diff(a, b);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].identity, "v");
  EXPECT_EQ(found[0].compared, 6);
  EXPECT_EQ(found[0].differing, 2);
  EXPECT_EQ(found[0].first, 4);
  EXPECT_EQ(found[0].max_abs, 10);
  EXPECT_EQ(found[0].what, "2 of 6 elements differ, by up to 10; the first is [1, 1]: 5 against -5");
}

TEST(SnapshotDiff, KnowsTheTypes) {
  const auto distance = [](graph::DType type, std::vector<uint8_t> x, std::vector<uint8_t> y) {
    return diff(of({variable("v", std::move(x), type)}), of({variable("v", std::move(y), type)})).at(0).max_abs;
  };
  EXPECT_EQ(distance(graph::DType::kBool, {0}, {1}), 1);
  EXPECT_EQ(distance(graph::DType::kInt16, {0, 0x80}, {0xff, 0x7f}), 65535);
  EXPECT_EQ(distance(graph::DType::kInt32, {0, 0, 0, 0x80}, {0xff, 0xff, 0xff, 0x7f}), 4294967295.0);
  EXPECT_EQ(distance(graph::DType::kFp32, {0, 0, 0x80, 0x3f}, {0, 0, 0x40, 0xc0}), 4);  // 1 and -3
  EXPECT_EQ(distance(graph::DType::kFp16, {0, 0x3c}, {0, 0x40}), 1);                    // 1 and 2
  EXPECT_EQ(distance(graph::DType::kBf16, {0x80, 0x3f}, {0, 0}), 1);
  EXPECT_EQ(distance(graph::DType::kFp16, {0, 0}, {0, 0x80}), 0);  // the two zeros differ in bits only
  EXPECT_TRUE(std::isinf(distance(graph::DType::kFp16, {0, 0x7e}, {0, 0})));
}

TEST(SnapshotDiff, NamesWhatCannotBeCompared) {
  SnapshotVariable unwritten = variable("d", {1});
  unwritten.is_written = false;
  unwritten.bytes.clear();
  const Snapshot a = of({variable("a", {1}), variable("b", {1}), unwritten});
  const Snapshot b = of({variable("b", {1, 2}), variable("c", {1}), variable("d", {1})});
  const std::vector<SnapshotDifference> found = diff(a, b);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].what, "only in the first snapshot");
  EXPECT_EQ(found[1].what, "INT8[1] in the first snapshot, INT8[2] in the second");
  EXPECT_EQ(found[2].what, "only in the second snapshot");
  EXPECT_EQ(found[3].what, "written in the second snapshot only");
}

}  // namespace
}  // namespace npu::runtime
