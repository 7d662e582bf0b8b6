// SPDX-License-Identifier: Apache-2.0
#include "firmware/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "firmware/memory.h"
#include "firmware/timer.h"

enum { kLineBytes = 128 };

uint32_t npu_log_limit;

static volatile struct npu_ring *npu_log_ring;
static uint32_t npu_log_base, npu_log_mask, npu_log_produced;

void npu_log_open(volatile struct npu_ring *ring, uint32_t base, uint32_t bytes, uint32_t level) {
  if (bytes == 0) return;
  npu_log_ring = ring;
  npu_log_base = base;
  npu_log_mask = bytes - 1;
  npu_log_produced = ring->log_producer;
  npu_log_limit = level;
}

// By words where it can: each access costs the same.
static void npu_log_copy(const char *text, uint32_t bytes) {
  while (bytes > 0) {
    const uint32_t address = npu_log_base + (npu_log_produced & npu_log_mask);
    uint32_t step = 1;
    if (bytes >= 4 && address % 4 == 0) {
      uint32_t word;
      memcpy(&word, text, 4);
      *(volatile uint32_t *)npu_dram(address) = word;
      step = 4;
    } else {
      *(volatile char *)npu_dram(address) = *text;
    }
    text += step;
    bytes -= step;
    npu_log_produced += step;
  }
  npu_log_ring->log_producer = npu_log_produced;
}

// Decimal, right-aligned; returns behind the last character.
static char *npu_put_time(char *out, uint64_t time) {
  enum { kWidth = 14, kLowDigits = 9 };
  const uint32_t unit = 1000000000;
  uint32_t digits = (uint32_t)(time / unit), low = (uint32_t)time - digits * unit;  // one division of 64 bits is enough
  const bool wide = digits != 0;
  for (int i = kWidth - 1; i >= 0; --i) {
    if (i == kWidth - kLowDigits - 1) {
      low = digits;
    }
    const bool leading = i >= kWidth - kLowDigits && wide;
    out[i] = low != 0 || leading || i == kWidth - 1 ? (char)('0' + low % 10) : ' ';
    low /= 10;
  }
  return out + kWidth;
}

static uint32_t npu_format(char *line, enum npu_log_level level, const char *format, va_list arguments) {
  static const char names[][8] = {"", " error ", " event ", " debug "};
  char *out = npu_put_time(line, npu_now);
  memcpy(out, names[level], 7);
  out += 7;
  const size_t room = (size_t)(line + kLineBytes - out);
  const int wanted = vsnprintf(out, room, format, arguments);
  out += wanted < (int)room ? wanted : (int)room - 1;
  *out++ = '\n';  // where vsnprintf put its 0
  return (uint32_t)(out - line);
}

void npu_log_line(enum npu_log_level level, const char *format, ...) {
  char line[kLineBytes];
  va_list arguments;
  va_start(arguments, format);
  const uint32_t bytes = npu_format(line, level, format, arguments);
  va_end(arguments);
  npu_log_copy(line, bytes);
}
