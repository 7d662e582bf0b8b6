// SPDX-License-Identifier: Apache-2.0
// `npu run` of a sequence whose sizes may change: a program for each choice of sizes, in one context.
#pragma once

#include "sim/cli/run_options.h"
#include "sim/cli/run_subject.h"

namespace npu::cli {

// Returns the exit status. Throws Error: bad_option for what only one program can have; what the parts of it throw,
// with the invocation in front.
int run_sized(RunOptions& options, const RunSubject& subject);

// For a run of one program. Throws Error(bad_option) for options of others.
void refuse_what_sequences_have(const RunOptions& options);

}  // namespace npu::cli
