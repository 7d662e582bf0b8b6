// SPDX-License-Identifier: Apache-2.0
// Files made to hurt: each is refused or read, in bounded time and memory, and never crashes.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <ctime>
#include <functional>
#include <random>

#include "driver/graph/analyse.h"
#include "driver/graph/npy.h"
#include "driver/graph/reader.h"
#include "driver/graph/tosa_generated.h"
#include "driver/graph/validate.h"
#include "driver/graph/writer.h"
#include "hw/contract/error.h"
#include "tests/unit/graph/samples.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

// What reading, validating, analysing and writing again ends with.
ErrorCode outcome(std::vector<uint8_t> bytes) {
  try {
    const Graph graph = parse_tosa(std::make_shared<const std::vector<uint8_t>>(std::move(bytes)), "a file");
    validate(graph);
    static_cast<void>(analyse(graph));
    static_cast<void>(macs(graph));
    static_cast<void>(serialize(graph));
    return ErrorCode::kOk;
  } catch (const Error& error) {
    return error.code();
  }
}

// Processor time, so that a busy machine changes nothing.
double seconds(const std::function<void()>& action) {
  const std::clock_t start = std::clock();
  action();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Resident memory at its highest, in MiB.
int64_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(Hostile, TruncatedAnywhere) {
  for (const Graph& graph : {samples::network(), samples::nested_control_flow()}) {
    const auto whole = serialize(graph);
    ASSERT_EQ(outcome(whole), ErrorCode::kOk);
    for (size_t length = 0; length < whole.size(); length += length < 64 ? 1 : 16) {
      const ErrorCode code = outcome({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
      // The writer puts the root first, so something is always missing.
      EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kFileDamaged)) << length;
    }
  }
}

// Every offset and every length, among other things, takes its worst values.
TEST(Hostile, ExtremeWordsAnywhere) {
  const auto whole = serialize(samples::of(Op::kRescale));
  for (size_t at = 0; at + 4 <= whole.size(); at += 4) {
    for (const uint32_t word : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xfffffffcu, 0xffffffffu}) {
      SCOPED_TRACE("word " + std::to_string(word) + " at " + std::to_string(at));
      auto bytes = whole;
      std::memcpy(bytes.data() + at, &word, sizeof(word));
      ASSERT_NE(outcome(std::move(bytes)), ErrorCode::kBug);
    }
  }
}

TEST(Hostile, RandomBitFlips) {
  constexpr uint32_t kSeed = 20261121;
  constexpr int kFiles = 20000;
  std::mt19937 random(kSeed);
  RecordProperty("seed", static_cast<int>(kSeed));
  const std::vector<uint8_t> wholes[] = {serialize(samples::network()), serialize(samples::nested_control_flow())};
  int read = 0;
  for (int i = 0; i < kFiles; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", file " + std::to_string(i));
    auto bytes = wholes[i % 2];
    const auto flips = 1 + random() % 4;
    for (uint32_t k = 0; k < flips; ++k) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    const ErrorCode code = outcome(std::move(bytes));
    read += code == ErrorCode::kOk ? 1 : 0;
    ASSERT_NE(code, ErrorCode::kBug);
  }
  // Many flips only hit weights or names, many do not.
  EXPECT_GT(read, kFiles / 20);
  EXPECT_LT(read, kFiles * 9 / 10);
}

TEST(Hostile, RandomBytesBehindAGoodHeader) {
  constexpr uint32_t kSeed = 7;
  std::mt19937 random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", file " + std::to_string(i));
    std::vector<uint8_t> bytes(16 + random() % 500);
    for (auto& byte : bytes) {
      byte = static_cast<uint8_t>(random() % 4 == 0 ? random() : 0);
    }
    bytes[0] = static_cast<uint8_t>(8 + random() % (bytes.size() - 8) / 4 * 4);
    bytes[1] = bytes[2] = bytes[3] = 0;
    std::copy_n("TOSA", 4, bytes.begin() + 4);
    static_cast<void>(outcome(std::move(bytes)));
  }
}

// A file whose operators all use the same list of the same name: small on disk, gigabytes when copied.
std::vector<uint8_t> aliased_file(size_t operators, size_t names, size_t name_length, bool same_operator,
                                  size_t times = 1) {
  flatbuffers::FlatBufferBuilder b;
  const auto name = b.CreateString(std::string(name_length, 'n'));
  const auto list = b.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>(names, name));
  const auto sizes = b.CreateVector(std::vector<int32_t>{1});
  const auto tensor = tosa::CreateTosaTensor(b, name, sizes, tosa::DType::INT32);
  const auto tensors = b.CreateVector(&tensor, 1);
  std::vector<flatbuffers::Offset<tosa::TosaOperator>> nodes;
  for (size_t i = 0; i < operators; ++i) {
    if (i == 0 || !same_operator) {
      const flatbuffers::Offset<void> attributes = {b.EndTable(b.StartTable())};
      nodes.push_back(
          tosa::CreateTosaOperator(b, tosa::Op::ADD, tosa::Attribute::AddAttribute, attributes, list, list));
    } else {
      nodes.push_back(nodes.front());
    }
  }
  const auto node_list = b.CreateVector(nodes);
  const auto block = tosa::CreateTosaBasicBlock(b, name, node_list, tensors, list, list);
  const auto blocks = b.CreateVector(std::vector<flatbuffers::Offset<tosa::TosaBasicBlock>>(times, block));
  const auto region = tosa::CreateTosaRegion(b, name, blocks);
  const auto regions = b.CreateVector(std::vector<flatbuffers::Offset<tosa::TosaRegion>>(times, region));
  const auto version = tosa::CreateVersion(b, 1, 0, 0, false);
  tosa::FinishTosaGraphBuffer(b, tosa::CreateTosaGraph(b, version, regions));
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

// What reading may take is in proportion to the file, not only below what the largest file may take.
TEST(Hostile, ASmallAliasedFileTakesLittle) {
  const auto bytes = aliased_file(60, 60, 1, true, 60);
  ASSERT_LT(bytes.size(), 2000u);
  const int64_t before = peak_memory();
  EXPECT_EQ(contract::name(outcome(bytes)), contract::name(ErrorCode::kBudgetExceeded));
  EXPECT_LT(peak_memory() - before, 50) << "MiB; copying everything would take 220";
}

TEST(Hostile, AliasedListsStayWithinTheBudget) {
  for (const bool same_operator : {false, true}) {
    const auto bytes = aliased_file(20000, 200000, 50, same_operator);
    ASSERT_LT(bytes.size(), 3u << 20);
    ErrorCode code = ErrorCode::kOk;
    const int64_t before = peak_memory();
    EXPECT_LT(seconds([&] { code = outcome(bytes); }), 20) << "a verifier that follows every list takes minutes";
    EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kBudgetExceeded));
    EXPECT_LT(peak_memory() - before, 1500) << "MiB; copying everything would take 800 GB";
  }
}

TEST(Hostile, AliasedBlocksStayWithinTheBudget) {
  flatbuffers::FlatBufferBuilder b;
  const auto name = b.CreateString(std::string(1 << 20, 'n'));
  const auto block = tosa::CreateTosaBasicBlock(b, name);
  const auto blocks = b.CreateVector(std::vector<flatbuffers::Offset<tosa::TosaBasicBlock>>(100000, block));
  const auto region = tosa::CreateTosaRegion(b, name, blocks);
  const auto regions = b.CreateVector(std::vector<flatbuffers::Offset<tosa::TosaRegion>>(1000, region));
  const auto version = tosa::CreateVersion(b, 1, 0, 0, false);
  tosa::FinishTosaGraphBuffer(b, tosa::CreateTosaGraph(b, version, regions));
  ErrorCode code = ErrorCode::kOk;
  EXPECT_LT(seconds([&] { code = outcome({b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()}); }), 20);
  EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kBudgetExceeded));
}

// Many small regions: checks must not look through all regions for each.
TEST(Hostile, ManyRegions) {
  constexpr int kRegions = 20000;
  GraphBuilder b;
  const auto add = [](GraphBuilder& region, std::string x_name) {
    Operator op;
    op.attributes.then_graph = op.attributes.else_graph = "leaf";
    const TensorId x = region.input(std::move(x_name), DType::kInt32, {1});
    const TensorId flag = region.raw(Op::kEqual, {x, x}, {}, DType::kBool, {1});
    region.output(region.raw(Op::kCondIf, {flag, x}, op.attributes, DType::kInt32, {1}));
  };
  add(b, "x");
  for (int i = 0; i < kRegions; ++i) {
    GraphBuilder region("region" + std::to_string(i));
    add(region, "x");
    b.add_region(region);
  }
  GraphBuilder leaf("leaf");
  const TensorId x = leaf.input("x", DType::kInt32, {1});
  leaf.output(leaf.add(x, x));
  b.add_region(leaf);
  const auto bytes = serialize(b.build());
  ErrorCode code = ErrorCode::kBug;
  EXPECT_LT(seconds([&] { code = outcome(bytes); }), 10);
  EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kOk));
}

TEST(Hostile, RandomNpyBitFlips) {
  constexpr uint32_t kSeed = 99;
  std::mt19937 random(kSeed);
  const auto whole = serialize_npy({"<i4", {2, 3}, std::vector<uint8_t>(24, 1)});
  for (int i = 0; i < 20000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", file " + std::to_string(i));
    auto bytes = whole;
    for (uint32_t k = 0; k < 1 + random() % 3; ++k) {
      bytes[random() % 100] ^= static_cast<uint8_t>(1u << random() % 8);
    }
    try {
      EXPECT_EQ(parse_npy(bytes, "x.npy").bytes.size(), 24u);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadNpy) << error.what();
    }
  }
}

}  // namespace
}  // namespace npu::graph
