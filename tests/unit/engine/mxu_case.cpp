#include "tests/unit/engine/mxu_case.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "tests/unit/engine/scalar_math.h"

namespace npu::engine::testing {

using contract::Element;
using contract::MxuCommand;
using contract::MxuMode;
using contract::ParameterEntry;
using contract::ParameterHeader;
using contract::Rescale;

namespace {

int64_t out_size(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t dilation, int64_t stride) {
  return (in - 1 + before + after - (kernel - 1) * dilation) / stride + 1;
}

// Sum of products of one accumulator, padding skipped.
int64_t accumulate(const MxuCase& test, const MxuShape& shape, int64_t oy, int64_t ox, int64_t oc) {
  const MxuCommand& command = test.command;
  const uint8_t* src = test.memory.at(command.src);
  const uint8_t* weights = test.memory.at(command.weights);
  int64_t sum = 0;
  const bool depthwise = shape.mode == MxuMode::kDepthwise;
  for (int64_t ky = 0; ky < shape.kernel_h; ++ky) {
    for (int64_t kx = 0; kx < shape.kernel_w; ++kx) {
      const int64_t y = oy * shape.stride_y - shape.pad_top + ky * shape.dilation_y;
      const int64_t x = ox * shape.stride_x - shape.pad_left + kx * shape.dilation_x;
      if (y < 0 || y >= shape.in_h || x < 0 || x >= shape.in_w) continue;
      for (int64_t ic = 0; ic < shape.in_c; ++ic) {
        if (depthwise && ic != oc / shape.multiplier) continue;
        const int64_t tap = ky * shape.kernel_w + kx;
        int64_t row = oc, column = tap * shape.in_c + ic;
        if (depthwise) row = tap, column = oc;
        if (shape.mode == MxuMode::kMatmul) row = ic, column = oc;
        const uint8_t* element = src + y * command.src_row_stride + x * command.src_pixel_stride +
                                 ic * static_cast<int64_t>(element_bytes(command.src_type));
        const uint8_t* weight =
            weights + row * command.w_stride + column * static_cast<int64_t>(element_bytes(command.weight_type));
        sum +=
            (load(element, command.src_type) - shape.input_zp) * (load(weight, command.weight_type) - shape.weight_zp);
      }
    }
  }
  return sum;
}

std::vector<uint8_t> expect(const MxuCase& test, const MxuShape& shape) {
  std::vector<uint8_t> bytes = test.memory.scratchpad();
  const MxuCommand& command = test.command;
  const uint8_t* params = test.memory.at(command.params);
  const ParameterHeader header = ParameterHeader::load(params);
  const int acc_bits = shape.wide_src ? 48 : 32;
  for (int64_t oy = 0; oy < shape.out_h(); ++oy) {
    for (int64_t ox = 0; ox < shape.out_w(); ++ox) {
      for (int64_t oc = 0; oc < shape.out_c; ++oc) {
        const ParameterEntry entry =
            ParameterEntry::load(params + ParameterHeader::kBytes + oc * int64_t{ParameterEntry::kBytes});
        int64_t value = wrap(Wide{accumulate(test, shape, oy, ox, oc)} + entry.bias, acc_bits);
        if (shape.rescale != Rescale::kNone) {
          value = rescale(value, shape.rescale, entry, header, shape.dst_type, shape.output_unsigned);
        }
        const int64_t offset = int64_t{command.dst.offset} + oy * command.dst_row_stride +
                               ox * command.dst_pixel_stride + oc * static_cast<int64_t>(element_bytes(shape.dst_type));
        store(bytes.data() + offset, shape.dst_type, value);
      }
    }
  }
  return bytes;
}

void fill_params(uint8_t* to, const MxuShape& shape, Random& random) {
  ParameterHeader header;
  header.input_zp = shape.input_zp;
  header.weight_zp = shape.weight_zp;
  header.output_zp = shape.output_zp;
  header.clamp_min = shape.clamp_min;
  header.clamp_max = shape.clamp_max;
  header.store(to);
  const bool narrow_multiplier = shape.rescale == Rescale::kSingle16;
  for (int64_t oc = 0; oc < shape.out_c; ++oc) {
    ParameterEntry entry;
    const int64_t bias_bits = shape.wide_src ? (shape.extreme ? 46 : 30) : (shape.extreme ? 31 : 16);
    entry.bias = random.between(-(int64_t{1} << bias_bits), (int64_t{1} << bias_bits) - 1);
    const int64_t largest = narrow_multiplier ? 0x7fff : 0x7fffffff;
    entry.multiplier = static_cast<int32_t>(random.between(shape.extreme ? 0 : largest / 2, largest));
    if (shape.extreme && random.chance(30)) entry.multiplier = random.pick<int32_t>({0, 1, int32_t(largest)});
    const int64_t middle = narrow_multiplier ? 15 : 31;
    entry.shift = static_cast<int32_t>(shape.extreme ? random.between(2, 62) : random.between(middle, middle + 14));
    entry.store(to + ParameterHeader::kBytes + oc * int64_t{ParameterEntry::kBytes});
  }
}

void fill_elements(std::span<uint8_t> bytes, const MxuShape& shape, Random& random) {
  if (shape.constant_elements) {
    std::fill(bytes.begin(), bytes.end(), *shape.constant_elements);
    return;
  }
  random.fill(bytes);
  if (!shape.extreme) return;
  for (uint8_t& byte : bytes) {
    if (random.chance(60)) byte = random.pick<uint8_t>({0x80, 0x7f, 0xff, 0x00});
  }
}

}  // namespace

int64_t MxuShape::out_h() const { return out_size(in_h, pad_top, pad_bottom, kernel_h, dilation_y, stride_y); }
int64_t MxuShape::out_w() const { return out_size(in_w, pad_left, pad_right, kernel_w, dilation_x, stride_x); }

std::string MxuShape::describe() const {
  std::ostringstream text;
  text << name(mode) << " in " << in_h << 'x' << in_w << 'x' << in_c << " out " << out_h() << 'x' << out_w() << 'x'
       << out_c << " kernel " << kernel_h << 'x' << kernel_w << " stride " << stride_y << 'x' << stride_x
       << " dilation " << dilation_y << 'x' << dilation_x << " pad " << pad_top << ' ' << pad_left << ' ' << pad_bottom
       << ' ' << pad_right << " multiplier " << multiplier << " wide " << wide_src << ' ' << wide_weights
       << " zero points " << input_zp << ' ' << weight_zp << ' ' << output_zp << " clamp " << clamp_min << ' '
       << clamp_max << " gap " << gap << " rescale " << name(rescale) << " to " << name(dst_type)
       << (output_unsigned ? " unsigned" : "") << (extreme ? " extreme" : "");
  return text.str();
}

MxuShape random_shape(Random& random) {
  MxuShape shape;
  shape.mode = random.pick({MxuMode::kConv, MxuMode::kConv, MxuMode::kDepthwise, MxuMode::kMatmul});
  const bool matmul = shape.mode == MxuMode::kMatmul;
  shape.wide_src = random.chance(35);
  shape.wide_weights = matmul && shape.wide_src;
  shape.in_c = random.pick<int64_t>({1, 2, 3, 4, 5, 8, 13, 16, 17, 31, 32, 40, 64, 65, 100, 257});
  shape.out_c = random.pick<int64_t>({1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 48, 50, 70});
  if (matmul) {
    shape.in_w = random.between(1, 40);
  } else {
    shape.kernel_h = random.pick<int64_t>({1, 1, 2, 3, 3, 5});
    shape.kernel_w = random.pick<int64_t>({1, 1, 2, 3, 3, 5});
    shape.stride_y = random.pick<int64_t>({1, 1, 1, 2, 3});
    shape.stride_x = random.pick<int64_t>({1, 1, 1, 2, 3});
    shape.dilation_y = random.pick<int64_t>({1, 1, 1, 2, 3});
    shape.dilation_x = random.pick<int64_t>({1, 1, 1, 2, 3});
    shape.in_h = random.between(1, 9);
    shape.in_w = random.between(1, 12);
    shape.pad_top = random.between(-1, 3);
    shape.pad_left = random.between(-1, 3);
    shape.pad_bottom = random.between(-1, 3);
    shape.pad_right = random.between(-1, 3);
    // At least one output.
    shape.pad_bottom =
        std::max(shape.pad_bottom, (shape.kernel_h - 1) * shape.dilation_y + 1 - shape.in_h - shape.pad_top);
    shape.pad_right =
        std::max(shape.pad_right, (shape.kernel_w - 1) * shape.dilation_x + 1 - shape.in_w - shape.pad_left);
  }
  if (shape.mode == MxuMode::kDepthwise) {
    shape.multiplier = random.pick<int64_t>({1, 1, 1, 2, 3, 8});
    shape.out_c = shape.in_c * shape.multiplier;
  }
  shape.rescale = random.pick({Rescale::kNone, Rescale::kSingle32, Rescale::kDouble32, Rescale::kSingle16});
  if (shape.wide_src && shape.rescale != Rescale::kNone) shape.rescale = Rescale::kSingle16;
  if (shape.rescale == Rescale::kNone) {
    shape.dst_type = shape.wide_src ? Element::kI48 : Element::kI32;
  } else {
    shape.dst_type = random.pick({Element::kI8, Element::kI8, Element::kI16, Element::kI32});
    shape.output_unsigned = shape.dst_type != Element::kI32 && random.chance(30);
    shape.output_zp = static_cast<int32_t>(random.between(-128, 127));
    if (random.chance(50)) {
      shape.clamp_min = static_cast<int32_t>(random.between(-128, 0));
      shape.clamp_max = static_cast<int32_t>(random.between(0, 127));
    }
  }
  if (!shape.wide_src) {
    shape.input_zp = static_cast<int32_t>(random.pick<int64_t>({-128, 0, 127, random.between(-128, 127)}));
    shape.weight_zp = random.chance(40) ? static_cast<int32_t>(random.between(-128, 127)) : 0;
  } else if (random.chance(20)) {
    // Outside the operator's conditions, but the contract has the fields.
    shape.input_zp = static_cast<int32_t>(random.between(-32768, 32767));
    shape.weight_zp = static_cast<int32_t>(random.between(-128, 127));
  }
  shape.gap = random.chance(40) ? random.between(1, 9) : 0;
  shape.extreme = random.chance(30);
  return shape;
}

MxuCase make_case(const MxuShape& shape, Random& random) {
  MxuCase test;
  MxuCommand& command = test.command;
  command.header.opcode = contract::Opcode::kMxu;
  command.header.queue = contract::Queue::kMxu;
  command.mode = shape.mode;
  command.rescale = shape.rescale;
  command.src_type = shape.wide_src ? Element::kI16 : Element::kI8;
  command.weight_type = shape.wide_weights ? Element::kI16 : Element::kI8;
  command.dst_type = shape.dst_type;
  command.output_unsigned = shape.output_unsigned;
  const auto field = [](int64_t value) { return static_cast<uint32_t>(value); };
  command.in_h = field(shape.in_h);
  command.in_w = field(shape.in_w);
  command.in_c = field(shape.in_c);
  command.out_h = field(shape.out_h());
  command.out_w = field(shape.out_w());
  command.out_c = field(shape.out_c);
  command.kernel_h = field(shape.kernel_h);
  command.kernel_w = field(shape.kernel_w);
  command.stride_y = field(shape.stride_y);
  command.stride_x = field(shape.stride_x);
  command.dilation_y = field(shape.dilation_y);
  command.dilation_x = field(shape.dilation_x);
  command.pad_top = static_cast<int32_t>(shape.pad_top);
  command.pad_left = static_cast<int32_t>(shape.pad_left);
  command.multiplier = field(shape.multiplier);

  const auto stride = [](int64_t bytes) { return static_cast<int32_t>(bytes); };
  const int64_t src_bytes = element_bytes(command.src_type), w_bytes = element_bytes(command.weight_type),
                dst_bytes = element_bytes(command.dst_type);
  command.src_pixel_stride = stride(shape.in_c * src_bytes + shape.gap);
  command.src_row_stride = stride(command.src_pixel_stride * shape.in_w + shape.gap);
  command.dst_pixel_stride = stride(shape.out_c * dst_bytes + shape.gap);
  command.dst_row_stride = stride(command.dst_pixel_stride * shape.out_w() + shape.gap);
  int64_t weight_rows = shape.out_c, weight_row = shape.kernel_h * shape.kernel_w * shape.in_c;
  if (shape.mode == MxuMode::kDepthwise) weight_rows = shape.kernel_h * shape.kernel_w, weight_row = shape.out_c;
  if (shape.mode == MxuMode::kMatmul) weight_rows = shape.in_c, weight_row = shape.out_c;
  command.w_stride = stride(weight_row * w_bytes + shape.gap);

  int64_t at = 0;
  const auto place = [&](int64_t bytes) {
    at += random.between(1, 17);
    const contract::Address address = scratchpad(static_cast<uint32_t>(at));
    at += bytes;
    return address;
  };
  const int64_t src_size = command.src_row_stride * shape.in_h, weight_size = command.w_stride * weight_rows;
  command.src = place(src_size);
  command.weights = place(weight_size);
  command.params = place(ParameterHeader::kBytes + shape.out_c * int64_t{ParameterEntry::kBytes});
  command.dst = place(command.dst_row_stride * shape.out_h());
  test.memory = TestMemory(static_cast<size_t>(at + 32));
  fill_elements({test.memory.at(command.src), static_cast<size_t>(src_size)}, shape, random);
  fill_elements({test.memory.at(command.weights), static_cast<size_t>(weight_size)}, shape, random);
  fill_params(test.memory.at(command.params), shape, random);
  test.words = encode(command);
  test.expected = expect(test, shape);
  test.elements = shape.out_h() * shape.out_w() * shape.out_c;
  return test;
}

}  // namespace npu::engine::testing
