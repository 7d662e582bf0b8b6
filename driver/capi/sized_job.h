// SPDX-License-Identifier: Apache-2.0
// A job whose program follows from the sizes of its inputs, each time that it starts. Of one program of fixed sizes it
// is a plain job.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "driver/capi/programs.h"
#include "driver/graph/value.h"
#include "driver/runtime/runtime.h"

namespace npu::capi {

// One thread at a time may use it, but for job().
class SizedJob {
 public:
  SizedJob(std::shared_ptr<Programs> programs, const runtime::JobOptions& options)
      : programs_(std::move(programs)),
        job_(programs_->create_job(options)),
        shapes_(programs_->inputs().size()),
        fresh_(shapes_.size()) {}

  [[nodiscard]] const Programs& programs() const { return *programs_; }
  // For all but inputs and starting.
  [[nodiscard]] runtime::Job& job() { return job_; }

  // For the next start, of a shape within the bounds (runtime::check_input()).
  void set_input(size_t index, graph::Value value);
  // Throws what Job::start() and Programs::start() throw. Then the inputs stay as they were set.
  void start();

 private:
  const std::shared_ptr<Programs> programs_;
  runtime::Job job_;
  std::vector<std::optional<graph::Shape>> shapes_;  // of the inputs that were set
  // What the job does not have yet: it checks inputs by its program, which is not known before all are set.
  std::vector<std::optional<graph::Value>> fresh_;
};

}  // namespace npu::capi
