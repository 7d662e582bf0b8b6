// SPDX-License-Identifier: Apache-2.0
// The fields of what a program's file holds: the one list that writing, reading and the format's layout follow.
//
// A structure that gets a field no longer fits its list: the build fails here until the list has it, at its place. A
// field of a new structure needs a list of that structure, too, before the one that has the field.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>

#include "driver/compiler/program.h"
#include "driver/program_file/program_file.h"

namespace npu::program_file {

template <typename T, typename Structure>
concept IsStructure = std::is_same_v<std::remove_const_t<T>, Structure>;

// fields(object): references to all of them, in order. field_names(): the list as it stands here.
#define NPU_FIELDS(Structure, ...)                                                   \
  template <IsStructure<Structure> T>                                                \
  constexpr auto fields(T& object) {                                                 \
    auto& [__VA_ARGS__] = object;                                                    \
    return std::tie(__VA_ARGS__);                                                    \
  }                                                                                  \
  constexpr std::string_view field_names(std::type_identity<Structure> /*unused*/) { \
    return #Structure ": " #__VA_ARGS__;                                             \
  }

NPU_FIELDS(compiler::Port, name, type, shape, accepts_unsigned, offset, bytes, sizes)

NPU_FIELDS(compiler::Variable, identity, tensor_name, type, shape, sizes, bytes, hash, initial, in_dram, written,
           read_first, declared_late, writer, read_bytes, written_bytes)

NPU_FIELDS(compiler::SizedNumber, value, second, factor, addend)

NPU_FIELDS(compiler::Layer, name, operators, engine, location, output, macs, tiles, position, kind, input_shape,
           output_shape, kernel, stride, dilation, estimated_cycles, control, sized_macs, input_sizes, output_sizes)

NPU_FIELDS(compiler::Patch, word, field, source, index)

NPU_FIELDS(compiler::Segment, yield_word, live_bytes, save_word, save_words, restore_word, restore_words, cycles,
           save_cycles, restore_cycles)

NPU_FIELDS(compiler::SizeTable::Symbol, name, least, most)
NPU_FIELDS(compiler::SizeTable::Expression, operation, a, immediate)
NPU_FIELDS(compiler::SizeTable::Condition, relation, left, right, text)
NPU_FIELDS(compiler::SizeTable::Piece, least, first_multiplier, second_multiplier, addend)
NPU_FIELDS(compiler::SizeTable::Rule, selector, first, second, most, pieces, words)
NPU_FIELDS(compiler::SizeTable, symbols, expressions, conditions, results, rules)

NPU_FIELDS(compiler::Program, caps_hash, commands, main_words, command_count, event_capacity, segments, save_bytes,
           tail_cycles, resident_bytes, load_word, load_words, load_cycles, constants, workspace_bytes, input_bytes,
           output_bytes, inputs, outputs, variables, patches, layers, sizes, spm_peak_bytes, estimated_cycles)

NPU_FIELDS(ProgramFile, contract_major, contract_minor, capabilities, machine_name, machine, network, network_sha256,
           two_places, state_in_dram, programs)

#undef NPU_FIELDS

}  // namespace npu::program_file
