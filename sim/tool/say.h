// SPDX-License-Identifier: Apache-2.0
// What commands say, on standard output and standard error. Nothing here throws: a terminal that is gone, or a full
// disk behind a redirection, does not change what a run did and leaves its files alone. The program's exit status tells
// of it.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "driver/graph/text.h"

namespace npu::tool {

// As it is.
void say_text(std::string_view text);
void say_error_text(std::string_view text);

// Names in the text may come out of hostile files: controls other than line ends and tabs are escaped. JSON must be
// ASCII, so that nothing is left to escape.

template <typename... T>
void say(fmt::format_string<T...> format, T&&... values) {
  say_text(graph::printable_lines(fmt::format(format, std::forward<T>(values)...)));
}

template <typename... T>
void say_error(fmt::format_string<T...> format, T&&... values) {
  say_error_text(graph::printable_lines(fmt::format(format, std::forward<T>(values)...)));
}

// From now on say() goes to standard error: standard output is for a file that was asked for as "-".
void keep_output_for_data();
// To standard output in any case.
void say_data(std::string_view text);

// Whether standard output got all of it: false when a disk was full, for example. A reader that went away has what it
// wanted.
[[nodiscard]] bool output_is_whole();

// Opens /dev/null as each of the descriptors 0 to 2 that the program was started without, so that no file gets one of
// these numbers, and then what is said; and lets writes to a closed pipe fail instead of ending the program.
void prepare_output();

}  // namespace npu::tool
