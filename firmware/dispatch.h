// SPDX-License-Identifier: Apache-2.0
// The door to the sequencer.
#pragma once

#include "firmware/task.h"

enum npu_stream_kind {
  NPU_STREAM_MAIN,
  NPU_STREAM_SAVE,
  NPU_STREAM_RESTORE,
  NPU_STREAM_LOAD  // writes the constants that stay
};

struct npu_stream {
  enum npu_stream_kind kind;
  uint32_t owner;
  uint64_t commands;
  uint32_t words, start;
  bool keep_scratchpad;
};

// Writes the registers of a stream that may be the next one, while another runs: the core takes them when one starts.
void npu_dispatch_prepare(const struct npu_task *task, const struct npu_stream *stream);
// Starts a stream of a job, at the device time npu_now, which it updates: every stream that ever runs comes through
// here. As other functions that are not inlined, it is a place where tests stop the firmware.
__attribute__((noinline)) void npu_dispatch(const struct npu_task *task, const struct npu_stream *stream);
