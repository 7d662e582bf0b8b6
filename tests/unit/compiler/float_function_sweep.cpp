// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/float_function_sweep.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include "driver/compiler/lower/registers.h"
#include "hw/contract/error.h"
#include "hw/contract/uop_fields.h"
#include "hw/engine/kernels.h"
#include "hw/engine/vpu_uops.h"
#include "tests/unit/compiler/float_function_bounds.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;
using contract::Uop;
using contract::UopCode;
using graph::Op;

constexpr uint32_t kMostRegisters = 16;

}  // namespace

FloatProgram::FloatProgram(Op op, Element type, bool cast) : type_(type), inputs_(op == Op::kPow ? 2 : 1) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < inputs_; ++i) in.push_back(emit({UopCode::kLoad, 0, i, 0, 0, 0}));
  uint32_t result = emit_float_function(op, in, *this, type);
  if (cast) result = emit({UopCode::kFcast, 0, result, 0, static_cast<int32_t>(type), 0});
  uops_.push_back({UopCode::kStore, 0, result, static_cast<uint32_t>(inputs_), 0, 0});
  loads_before_use(uops_);
  registers_ = allocate_registers(uops_);
}

uint32_t FloatProgram::emit(Uop uop) {
  const auto [place, is_new] = known_.try_emplace({uop.op, uop.a, uop.b, uop.imm0, uop.imm1}, values_);
  if (!is_new) return place->second;
  uop.dst = values_++;
  uops_.push_back(uop);
  return uop.dst;
}

uint32_t FloatProgram::constant(uint32_t pattern, uint32_t seed) {
  const auto value = static_cast<int32_t>(pattern);
  return emit({UopCode::kClamp, 0, seed, 0, value, value});
}

void FloatProgram::run(const std::vector<std::span<const uint32_t>>& operands, std::span<uint32_t> results) const {
  NPU_CHECK(registers_ <= kMostRegisters && operands.size() == inputs_);
  const engine::Kernels& kernels = engine::best_kernels();
  const size_t width = contract::element_bytes(type_);
  std::vector<engine::UopRescale> ranges(uops_.size());
  for (engine::UopRescale& range : ranges) range.low = INT32_MIN, range.high = INT32_MAX;  // of a negation
  std::vector<int64_t> registers(kMostRegisters * engine::kBlockElements);
  std::vector<uint8_t> bytes((inputs_ + 1) * engine::kBlockElements * sizeof(uint32_t));
  std::vector<engine::UopStream> streams(this->operands());
  const auto data = [&](size_t stream) { return bytes.data() + stream * engine::kBlockElements * sizeof(uint32_t); };
  for (size_t i = 0; i < inputs_; ++i) streams[i] = {data(i), 0, static_cast<int64_t>(width), type_};
  streams.back() = {data(inputs_), 0, static_cast<int64_t>(width), type_};
  const auto at = [&](size_t stream, size_t i) { return data(stream) + i * width; };
  for (size_t first = 0; first < results.size(); first += engine::kBlockElements) {
    const size_t count = std::min(engine::kBlockElements, results.size() - first);
    for (size_t k = 0; k < inputs_; ++k) {
      for (size_t i = 0; i < count; ++i) std::memcpy(at(k, i), &operands[k][first + i], width);
    }
    kernels.uops({uops_, 1, count, registers.data(), streams.data(), nullptr, ranges.data()});
    for (size_t i = 0; i < count; ++i) {
      results[first + i] = 0;
      std::memcpy(&results[first + i], at(inputs_, i), width);
    }
  }
}

void compare(const FloatProgram& program, Op op, Element type, std::span<const uint32_t> x, std::span<const uint32_t> y,
             FloatErrors& errors) {
  std::vector<uint32_t> results(x.size());
  std::vector<std::span<const uint32_t>> operands = {x};
  if (op == Op::kPow) operands.push_back(y);
  program.run(operands, results);
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = float_of(type, x[i]), b = op == Op::kPow ? float_of(type, y[i]) : 0;
    if (!is_defined(op, a, b)) continue;
    ++errors.compared;
    const double got = float_of(type, results[i]), want = float_reference(op, a, b);
    const double share = error_share(op, type, {a, b}, got, want);
    const double ulp = error_ulp(op, type, a, got, want);
    errors.ulp = std::max(errors.ulp, ulp);
    if (share <= errors.share) continue;
    errors.share = share;
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "of %.9g, %.9g (patterns %#x, %#x): %.9g, not %.12g", a, b, x[i],
                  op == Op::kPow ? y[i] : 0, got, want);
    errors.worst = text.data();
  }
}

namespace {

constexpr size_t kAtOnce = 1 << 16;

// Patterns of one operand, which go to compare() some at a time.
class Batch {
 public:
  Batch(const FloatProgram& program, Op op, Element type, FloatErrors& errors)
      : program_(program), op_(op), type_(type), errors_(errors) {}
  void add(uint32_t x, uint32_t y = 0) {
    x_.push_back(x);
    y_.push_back(y);
    if (x_.size() == kAtOnce) flush();
  }
  void flush() {
    compare(program_, op_, type_, x_, y_, errors_);
    x_.clear();
    y_.clear();
  }

 private:
  const FloatProgram& program_;
  const Op op_;
  const Element type_;
  FloatErrors& errors_;
  std::vector<uint32_t> x_, y_;
};

// FP32 numbers where programs may change what they do.
std::vector<uint32_t> corners() {
  constexpr uint32_t kNear = 64;
  std::vector<uint32_t> patterns;
  for (uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (uint32_t i = 0; i < 2 * kNear; ++i) {
      const uint32_t pattern = ((exponent << 23) - kNear + i) & 0x7fffffff;
      patterns.push_back(pattern);
      patterns.push_back(pattern | 0x80000000);
    }
  }
  return patterns;
}

// Every third base of 16 bits, or as many of 32, with exponents from tiny ones to some thousand.
void pow_grid(Element type, Batch& batch) {
  const std::array<double, 25> exponents = {0,   1e-6, 1e-3, 0.1, 1.0 / 3, 0.5, 0.9, 1,   1.5,  2,   2.5, 3,  4,
                                            5.7, 7,    10,   17,  31,      64,  100, 333, 1024, 3e4, 5e4, 1e6};
  for (uint32_t i = 0; i < 1 << 15; i += 3) {
    const uint32_t x = type == Element::kF32 ? i << 16 | (i * 0x9e37U & 0xffff) : i;
    for (const double exponent : exponents) {
      for (const double y : {exponent, -exponent}) batch.add(x, pattern_of(type, y));
    }
  }
}

// Bases of any size, or near 1, and exponents that make results from the smallest to the largest number of them.
void pow_random(Element type, uint32_t count, Batch& batch) {
  constexpr uint32_t kSeed = 17;
  std::mt19937 random(kSeed);
  const auto unit = [&] { return static_cast<double>(random()) / 4294967296.0; };
  const double most = std::log(largest_float(type)) * 1.1;
  for (uint32_t i = 0; i < count; ++i) {
    const double wanted = (2 * unit() - 1) * most;
    const double logarithm = (2 * unit() - 1) * most * std::pow(2.0, -24 * unit());
    const uint32_t x = pattern_of(type, std::exp(logarithm));
    const double exact = std::log(static_cast<double>(float_of(type, x)));
    batch.add(x, pattern_of(type, exact == 0 ? wanted : wanted / exact));
  }
}

}  // namespace

FloatErrors sweep(const FloatProgram& program, Op op, Element type, uint32_t step) {
  FloatErrors errors;
  Batch batch(program, op, type, errors);
  if (op == Op::kPow) {
    pow_grid(type, batch);
    pow_random(type, UINT32_MAX / step / 4, batch);
  } else if (type != Element::kF32) {
    for (uint32_t x = 0; x < 1 << 16; ++x) batch.add(x);
  } else {
    for (uint64_t x = 0; x < uint64_t{1} << 32; x += step) batch.add(static_cast<uint32_t>(x));
    for (const uint32_t x : corners()) batch.add(x);
  }
  batch.flush();
  return errors;
}

std::string float_name(Element type) {
  return type == Element::kF32 ? "fp32" : type == Element::kF16 ? "fp16" : "bf16";
}

}  // namespace npu::compiler::testing
