// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/step_math.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "hw/contract/error.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;
using contract::Rescale;
using contract::Uop;
using contract::UopCode;

int64_t bits_of(Element type) {
  return type == Element::kI48 ? 48 : type == Element::kBool ? 8 : 8 * element_bytes(type);
}
int64_t sign_extend(int64_t value, int64_t bits) {
  const auto shift = static_cast<uint32_t>(64 - bits);
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}
int64_t wrap32(int64_t value) { return static_cast<int32_t>(value); }

int64_t scaled(int64_t value, const contract::ParameterEntry& entry, Rescale kind) {
  const int64_t shift = std::clamp(entry.shift, 1, 62);
  int64_t round = int64_t{1} << (shift - 1);
  if (kind == Rescale::kDouble32 && shift > 31) round += value >= 0 ? int64_t{1} << 30 : -(int64_t{1} << 30);
  __extension__ using Wide = __int128;
  const Wide product = static_cast<Wide>(value) * entry.multiplier + round;
  return static_cast<int64_t>(product >> shift);
}

// AVG_POOL2D divides by a reciprocal of 31 bits.
int64_t mean(int64_t sum, int64_t count) {
  const int64_t k = 32 - std::countl_zero(static_cast<uint32_t>(count - 1));
  const int64_t multiplier = (((int64_t{1} << 30) + 1) << k) / count, shift = 30 + k;
  return (sum * multiplier + (int64_t{1} << (shift - 1))) >> shift;
}

int64_t clip(int64_t value, Element type, bool is_unsigned) {
  const int64_t bits = bits_of(type);
  const int64_t low = is_unsigned ? 0 : -(int64_t{1} << (bits - 1));
  const int64_t high = is_unsigned ? (int64_t{1} << bits) - 1 : (int64_t{1} << (bits - 1)) - 1;
  return std::clamp(value, low, high);
}

// The operators of an addition behind a value that has been rescaled to int8.
int64_t added(int64_t value, int64_t operand, const OutputStage& s) {
  const auto scale = [&](int64_t side, int32_t multiplier, int32_t shift) {
    contract::ParameterEntry entry;
    entry.multiplier = multiplier;
    entry.shift = shift;
    return scaled(side, entry, s.rescale);
  };
  int64_t from_value = (value - s.header.value_zp) * (int64_t{1} << s.value_left);
  int64_t from_operand = (operand - s.header.residual_zp) * (int64_t{1} << s.residual_left);
  int64_t& side = s.adds == contract::Residual::kScaleOperand ? from_operand : from_value;
  side = scale(side, s.header.residual_multiplier, s.header.residual_shift);
  return scale(from_value + from_operand, s.header.sum_multiplier, s.header.sum_shift);
}

int64_t finish(int64_t sum, std::array<int64_t, 3> at, const OutputStage& s) {
  const int64_t channel = at[2];
  const contract::ParameterEntry& entry = s.entries[s.entries.size() == 1 ? 0 : static_cast<size_t>(channel)];
  int64_t value = sum + entry.bias;
  if (s.rescale == Rescale::kNone) return value;
  value = scaled(value, entry, s.rescale);
  if (s.adds != contract::Residual::kNone) {
    value = clip(value + s.header.value_zp, Element::kI8, false);
    value = added(value, s.residual.get({at[0], at[1], at[2]}), s);
  }
  value += s.header.output_zp;
  value = clip(value, s.type, s.output_unsigned);
  return std::clamp<int64_t>(value, s.header.clamp_min, s.header.clamp_max);
}

// Elements `step` bytes apart, less `zero_point`.
struct Row {
  const uint8_t* first;
  int64_t step;
  Element type;
  int64_t zero_point;
};

// The sum of the products of two rows. Types are looked at once a row: most of the time of the tests is spent here.
int64_t dot(const Row& a, const Row& b, int64_t count) {
  const auto sum_of = [&](const auto& load_a, const auto& load_b) {
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum += (load_a(a.first + i * a.step) - a.zero_point) * (load_b(b.first + i * b.step) - b.zero_point);
    }
    return sum;
  };
  const auto i8 = [](const uint8_t* at) -> int64_t { return static_cast<int8_t>(*at); };
  const auto i16 = [](const uint8_t* at) -> int64_t { return contract::detail::load<int16_t>(at); };
  if (a.type == Element::kI8 && b.type == Element::kI8) return sum_of(i8, i8);
  if (a.type == Element::kI16 && b.type == Element::kI8) return sum_of(i16, i8);
  return sum_of([&](const uint8_t* at) { return load_element(at, a.type); },
                [&](const uint8_t* at) { return load_element(at, b.type); });
}

}  // namespace

int64_t load_element(const uint8_t* at, Element type) {
  switch (type) {
    case Element::kI8:
      return static_cast<int8_t>(*at);
    case Element::kI16:
      return contract::detail::load<int16_t>(at);
    case Element::kI32:
      return contract::detail::load<int32_t>(at);
    case Element::kI48:
      return contract::detail::load<int64_t>(at);
    case Element::kBool:
      return *at;
    case Element::kF16:
    case Element::kBf16:
    case Element::kF32:
    case Element::kF8e4m3:
    case Element::kF8e5m2:
      break;
  }
  panic(__FILE__, __LINE__, "an element that the interpreter does not know");
}

void store_element(uint8_t* at, Element type, int64_t value) {
  switch (element_bytes(type)) {
    case 1:
      *at = static_cast<uint8_t>(value);
      break;
    case 2:
      contract::detail::store(at, static_cast<int16_t>(value));
      break;
    case 4:
      contract::detail::store(at, static_cast<int32_t>(value));
      break;
    default:
      contract::detail::store(at, sign_extend(value, 48));
  }
}

uint8_t* Strided::at(std::span<const int64_t> index) const {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return first + offset;
}
uint8_t* Strided::at(std::initializer_list<int64_t> index) const {
  return at(std::span<const int64_t>(index.begin(), index.size()));
}
int64_t Strided::get(std::initializer_list<int64_t> index) const { return load_element(at(index), type); }
void Strided::set(std::initializer_list<int64_t> index, int64_t value) const { store_element(at(index), type, value); }

void conv(const Strided& src, std::array<int64_t, 3> in, const Strided& weights, const Strided& dst,
          std::array<int64_t, 3> out, const WindowMath& w, const OutputStage& stage) {
  for (int64_t y = 0; y < out[0]; ++y) {
    for (int64_t x = 0; x < out[1]; ++x) {
      for (int64_t o = 0; o < out[2]; ++o) {
        int64_t sum = 0;
        for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
            const int64_t iy = y * w.stride_y - w.pad_top + ky * w.dilation_y;
            const int64_t ix = x * w.stride_x - w.pad_left + kx * w.dilation_x;
            if (iy < 0 || iy >= in[0] || ix < 0 || ix >= in[1]) continue;
            sum += dot({src.at({iy, ix, 0}), src.strides[2], src.type, stage.header.input_zp},
                       {weights.at({o, ky, kx, 0}), weights.strides[3], weights.type, stage.header.weight_zp}, in[2]);
          }
        }
        dst.set({y, x, o}, finish(sum, {y, x, o}, stage));
      }
    }
  }
}

void depthwise(const Strided& src, std::array<int64_t, 3> in, const Strided& weights, const Strided& dst,
               std::array<int64_t, 3> out, const WindowMath& w, int64_t multiplier, const OutputStage& stage) {
  for (int64_t y = 0; y < out[0]; ++y) {
    for (int64_t x = 0; x < out[1]; ++x) {
      for (int64_t o = 0; o < out[2]; ++o) {
        const int64_t c = o / multiplier, m = o % multiplier;
        int64_t sum = 0;
        for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
            const int64_t iy = y * w.stride_y - w.pad_top + ky * w.dilation_y;
            const int64_t ix = x * w.stride_x - w.pad_left + kx * w.dilation_x;
            if (iy < 0 || iy >= in[0] || ix < 0 || ix >= in[1]) continue;
            sum +=
                (src.get({iy, ix, c}) - stage.header.input_zp) * (weights.get({ky, kx, c, m}) - stage.header.weight_zp);
          }
        }
        dst.set({y, x, o}, finish(sum, {y, x, o}, stage));
      }
    }
  }
}

void matmul(const Strided& src, const Strided& weights, const Strided& dst, int64_t rows, int64_t c, int64_t columns,
            const OutputStage& stage) {
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      const int64_t sum = dot({src.at({y, 0}), src.strides[1], src.type, stage.header.input_zp},
                              {weights.at({0, x}), weights.strides[0], weights.type, stage.header.weight_zp}, c);
      dst.set({y, x}, finish(sum, {0, y, x}, stage));
    }
  }
}

void ewise(std::span<const int64_t> dims, std::span<const EwiseOperand> operands, std::span<const Uop> uops,
           uint32_t registers) {
  std::vector<int64_t> index(dims.size());
  std::vector<int64_t> r(registers);
  for (;;) {
    for (const Uop& u : uops) {
      const auto a = [&] { return r[u.a]; };
      const auto b = [&] { return r[u.b]; };
      switch (u.op) {
        case UopCode::kLoad: {
          const Strided& s = operands[u.a].stream;
          int64_t value = load_element(s.at(index), s.type);
          if ((u.imm0 & 1) != 0) value &= (int64_t{1} << bits_of(s.type)) - 1;
          r[u.dst] = value;
          break;
        }
        case UopCode::kStore: {
          const Strided& s = operands[u.b].stream;
          store_element(s.at(index), s.type, a());
          break;
        }
        case UopCode::kAdd:
          r[u.dst] = wrap32(a() + b());
          break;
        case UopCode::kSub:
          r[u.dst] = wrap32(a() - b());
          break;
        case UopCode::kMul:
          r[u.dst] =
              u.imm0 == 0 ? wrap32(a() * b()) : wrap32((a() * wrap32(b()) + (int64_t{1} << (u.imm0 - 1))) >> u.imm0);
          break;
        case UopCode::kMax:
          r[u.dst] = std::max(a(), b());
          break;
        case UopCode::kMin:
          r[u.dst] = std::min(a(), b());
          break;
        case UopCode::kClamp:
          r[u.dst] = std::min<int64_t>(std::max<int64_t>(a(), u.imm0), u.imm1);
          break;
        case UopCode::kAbs:
          r[u.dst] = wrap32(a() < 0 ? -a() : a());
          break;
        case UopCode::kNegate:
          r[u.dst] = clip(u.imm1 - (a() - u.imm0), static_cast<Element>(u.b), false);
          break;
        case UopCode::kClz:
          r[u.dst] = std::countl_zero(static_cast<uint32_t>(a()));
          break;
        case UopCode::kBitAnd:
          r[u.dst] = a() & b();
          break;
        case UopCode::kBitOr:
          r[u.dst] = a() | b();
          break;
        case UopCode::kBitXor:
          r[u.dst] = a() ^ b();
          break;
        case UopCode::kBitNot:
          r[u.dst] = ~a();
          break;
        case UopCode::kShl:
          r[u.dst] = sign_extend(static_cast<int64_t>(static_cast<uint64_t>(a()) << (b() & 63)),
                                 bits_of(static_cast<Element>(u.imm0)));
          break;
        case UopCode::kShrLogical: {
          const int64_t bits = bits_of(static_cast<Element>(u.imm0));
          r[u.dst] = sign_extend((a() & ((int64_t{1} << bits) - 1)) >> (b() & 63), bits);
          break;
        }
        case UopCode::kShrArith: {
          int64_t value = a() >> (b() & 63);
          if (u.imm0 == 1 && b() > 0 && ((a() >> (b() - 1)) & 1) != 0) ++value;
          r[u.dst] = value;
          break;
        }
        case UopCode::kEq:
          r[u.dst] = a() == b();
          break;
        case UopCode::kGt:
          r[u.dst] = a() > b();
          break;
        case UopCode::kGe:
          r[u.dst] = a() >= b();
          break;
        case UopCode::kSelect:
          r[u.dst] = r[static_cast<size_t>(u.imm0)] != 0 ? a() : b();
          break;
        case UopCode::kLogicalNot:
          r[u.dst] = a() == 0;
          break;
        case UopCode::kRescale: {
          const uint8_t* block = operands[u.b].blob;
          const auto header = contract::ParameterHeader::load(block);
          const bool per_channel = (u.imm0 >> 8 & 1) != 0;
          const int64_t channel = per_channel ? index.back() : 0;
          const auto entry = contract::ParameterEntry::load(block + contract::ParameterHeader::kBytes +
                                                            channel * contract::ParameterEntry::kBytes);
          const int64_t value =
              scaled(a() - header.input_zp, entry, static_cast<Rescale>(u.imm0 & 0xff)) + header.output_zp;
          const int64_t clipped = clip(value, static_cast<Element>(u.imm0 >> 16 & 0xff), (u.imm0 >> 24 & 1) != 0);
          r[u.dst] = std::clamp<int64_t>(clipped, header.clamp_min, header.clamp_max);
          break;
        }
        case UopCode::kTable8:
          r[u.dst] = static_cast<int8_t>(operands[u.b].blob[a() + 128]);
          break;
        case UopCode::kTable16: {
          const int64_t shifted = std::clamp<int64_t>(a(), -32768, 32767) + 32768, slot = shifted >> 7,
                        part = shifted & 127;
          const int64_t base = contract::detail::load<int16_t>(operands[u.b].blob + 2 * slot);
          const int64_t next = contract::detail::load<int16_t>(operands[u.b].blob + 2 * (slot + 1));
          r[u.dst] = base * 128 + (next - base) * part;
          break;
        }
        case UopCode::kTable32: {
          const int64_t slot = std::clamp<int64_t>(a() - u.imm0, 0, 255);
          r[u.dst] = contract::detail::load<int32_t>(operands[u.b].blob + 4 * slot);
          break;
        }
        case UopCode::kCast:
          r[u.dst] = static_cast<Element>(u.imm0) == Element::kBool
                         ? a() != 0
                         : sign_extend(a(), bits_of(static_cast<Element>(u.imm0)));
          break;
        case UopCode::kIntdiv:
          r[u.dst] = b() == 0 ? 0 : wrap32(a() / b());
          break;
        default:
          panic(__FILE__, __LINE__, "a micro-operation that the interpreter does not know");
      }
    }
    size_t d = dims.size();
    while (d > 0 && ++index[d - 1] == dims[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

void pool(contract::PoolMode mode, const Strided& src, std::array<int64_t, 3> in, const Strided& dst,
          std::array<int64_t, 3> out, const WindowMath& w, int32_t input_zp, int32_t output_zp) {
  for (int64_t y = 0; y < out[0]; ++y) {
    for (int64_t x = 0; x < out[1]; ++x) {
      for (int64_t c = 0; c < out[2]; ++c) {
        int64_t best = std::numeric_limits<int64_t>::min(), sum = 0, count = 0;
        for (int64_t ky = 0; ky < w.kernel_h; ++ky) {
          for (int64_t kx = 0; kx < w.kernel_w; ++kx) {
            const int64_t iy = y * w.stride_y - w.pad_top + ky, ix = x * w.stride_x - w.pad_left + kx;
            if (iy < 0 || iy >= in[0] || ix < 0 || ix >= in[1]) continue;
            const int64_t value = src.get({iy, ix, c});
            best = std::max(best, value);
            sum += value - input_zp;
            ++count;
          }
        }
        const int64_t average = count == 0 ? 0 : clip(mean(sum, count) + output_zp, src.type, false);
        dst.set({y, x, c}, mode == contract::PoolMode::kMax ? best : average);
      }
    }
  }
}

void reduce(contract::ReduceOp op, const Strided& src, const Strided& dst, int64_t outer, int64_t axis, int64_t inner) {
  using contract::ReduceOp;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      int64_t value = src.get({o, 0, i});
      int64_t best = 0;
      for (int64_t a = 1; a < axis; ++a) {
        const int64_t next = src.get({o, a, i});
        switch (op) {
          case ReduceOp::kSum:
            value = wrap32(value + next);
            break;
          case ReduceOp::kProduct:
            value = wrap32(value * next);
            break;
          case ReduceOp::kMax:
            value = std::max(value, next);
            break;
          case ReduceOp::kMin:
            value = std::min(value, next);
            break;
          case ReduceOp::kAll:
            value = value != 0 && next != 0;
            break;
          case ReduceOp::kAny:
            value = value != 0 || next != 0;
            break;
          case ReduceOp::kArgmax:
            if (next > value) {
              value = next;
              best = a;
            }
            break;
        }
      }
      dst.set({o, i}, op == ReduceOp::kArgmax ? best : value);
    }
  }
}

}  // namespace npu::compiler::testing
