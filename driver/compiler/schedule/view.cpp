// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/view.h"

#include <cstring>

#include "hw/contract/error.h"

namespace npu::compiler::backend {

int64_t element_size(const View& view) { return contract::element_bytes(view.type); }

int64_t elements(std::span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

Box whole(const View& view) {
  Box box(view.dims.size());
  for (size_t i = 0; i < box.size(); ++i) box[i] = {0, view.dims[i]};
  return box;
}

ByteSpan span_of(const View& view) {
  ByteSpan span{view.offset, view.offset + element_size(view)};
  for (size_t i = 0; i < view.dims.size(); ++i) {
    const int64_t reach = (view.dims[i] - 1) * view.strides[i];
    (reach < 0 ? span.low : span.high) += reach;
  }
  return span;
}

int64_t offset_of(const View& view, const Box& box) {
  int64_t offset = view.offset;
  for (size_t i = 0; i < box.size(); ++i) offset += box[i].start * view.strides[i];
  return offset;
}

int64_t packed_bytes(const View& view, const Box& box, bool repeats) {
  int64_t bytes = element_size(view);
  for (size_t i = 0; i < box.size(); ++i) bytes *= repeats && view.strides[i] == 0 ? 1 : box[i].count;
  return bytes;
}

std::vector<int64_t> packed_strides(const View& view, const Box& box, bool repeats) {
  std::vector<int64_t> strides(box.size());
  int64_t stride = element_size(view);
  for (size_t i = box.size(); i-- > 0;) {
    if (repeats && view.strides[i] == 0) continue;
    strides[i] = stride;
    stride *= box[i].count;
  }
  return strides;
}

std::vector<int64_t> packed_counts(const View& view, const Box& box, bool repeats) {
  std::vector<int64_t> counts(box.size());
  for (size_t i = 0; i < box.size(); ++i) counts[i] = repeats && view.strides[i] == 0 ? 1 : box[i].count;
  return counts;
}

void pack(const View& view, const Box& box, bool repeats, std::span<const uint8_t> buffer, uint8_t* out) {
  const std::vector<int64_t> counts = packed_counts(view, box, repeats);
  const int64_t unit = element_size(view);
  // Dimensions from `inner` on lie densely in the buffer and move as one run.
  size_t inner = counts.size();
  int64_t run = unit;
  while (inner > 0 && (counts[inner - 1] == 1 || view.strides[inner - 1] == run)) run *= counts[--inner];
  std::vector<int64_t> index(inner);
  int64_t offset = offset_of(view, box);
  for (;;) {
    NPU_CHECK(offset >= 0 && offset + run <= static_cast<int64_t>(buffer.size()));
    std::memcpy(out, buffer.data() + offset, static_cast<size_t>(run));
    out += run;
    size_t d = inner;
    while (d > 0) {
      --d;
      offset += view.strides[d];
      if (++index[d] < counts[d]) break;
      offset -= view.strides[d] * counts[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (inner == 0) return;
  }
}

bool dense(std::span<const int64_t> dims, std::span<const int64_t> strides, int64_t unit) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    if (strides[i] != unit) return false;
    unit *= dims[i];
  }
  return true;
}

bool covers(const View& view, int64_t bytes) {
  const int64_t unit = element_size(view);
  return view.offset == 0 && dense(view.dims, view.strides, unit) && elements(view.dims) * unit == bytes;
}

}  // namespace npu::compiler::backend
