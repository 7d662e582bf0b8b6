// SPDX-License-Identifier: Apache-2.0
#include "tests/system/firmware/streams.h"

#include <gtest/gtest.h>

namespace npu::test {
namespace {

// Far longer than anything here takes; a job that hangs ends by its cycle limit.
constexpr auto kForever = std::chrono::hours(1);

}  // namespace

Streamer::Streamer(runtime::Device& device, Network network, const runtime::ContextOptions& options)
    : network_(std::move(network)),
      context_(device.create_context(options)),
      compiled_(compiler::compile(network_.graph, device.capabilities())) {
  programs_.push_back(context_.load(compiled_));
}

void Streamer::set_inputs(runtime::Job& job) {
  const std::vector<graph::Value>& inputs = network_.frames.at(next_++);
  for (size_t i = 0; i < inputs.size(); ++i) job.set_input(i, inputs[i]);
}

void Streamer::keep(runtime::Job& job) {
  invocations_.push_back({job.outputs(), job.result().cycles});
  results_.push_back(job.result());
}

void Streamer::run(size_t frames) {
  runtime::Job job = programs_.front().create_job();
  for (size_t i = 0; i < frames; ++i) {
    set_inputs(job);
    static_cast<void>(job.run());
    keep(job);
  }
}

void Streamer::queue(const runtime::JobOptions& options) {
  while (programs_.size() <= queued_.size()) programs_.push_back(context_.load(compiled_));
  runtime::Job job = programs_[queued_.size()].create_job(options);
  set_inputs(job);
  job.start();
  queued_.push_back(std::move(job));
}

void Streamer::collect() {
  for (runtime::Job& job : queued_) {
    ASSERT_TRUE(job.wait(kForever)) << network_.name;
    keep(job);
  }
  queued_.clear();
}

void Streamer::expect_reference(const std::string& what) const {
  Network part = network_;
  part.frames.resize(next_);
  expect_equal(invocations_, reference(part), network_.name + " " + what);
}

}  // namespace npu::test
