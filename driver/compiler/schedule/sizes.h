// SPDX-License-Identifier: Apache-2.0
// The commands of one program for several sizes. They are emitted for each size with the layout of the largest one:
// tiles begin at the same positions, with the same slots and addresses, and those that a size does not have are
// skipped. So each size has the same commands in the same order, but for the words that its sizes decide.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "driver/compiler/ir.h"
#include "driver/compiler/schedule/emit.h"
#include "driver/compiler/schedule/footprint.h"
#include "driver/compiler/schedule/layout.h"
#include "driver/compiler/schedule/tokens.h"

namespace npu::compiler::backend {

// A command as one size has it; without words where it is skipped.
struct SizedCommand {
  std::vector<uint32_t> words;
  std::vector<uint32_t> unused;  // positions of words that nothing looks at: strides to the next of one
};
[[nodiscard]] SizedCommand sized(const Body& body);

// Of one size: each command of the largest one, in the order of emit().
using SizedWords = std::vector<SizedCommand>;

// Notes which dimensions of the largest sizes' steps are others in `module`, if that has the same steps.
void note_open_dimensions(Module& largest, const Module& module);

// The largest sizes, as the others are held against them.
struct LargestSizes {
  const Module& module;
  const Layout& layout;
  const Stream& stream;  // emitted without contents
};

// What `module`, which is for smaller sizes, makes of the commands of the largest ones. `needs`: what each of its
// commands needs. Nullopt where it has other steps, or its data other places: then it needs a program of its own.
[[nodiscard]] std::optional<SizedWords> words_of_size(Module& module, const LargestSizes& largest,
                                                      const contract::Capabilities& capabilities,
                                                      const ScheduleOptions& options, std::vector<QueueCounts>& needs);

// A command of a stream; nullopt for those that no module has.
[[nodiscard]] std::optional<Body> decoded(std::span<const uint32_t> words);
// A command of this size; `largest` is that of the largest ones, which is skipped where this size has none.
[[nodiscard]] Body body_of(const SizedCommand& command, const Body& largest);
// What a size reads and writes, a list a command.
[[nodiscard]] std::vector<std::vector<ByteSet>> footprints_of(const SizedWords& words);

}  // namespace npu::compiler::backend
