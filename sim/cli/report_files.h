// SPDX-License-Identifier: Apache-2.0
// The files that reports go to.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace npu::cli {

// Options and the files they name; empty: none. Throws Error: kCannotWrite for a place where no file can be made, and
// kBadOption for a file that two options name.
void check_report_files(const std::vector<std::pair<std::string_view, std::string>>& files);

}  // namespace npu::cli
