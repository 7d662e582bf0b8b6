// SPDX-License-Identifier: Apache-2.0
// What stands behind an npu_program and its jobs: one program of fixed sizes, or those that were compiled together for
// sizes within bounds. Callers see one program, whose sizes are the largest of all.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/capi/npu.h"
#include "driver/compiler/program.h"
#include "driver/graph/graph.h"
#include "driver/runtime/runtime.h"
#include "driver/specialise/bounded_programs.h"

namespace npu::capi {

struct Port {
  compiler::Port largest;        // of those of all programs
  std::vector<int32_t> symbols;  // as npu_tensor_info has them

  [[nodiscard]] bool is_open() const;  // a size is not fixed
};

// Throws Error(bad_option) behind the last one.
[[nodiscard]] const Port& port_at(const std::vector<Port>& ports, size_t index, const char* function);
// Fills the caller's structure, with this shape, which stays where it is, and so many bytes.
void give_port(const Port& port, const graph::Shape& shape, uint64_t bytes, npu_tensor_info* info,
               const char* function);

class Programs {
 public:
  // The first program, which is that of the largest sizes, is loaded at once: so the context knows the variables, and a
  // job has a program before its inputs say which. `firmware`: the device has a control CPU. Throws what
  // Context::load() throws.
  Programs(runtime::Context context, std::vector<compiler::Program> programs, bool firmware);

  [[nodiscard]] const std::vector<Port>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Port>& outputs() const { return outputs_; }
  // Its symbols alone, with the bounds that all programs have together.
  [[nodiscard]] const compiler::SizeTable& sizes() const { return sizes_; }
  [[nodiscard]] npu_program_info info() const;

  [[nodiscard]] runtime::Job create_job(const runtime::JobOptions& options) const;
  // Calls `start` with the program for inputs of these shapes, one an input, to start a job of it. Throws
  // Error(wrong_order) while another job is in flight, whatever its sizes; size_out_of_bounds for sizes that none of
  // the programs is for; and what Context::load() throws for a program whose sizes come first.
  void start(const std::vector<graph::Shape>& shapes, const std::function<void(const runtime::LoadedProgram&)>& start);

 private:
  [[nodiscard]] graph::GivenShapes given(const std::vector<graph::Shape>& shapes) const;

  std::vector<Port> inputs_, outputs_;
  compiler::SizeTable sizes_;
  npu_program_info info_{};  // but for what changes
  mutable std::mutex mutex_;
  specialise::BoundedPrograms programs_;
  const std::shared_ptr<const specialise::SizedProgram> largest_;
};

}  // namespace npu::capi
