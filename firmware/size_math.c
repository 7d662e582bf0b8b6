// SPDX-License-Identifier: Apache-2.0
#include "firmware/size_math.h"

#include "firmware/memory.h"

static uint64_t npu_size_magnitude(int64_t a) { return a < 0 ? -(uint64_t)a : (uint64_t)a; }

// Most are small, for which the CPU has an instruction.
static uint64_t npu_size_quotient(uint64_t a, uint64_t b) {
  return npu_high(a | b) == 0 ? npu_low(a) / npu_low(b) : a / b;
}

static bool npu_size_divide(uint32_t operation, int64_t a, int64_t b, int64_t *result) {
  const bool exact = operation == NPU_SIZE_OPERATION_QUOTIENT, negative = a != 0 && (a < 0) != (b < 0);
  if (b == 0 || (b == -1 && a == INT64_MIN) || (negative && !exact)) return false;
  if (operation == NPU_SIZE_OPERATION_MOD && b < 0) return false;
  const uint64_t divisor = npu_size_magnitude(b), dividend = npu_size_magnitude(a);
  const uint64_t quotient = npu_size_quotient(dividend, divisor), rest = dividend - quotient * divisor;
  if (exact && rest != 0) return false;
  if (operation == NPU_SIZE_OPERATION_MOD) {
    *result = (int64_t)rest;
  } else if (operation == NPU_SIZE_OPERATION_DIV_CEIL && rest != 0) {
    *result = (int64_t)(quotient + 1);
  } else {
    *result = (int64_t)(negative ? -quotient : quotient);
  }
  return true;
}

static bool npu_size_logarithm(int64_t a, bool up, int64_t *result) {
  if (a <= 0) return false;
  int64_t floor = 0;
  for (uint64_t rest = (uint64_t)a >> 1; rest != 0; rest >>= 1) ++floor;
  *result = floor + (up && (a & (a - 1)) != 0 ? 1 : 0);
  return true;
}

bool npu_size_compute(uint32_t operation, int64_t a, int64_t b, int64_t *result) {
  switch (operation) {
    case NPU_SIZE_OPERATION_ADD:
      return !__builtin_add_overflow(a, b, result);
    case NPU_SIZE_OPERATION_SUB:
      return !__builtin_sub_overflow(a, b, result);
    case NPU_SIZE_OPERATION_MUL:
      return !__builtin_mul_overflow(a, b, result);
    case NPU_SIZE_OPERATION_MAX:
      *result = a > b ? a : b;
      return true;
    case NPU_SIZE_OPERATION_MIN:
      *result = a < b ? a : b;
      return true;
    case NPU_SIZE_OPERATION_EXP2:
      *result = (int64_t)((uint64_t)1 << ((uint64_t)a & 63));
      return a >= 0 && a <= 62;
    case NPU_SIZE_OPERATION_LOG2_FLOOR:
    case NPU_SIZE_OPERATION_LOG2_CEIL:
      return npu_size_logarithm(a, operation == NPU_SIZE_OPERATION_LOG2_CEIL, result);
    default:
      return npu_size_divide(operation, a, b, result);
  }
}

bool npu_size_takes_two(uint32_t operation) {
  return operation != NPU_SIZE_OPERATION_EXP2 && operation != NPU_SIZE_OPERATION_LOG2_FLOOR &&
         operation != NPU_SIZE_OPERATION_LOG2_CEIL;
}

bool npu_size_related(uint32_t relation, int64_t left, int64_t right) {
  switch (relation) {
    case NPU_SIZE_RELATION_EQUAL:
      return left == right;
    case NPU_SIZE_RELATION_AT_LEAST:
      return left >= right;
    case NPU_SIZE_RELATION_MULTIPLE: {
      if (right <= 0) return false;
      const uint64_t size = npu_size_magnitude(left);
      return size == npu_size_quotient(size, (uint64_t)right) * (uint64_t)right;
    }
    case NPU_SIZE_RELATION_POWER_OF_TWO:
      return left > 0 && (left & (left - 1)) == 0;
    default:
      return true;
  }
}
