// SPDX-License-Identifier: Apache-2.0
// Loads and stores of elements at any alignment, and arithmetic that several kernels share. Included first by each
// kernels_*.cpp.

// Before a loop whose iterations do not depend on each other, although its pointers may be equal. Clang finds out
// itself.
#if defined(__clang__)
#define NPU_INDEPENDENT
#else
#define NPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace npu::engine::NPU_SIMD {
namespace {

template <class T>
inline T load_at(const uint8_t* from, size_t index) {
  T value;
  __builtin_memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
inline void store_at(uint8_t* to, size_t index, T value) {
  __builtin_memcpy(to + index * sizeof(T), &value, sizeof(T));
}

// Low 48 bits, sign-extended.
inline int64_t wrap48(int64_t value) { return static_cast<int64_t>(static_cast<uint64_t>(value) << 16) >> 16; }

inline int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// Scaling as in OutputStage; the sum wraps at 64 bits, which only values outside the operator's conditions reach.
inline int32_t scale_value(int64_t product, bool negative, int64_t round, int64_t extra, int64_t shift) {
  const int64_t sum = wrapping_add(wrapping_add(product, round), negative ? -extra : extra);
  return static_cast<int32_t>(sum >> shift);
}

inline int32_t clip(int32_t value, int32_t low, int32_t high) {
  value = value < low ? low : value;
  return value > high ? high : value;
}

}  // namespace
}  // namespace npu::engine::NPU_SIMD
