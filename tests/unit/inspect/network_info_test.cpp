// SPDX-License-Identifier: Apache-2.0
#include "sim/inspect/network_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "driver/graph/builder.h"

namespace npu::inspect {
namespace {

using graph::DType;
using nlohmann::json;
using testing::HasSubstr;

workload::Network network_of(graph::GraphBuilder& builder) {
  workload::Network network;
  network.path = "folder/net.tosa";
  network.file = std::make_shared<const std::vector<uint8_t>>(3, uint8_t{1});
  network.file_bytes = network.file->size();
  network.graph = builder.build();
  network.inputs = {{"x", DType::kInt32, {2}, false}};
  network.outputs = {{"y", DType::kInt32, {2}, false}};
  return network;
}

// y = x + s; s = y. Each variable of 8 bytes takes a whole word of the memory's port.
workload::Network with_state() {
  graph::GraphBuilder builder;
  const graph::TensorId x = builder.input("x", DType::kInt32, {2});
  const graph::TensorId s = builder.variable("s", DType::kInt32, {2}, std::vector<double>{3, 4});
  const graph::TensorId y = builder.add(x, builder.read(s));
  builder.write(s, y);
  builder.output(y, "y");
  return network_of(builder);
}

TEST(NetworkInfo, SaysWhatStateTakesAndWhatTheMachineRuns) {
  const workload::Network network = with_state();
  const presets::Preset nano = presets::load_preset("nano");
  const NetworkInfo info = inspect_network(network, nano);
  EXPECT_EQ(info.machine, "nano");
  ASSERT_EQ(info.variables.size(), 1u);
  EXPECT_EQ(info.variable_bytes, 8);
  EXPECT_TRUE(info.variables[0].initialised);
  EXPECT_EQ(info.persistent.entries, 1u);
  EXPECT_EQ(info.persistent.bytes, std::max<uint64_t>(8, nano.caps.psram_port_bytes));
  EXPECT_TRUE(info.persistent.fits());
  EXPECT_TRUE(info.refused.empty());
  EXPECT_GT(info.estimate.cycles, 0u);
  EXPECT_THAT(to_text(info, false), HasSubstr("file        folder/net.tosa, 3 bytes, TOSA 1.0.0"));
  EXPECT_THAT(to_text(info, true), HasSubstr("share"));
  const json document = json::parse(to_json_text(info));
  EXPECT_EQ(document["schema"], "npu-info");
  EXPECT_EQ(document["supported"], true);
  EXPECT_EQ(document["variables"][0]["identity"], "s");
}

TEST(NetworkInfo, NamesWhatIsRefusedOnceForEachReason) {
  graph::GraphBuilder builder;
  const graph::TensorId x = builder.input("x", DType::kFp32, {2});
  builder.output(builder.add(builder.add(x, x), x), "y");
  const workload::Network network = network_of(builder);
  const NetworkInfo info = inspect_network(network, presets::load_preset("nano"));
  EXPECT_EQ(info.refused.size(), 2u);
  EXPECT_EQ(info.estimate.why_not, "nano cannot run all operators");
  const std::string text = to_text(info, false);
  EXPECT_THAT(text, HasSubstr("nano cannot run 2 of 2 operators:\n"));
  EXPECT_THAT(text, HasSubstr(" at 0, 1\n"));
  const json document = json::parse(to_json_text(info));
  EXPECT_TRUE(document["estimate"].is_null());
  EXPECT_EQ(document["unsupported"].size(), 2u);
}

}  // namespace
}  // namespace npu::inspect
