// SPDX-License-Identifier: Apache-2.0
// What a stream that did not end well means: the fields of its completion, and a core that can go on.
#pragma once

#include "firmware/context.h"

// The core has stopped the context's stream with a fault. `main`: the job's own stream, not one that saves or restores.
__attribute__((noinline)) void npu_fault_end(struct npu_context *context, bool main, uint64_t cycles);
// The stream has not ended in time, `cycles` after its start.
void npu_fault_timeout(struct npu_context *context, bool main, uint64_t cycles);
