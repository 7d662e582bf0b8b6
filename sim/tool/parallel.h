// SPDX-License-Identifier: Apache-2.0
// Many independent pieces of work, several at a time.
#pragma once

#include <cstddef>
#include <functional>

#include "sim/tool/progress.h"

namespace npu::tool {

// Calls work(index, worker) once for each index below `count`, in their order where nothing else decides; of the calls
// with the same worker, a number below `jobs`, one runs at a time. After an exception no other begins, and it is thrown
// here; so is Stopped after a signal. Each call is a step of the progress.
void run_parallel(size_t count, size_t jobs, Progress& progress,
                  const std::function<void(size_t index, size_t worker)>& work);

}  // namespace npu::tool
