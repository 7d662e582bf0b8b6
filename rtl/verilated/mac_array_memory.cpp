// SPDX-License-Identifier: Apache-2.0
// What a memory does with the block's requests; knows nothing of Verilator.
#include <cstring>

#include "rtl/verilated/mac_array.h"
#include "rtl/verilated/sign.h"

namespace npu::rtl {

void fetch(const MacArray::Activations& request, const uint8_t* base) {
  const size_t bytes = size_t{request.elements} * request.element_bytes;
  request.each([&](uint32_t pixel, uint32_t position, int32_t offset) {
    const uint8_t* from = base + offset;
    uint8_t* to = request.place(pixel, position);
    if (bytes == 1) {
      *to = *from;
    } else {
      std::memcpy(to, from, bytes);
    }
  });
}

void fetch(const MacArray::Weights& request, const uint8_t* base) {
  const size_t element = request.element_bytes;
  for (uint32_t c = 0; c < request.columns; ++c) {
    const uint8_t* from = base + request.offset + int64_t{c} * request.column_stride;
    uint8_t* to = request.data + c * request.pitch * element;
    if (request.element_stride == static_cast<int64_t>(element)) {
      std::memcpy(to, from, request.elements * element);
      continue;
    }
    for (uint32_t e = 0; e < request.elements; ++e) {
      std::memcpy(to + e * element, from + int64_t{e} * request.element_stride, element);
    }
  }
}

void fetch(const MacArray::Parameters& request, const uint8_t* base) {
  std::memcpy(request.data, base + request.offset, request.bytes);
}

void fetch(const MacArray::Residual& request, const uint8_t* base) {
  const uint8_t* from = base + request.offset;
  if (request.pitch == request.element_bytes) {
    std::memcpy(request.data, from, size_t{request.columns} * request.element_bytes);
    return;
  }
  for (uint32_t c = 0; c < request.columns; ++c, from += request.element_bytes) {
    std::memcpy(request.data + c * request.pitch, from, request.element_bytes);
  }
}

void store(const MacArray::Results& request, uint8_t* base) {
  uint8_t* to = base + request.offset;
  for (uint32_t c = 0; c < request.columns; ++c, to += request.element_bytes) {
    const uint32_t* words = request.data + c * 48 / 32;
    const uint64_t pair = words[0] | uint64_t{words[1]} << 32;
    // Odd elements begin in the middle of a word; none reaches beyond the word behind it.
    const int64_t value = sign_extend(c % 2 == 0 ? pair : pair >> 16, 48);
    std::memcpy(to, &value, request.element_bytes);
  }
}

}  // namespace npu::rtl
