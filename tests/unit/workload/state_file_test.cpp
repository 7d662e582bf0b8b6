// SPDX-License-Identifier: Apache-2.0
// Snapshots against networks, and as the state of the reference.
#include "sim/workload/state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "driver/graph/builder.h"
#include "hw/contract/error.h"
#include "sim/workload/oracle.h"

namespace npu::workload {
namespace {

using contract::ErrorCode;
using graph::DType;
using runtime::Snapshot;
using testing::HasSubstr;

// y = x + s; s = y; t is written once more than it is read. s starts at [3, 4], t has no initial value.
Network two_variables() {
  graph::GraphBuilder builder;
  const graph::TensorId x = builder.input("x", DType::kInt32, {2});
  const graph::TensorId s = builder.variable("s", DType::kInt32, {2}, std::vector<double>{3, 4});
  const graph::TensorId t = builder.variable("t", DType::kInt32, {2});
  const graph::TensorId y = builder.add(x, builder.read(s));
  builder.write(s, y);
  builder.write(t, x);
  builder.output(y, "y");
  Network network;
  network.path = "folder/net.tosa";
  network.graph = builder.build();
  network.inputs = {{"x", DType::kInt32, {2}, false}};
  network.outputs = {{"y", DType::kInt32, {2}, false}};
  return network;
}

graph::Value pair_of(uint8_t a, uint8_t b) { return {DType::kInt32, {2}, {a, 0, 0, 0, b, 0, 0, 0}}; }

Snapshot after(const Network& network, int invocations, const Snapshot& before = {}) {
  Oracle oracle(network, false, to_reference(before));
  for (int i = 0; i < invocations; ++i) static_cast<void>(oracle.run({pair_of(1, 2)}));
  return from_reference(oracle.state(), network, before, static_cast<uint64_t>(invocations));
}

std::string refusal(const Snapshot& snapshot, const Network& network) {
  try {
    check_fit(snapshot, "file.state", network);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadSnapshot);
    return error.what();
  }
  return "";
}

TEST(StateFile, HoldsWhatTheReferenceLeft) {
  const Network network = two_variables();
  const Snapshot snapshot = after(network, 3);
  EXPECT_EQ(snapshot.label, "net.tosa");
  ASSERT_EQ(snapshot.variables.size(), 2u);
  EXPECT_EQ(snapshot.variables[0].identity, "s");
  EXPECT_EQ(snapshot.variables[0].bytes, pair_of(6, 10).bytes);
  EXPECT_EQ(snapshot.variables[0].invocations, 3u);
  EXPECT_EQ(snapshot.variables[0].place, runtime::StatePlace::kHost);
  EXPECT_EQ(snapshot.owner, 0u);
  EXPECT_THAT(snapshot.variables[0].last_writer, HasSubstr("variable_write_"));
  EXPECT_NE(snapshot.variables[0].last_writer, snapshot.variables[1].last_writer);
  EXPECT_EQ(runtime::parse_snapshot(runtime::serialise(snapshot)), snapshot);
}

TEST(StateFile, PartsOfAStreamAreTheWhole) {
  const Network network = two_variables();
  EXPECT_EQ(after(network, 3, after(network, 2)), after(network, 5));
}

TEST(StateFile, WhatIsNotWrittenStartsWithItsInitialValue) {
  const Network network = two_variables();
  Snapshot snapshot = after(network, 2);
  snapshot.variables[0].is_written = false;
  snapshot.variables[0].bytes.clear();
  const Snapshot next = after(network, 1, snapshot);
  EXPECT_EQ(next.variables[0].bytes, pair_of(4, 6).bytes);
  EXPECT_EQ(next.variables[0].invocations, 1u);
  EXPECT_EQ(next.variables[1].invocations, 3u);
}

// It goes where the declaration was reached or not: a network resumes from what it left itself.
TEST(StateFile, WhatNoExecutionDeclaredIsUnwritten) {
  graph::GraphBuilder builder, declares("declares"), nothing("nothing");
  for (graph::GraphBuilder* branch : {&declares, &nothing}) branch->output(branch->input("x", DType::kInt32, {2}));
  declares.declare(declares.variable("s", DType::kInt32, {2}, std::vector<double>{3, 4}));
  builder.add_region(std::move(declares));
  builder.add_region(std::move(nothing));
  const graph::TensorId x = builder.input("x", DType::kInt32, {2}), flag = builder.input("flag", DType::kBool, {1});
  builder.output(builder.cond_if(flag, {x}, "declares", "nothing")[0], "y");
  Network network;
  network.graph = builder.build();
  network.inputs = {{"x", DType::kInt32, {2}, false}, {"flag", DType::kBool, {1}, false}};
  network.outputs = {{"y", DType::kInt32, {2}, false}};

  Snapshot snapshot;
  for (const uint8_t taken : {0, 0, 1, 0}) {
    Oracle oracle(network, false, to_reference(snapshot));
    static_cast<void>(oracle.run({pair_of(1, 2), {DType::kBool, {1}, {taken}}}));
    const bool before = !snapshot.variables.empty() && snapshot.variables[0].is_written;
    snapshot = from_reference(oracle.state(), network, snapshot, 1);
    EXPECT_EQ(refusal(snapshot, network), "");
    ASSERT_EQ(snapshot.variables.size(), 1u);
    EXPECT_EQ(snapshot.variables[0].is_written, before || taken == 1);
    EXPECT_EQ(snapshot.variables[0].invocations > 0, before || taken == 1);
  }
  EXPECT_EQ(snapshot.variables[0].bytes, pair_of(3, 4).bytes);
}

TEST(StateFile, MustHaveTheNetworksVariables) {
  const Network network = two_variables();
  const Snapshot snapshot = after(network, 1);
  EXPECT_EQ(refusal(snapshot, network), "");

  Snapshot other = snapshot;
  other.variables[0].shape = {1, 2};
  EXPECT_EQ(
      refusal(other, network),
      "variable 's' is INT32[1, 2] in 'file.state', but INT32[2] in 'folder/net.tosa': the snapshot is of another "
      "version of the network; start without it and save the state anew");
  other = snapshot;
  other.variables[1].type = DType::kInt16;
  EXPECT_THAT(refusal(other, network), HasSubstr("variable 't' is INT16[2] in"));
  other = snapshot;
  other.variables.erase(other.variables.begin());
  EXPECT_THAT(refusal(other, network), HasSubstr("'s' of 'folder/net.tosa' is not in 'file.state'"));
  other = snapshot;
  other.variables[1].identity = std::string("u");
  EXPECT_THAT(refusal(other, network), HasSubstr("'u' of 'file.state' is no variable of 'folder/net.tosa', and 't' of "
                                                 "'folder/net.tosa' is not in 'file.state'"));
}

TEST(StateFile, FitsWithAnySizeThatTheFileLeavesOpen) {
  Network network = two_variables();
  graph::Graph open = network.graph;
  for (graph::Tensor& tensor : open.regions.front().blocks.front().tensors) {
    if (tensor.variable && graph::variable_identity(tensor) == "s") tensor.shape = {0};
  }
  Snapshot snapshot = after(network, 1);
  network.open = std::make_shared<const graph::Graph>(std::move(open));
  runtime::SnapshotVariable& s = snapshot.variables.front();
  s.shape = {3};
  s.bytes.resize(12);
  EXPECT_EQ(refusal(snapshot, network), "");
  EXPECT_EQ(open_sizes_of(snapshot, network), "'s' as 3");
  try {
    take_size({-1}, {2}, "file.state", s);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kVariableMismatch);
    EXPECT_STREQ(error.what(),
                 "variable 's' is INT32[3] in 'file.state', but INT32[2] by the sizes of the data: give data of the "
                 "size that it has, or clear it in the file (npu state clear)");
  }
  s.is_written = false;
  s.bytes.clear();
  EXPECT_EQ(refusal(snapshot, network), "");
  EXPECT_EQ(open_sizes_of(snapshot, network), "");
  take_size({-1}, {2}, "file.state", s);
  EXPECT_EQ(s.shape, graph::Shape{2});
  s.shape = {1, 2};
  EXPECT_THAT(refusal(snapshot, network), HasSubstr("variable 's' is INT32[1, 2] in 'file.state', but INT32[-1] in"));
  take_size({-1}, {2}, "file.state", s);
  EXPECT_EQ(s.shape, (graph::Shape{1, 2}));
}

TEST(StateFile, NamesADamagedFile) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "npu_damaged.state";
  tool::StagedFiles files;
  files.write(path, std::string("TNPU"));
  files.commit();
  try {
    static_cast<void>(read_snapshot(path.string()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadSnapshot);
    EXPECT_THAT(error.what(), HasSubstr("npu_damaged.state"));
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace npu::workload
