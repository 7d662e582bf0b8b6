// SPDX-License-Identifier: Apache-2.0
// The programs of a graph that was compiled once for sizes within bounds (compiler/bounds.h), in one context.
//
//   BoundedPrograms programs(context, compiler::compile_bounds(open, {{"x.0", 1, 64}}, device.capabilities()), true);
//   Job job = programs.get({{"x", {5, 4}}})->program.create_job();
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "driver/compiler/bounds.h"
#include "driver/compiler/program.h"
#include "driver/graph/resolve.h"
#include "driver/runtime/runtime.h"
#include "driver/specialise/sized_programs.h"

namespace npu::specialise {

// Of the sizes that the programs of one compilation are for together. At least one program.
[[nodiscard]] std::vector<compiler::SizeBounds> bounds_of(const std::vector<compiler::Program>& programs);

// The program for given shapes of all inputs that leave sizes open, which are fixed in it then (compiler::at_sizes()):
// for who runs one choice of sizes only. Throws Error: bad_input; size_out_of_bounds for sizes that none of the
// programs is for; size_mismatch where inputs contradict each other, or what must hold of the sizes does not.
[[nodiscard]] compiler::Program fixed_program(const std::vector<compiler::Program>& programs,
                                              const graph::GivenShapes& sizes);

class BoundedPrograms final : public SizedPrograms {
 public:
  // `firmware`: the device has a control CPU. Programs are loaded when they are first asked for. One whose sizes are
  // fixed is the program for any sizes.
  BoundedPrograms(runtime::Context context, std::vector<compiler::Program> programs, bool firmware);

  // One and the same for all sizes that it is for. `sizes` may leave out inputs that no size depends on. Throws
  // Error: bad_input, or size_out_of_bounds, for sizes that none of the programs is for; what Context::load() throws.
  [[nodiscard]] std::shared_ptr<const SizedProgram> get(const graph::GivenShapes& sizes) override;
  [[nodiscard]] const CacheCounts& counts() const override { return counts_; }
  // The one that the largest sizes take.
  [[nodiscard]] std::shared_ptr<const SizedProgram> largest();
  // Those that were asked for.
  [[nodiscard]] std::vector<std::shared_ptr<const SizedProgram>> loaded() const;

  // The value of each symbol of a program, as the inputs' shapes say.
  [[nodiscard]] static std::vector<int64_t> symbols_of(const compiler::Program& program,
                                                       const graph::GivenShapes& sizes);

 private:
  [[nodiscard]] size_t choose(const graph::GivenShapes& sizes) const;
  [[nodiscard]] std::shared_ptr<const SizedProgram> load(size_t number);
  [[nodiscard]] const compiler::Program& program(size_t number) const {
    return loaded_[number] ? loaded_[number]->program.program() : programs_[number];
  }

  runtime::Context context_;
  std::vector<compiler::Program> programs_;                  // empty where loaded: that one has it
  std::vector<std::shared_ptr<const SizedProgram>> loaded_;  // null: not yet
  std::vector<compiler::SizeBounds> bounds_;
  bool firmware_;
  CacheCounts counts_;
};

}  // namespace npu::specialise
