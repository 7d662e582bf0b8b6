// SPDX-License-Identifier: Apache-2.0
// The door to the sequencer.
#pragma once

#include "firmware/task.h"

enum npu_stream_kind { NPU_STREAM_MAIN, NPU_STREAM_SAVE, NPU_STREAM_RESTORE };

struct npu_stream {
  enum npu_stream_kind kind;
  uint32_t ring, owner;
  uint64_t commands;
  uint32_t words, start;
  bool keep_scratchpad;
};

// Starts a stream of a job, at the device time npu_now: every stream that ever runs comes through here.
void npu_dispatch(const struct npu_task *job, const struct npu_stream *stream);
