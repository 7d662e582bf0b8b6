// SPDX-License-Identifier: Apache-2.0
// The log: text lines with device time and level in a ring buffer in the shared memory. Before it is
// open, lines go nowhere (uart.h).
#pragma once

#include <stdint.h>

enum npu_log_level { NPU_LOG_NONE, NPU_LOG_ERROR, NPU_LOG_EVENT, NPU_LOG_REQUEST };

// Starts the log that ring 0 at `ring` describes; `base` is a device address. bytes 0: no log.
struct npu_ring;
void npu_log_open(volatile struct npu_ring *ring, uint32_t base, uint32_t bytes, uint32_t level);

extern uint32_t npu_log_limit;
void npu_log_line(enum npu_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Costs a comparison when the level is off.
#define npu_log(level, ...)                                                   \
  do {                                                                        \
    if ((uint32_t)(level) <= npu_log_limit) npu_log_line(level, __VA_ARGS__); \
  } while (0)
