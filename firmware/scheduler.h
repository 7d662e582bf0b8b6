// SPDX-License-Identifier: Apache-2.0
// Which job the engines work on: the one of the highest priority that is ready. Stops, saves and brings back the
// others.
#pragma once

#include "firmware/context.h"

// Starts or asks for what should happen next. Call it whenever anything has changed.
void npu_schedule(void);
// Decides what starts when the running job ends, and gets it ready. Call it when nothing else is left to do.
void npu_scheduler_prepare(void);
// The core has raised its interrupt. `alone`: nothing else has, so that what npu_scheduler_prepare() decided holds.
__attribute__((noinline)) void npu_scheduler_core_event(bool alone);
// Looks whether the stream in the core has run out of time.
void npu_scheduler_check_time(void);
// Takes the context's task out of the core, if it is there.
void npu_scheduler_evict(struct npu_context *context);
// The next time at which it has to be called, or NPU_NEVER.
uint64_t npu_scheduler_next(void);
