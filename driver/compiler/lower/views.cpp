// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/lower/views.h"

#include <cstring>

#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

std::vector<int64_t> dense_strides(const Dims& dims, int64_t unit) {
  std::vector<int64_t> strides(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = unit;
    unit *= dims[i];
  }
  return strides;
}

// Gives dimensions of 1 the stride that a C-order walk would have: no access steps along them, but they read well.
void tidy_unit_strides(View& view) {
  int64_t unit = contract::element_bytes(view.type);
  for (size_t i = view.dims.size(); i-- > 0;) {
    if (view.dims[i] == 1) view.strides[i] = unit;
    unit = view.strides[i] * view.dims[i];
  }
}

// From dimension `dim` inwards; `in` is where its elements begin.
void copy_from(const View& view, size_t dim, const uint8_t* in, uint8_t* out, std::span<const int64_t> to) {
  const int64_t width = contract::element_bytes(view.type);
  const bool last = dim + 1 >= view.dims.size();
  if (dim == view.dims.size() || (last && view.strides[dim] == width && to[dim] == width)) {
    std::memcpy(out, in, static_cast<size_t>(dim == view.dims.size() ? width : view.dims[dim] * width));
    return;
  }
  for (int64_t i = 0; i < view.dims[dim]; ++i) {
    copy_from(view, dim + 1, in + i * view.strides[dim], out + i * to[dim], to);
  }
}

}  // namespace

int64_t product(std::span<const int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return count;
}

Dims squeeze(std::span<const int64_t> dims) {
  Dims result;
  for (int64_t dim : dims) {
    if (dim != 1) result.push_back(dim);
  }
  return result;
}

View dense_view(BufferId buffer, contract::Element type, const Dims& dims) {
  return {buffer, 0, type, dims, dense_strides(dims, contract::element_bytes(type))};
}

View blob_view(BufferId buffer, int64_t count) { return {buffer, 0, contract::Element::kI8, {count}, {1}}; }

bool is_dense(const View& view) {
  int64_t unit = contract::element_bytes(view.type);
  for (size_t i = view.dims.size(); i-- > 0;) {
    if (view.dims[i] == 1) continue;
    if (view.strides[i] != unit) return false;
    unit *= view.dims[i];
  }
  return true;
}

bool inner_dense(const View& view) {
  for (size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] == 1) continue;
    if (view.strides[i] <= 0) return false;
    if (i + 1 == view.dims.size() && view.strides[i] != contract::element_bytes(view.type)) return false;
  }
  return true;
}

bool same_place(const View& a, const View& b) {
  if (a.buffer != b.buffer || a.offset != b.offset || a.type != b.type || a.dims != b.dims) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

std::optional<View> reshape(const View& view, const Dims& dims) {
  NPU_CHECK(product(view.dims) == product(dims));
  Dims old_dims, old_strides;
  for (size_t i = 0; i < view.dims.size(); ++i) {
    if (view.dims[i] == 1) continue;
    old_dims.push_back(view.dims[i]);
    old_strides.push_back(view.strides[i]);
  }
  View result{view.buffer, view.offset, view.type, dims, std::vector<int64_t>(dims.size())};
  size_t from = 0, to = 0;
  // Walks both lists in pieces of equal element count; a piece of the old dimensions must be one even walk.
  while (from < old_dims.size()) {
    while (to < dims.size() && dims[to] == 1) ++to;
    size_t from_end = from + 1, to_end = to + 1;
    int64_t from_count = old_dims[from], to_count = dims[to];
    while (from_count != to_count) {
      if (from_count < to_count) {
        if (old_strides[from_end - 1] != old_strides[from_end] * old_dims[from_end]) return std::nullopt;
        from_count *= old_dims[from_end++];
      } else {
        to_count *= dims[to_end++];
      }
    }
    int64_t stride = old_strides[from_end - 1];
    for (size_t i = to_end; i-- > to;) {
      result.strides[i] = stride;
      stride *= dims[i];
    }
    from = from_end;
    to = to_end;
  }
  tidy_unit_strides(result);
  return result;
}

View slice(const View& view, const Dims& start, const Dims& size) {
  NPU_CHECK(start.size() == view.dims.size() && size.size() == view.dims.size());
  View result = view;
  for (size_t i = 0; i < start.size(); ++i) result.offset += start[i] * view.strides[i];
  result.dims = size;
  tidy_unit_strides(result);
  return result;
}

View every(View view, size_t dim, int64_t first, int64_t count, int64_t step) {
  view.offset += first * view.strides[dim];
  view.dims[dim] = count;
  view.strides[dim] *= step;
  return view;
}

View permute(const View& view, std::span<const int32_t> perms) {
  NPU_CHECK(perms.size() == view.dims.size());
  View result = view;
  for (size_t i = 0; i < perms.size(); ++i) {
    result.dims[i] = view.dims[static_cast<size_t>(perms[i])];
    result.strides[i] = view.strides[static_cast<size_t>(perms[i])];
  }
  tidy_unit_strides(result);
  return result;
}

View reverse(const View& view, size_t axis) {
  NPU_CHECK(axis < view.dims.size());
  View result = view;
  if (view.dims[axis] == 1) return result;
  result.offset += (view.dims[axis] - 1) * view.strides[axis];
  result.strides[axis] = -view.strides[axis];
  return result;
}

View broadcast(const View& view, const Dims& dims) {
  NPU_CHECK(dims.size() == view.dims.size());
  View result = view;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (view.dims[i] == dims[i]) continue;
    NPU_CHECK(view.dims[i] == 1);
    result.dims[i] = dims[i];
    result.strides[i] = 0;
  }
  return result;
}

void copy_elements(const View& view, const uint8_t* buffer, uint8_t* out, std::span<const int64_t> to) {
  copy_from(view, 0, buffer + view.offset, out, to);
}

void coalesce(Dims& dims, std::span<std::vector<int64_t>* const> strides, bool keep_innermost) {
  if (dims.empty()) {
    dims.push_back(1);
    for (auto* list : strides) list->push_back(0);
    return;
  }
  // Builds the result from the innermost dimension outwards: `out` is the position of the last one kept.
  size_t out = dims.size() - 1;
  bool may_merge = !keep_innermost;
  for (size_t i = dims.size() - 1; i-- > 0;) {
    if (dims[i] == 1) continue;
    bool one_walk = may_merge;
    for (const auto* list : strides) one_walk = one_walk && (*list)[i] == (*list)[out] * dims[out];
    if (dims[out] == 1 && may_merge) {
      dims[out] = dims[i];
      for (auto* list : strides) (*list)[out] = (*list)[i];
    } else if (one_walk) {
      dims[out] *= dims[i];
    } else {
      --out;
      dims[out] = dims[i];
      for (auto* list : strides) (*list)[out] = (*list)[i];
      may_merge = true;
    }
  }
  dims.erase(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(out));
  for (auto* list : strides) list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(out));
}

}  // namespace npu::compiler
