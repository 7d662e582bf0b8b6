// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npu::cli {

// Builds the RTL module (libnpu_rtl.so) when it is missing and this program lies in the folder that it was built in;
// says so on stderr, since it takes minutes. Does nothing elsewhere: what then needs RTL says that there is none.
// Throws npu::Error (tool_missing, feature_unsupported) when the build fails.
void provide_rtl();

}  // namespace npu::cli
