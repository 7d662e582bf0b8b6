// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/bins/windows.h"

#include <iterator>

namespace npu::test {
namespace {

constexpr Fact<Window> kFacts[] = {
    {"batch > 1", [](const Window& w) { return w.batch > 1; }},
    {"height > 1", [](const Window& w) { return w.height > 1; }},
    {"width > 1", [](const Window& w) { return w.width > 1; }},
    {"channels > 1", [](const Window& w) { return w.channels > 1; }},
    {"out height > 1", [](const Window& w) { return w.out_height > 1; }},
    {"out width > 1", [](const Window& w) { return w.out_width > 1; }},
    {"kernel height > 1", [](const Window& w) { return w.kernel_h > 1; }},
    {"kernel width > 1", [](const Window& w) { return w.kernel_w > 1; }},
    {"stride y > 1", [](const Window& w) { return w.stride_y > 1; }},
    {"stride x > 1", [](const Window& w) { return w.stride_x > 1; }},
    {"pad top", [](const Window& w) { return w.pad_top > 0; }},
    {"pad bottom", [](const Window& w) { return w.pad_bottom > 0; }},
    {"pad left", [](const Window& w) { return w.pad_left > 0; }},
    {"pad right", [](const Window& w) { return w.pad_right > 0; }},
    {"one pixel", [](const Window& w) { return w.height == 1 && w.width == 1; }},
    {"one tap", [](const Window& w) { return w.kernel_h == 1 && w.kernel_w == 1; }},
    {"out channels > 1", [](const Window& w) { return w.out_channels > 1; }},
    {"dilation y > 1", [](const Window& w) { return w.dilation_y > 1; }},
    {"dilation x > 1", [](const Window& w) { return w.dilation_x > 1; }},
};
constexpr size_t kPlainFacts = 14;    // the two behind them follow from them: they are in no pairs
constexpr size_t kPoolingFacts = 16;  // what follows are those of convolutions alone

// The compiler treats images of one pixel, kernels of one element and single rows by rules of their own.
constexpr std::string_view kCorners[] = {
    "batch > 1 & one pixel & one tap & stride y > 1",
    "batch > 1 & one pixel & one tap & stride x > 1",
    "batch > 1 & one pixel & kernel height > 1 & !out height > 1 & !out width > 1",
    "batch > 1 & one pixel & kernel width > 1 & !out height > 1 & !out width > 1",
    "batch > 1 & one pixel & out height > 1 & stride y > 1",
    "batch > 1 & one pixel & out width > 1 & stride x > 1",
    "!batch > 1 & one tap & height > 1 & width > 1 & stride y > 1 & !stride x > 1",
    "batch > 1 & one tap & height > 1 & width > 1 & !stride y > 1 & !stride x > 1",
    "batch > 1 & one tap & !height > 1 & width > 1 & stride y > 1 & !stride x > 1",
    "batch > 1 & one tap & height > 1 & !width > 1 & !stride y > 1 & stride x > 1",
    "batch > 1 & one pixel & !channels > 1",
    // Of convolutions alone from here on.
    "batch > 1 & one pixel & one tap & dilation y > 1",
    "batch > 1 & one pixel & one tap & dilation x > 1",
    "batch > 1 & one pixel & one tap & pad top",
    "batch > 1 & one pixel & one tap & pad right",
    "batch > 1 & one pixel & !channels > 1 & !out channels > 1",
};
constexpr size_t kPoolingCorners = 11;

constexpr std::string_view kNeverPooled[] = {"!kernel height > 1 & pad top", "!kernel height > 1 & pad bottom",
                                             "!kernel width > 1 & pad left", "!kernel width > 1 & pad right"};
constexpr std::string_view kNeverDepthwise[] = {"channels > 1 & !out channels > 1"};

}  // namespace

std::span<const Fact<Window>> window_facts() { return kFacts; }

Bins window_bins(std::string family, WindowKind kind) {
  const std::vector<std::string_view> names = names_of(window_facts());
  const std::span<const std::string_view> corners(kCorners);
  if (kind == WindowKind::kPooling) {
    const std::vector<std::string_view> of_pooling(names.begin(), names.begin() + kPoolingFacts);
    return {std::move(family),
            of_pooling,
            {corners.first(kPoolingCorners), std::span(names).first(kPlainFacts), kNeverPooled}};
  }
  std::vector<std::string_view> plain = names;
  plain.erase(plain.begin() + kPlainFacts, plain.begin() + kPoolingFacts);
  if (kind == WindowKind::kDepthwise) return {std::move(family), names, {corners, plain, kNeverDepthwise}};
  return {std::move(family), names, {corners, plain, {}}};
}

}  // namespace npu::test
