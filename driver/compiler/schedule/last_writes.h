// SPDX-License-Identifier: Apache-2.0
// Variables that one execution writes more than once.
#pragma once

#include "driver/compiler/ir.h"

namespace npu::compiler::backend {

// Leaves each variable its last write: steps that read it between two writes read the written value itself. That saves
// traffic, and an execution that is interrupted leaves the variable as it was before or, with two places, as it would
// be behind it, never as it was in between. What no execution would see, such as layers of writes that are left out,
// goes; the layer of the last write then names their operators. Writes in branches and loops stay, and so do all others
// of their variables.
void keep_last_writes(Module& module);

}  // namespace npu::compiler::backend
