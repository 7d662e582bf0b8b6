// SPDX-License-Identifier: Apache-2.0
// The helpers of element.h: sizes of values, strides, broadcasting, and the loop over elements.
#include "sim/reference/element.h"

#include "tests/unit/reference/operator_case.h"

namespace npu::reference::test {
namespace {

graph::Tensor tensor_of(DType type, const Shape& shape) {
  graph::Tensor tensor;
  tensor.name = "big";
  tensor.type = type;
  tensor.shape = shape;
  return tensor;
}

TEST(Elements, BytesOfAValueAreLimited) {
  constexpr int64_t kMost = int64_t{1} << 31;
  EXPECT_EQ(value_bytes(tensor_of(DType::kInt8, {2, 3})), 6);
  EXPECT_EQ(value_bytes(tensor_of(DType::kInt48, {2, 3})), 48);
  for (const auto& [type, width] :
       {std::pair{DType::kInt4, 1}, {DType::kBool, 1}, {DType::kFp16, 2}, {DType::kInt32, 4}, {DType::kInt48, 8}}) {
    EXPECT_EQ(value_bytes(tensor_of(type, {kMost / width})), kMost);
    std::string message;
    EXPECT_EQ(error_of([&] { (void)value_bytes(tensor_of(type, {kMost / width + 1})); }, &message),
              ErrorCode::kBudgetExceeded);
    EXPECT_NE(message.find("'big'"), std::string::npos) << message;
  }
  const Shape more_than_fits{INT32_MAX, INT32_MAX, INT32_MAX};
  EXPECT_EQ(error_of([&] { (void)value_bytes(tensor_of(DType::kInt8, more_than_fits)); }), ErrorCode::kBudgetExceeded);
}

TEST(Elements, CountsAndStrides) {
  EXPECT_EQ(element_count(Shape{}), 1);
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24);
  EXPECT_EQ(element_count(Shape{2, 0, 4}), 0);
  EXPECT_EQ(strides_of({}), Shape{});
  EXPECT_EQ(strides_of({5}), Shape{1});
  EXPECT_EQ(strides_of({2, 3, 4}), (Shape{12, 4, 1}));
}

TEST(Elements, LoopVisitsAllInOrder) {
  const Shape result{2, 3, 4};
  int64_t visited = 0;
  for_each_element<2>(result, {Shape{12, 4, 1}, Shape{0, 1, 0}}, [&](int64_t i, const std::array<int64_t, 2>& at) {
    EXPECT_EQ(i, visited);
    EXPECT_EQ(at[0], i);
    EXPECT_EQ(at[1], i / 4 % 3);
    ++visited;
  });
  EXPECT_EQ(visited, 24);
  for_each_element<1>(Shape{}, {Shape{}}, [&](int64_t i, const std::array<int64_t, 1>& at) {
    EXPECT_EQ(i, 0);
    EXPECT_EQ(at[0], 0);
    ++visited;
  });
  EXPECT_EQ(visited, 25);
}

}  // namespace
}  // namespace npu::reference::test
