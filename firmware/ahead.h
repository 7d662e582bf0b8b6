// SPDX-License-Identifier: Apache-2.0
// The job behind the one that runs: read and checked while the engines are busy, so that it can start at once. One is
// kept of all rings.
#pragma once

#include "firmware/context.h"

// Gives every context a task of its own.
void npu_ahead_init(void);
// Reads the job of the context's next request, unless that is done. Nothing when there is none that may be taken as
// soon as the context's task has ended well, or when the job is refused: it is then, in its turn.
void npu_ahead_read(struct npu_context *context);
// What was read: id and job of the next request; null: nothing.
struct npu_task *npu_ahead_task(const struct npu_context *context);
// Makes it the context's task, and returns the one before, which lasts until the next npu_ahead_read().
struct npu_task *npu_ahead_take(struct npu_context *context);
// The next request is not to run as it was read.
void npu_ahead_forget(const struct npu_context *context);
