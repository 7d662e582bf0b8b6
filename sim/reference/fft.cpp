// SPDX-License-Identifier: Apache-2.0
// FFT2D and RFFT2D: the rows, then the columns, each by radix 2 in double.
#include <complex>
#include <numbers>

#include "sim/reference/element.h"
#include "sim/reference/operators.h"

namespace npu::reference {
namespace {

using contract::ErrorCode;
using Complex = std::complex<double>;

// Transforms lines of one length, a power of two: X[k] = sum of x[j] e^(-+ 2 pi i j k / length).
class Transform {
 public:
  Transform(int64_t length, bool inverse) : roots_(static_cast<size_t>(length)), copy_(roots_.size()) {
    for (int64_t k = 0; k < length; ++k) {
      roots_[static_cast<size_t>(k)] = root(k, length, inverse);
    }
  }

  // The line that starts at `line`, its elements `step` apart.
  void apply(Complex* line, int64_t step) {
    const auto length = static_cast<int64_t>(copy_.size());
    for (int64_t i = 0, mirrored = 0; i < length; ++i) {
      copy_[static_cast<size_t>(mirrored)] = line[i * step];
      int64_t bit = length >> 1;
      for (; bit > 0 && (mirrored & bit) != 0; bit >>= 1) {
        mirrored ^= bit;
      }
      mirrored |= bit;
    }
    for (int64_t half = 1; half < length; half *= 2) {
      for (int64_t start = 0; start < length; start += 2 * half) {
        for (int64_t k = 0; k < half; ++k) {
          Complex& low = copy_[static_cast<size_t>(start + k)];
          Complex& high = copy_[static_cast<size_t>(start + k + half)];
          const Complex turned = high * roots_[static_cast<size_t>(k * (length / (2 * half)))];
          high = low - turned;
          low += turned;
        }
      }
    }
    for (int64_t i = 0; i < length; ++i) {
      line[i * step] = copy_[static_cast<size_t>(i)];
    }
  }

 private:
  // Exact on the axes, where a sine or cosine of pi is not.
  static Complex root(int64_t k, int64_t length, bool inverse) {
    const double turn = inverse ? 1 : -1;
    if (4 * k % length == 0) {
      constexpr Complex kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
      const Complex quarter = kQuarters[4 * k / length];
      return {quarter.real(), turn * quarter.imag()};
    }
    return std::polar(1.0, turn * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
  }

  std::vector<Complex> roots_;
  std::vector<Complex> copy_;
};

// Transforms an image [height, width] in place.
void transform_image(std::vector<Complex>& image, int64_t height, int64_t width, bool inverse) {
  Transform row(width, inverse);
  for (int64_t y = 0; y < height; ++y) {
    row.apply(image.data() + y * width, 1);
  }
  Transform column(height, inverse);
  for (int64_t x = 0; x < width; ++x) {
    column.apply(image.data() + x, width);
  }
}

struct Images {
  int64_t count, height, width, result_width;

  Images(const Call& call, size_t inputs, int64_t (*result_width_of)(int64_t)) {
    const Shape& in = call.input(0).shape;
    for (size_t i = 0; i < inputs; ++i) {
      call.error_if(call.input(i).shape.size() != 3 || call.input(i).shape != in, ErrorCode::kBadShape,
                    "operands must have one shape of rank 3");
      if (call.input(i).type != DType::kFp32) {
        call.unsupported_types();
      }
    }
    count = in[0];
    height = in[1];
    width = in[2];
    result_width = result_width_of(width);
    call.error_if((height & (height - 1)) != 0 || (width & (width - 1)) != 0, ErrorCode::kBadShape,
                  "height and width must be powers of two");
    for (size_t i = 0; i < 2; ++i) {
      call.error_if(call.output(i).shape != Shape{count, height, result_width}, ErrorCode::kBadShape,
                    "a result's shape does not follow from the operands");
      if (call.output(i).type != DType::kFp32) {
        call.unsupported_types();
      }
    }
  }
};

void store_image(Call& call, const Images& images, int64_t n, const std::vector<Complex>& image) {
  const auto real = elements<float>(call.output(0));
  const auto imaginary = elements<float>(call.output(1));
  for (int64_t y = 0; y < images.height; ++y) {
    for (int64_t x = 0; x < images.result_width; ++x) {
      const Complex value = image[static_cast<size_t>(y * images.width + x)];
      const auto at = static_cast<size_t>((n * images.height + y) * images.result_width + x);
      real[at] = Fp32::store(value.real());
      imaginary[at] = Fp32::store(value.imag());
    }
  }
}

}  // namespace

void fft2d(Call& call) {
  const Images images(call, 2, [](int64_t width) { return width; });
  const auto real = elements<float>(call.input(0));
  const auto imaginary = elements<float>(call.input(1));
  const auto size = static_cast<size_t>(images.height * images.width);
  std::vector<Complex> image(size);
  for (int64_t n = 0; n < images.count; ++n) {
    for (size_t i = 0; i < size; ++i) {
      const size_t at = static_cast<size_t>(n) * size + i;
      image[i] = {real[at], imaginary[at]};
    }
    transform_image(image, images.height, images.width, call.attributes().inverse);
    store_image(call, images, n, image);
  }
}

void rfft2d(Call& call) {
  const Images images(call, 1, [](int64_t width) { return width / 2 + 1; });
  const auto real = elements<float>(call.input(0));
  const auto size = static_cast<size_t>(images.height * images.width);
  std::vector<Complex> image(size);
  for (int64_t n = 0; n < images.count; ++n) {
    for (size_t i = 0; i < size; ++i) {
      image[i] = real[static_cast<size_t>(n) * size + i];
    }
    transform_image(image, images.height, images.width, false);
    // Where each term of the imaginary part has a sine of 0, it is 0 whatever the operand.
    for (const int64_t y : {int64_t{0}, images.height / 2}) {
      for (const int64_t x : {int64_t{0}, images.width / 2}) {
        image[static_cast<size_t>(y * images.width + x)].imag(0);
      }
    }
    store_image(call, images, n, image);
  }
}

}  // namespace npu::reference
