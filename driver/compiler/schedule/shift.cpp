// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/shift.h"

#include <algorithm>
#include <cstdlib>

#include "driver/compiler/schedule/view.h"

namespace npu::compiler::backend {
namespace {

constexpr int64_t kMostShiftPieces = 8;

}  // namespace

std::vector<CopyStep> shift_pieces(const CopyStep& copy) {
  const View& src = copy.src;
  const View& dst = copy.dst;
  const int64_t unit = element_size(dst), shift = src.offset - dst.offset;
  // Rows of contiguous bytes, from the outermost dimension to the innermost without overlap: then only neighbours in a
  // row can meet.
  int64_t below = unit;
  for (size_t d = dst.dims.size(); d-- > 0;) {
    if (src.strides[d] != dst.strides[d] || dst.strides[d] < below) return {};
    below = dst.strides[d] * dst.dims[d];
  }
  const int64_t count = dst.dims.back(), step = dst.strides.back();
  if (step != unit || shift == 0 || shift % unit != 0) return {};
  // All of a row and its source must lie within the distance to the next row.
  if (dst.dims.size() > 1 && count * unit + std::abs(shift) > dst.strides[dst.dims.size() - 2]) return {};
  const int64_t size = std::min(count, std::abs(shift) / unit), pieces = ceil_div(count, size);
  if (pieces > kMostShiftPieces) return {};
  std::vector<CopyStep> out;
  for (int64_t i = 0; i < pieces; ++i) {
    // Towards the side that the bytes come from.
    const int64_t start = (shift > 0 ? i : pieces - 1 - i) * size;
    CopyStep& piece = out.emplace_back(copy);
    for (View* view : {&piece.src, &piece.dst}) {
      view->offset += start * unit;
      view->dims.back() = std::min(size, count - start);
    }
  }
  return out;
}

}  // namespace npu::compiler::backend
