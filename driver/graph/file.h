// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace npu::graph {

// The bytes of a regular file. Throws Error: cannot_read; budget_exceeded when it has more than `limit` bytes.
[[nodiscard]] std::vector<uint8_t> read_file(const std::filesystem::path& path, uintmax_t limit);
// The first bytes of it, at most `count`; throws the same.
[[nodiscard]] std::vector<uint8_t> read_head(const std::filesystem::path& path, uintmax_t limit, uintmax_t count);

// Where a file is, or would be made: an absolute path that is no link and has none in it, whatever way of writing it or
// links lead there. Links that lead back to themselves stay what they are.
[[nodiscard]] std::filesystem::path place_of(const std::filesystem::path& path);

// Why `path` is no place for a file to write, in words ("it is a folder"): only regular files are replaced, be it
// through links. Empty when it is one, as far as what is there now tells.
[[nodiscard]] std::string why_not_replaceable(const std::filesystem::path& path);

// Writes under a temporary name in the same folder and renames it, so that nothing half-written stays and an old file
// stays whole on failure; the new one gets its permissions. A name that is a link means the file that it leads to.
// Throws Error(cannot_write), also where something is that is no regular file or write-protected: that stays as it is.
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

}  // namespace npu::graph
