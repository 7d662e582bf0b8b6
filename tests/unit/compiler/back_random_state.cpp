// SPDX-License-Identifier: Apache-2.0
// Random modules around variables.
#include "tests/unit/compiler/back_modules.h"

namespace npu::compiler::testing {
namespace {

using contract::Element;

class StateGenerator {
 public:
  explicit StateGenerator(uint32_t seed) : b_(seed) {}

  Module run(int steps) {
    shape_ = {1, b_.pick(1, 3), b_.pick(2, 8), b_.pick(1, 40)};
    const int64_t variables = b_.pick(1, 3);
    for (int64_t i = 0; i < variables; ++i) variables_.push_back(b_.variable(shape_));
    values_.push_back(b_.input(shape_));
    for (int i = 0; i < steps; ++i) add_step();
    b_.copy(values_.back(), b_.tensor(shape_, Element::kI8, true));
    return std::move(b_.module);
  }

 private:
  int64_t rows() const { return shape_[2]; }
  const View& any(const std::vector<View>& of) {
    return of[static_cast<size_t>(b_.pick(0, static_cast<int64_t>(of.size()) - 1))];
  }
  View source() { return b_.pick(0, 2) == 0 ? any(variables_) : any(values_); }

  // Rows of the window axis, as few dimensions as can say it.
  View part(const View& whole, int64_t first, int64_t count) const {
    View view = whole;
    view.offset += first * shape_[3];
    view.dims = {shape_[1], count * shape_[3]};
    view.strides = {rows() * shape_[3], 1};
    if (shape_[1] == 1) {
      view.dims = {count * shape_[3]};
      view.strides = {1};
    }
    return view;
  }

  void add_step() {
    switch (b_.pick(0, 5)) {
      case 0: {
        const View sum = b_.tensor(shape_, Element::kI8, b_.pick(0, 3) == 0);
        b_.add(source(), source(), sum);
        return values_.push_back(sum);
      }
      case 1:
        return b_.copy(any(values_), any(variables_), true);
      case 2:
      case 3:
        return replace();
      default:
        return move_on();
    }
  }

  // A value by the VPU, maybe from the old one, maybe read again, maybe across another write.
  void replace() {
    const View variable = any(variables_);
    const View value = b_.tensor(shape_, Element::kI8);
    if (b_.pick(0, 2) == 0) {  // one step that wants both the old value and the new one
      b_.add_twice(source(), source(), variable, value, b_.tensor(shape_, Element::kI8, true));
    } else {
      b_.add(b_.pick(0, 1) == 0 ? variable : source(), source(), value);
    }
    if (b_.pick(0, 4) == 0) read(variable);
    b_.copy(value, variable, true);
    values_.push_back(value);
  }

  void read(const View& view) {
    const View out = b_.tensor(shape_, Element::kI8, true);
    b_.add(view, any(values_), out);
  }

  // CONCAT(SLICE(old), new), or new in front.
  void move_on() {
    const View variable = any(variables_);
    const int64_t fresh = b_.pick(1, rows() - 1), kept = rows() - fresh;
    const bool front = b_.pick(0, 3) == 0;
    const View window = b_.tensor(shape_, Element::kI8);
    const View from = part(variable, front ? 0 : fresh, kept), to = part(window, front ? fresh : 0, kept);
    const View hole = part(window, front ? 0 : kept, fresh);
    const bool first = b_.pick(0, 1) == 0;
    if (first) b_.copy(from, to);
    fill(hole, window, front ? 0 : kept, fresh);
    if (!first) b_.copy(from, to);
    b_.copy(window, variable, true);
    if (b_.pick(0, 1) == 0) read(window);
    values_.push_back(window);
  }

  void fill(const View& hole, const View& window, int64_t first, int64_t count) {
    switch (b_.pick(0, 3)) {
      case 0:
        return b_.copy(b_.input(hole.dims), hole);
      case 1:
        return b_.fill(hole, static_cast<uint64_t>(b_.pick(0, 255)));
      case 2: {  // as the MXU makes it
        View dst = window;
        dst.offset += first * shape_[3];
        dst.dims[2] = count;
        ConvShape one;
        one.kernel_h = one.kernel_w = 1;
        one.channels = shape_[3];
        return b_.conv(b_.input({1, shape_[1], count, b_.pick(1, 9)}), dst, one);
      }
      default:
        return b_.add(b_.input(hole.dims), b_.constant(hole.dims), hole);
    }
  }

  ModuleBuilder b_;
  std::vector<int64_t> shape_;
  std::vector<View> variables_, values_;
};

}  // namespace

Module random_state_module(uint32_t seed, int steps) { return StateGenerator(seed).run(steps); }

}  // namespace npu::compiler::testing
