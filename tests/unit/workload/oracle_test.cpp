// SPDX-License-Identifier: Apache-2.0
#include "sim/workload/oracle.h"

#include <gtest/gtest.h>

#include "driver/graph/builder.h"
#include "hw/contract/error.h"

namespace npu::workload {
namespace {

using graph::DType;

// y = x + state, state = y; the state has no initial value.
Network counting_network() {
  graph::GraphBuilder builder;
  const graph::TensorId x = builder.input("x", DType::kInt32, {2});
  const graph::TensorId state = builder.variable("s", DType::kInt32, {2});
  const graph::TensorId y = builder.add(x, builder.read(state));
  builder.write(state, y);
  builder.output(y, "y");
  Network network;
  network.graph = builder.build();
  network.inputs = {{"x", DType::kInt32, {2}, false}};
  network.outputs = {{"y", DType::kInt32, {2}, false}};
  return network;
}

graph::Value int_pair(uint8_t a, uint8_t b) { return {DType::kInt32, {2}, {a, 0, 0, 0, b, 0, 0, 0}}; }

TEST(Oracle, KeepsStateAndCountsElements) {
  const Network network = counting_network();
  Oracle oracle(network, true);
  oracle.check({int_pair(1, 2)}, {int_pair(1, 2)});
  oracle.check({int_pair(1, 2)}, {int_pair(2, 4)});
  EXPECT_EQ(oracle.result().compared, 4u);
  EXPECT_EQ(oracle.result().differing, 0u);
  EXPECT_EQ(oracle.result().first, "");
}

TEST(Oracle, NamesTheFirstElementThatDiffers) {
  const Network network = counting_network();
  Oracle oracle(network, true);
  oracle.check({int_pair(1, 2)}, {int_pair(1, 2)});
  oracle.check({int_pair(1, 2)}, {int_pair(2, 9)});
  oracle.check({int_pair(1, 2)}, {int_pair(0, 0)});
  EXPECT_EQ(oracle.result().differing, 3u);
  EXPECT_EQ(oracle.result().first, "output 'y' at [1] of invocation 1: device 9, reference 4");
}

TEST(Oracle, ErrorsNameTheInvocation) {
  const Network network = counting_network();
  Oracle oracle(network, false);
  try {
    oracle.run({int_pair(1, 2)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), contract::ErrorCode::kVariableUnwritten);
    EXPECT_NE(std::string(error.what()).find("invocation 0"), std::string::npos);
  }
}

}  // namespace
}  // namespace npu::workload
