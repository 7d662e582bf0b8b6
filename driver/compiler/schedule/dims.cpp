// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/dims.h"

#include <cstddef>

namespace npu::compiler::backend {

void Iteration::simplify(bool keep_innermost, OpenDimensions open) {
  if (dims.empty()) {
    dims.push_back(1);
    for (auto& s : strides) s.push_back(0);
    return;
  }
  Iteration out;
  out.strides.resize(strides.size());
  const auto append = [&](size_t d) {
    out.dims.push_back(dims[d]);
    for (size_t k = 0; k < strides.size(); ++k) out.strides[k].push_back(strides[k][d]);
  };
  const auto mergeable = [&](size_t d) {  // the last dimension of `out` with dimension d
    for (size_t k = 0; k < strides.size(); ++k) {
      if (out.strides[k].back() != strides[k][d] * dims[d]) return false;
    }
    return true;
  };
  const auto is_open = [&](size_t d) { return (open >> d & 1) != 0; };
  const size_t last = dims.size() - 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool fixed = keep_innermost && d == last;
    if (dims[d] == 1 && !fixed && !is_open(d) && !(d == last && out.dims.empty())) continue;
    if (!fixed && !is_open(d) && !out.dims.empty() && mergeable(d)) {
      out.dims.back() *= dims[d];
      for (size_t k = 0; k < strides.size(); ++k) out.strides[k].back() = strides[k][d];
    } else {
      append(d);
    }
  }
  *this = std::move(out);
}

}  // namespace npu::compiler::backend
