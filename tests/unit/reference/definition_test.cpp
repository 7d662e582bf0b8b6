// SPDX-License-Identifier: Apache-2.0
// Operators with windows, and those that move or combine elements, against their definitions: a sum or choice over
// indices, written per element of the result. Sizes, strides, pads and dilations are random and differ between
// directions; the numbers are small, so that integers and FP32 give the same.
#include <algorithm>
#include <iostream>
#include <numeric>
#include <optional>

#include "tests/unit/reference/float_case.h"

namespace npu::reference::test {
namespace {

using Index = std::vector<int64_t>;
using Numbers = std::vector<int64_t>;
using Lists = std::vector<int32_t>;

constexpr unsigned kDefinitionSeed = 90210;
constexpr int kRounds = 25;

// Calls visit(index) for all elements of a shape, in C order.
template <typename Visit>
void for_each_index(const Shape& shape, Visit&& visit) {
  const int64_t count = graph::element_count(shape).value();
  for (int64_t i = 0; i < count; ++i) {
    Index index(shape.size());
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0;) {
      index[d] = rest % shape[d];
      rest /= shape[d];
    }
    visit(index);
  }
}

// Numbers with a shape; nothing is outside it.
struct Grid {
  Shape shape;
  Numbers numbers;

  [[nodiscard]] std::optional<int64_t> at(const Index& index) const {
    EXPECT_EQ(index.size(), shape.size());
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (index[d] < 0 || index[d] >= shape[d]) {
        return std::nullopt;
      }
      place = place * shape[d] + index[d];
    }
    return numbers[static_cast<size_t>(place)];
  }
};

class Definition : public testing::Test {
 protected:
  Definition() { std::cout << "seed " << kDefinitionSeed << "\n"; }

  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  int32_t small(int64_t low, int64_t high) { return static_cast<int32_t>(between(low, high)); }
  Grid grid(const Shape& shape) {
    Grid grid{shape, Numbers(static_cast<size_t>(graph::element_count(shape).value()))};
    std::generate(grid.numbers.begin(), grid.numbers.end(), [&] { return between(-20, 20); });
    return grid;
  }

  std::mt19937 engine_{kDefinitionSeed};
};

Value integers(DType type, const Grid& grid) { return value_of(type, grid.shape, grid.numbers); }
Value reals(const Grid& grid) {
  return real(DType::kFp32, grid.shape, Reals(grid.numbers.begin(), grid.numbers.end()));
}
Numbers rounded(const Value& value) {
  const Reals numbers = reals_of(value);
  return {numbers.begin(), numbers.end()};
}

// An operator on INT8 with a zero point of 3, or on FP32, gives what `element` says for each index of the result.
template <typename Element>
void expect_sums(Op op, const Grid& x, const Grid& weight, const Grid& bias, const Shape& result, const Attributes& a,
                 Element&& element) {
  Numbers wanted;
  for_each_index(result, [&](const Index& index) { wanted.push_back(element(index)); });
  Grid shifted = x;
  for (int64_t& number : shifted.numbers) {
    number += 3;
  }
  const OperatorCase whole{op,
                           {integers(DType::kInt8, shifted), integers(DType::kInt8, weight),
                            integers(DType::kInt32, bias), i8({1}, {3}), i8({1}, {0})},
                           DType::kInt32,
                           result,
                           a};
  EXPECT_EQ(whole.numbers(), wanted);
  const Value zero = real(DType::kFp32, {0});
  const OperatorCase floating{op, {reals(x), reals(weight), reals(bias), zero, zero}, DType::kFp32, result, a};
  EXPECT_EQ(rounded(floating.run()), wanted);
}

TEST_F(Definition, Convolutions) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const size_t dimensions = round % 2 == 0 ? 2 : 3;
    const int64_t n = between(1, 3), ic = between(1, 4), oc = between(1, 4);
    Shape in{n}, kernel{oc}, result{n};
    Attributes a;
    for (size_t d = 0; d < dimensions; ++d) {
      in.push_back(between(3, 7));
      kernel.push_back(between(1, 3));
      result.push_back(between(1, 4));
      a.stride.push_back(small(1, 3));
      a.dilation.push_back(small(1, 3));
      a.pad.insert(a.pad.end(), {small(0, 3), small(0, 3)});
    }
    in.push_back(ic);
    kernel.push_back(ic);
    result.push_back(oc);
    const Grid x = grid(in), weight = grid(kernel), bias = grid({round % 3 == 0 ? 1 : oc});
    expect_sums(dimensions == 2 ? Op::kConv2d : Op::kConv3d, x, weight, bias, result, a, [&](const Index& to) {
      int64_t sum = bias.numbers[bias.numbers.size() == 1 ? 0 : static_cast<size_t>(to.back())];
      for_each_index(Shape(kernel.begin() + 1, kernel.end()), [&](const Index& tap) {
        Index from{to[0]}, of{to.back()};
        for (size_t d = 0; d < dimensions; ++d) {
          from.push_back(to[d + 1] * a.stride[d] - a.pad[2 * d] + tap[d] * a.dilation[d]);
        }
        from.push_back(tap.back());
        of.insert(of.end(), tap.begin(), tap.end());
        sum += x.at(from).value_or(0) * weight.at(of).value();
      });
      return sum;
    });
  }
}

TEST_F(Definition, DepthwiseConvolutions) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const int64_t n = between(1, 3), c = between(1, 4), m = between(1, 3);
    const Shape in{n, between(3, 7), between(3, 7), c}, kernel{between(1, 3), between(1, 3), c, m};
    Attributes a;
    a.pad = {small(0, 3), small(0, 3), small(0, 3), small(0, 3)};
    a.stride = {small(1, 3), small(1, 3)};
    a.dilation = {small(1, 3), small(1, 3)};
    const Grid x = grid(in), weight = grid(kernel), bias = grid({round % 3 == 0 ? 1 : c * m});
    expect_sums(Op::kDepthwiseConv2d, x, weight, bias, {n, between(1, 4), between(1, 4), c * m}, a,
                [&](const Index& to) {
                  int64_t sum = bias.numbers[bias.numbers.size() == 1 ? 0 : static_cast<size_t>(to[3])];
                  for_each_index({kernel[0], kernel[1]}, [&](const Index& tap) {
                    sum += x.at({to[0], to[1] * a.stride[0] - a.pad[0] + tap[0] * a.dilation[0],
                                 to[2] * a.stride[1] - a.pad[2] + tap[1] * a.dilation[1], to[3] / m})
                               .value_or(0) *
                           weight.at({tap[0], tap[1], to[3] / m, to[3] % m}).value();
                  });
                  return sum;
                });
  }
}

TEST_F(Definition, TransposedConvolutions) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const int64_t n = between(1, 3), ic = between(1, 4), oc = between(1, 4);
    const Shape in{n, between(1, 4), between(1, 4), ic}, kernel{oc, between(1, 3), between(1, 3), ic};
    Attributes a;
    a.stride = {small(1, 3), small(1, 3)};
    a.out_pad = {small(-kernel[1] + 1, 2), small(-kernel[1] + 1, 2), small(-kernel[2] + 1, 2),
                 small(-kernel[2] + 1, 2)};
    const Grid x = grid(in), weight = grid(kernel), bias = grid({round % 3 == 0 ? 1 : oc});
    const Shape result{n, std::max<int64_t>(1, (in[1] - 1) * a.stride[0] + a.out_pad[0] + a.out_pad[1] + kernel[1]),
                       std::max<int64_t>(1, (in[2] - 1) * a.stride[1] + a.out_pad[2] + a.out_pad[3] + kernel[2]), oc};
    // Every element of the operand adds a scaled kernel to the result.
    Grid sums{result, Numbers(static_cast<size_t>(graph::element_count(result).value()))};
    for_each_index(in, [&](const Index& from) {
      for_each_index({oc, kernel[1], kernel[2]}, [&](const Index& tap) {
        const Index to{from[0], from[1] * a.stride[0] + a.out_pad[0] + tap[1],
                       from[2] * a.stride[1] + a.out_pad[2] + tap[2], tap[0]};
        if (sums.at(to)) {
          const int64_t place = ((to[0] * result[1] + to[1]) * result[2] + to[2]) * oc + to[3];
          sums.numbers[static_cast<size_t>(place)] +=
              x.at(from).value() * weight.at({tap[0], tap[1], tap[2], from[3]}).value();
        }
      });
    });
    expect_sums(Op::kTransposeConv2d, x, weight, bias, result, a, [&](const Index& to) {
      return sums.at(to).value() + bias.numbers[bias.numbers.size() == 1 ? 0 : static_cast<size_t>(to[3])];
    });
  }
}

TEST_F(Definition, MatrixProducts) {
  for (int round = 0; round < kRounds; ++round) {
    const int64_t n = between(1, 3), h = between(1, 5), c = between(1, 6), w = between(1, 7);
    const Grid a = grid({n, h, c}), b = grid({n, c, w});
    Numbers wanted;
    for_each_index({n, h, w}, [&](const Index& to) {
      int64_t sum = 0;
      for (int64_t k = 0; k < c; ++k) {
        sum += (a.at({to[0], to[1], k}).value() - 2) * (b.at({to[0], k, to[2]}).value() + 5);
      }
      wanted.push_back(sum);
    });
    const OperatorCase whole{Op::kMatMul,
                             {integers(DType::kInt8, a), integers(DType::kInt8, b), i8({1}, {2}), i8({1}, {-5})},
                             DType::kInt32,
                             {n, h, w}};
    EXPECT_EQ(whole.numbers(), wanted) << round;
  }
}

TEST_F(Definition, Pools) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const int64_t n = between(1, 3), c = between(1, 4);
    Attributes a;
    a.kernel = {small(2, 4), small(2, 4)};
    a.stride = {small(1, 3), small(1, 3)};
    a.pad = {small(0, a.kernel[0] - 1), 0, small(0, a.kernel[1] - 1), 0};
    const Grid x = grid({n, between(7, 9), between(7, 9), c});
    const Shape result{n, between(1, 3), between(1, 3), c};
    Numbers largest;
    Reals mean;
    for_each_index(result, [&](const Index& to) {
      Numbers covered;
      for_each_index({a.kernel[0], a.kernel[1]}, [&](const Index& tap) {
        const auto element =
            x.at({to[0], to[1] * a.stride[0] - a.pad[0] + tap[0], to[2] * a.stride[1] - a.pad[2] + tap[1], to[3]});
        if (element) {
          covered.push_back(*element);
        }
      });
      largest.push_back(*std::max_element(covered.begin(), covered.end()));
      mean.push_back(static_cast<double>(std::accumulate(covered.begin(), covered.end(), int64_t{0})) /
                     static_cast<double>(covered.size()));
    });
    EXPECT_EQ((OperatorCase{Op::kMaxPool2d, {integers(DType::kInt8, x)}, DType::kInt8, result, a}.numbers()), largest);
    EXPECT_EQ(rounded(OperatorCase{Op::kMaxPool2d, {reals(x)}, DType::kFp32, result, a}.run()), largest);
    const Value zero = real(DType::kFp32, {0});
    const OperatorCase average{Op::kAvgPool2d, {reals(x), zero, zero}, DType::kFp32, result, a};
    EXPECT_EQ(reals_of(average.run()), reals_of(real(DType::kFp32, result, mean)));
  }
}

TEST_F(Definition, Reductions) {
  for (int round = 0; round < kRounds; ++round) {
    const Grid x = grid({between(1, 4), between(1, 4), between(1, 4), between(1, 4)});
    const auto axis = static_cast<size_t>(round % 4);
    Attributes a;
    a.axis = static_cast<int32_t>(axis);
    Shape reduced = x.shape, without = x.shape;
    reduced[axis] = 1;
    without.erase(without.begin() + a.axis);
    Numbers sums, least, most, first;
    for_each_index(reduced, [&](Index index) {
      Numbers line;
      for (index[axis] = 0; index[axis] < x.shape[axis]; ++index[axis]) {
        line.push_back(x.at(index).value());
      }
      sums.push_back(std::accumulate(line.begin(), line.end(), int64_t{0}));
      least.push_back(*std::min_element(line.begin(), line.end()));
      most.push_back(*std::max_element(line.begin(), line.end()));
      first.push_back(std::max_element(line.begin(), line.end()) - line.begin());
    });
    const auto numbers = [&](Op op, DType in, DType out, const Shape& result) {
      return OperatorCase{op, {integers(in, x)}, out, result, a}.numbers();
    };
    EXPECT_EQ(numbers(Op::kReduceSum, DType::kInt32, DType::kInt32, reduced), sums);
    EXPECT_EQ(numbers(Op::kReduceMin, DType::kInt16, DType::kInt16, reduced), least);
    EXPECT_EQ(numbers(Op::kReduceMax, DType::kInt8, DType::kInt8, reduced), most);
    EXPECT_EQ(numbers(Op::kArgMax, DType::kInt8, DType::kInt32, without), first);
  }
}

// Result element -> operand element, by index.
template <typename From>
void expect_moved(Op op, const std::vector<Value>& inputs, const Grid& x, const Shape& result, const Attributes& a,
                  From&& from) {
  Numbers wanted;
  for_each_index(result, [&](const Index& to) { wanted.push_back(x.at(from(to)).value_or(-100)); });
  EXPECT_EQ((OperatorCase{op, inputs, DType::kInt8, result, a}.numbers()), wanted) << graph::name(op);
}

TEST_F(Definition, Moves) {
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const Grid x = grid({between(1, 4), between(1, 4), between(1, 4)});
    const Value in = integers(DType::kInt8, x);
    Attributes a;
    a.axis = round % 3;
    const auto axis = static_cast<size_t>(a.axis);
    expect_moved(Op::kReverse, {in}, x, x.shape, a, [&](Index to) {
      to[axis] = x.shape[axis] - 1 - to[axis];
      return to;
    });
    a.perms = {0, 1, 2};
    std::shuffle(a.perms.begin(), a.perms.end(), engine_);
    Shape transposed, repeated, start, size, multiples, padded, padding;
    for (size_t d = 0; d < 3; ++d) {
      transposed.push_back(x.shape[static_cast<size_t>(a.perms[d])]);
      multiples.push_back(between(1, 3));
      repeated.push_back(x.shape[d] * multiples[d]);
      start.push_back(between(0, x.shape[d] - 1));
      size.push_back(between(1, x.shape[d] - start[d]));
      padding.insert(padding.end(), {between(0, 2), between(0, 2)});
      padded.push_back(padding[2 * d] + x.shape[d] + padding[2 * d + 1]);
    }
    expect_moved(Op::kTranspose, {in}, x, transposed, a, [&](const Index& to) {
      Index from(3);
      for (size_t d = 0; d < 3; ++d) {
        from[static_cast<size_t>(a.perms[d])] = to[d];
      }
      return from;
    });
    expect_moved(Op::kTile, {in, dims(multiples)}, x, repeated, {}, [&](Index to) {
      std::transform(to.begin(), to.end(), x.shape.begin(), to.begin(), std::modulus<>());
      return to;
    });
    expect_moved(Op::kSlice, {in, dims(start), dims(size)}, x, size, {}, [&](Index to) {
      std::transform(to.begin(), to.end(), start.begin(), to.begin(), std::plus<>());
      return to;
    });
    expect_moved(Op::kPad, {in, dims(padding), i8({1}, {-100})}, x, padded, {}, [&](Index to) {
      for (size_t d = 0; d < 3; ++d) {
        to[d] -= padding[2 * d];
      }
      return to;
    });
    // Two halves of the whole, put together again.
    Shape first = x.shape, second = x.shape;
    first[axis] = between(1, 3);
    second[axis] = between(1, 3);
    Shape whole = x.shape;
    whole[axis] = first[axis] + second[axis];
    const Grid all = grid(whole);
    Grid parts[2] = {{first, {}}, {second, {}}};
    for_each_index(whole, [&](const Index& index) {
      parts[index[axis] < first[axis] ? 0 : 1].numbers.push_back(all.at(index).value());
    });
    expect_moved(Op::kConcat, {integers(DType::kInt8, parts[0]), integers(DType::kInt8, parts[1])}, all, whole, a,
                 [](const Index& to) { return to; });
  }
}

TEST_F(Definition, GatherAndScatter) {
  for (int round = 0; round < kRounds; ++round) {
    const int64_t n = between(1, 3), k = between(1, 5), c = between(1, 4), w = between(1, k);
    const Grid values = grid({n, k, c}), moved = grid({n, w, c});
    Grid indices{{n, w}, {}};
    for (int64_t i = 0; i < n; ++i) {
      Numbers places(static_cast<size_t>(k));
      std::iota(places.begin(), places.end(), 0);
      std::shuffle(places.begin(), places.end(), engine_);
      indices.numbers.insert(indices.numbers.end(), places.begin(), places.begin() + w);
    }
    const Value index = integers(DType::kInt32, indices);
    expect_moved(Op::kGather, {integers(DType::kInt8, values), index}, values, {n, w, c}, {}, [&](const Index& to) {
      return Index{to[0], indices.at({to[0], to[1]}).value(), to[2]};
    });
    Numbers wanted = values.numbers;
    for_each_index(moved.shape, [&](const Index& from) {
      const int64_t place = (from[0] * k + indices.at({from[0], from[1]}).value()) * c + from[2];
      wanted[static_cast<size_t>(place)] = moved.at(from).value();
    });
    const OperatorCase scatter{
        Op::kScatter, {integers(DType::kInt8, values), index, integers(DType::kInt8, moved)}, DType::kInt8, {n, k, c}};
    EXPECT_EQ(scatter.numbers(), wanted) << round;
  }
}

TEST_F(Definition, Resizes) {
  for (int round = 0; round < 4 * kRounds; ++round) {
    SCOPED_TRACE(round);
    const int64_t n = between(1, 2), c = between(1, 3);
    const Shape in{n, between(1, 6), between(1, 6), c};
    Numbers scale, offset, border;
    Shape result{n};
    for (const size_t d : {0, 1}) {
      const int64_t up = between(1, 6), down = between(1, 4);
      const int64_t shift = between(-up, std::min(2 * up, (in[d + 1] - 1) * up));
      const int64_t rest = ((in[d + 1] - 1) * up - shift) % down;  // the border takes it away
      scale.insert(scale.end(), {up, down});
      offset.push_back(shift);
      border.push_back(-rest);
      result.push_back(((in[d + 1] - 1) * up - shift - rest) / down + 1);
    }
    result.push_back(c);
    const Grid x = grid(in);
    // The operand between its pixels: the nearest one, or a mean with weights that add up to 1, times the scales.
    const auto pixel = [&](const Index& to, int64_t y, int64_t column) {
      return x.at({to[0], std::clamp<int64_t>(y, 0, in[1] - 1), std::clamp<int64_t>(column, 0, in[2] - 1), to[3]})
          .value();
    };
    Numbers nearest, bilinear;
    for_each_index(result, [&](const Index& to) {
      int64_t whole[2], part[2];
      for (const size_t d : {0, 1}) {
        const int64_t position = to[d + 1] * scale[2 * d + 1] + offset[d];
        part[d] = (position % scale[2 * d] + scale[2 * d]) % scale[2 * d];
        whole[d] = (position - part[d]) / scale[2 * d];
      }
      nearest.push_back(
          pixel(to, whole[0] + (2 * part[0] >= scale[0] ? 1 : 0), whole[1] + (2 * part[1] >= scale[2] ? 1 : 0)));
      const int64_t above =
          pixel(to, whole[0], whole[1]) * (scale[2] - part[1]) + pixel(to, whole[0], whole[1] + 1) * part[1];
      const int64_t below =
          pixel(to, whole[0] + 1, whole[1]) * (scale[2] - part[1]) + pixel(to, whole[0] + 1, whole[1] + 1) * part[1];
      bilinear.push_back(above * (scale[0] - part[0]) + below * part[0]);
    });
    Attributes a;
    const auto resized = [&](DType in_type, DType out_type) {
      return OperatorCase{
          Op::kResize, {integers(in_type, x), dims(scale), dims(offset), dims(border)}, out_type, result, a}
          .numbers();
    };
    a.resize_mode = graph::ResizeMode::kNearest;
    EXPECT_EQ(resized(DType::kInt8, DType::kInt8), nearest);
    EXPECT_EQ(resized(DType::kInt16, DType::kInt16), nearest);
    a.resize_mode = graph::ResizeMode::kBilinear;
    EXPECT_EQ(resized(DType::kInt8, DType::kInt32), bilinear);
    EXPECT_EQ(resized(DType::kInt16, DType::kInt48), bilinear);
  }
}

}  // namespace
}  // namespace npu::reference::test
