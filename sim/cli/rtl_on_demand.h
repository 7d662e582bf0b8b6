// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npu::cli {

// Builds the RTL module (libnpu_rtl.so) when it is missing, or does not fit this program, and this program lies in the
// folder that it was built in; says so on stderr, since it takes minutes. Several processes build once. Elsewhere a
// missing module is no error: what then needs RTL says that there is none. Throws npu::Error: tool_missing or
// feature_unsupported when the build fails, cannot_read for a module that still does not fit.
void provide_rtl();

}  // namespace npu::cli
