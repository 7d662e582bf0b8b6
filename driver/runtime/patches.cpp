// SPDX-License-Identifier: Apache-2.0
#include "driver/runtime/patches.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/contract/error.h"

namespace npu::runtime {
namespace {

using compiler::Patch;

// The word at which each command of the main stream begins, and where the last one ends.
std::vector<size_t> command_bounds(const compiler::Program& program) {
  if (program.main_words > program.commands.size()) throw_damaged("its last command is incomplete");
  const std::span<const uint32_t> words = std::span(program.commands).first(program.main_words);
  std::vector<size_t> bounds;
  size_t at = 0;
  while (at < words.size()) {
    const std::span<const uint32_t> rest = words.subspan(at);
    if (rest.size() < contract::kHeaderWords) throw_damaged("its last command is incomplete");
    const uint32_t length = contract::command_words(rest);
    if (length < contract::kHeaderWords || length > rest.size()) {
      throw_damaged(fmt::format("command {} has an impossible length", bounds.size()));
    }
    bounds.push_back(at);
    at += length;
  }
  bounds.push_back(at);
  return bounds;
}

// Where the values of a source come from, and how many there are.
size_t values_of(Patch::Source source, const compiler::Program& program) {
  switch (source) {
    case Patch::Source::kVariable:
      return program.variables.size();
  }
  return 0;
}

// Whether what a source gives is what a field means.
bool fits(Patch::Source source, const contract::CommandFieldInfo& field) {
  switch (source) {
    case Patch::Source::kVariable:
      return field.names_variable;
  }
  return false;
}

uint32_t value_of(const Patch& patch, std::span<const uint32_t> table_indices) {
  switch (patch.source) {
    case Patch::Source::kVariable:
      return table_indices[patch.index];
  }
  panic(__FILE__, __LINE__, "a patch without a source");
}

void check_patch(size_t number, const Patch& patch, const std::vector<size_t>& bounds,
                 const compiler::Program& program) {
  const auto fail = [&](const std::string& what) { throw_damaged(fmt::format("patch {} {}", number, what)); };
  if (patch.word >= program.main_words) fail(fmt::format("is for word {}, behind the commands", patch.word));
  if (!known(patch.field))
    fail(fmt::format("is for field {}, which no command has", static_cast<uint32_t>(patch.field)));
  if (patch.index >= values_of(patch.source, program)) {
    fail(fmt::format("puts value {} of source {} there, which does not exist", patch.index,
                     static_cast<uint32_t>(patch.source)));
  }
  const contract::CommandFieldInfo& field = info_of(patch.field);
  if (!fits(patch.source, field)) fail(fmt::format("puts a variable's index into {}, which names none", field.name));
  const auto end = std::upper_bound(bounds.begin(), bounds.end(), patch.word);
  const size_t start = *std::prev(end);
  const std::span<const uint32_t> command = std::span(program.commands).subspan(start, *end - start);
  if (!has_field(command, patch.word - start, patch.field)) {
    fail(fmt::format("is for {}, but word {} does not hold it", field.name, patch.word));
  }
  // Reports read the commands as they were compiled.
  if (field_of(program.commands[patch.word], patch.field) != patch.index) {
    fail(fmt::format("puts value {} into {}, where word {} says {}", patch.index, field.name, patch.word,
                     field_of(program.commands[patch.word], patch.field)));
  }
}

}  // namespace

void throw_damaged(const std::string& what) {
  throw Error(contract::ErrorCode::kContractMismatch,
              fmt::format("the program is damaged: {}; compile it again.", what));
}

void check_commands(const compiler::Program& program) {
  const std::vector<size_t> bounds = command_bounds(program);
  if (bounds.size() - 1 != program.command_count) throw_damaged("its number of commands is wrong");
  for (size_t i = 0; i < program.patches.size(); ++i) check_patch(i, program.patches[i], bounds, program);
}

std::vector<uint32_t> patched_commands(const compiler::Program& program, std::span<const uint32_t> table_indices) {
  std::vector<uint32_t> commands = program.commands;
  for (const Patch& patch : program.patches) {
    set_field(commands[patch.word], patch.field, value_of(patch, table_indices));
  }
  return commands;
}

}  // namespace npu::runtime
