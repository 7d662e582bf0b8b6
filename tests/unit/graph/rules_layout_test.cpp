// SPDX-License-Identifier: Apache-2.0
// The rules of operators that move data, one by one: the shape of the result where no two sizes are equal, and what is
// refused just beyond each limit.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "driver/graph/builder.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

// The shape of what a builder makes of an INT8 tensor, or the name of the error with which the rule refuses it.
std::string outcome(const Shape& shape, const std::function<TensorId(GraphBuilder&, TensorId)>& add) {
  GraphBuilder b;
  const TensorId x = b.input("x", DType::kInt8, shape);
  try {
    const TensorId id = add(b, x);
    b.output(id);
    validate(b.build());
    return to_string(b.tensor(id).shape);
  } catch (const Error& error) {
    return std::string(contract::name(error.code()));
  }
}

constexpr const char* kBadShape = "bad_shape";
constexpr const char* kBadArgument = "bad_argument";
constexpr const char* kBadType = "bad_type";
constexpr int64_t kMost = INT32_MAX;

TEST(Rules, Axes) {
  for (const auto& [axis, reduced, without] :
       {std::tuple{0, "[1, 3, 4]", "[3, 4]"}, {1, "[2, 1, 4]", "[2, 4]"}, {2, "[2, 3, 1]", "[2, 3]"}}) {
    const int32_t at = axis;
    EXPECT_EQ(outcome({2, 3, 4}, [&](auto& b, TensorId x) { return b.reduce(Op::kReduceMax, x, at); }), reduced);
    EXPECT_EQ(outcome({2, 3, 4}, [&](auto& b, TensorId x) { return b.argmax(x, at); }), without);
    EXPECT_EQ(outcome({2, 3, 4}, [&](auto& b, TensorId x) { return b.reverse(x, at); }), "[2, 3, 4]");
  }
}

TEST(Rules, Concat) {
  const auto joined = [](int32_t axis, const Shape& second, const Shape& third) {
    return outcome({2, 3}, [&](auto& b, TensorId x) {
      const TensorId y = b.input("y", DType::kInt8, second);
      return b.concat({x, y, b.input("z", DType::kInt8, third)}, axis);
    });
  };
  EXPECT_EQ(joined(1, {2, 4}, {2, 5}), "[2, 12]");
  EXPECT_EQ(joined(0, {4, 3}, {5, 3}), "[11, 3]");
  EXPECT_EQ(joined(0, {2, 4}, {2, 3}), kBadShape);
  EXPECT_EQ(joined(0, {2, 3}, {2, 4}), kBadShape);
  EXPECT_EQ(joined(1, {2, 4, 1}, {2, 3}), kBadShape);
}

TEST(Rules, Pad) {
  const auto padded = [](const std::vector<int64_t>& padding) {
    return outcome({2, 3}, [&](auto& b, TensorId x) { return b.pad(x, padding); });
  };
  EXPECT_EQ(padded({1, 0, 2, 3}), "[3, 8]");
  EXPECT_EQ(padded({0, 4, 0, 0}), "[6, 3]");
  for (const size_t i : {0, 1, 2, 3}) {
    std::vector<int64_t> padding = {0, 0, 0, 0};
    padding[i] = -1;
    EXPECT_EQ(padded(padding), kBadArgument);
    padding[i] = kMost + 1;
    EXPECT_EQ(padded(padding), kBadArgument);
    padding[i] = kMost;  // a size that a file may name, but for the result's
    EXPECT_EQ(padded(padding), kBadShape);
  }
  EXPECT_EQ(padded({0, 0, 0}), kBadShape);
  EXPECT_EQ(outcome({1}, [](auto& b, TensorId x) { return b.pad(x, {kMost - 1, 0}); }), "[2147483647]");
}

TEST(Rules, Reshape) {
  const auto reshaped = [](const std::vector<int64_t>& sizes) {
    return outcome({2, 3}, [&](auto& b, TensorId x) { return b.reshape(x, sizes); });
  };
  EXPECT_EQ(reshaped({1, 6, 1}), "[1, 6, 1]");
  EXPECT_EQ(reshaped({5}), kBadShape);
  EXPECT_EQ(reshaped({-2, -3}), kBadShape);
  EXPECT_EQ(reshaped({0, 6}), kBadShape);
  EXPECT_EQ(outcome({}, [](auto& b, TensorId x) { return b.reshape(x, {}); }), "[]");
  std::vector<int64_t> longest(32, 1);
  EXPECT_EQ(outcome({1}, [&](auto& b, TensorId x) { return b.reshape(x, longest); }), to_string(longest));
  longest.push_back(1);
  EXPECT_EQ(outcome({1}, [&](auto& b, TensorId x) { return b.reshape(x, longest); }), kBadShape);
}

TEST(Rules, Slice) {
  const auto sliced = [](const std::vector<int64_t>& start, const std::vector<int64_t>& size) {
    return outcome({4, 5}, [&](auto& b, TensorId x) { return b.slice(x, start, size); });
  };
  EXPECT_EQ(sliced({1, 0}, {3, 2}), "[3, 2]");
  EXPECT_EQ(sliced({3, 4}, {1, 1}), "[1, 1]");
  EXPECT_EQ(sliced({0, 0}, {4, 5}), "[4, 5]");
  EXPECT_EQ(sliced({0, 0}, {5, 5}), kBadArgument);
  EXPECT_EQ(sliced({2, 0}, {3, 2}), kBadArgument);
  EXPECT_EQ(sliced({0, 4}, {1, 2}), kBadArgument);
  EXPECT_EQ(sliced({0, -1}, {1, 2}), kBadArgument);
  EXPECT_EQ(sliced({4, 0}, {0, 1}), kBadArgument);
  EXPECT_EQ(sliced({0, 0}, {1, 0}), kBadArgument);
  EXPECT_EQ(sliced({6, 0}, {INT64_MIN, 1}), kBadArgument);
  EXPECT_EQ(sliced({INT64_MAX, 0}, {1, 1}), kBadArgument);
  EXPECT_EQ(sliced({0, 0}, {INT64_MAX, 1}), kBadArgument);
  EXPECT_EQ(sliced({0}, {1, 1}), kBadShape);
  EXPECT_EQ(sliced({0, 0}, {1}), kBadShape);
}

TEST(Rules, Tile) {
  const auto tiled = [](const Shape& shape, const std::vector<int64_t>& multiples) {
    return outcome(shape, [&](auto& b, TensorId x) { return b.tile(x, multiples); });
  };
  EXPECT_EQ(tiled({2, 3}, {3, 2}), "[6, 6]");
  EXPECT_EQ(tiled({2, 3}, {1, 4}), "[2, 12]");
  EXPECT_EQ(tiled({2, 3}, {0, 1}), kBadArgument);
  EXPECT_EQ(tiled({2, 3}, {1, -1}), kBadArgument);
  EXPECT_EQ(tiled({1}, {kMost}), "[2147483647]");
  EXPECT_EQ(tiled({1}, {kMost + 1}), kBadArgument);
  EXPECT_EQ(tiled({2}, {kMost / 2}), "[2147483646]");
  EXPECT_EQ(tiled({2}, {kMost / 2 + 1}), kBadArgument);
  EXPECT_EQ(tiled({2, 3}, {1}), kBadShape);
}

TEST(Rules, Transpose) {
  const auto transposed = [](const std::vector<int32_t>& perms) {
    return outcome({2, 3, 4}, [&](auto& b, TensorId x) { return b.transpose(x, perms); });
  };
  EXPECT_EQ(transposed({2, 0, 1}), "[4, 2, 3]");
  EXPECT_EQ(transposed({0, 2, 1}), "[2, 4, 3]");
  EXPECT_EQ(transposed({0, 0, 1}), kBadArgument);
  EXPECT_EQ(transposed({0, 1, 3}), kBadArgument);
  EXPECT_EQ(transposed({0, 1, -1}), kBadArgument);
}

TEST(Rules, GatherAndScatter) {
  const auto gathered = [](const Shape& indices) {
    return outcome({2, 5, 3}, [&](auto& b, TensorId x) { return b.gather(x, b.input("i", DType::kInt32, indices)); });
  };
  EXPECT_EQ(gathered({2, 4}), "[2, 4, 3]");
  EXPECT_EQ(gathered({2, 9}), "[2, 9, 3]");
  EXPECT_EQ(gathered({5, 4}), kBadShape);
  const auto scattered = [](const Shape& indices, const Shape& moved) {
    return outcome({2, 5, 3}, [&](auto& b, TensorId x) {
      const TensorId i = b.input("i", DType::kInt32, indices);
      return b.scatter(x, i, b.input("y", DType::kInt8, moved));
    });
  };
  EXPECT_EQ(scattered({2, 4}, {2, 4, 3}), "[2, 5, 3]");
  EXPECT_EQ(scattered({2, 5}, {2, 5, 3}), "[2, 5, 3]");
  EXPECT_EQ(scattered({2, 6}, {2, 6, 3}), kBadShape) << "an index would be there twice";
  EXPECT_EQ(scattered({1, 4}, {2, 4, 3}), kBadShape);
  EXPECT_EQ(scattered({2, 4}, {1, 4, 3}), kBadShape);
  EXPECT_EQ(scattered({2, 4}, {2, 3, 3}), kBadShape);
  EXPECT_EQ(scattered({2, 4}, {2, 4, 2}), kBadShape);
}

std::string resized(const Shape& shape, const std::vector<int64_t>& scale, const std::vector<int64_t>& offset,
                    const std::vector<int64_t>& border) {
  return outcome(shape, [&](auto& b, TensorId x) {
    return b.resize(x, ResizeMode::kNearest, scale, offset, border, DType::kInt8);
  });
}

TEST(Rules, Resize) {
  EXPECT_EQ(resized({2, 3, 4, 5}, {4, 2, 6, 3}, {-1, 0}, {1, 3}), "[2, 6, 8, 5]");
  EXPECT_EQ(resized({2, 3, 4, 5}, {1, 1, 1, 1}, {0, 0}, {0, 0}), "[2, 3, 4, 5]");
  const auto typed = [](DType in, ResizeMode mode, DType out) {
    GraphBuilder b;
    try {
      b.output(b.resize(b.input("x", in, {1, 2, 2, 1}), mode, {1, 1, 1, 1}, {0, 0}, {0, 0}, out));
      return std::string("accepted");
    } catch (const Error& error) {
      return std::string(contract::name(error.code()));
    }
  };
  for (const auto& [in, wide] : {std::pair{DType::kInt8, DType::kInt32}, {DType::kInt16, DType::kInt48}}) {
    EXPECT_EQ(typed(in, ResizeMode::kNearest, in), "accepted");
    EXPECT_EQ(typed(in, ResizeMode::kBilinear, wide), "accepted");
    EXPECT_EQ(typed(in, ResizeMode::kNearest, wide), kBadType);
    EXPECT_EQ(typed(in, ResizeMode::kBilinear, in), kBadType);
  }
  for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kBilinear}) {
    EXPECT_EQ(typed(DType::kFp16, mode, DType::kFp16), "accepted");
  }
}

TEST(Rules, ResizeLimits) {
  // One direction of ((size - 1) * n - offset + border) / d + 1, in y and in x.
  const auto outcome_of = [](int64_t size, int64_t n, int64_t d, int64_t offset, int64_t border) {
    const std::string high = resized({1, size, 1, 1}, {n, d, 1, 1}, {offset, 0}, {border, 0});
    const std::string wide = resized({1, 1, size, 1}, {1, 1, n, d}, {0, offset}, {0, border});
    if (high.front() == '[') {
      const std::string size_of_result = high.substr(4, high.find(',', 4) - 4);
      EXPECT_EQ(wide, std::string("[1, 1, ").append(size_of_result).append(", 1]"));
      return size_of_result;
    }
    EXPECT_EQ(high, wide);
    return high;
  };
  EXPECT_EQ(outcome_of(3, 2, 1, 0, 0), "5");
  EXPECT_EQ(outcome_of(3, 0, 1, 0, 0), kBadArgument);
  EXPECT_EQ(outcome_of(3, 2, 0, 0, 0), kBadArgument);
  EXPECT_EQ(outcome_of(2, 2048, 2048, 0, 0), "2");
  EXPECT_EQ(outcome_of(2, 2049, 2049, 0, 0), kBadArgument);
  EXPECT_EQ(outcome_of(16, 1, 15, 0, 0), "2");
  EXPECT_EQ(outcome_of(17, 1, 16, 0, 0), kBadArgument);
  EXPECT_EQ(outcome_of(3, 2, 1, -2, 0), "7");
  EXPECT_EQ(outcome_of(3, 2, 1, -3, 0), kBadArgument);
  EXPECT_EQ(outcome_of(20, 2, 1, 31, 0), "8");
  EXPECT_EQ(outcome_of(20, 2, 1, 32, 0), kBadArgument);
  EXPECT_EQ(outcome_of(20, 2, 1, 0, -32), "7");
  EXPECT_EQ(outcome_of(20, 2, 1, 0, -33), kBadArgument);
  EXPECT_EQ(outcome_of(3, 2, 1, 0, 1), "6");
  EXPECT_EQ(outcome_of(3, 2, 1, 0, 2), kBadArgument);
  EXPECT_EQ(outcome_of(3, 2, 3, 0, 0), kBadShape);
  EXPECT_EQ(outcome_of(2, 2, 1, 2, 0), "1");
  EXPECT_EQ(outcome_of(2, 2, 1, 3, 0), kBadShape) << "nothing would be left";
  EXPECT_EQ(outcome_of(16383, 1, 1, 0, 0), "16383");
  EXPECT_EQ(outcome_of(16384, 1, 1, 0, 0), kBadShape);
  EXPECT_EQ(outcome_of(8193, 2, 1, 1, 0), kBadShape);
  EXPECT_EQ(outcome_of(16384, 2, 4, 0, -2), kBadShape);
}

}  // namespace
}  // namespace npu::graph
