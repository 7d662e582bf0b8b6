// SPDX-License-Identifier: Apache-2.0
// Random modules: chains with branches over int8 tensors of rank 4.
#include <algorithm>

#include "driver/compiler/schedule/view.h"
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;
using Dims = std::vector<int64_t>;

class Generator {
 public:
  explicit Generator(uint32_t seed, int64_t most_pixels = 14, int64_t most_channels = 40)
      : b_(seed), most_pixels_(most_pixels), most_channels_(most_channels) {}

  Module run(int steps) {
    const bool pixel = chance(15);
    Dims dims{b_.pick(1, 3), pixel ? 1 : size(most_pixels_), pixel ? 1 : size(most_pixels_), size(most_channels_)};
    tensors_.push_back(b_.input(dims));
    if (b_.pick(0, 3) == 0) tensors_.push_back(b_.variable({1, b_.pick(1, 6), b_.pick(1, 6), b_.pick(1, 20)}));
    const size_t state = tensors_.size();
    for (int i = 0; i < steps; ++i) add_step(i + 1 == steps || b_.pick(0, 5) == 0);
    if (state == 2 && b_.pick(0, 1) == 0) {  // a new state, by copies of two halves
      const View& v = tensors_[1];
      View low = v, high = v;
      low.dims[3] = (v.dims[3] + 1) / 2;
      high.dims[3] = v.dims[3] / 2;
      high.offset += low.dims[3];
      b_.fill(low, 0x5a);
      if (high.dims[3] > 0) {
        b_.copy(b_.constant(high.dims), high, true);
      } else {
        b_.module.steps.back().commit = true;
      }
    }
    return std::move(b_.module);
  }

  // Steps on large images, each on the result of the one before, as a network has them at its beginning.
  Module run_image(int steps, int64_t images) {
    tensors_.push_back(b_.input({images, b_.pick(12, 40), b_.pick(8, 32), b_.pick(3, 24)}));
    for (int i = 0; i < steps; ++i) add_step(i + 1 == steps, image_kind(), tensors_.back());
    return std::move(b_.module);
  }

  // The same with results that several steps read, near and far, as residual blocks have them.
  Module run_branches(int steps, int64_t images) {
    tensors_.push_back(b_.input({images, b_.pick(12, 40), b_.pick(8, 32), b_.pick(3, 24)}));
    for (int i = 0; i < steps; ++i) {
      const bool output = i + 1 == steps;
      const View src = recent();
      std::vector<View> alike;
      for (const View& v : tensors_) {
        if (v.dims == src.dims && v.buffer != src.buffer) alike.push_back(v);
      }
      if (chance(25)) {
        add_step(output, image_kind(), src);
      } else if (!alike.empty() && chance(60)) {
        const View dst = b_.tensor(src.dims, Element::kI8, output);
        const View& other = alike[static_cast<size_t>(b_.pick(0, static_cast<int64_t>(alike.size()) - 1))];
        const bool merged = images > 1 && chance(50);  // as the front end makes steps of one dimension
        b_.add(merged ? flat(src) : src, merged ? flat(other) : other, merged ? flat(dst) : dst);
        done(dst);
      } else {  // the result has the size of the source
        ConvShape s;
        s.kernel_h = s.kernel_w = chance(50) ? 1 : 3;
        s.pad_top = s.pad_bottom = s.pad_left = s.pad_right = s.kernel_h / 2;
        const View dst = b_.tensor(src.dims, Element::kI8, output);
        b_.conv(src, dst, s);
        done(dst);
      }
    }
    return std::move(b_.module);
  }

 private:
  static View flat(View view) {
    view.dims = {elements(view.dims)};
    view.strides = {1};
    return view;
  }
  int image_kind() {
    static constexpr int kKinds[] = {0, 3, 4, 6, 8, 9};
    return kKinds[b_.pick(0, 5)];
  }
  bool chance(int percent) { return b_.pick(1, 100) <= percent; }
  // Of a dimension: 1 is frequent.
  int64_t size(int64_t most) { return chance(15) ? 1 : b_.pick(1, most); }
  View any() { return tensors_[static_cast<size_t>(b_.pick(0, static_cast<int64_t>(tensors_.size()) - 1))]; }
  View recent() { return b_.pick(0, 3) == 0 ? any() : tensors_.back(); }

  void add_step(bool output) { add_step(output, static_cast<int>(b_.pick(0, 11)), recent()); }

  void add_step(bool output, int kind, const View& src) {
    switch (kind) {
      case 0:
      case 1:
      case 2: {
        const ConvShape s = window(src, true);
        const View dst =
            b_.tensor(ModuleBuilder::window_result(src.dims, s, size(2 * most_channels_)), Element::kI8, output);
        b_.conv(src, dst, s);
        return done(dst);
      }
      case 3: {
        ConvShape s;
        s.kernel_h = s.kernel_w = 1;
        if (chance(30)) s.stride_y = b_.pick(1, 3), s.stride_x = b_.pick(1, 3);
        if (chance(10)) s.dilation_y = b_.pick(1, 2), s.dilation_x = b_.pick(1, 2);
        if (chance(20)) s.pad_top = b_.pick(0, 2), s.pad_right = b_.pick(0, 2);
        const View dst =
            b_.tensor(ModuleBuilder::window_result(src.dims, s, size(2 * most_channels_)), Element::kI8, output);
        b_.conv(src, dst, s);
        return done(dst);
      }
      case 4:
      case 5: {
        ConvShape s = window(src, true);
        s.multiplier = b_.pick(0, 3) == 0 ? b_.pick(2, 3) : 1;
        const View dst =
            b_.tensor(ModuleBuilder::window_result(src.dims, s, src.dims[3] * s.multiplier), Element::kI8, output);
        b_.depthwise(src, dst, s);
        return done(dst);
      }
      case 6: {
        const ConvShape s = window(src, false);
        const View dst = b_.tensor(ModuleBuilder::window_result(src.dims, s, src.dims[3]), Element::kI8, output);
        b_.pool(b_.pick(0, 1) == 0 ? contract::PoolMode::kMax : contract::PoolMode::kAvg, src, dst, s);
        return done(dst);
      }
      case 7: {  // A [N, 1, H, C] x B [N, C, W]
        View a = src;
        a.dims = {src.dims[0], 1, src.dims[1] * src.dims[2], src.dims[3]};
        if (src.strides[1] != src.strides[2] * src.dims[2]) return add_copy(src, output);
        a.strides = {src.strides[0], 0, src.strides[2], src.strides[3]};
        const int64_t columns = size(most_channels_);
        View w = b_.pick(0, 1) == 0 ? b_.constant({a.dims[0], a.dims[3], columns})
                                    : b_.input({a.dims[0], a.dims[3], columns});
        const View dst = b_.tensor({a.dims[0], 1, a.dims[2], columns}, Element::kI8, output);
        b_.matmul(a, w, dst);
        return done(dst);
      }
      case 8: {
        Dims other = src.dims;
        for (int64_t& d : other) d = b_.pick(0, 2) == 0 ? 1 : d;
        const View c = b_.pick(0, 1) == 0 ? b_.constant(other) : b_.input(other);
        const View dst = b_.tensor(src.dims, Element::kI8, output);
        b_.add(src, broadcast(c, src.dims), dst);
        return done(dst);
      }
      case 9: {
        const View dst = b_.tensor(src.dims, Element::kI8, output);
        if (b_.pick(0, 1) == 0) {
          b_.table(src, dst);
        } else {
          b_.rescale(src, dst, b_.pick(0, 1) == 0);
        }
        return done(dst);
      }
      case 10: {  // over rows, with a detour over int32
        const View wide = b_.tensor(src.dims, Element::kI32);
        b_.rescale(src, wide, false);
        const View sum = b_.tensor({src.dims[0], 1, src.dims[2], src.dims[3]}, Element::kI32);
        View from = wide, to = sum;
        from.dims = {src.dims[0], src.dims[1], src.dims[2] * src.dims[3]};
        from.strides = {wide.strides[0], wide.strides[1], wide.strides[3]};
        to.dims = {src.dims[0], src.dims[2] * src.dims[3]};
        to.strides = {sum.strides[0], sum.strides[3]};
        b_.reduce(b_.pick(0, 1) == 0 ? contract::ReduceOp::kSum : contract::ReduceOp::kMax, from, to);
        const View dst = b_.tensor(sum.dims, Element::kI8, output);
        b_.rescale(sum, dst, true);
        return done(dst);
      }
      default:
        return chance(50) ? add_rows(src, output) : add_copy(src, output);
    }
  }

  // Pixels of the image that constants choose, or pixels put into a copy of it.
  void add_rows(const View& src, bool output) {
    const bool rows = src.strides[3] == 1 && src.strides[1] == src.strides[2] * src.dims[2];
    if (!rows) return add_copy(src, output);
    const auto pixels = [](const View& image) {
      return View{image.buffer,
                  image.offset,
                  image.type,
                  {image.dims[0], image.dims[1] * image.dims[2], image.dims[3]},
                  {image.strides[0], image.strides[2], image.strides[3]}};
    };
    const int64_t choices = src.dims[1] * src.dims[2];
    if (chance(50)) {
      // All pixels in another order, a few of them, or more than one command has room for.
      const int64_t count = chance(60) ? choices : chance(20) ? b_.pick(250, 600) : size(20);
      const View dst = b_.tensor({src.dims[0], 1, count, src.dims[3]}, Element::kI8, output);
      b_.gather(pixels(src), pixels(dst), false);
      return done(dst);
    }
    const View dst = b_.tensor(src.dims, Element::kI8, output);
    b_.copy(src, dst);
    b_.gather(pixels(dst), b_.input({src.dims[0], b_.pick(1, choices), src.dims[3]}), true);
    done(dst);
  }

  // Transposed, reversed, or in two parts beside each other.
  void add_copy(const View& src, bool output) {
    switch (b_.pick(0, 2)) {
      case 0: {
        std::vector<size_t> order{0, 1, 2, 3};
        std::shuffle(order.begin() + 1, order.end(), b_.random);
        View from = src;
        for (size_t i = 0; i < 4; ++i) {
          from.dims[i] = src.dims[order[i]];
          from.strides[i] = src.strides[order[i]];
        }
        const View dst = b_.tensor(from.dims, Element::kI8, output);
        b_.copy(from, dst);
        return done(dst);
      }
      case 1: {
        View from = src;
        const auto axis = static_cast<size_t>(b_.pick(0, 3));
        from.offset += (src.dims[axis] - 1) * src.strides[axis];
        from.strides[axis] = -src.strides[axis];
        const View dst = b_.tensor(from.dims, Element::kI8, output);
        b_.copy(from, dst);
        return done(dst);
      }
      default: {
        const auto axis = static_cast<size_t>(b_.pick(1, 3));
        Dims dims = src.dims;
        const int64_t extra = b_.pick(1, 5);
        dims[axis] += extra;
        const View dst = b_.tensor(dims, Element::kI8, output);
        View first = dst, second = dst;
        first.dims = src.dims;
        second.dims[axis] = extra;
        second.offset += src.dims[axis] * dst.strides[axis];
        b_.copy(src, first);
        if (b_.pick(0, 1) == 0) {
          b_.fill(second, 0x11);
        } else {
          b_.table(b_.constant(second.dims), second);
        }
        return done(dst);
      }
    }
  }

  // Convolutions are dilated, and pad by more than their kernel.
  ConvShape window(const View& src, bool convolution) {
    ConvShape s;
    const bool tap = chance(15);
    s.kernel_h = tap ? 1 : size(4);
    s.kernel_w = tap ? 1 : size(4);
    s.stride_y = b_.pick(1, 3);
    s.stride_x = b_.pick(1, 3);
    if (convolution && chance(30)) {
      s.dilation_y = b_.pick(1, 2);
      s.dilation_x = b_.pick(1, 3);
    }
    const int64_t more = convolution && chance(30) ? 2 : 0;
    const bool full = chance(20);
    const auto padding = [&](int64_t most) { return full ? most : b_.pick(0, most); };
    s.pad_top = padding(s.kernel_h - 1 + more);
    s.pad_bottom = padding(s.kernel_h - 1 + more);
    s.pad_left = padding(s.kernel_w - 1 + more);
    s.pad_right = padding(s.kernel_w - 1 + more);
    const int64_t reach_y = (s.kernel_h - 1) * s.dilation_y + 1, reach_x = (s.kernel_w - 1) * s.dilation_x + 1;
    s.pad_bottom += std::max<int64_t>(0, reach_y - src.dims[1] - s.pad_top - s.pad_bottom);
    s.pad_right += std::max<int64_t>(0, reach_x - src.dims[2] - s.pad_left - s.pad_right);
    return s;
  }

  void done(const View& dst) { tensors_.push_back(dst); }

  ModuleBuilder b_;
  int64_t most_pixels_, most_channels_;  // of the first tensor's rows and columns, and of all tensors but products
  std::vector<View> tensors_;
};

}  // namespace

Module random_module(uint32_t seed, int steps) { return Generator(seed).run(steps); }

Module random_small_module(uint32_t seed, int steps) { return Generator(seed, 4, 4).run(steps); }

Module random_image_module(uint32_t seed, int steps, int64_t images) {
  return Generator(seed).run_image(steps, images);
}

Module random_branching_module(uint32_t seed, int steps, int64_t images) {
  return Generator(seed).run_branches(steps, images);
}

}  // namespace npu::compiler::testing
