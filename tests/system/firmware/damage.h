// SPDX-License-Identifier: Apache-2.0
// Programs that reach where they must not.
#pragma once

#include "driver/compiler/program.h"

namespace npu::test {

// The first transfer into region `output` (or `input`, read) gets an offset far beyond it. Fails the test when there is
// none.
[[nodiscard]] compiler::Program beyond_its_output(compiler::Program program);
// That transfer names region `save`, which is mapped only while the job is saved.
[[nodiscard]] compiler::Program into_an_unmapped_region(compiler::Program program);

}  // namespace npu::test
