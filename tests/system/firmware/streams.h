// SPDX-License-Identifier: Apache-2.0
// Networks that stream in contexts of their own on one device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/runtime/runtime.h"
#include "tests/system/device/bench.h"

namespace npu::test {

// A network in a context of its own, a frame after the other.
class Streamer {
 public:
  Streamer(runtime::Device& device, Network network, const runtime::ContextOptions& options = {});

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] size_t next() const { return next_; }
  [[nodiscard]] bool finished() const { return next_ == network_.frames.size(); }
  [[nodiscard]] runtime::Context& context() { return context_; }
  [[nodiscard]] const runtime::LoadedProgram& program() const { return programs_.front(); }

  // Runs the next frames, one after the other.
  void run(size_t frames);
  // Queues the next frame behind those that are queued already; jobs of one batch have a program each, because a
  // program runs once at a time.
  void queue(const runtime::JobOptions& options = {});
  // Waits for all that is queued.
  void collect();

  // Of all frames so far.
  [[nodiscard]] const std::vector<Invocation>& invocations() const { return invocations_; }
  [[nodiscard]] const std::vector<runtime::RunResult>& results() const { return results_; }
  // Expects that all frames so far equal the reference; prints how many elements were compared.
  void expect_reference(const std::string& what) const;

 private:
  void set_inputs(runtime::Job& job);
  void keep(runtime::Job& job);

  Network network_;
  runtime::Context context_;
  compiler::Program compiled_;
  std::vector<runtime::LoadedProgram> programs_;
  std::vector<runtime::Job> queued_;
  std::vector<Invocation> invocations_;
  std::vector<runtime::RunResult> results_;
  size_t next_ = 0;
};

}  // namespace npu::test
