// Whole files in and out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace npu::graph {

// The bytes of a regular file. Throws Error: cannot_read; budget_exceeded when it has more than `limit` bytes.
[[nodiscard]] std::vector<uint8_t> read_file(const std::filesystem::path& path, uintmax_t limit);
// The first bytes of it, at most `count`; throws the same.
[[nodiscard]] std::vector<uint8_t> read_head(const std::filesystem::path& path, uintmax_t limit, uintmax_t count);

// Writes under a temporary name in the same folder and renames it, so that nothing half-written stays and an old file
// stays whole on failure. Throws Error(cannot_write).
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

}  // namespace npu::graph
