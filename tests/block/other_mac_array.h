// SPDX-License-Identifier: Apache-2.0
// An MXU that does what another one does: a test overrides the part in which it is wrong.
#pragma once

#include <memory>
#include <utility>

#include "rtl/verilated/mac_array.h"

namespace npu::rtl::test {

class OtherMacArray : public MacArray {
 public:
  explicit OtherMacArray(std::unique_ptr<MacArray> right) : right_(std::move(right)) {}
  void reset() override { right_->reset(); }
  void start(const contract::MxuCommand& command) override { right_->start(command); }
  [[nodiscard]] bool activations(Activations& request) override { return right_->activations(request); }
  [[nodiscard]] bool weights(Weights& request) override { return right_->weights(request); }
  [[nodiscard]] bool parameters(Parameters& request) override { return right_->parameters(request); }
  [[nodiscard]] bool residual(Residual& request) override { return right_->residual(request); }
  [[nodiscard]] bool results(Results& request) override { return right_->results(request); }
  void grant_activations() override { right_->grant_activations(); }
  void grant_weights() override { right_->grant_weights(); }
  void grant_parameters() override { right_->grant_parameters(); }
  void grant_residual() override { right_->grant_residual(); }
  void grant_results() override { right_->grant_results(); }
  void tick() override { right_->tick(); }
  [[nodiscard]] bool done() const override { return right_->done(); }
  [[nodiscard]] uint64_t cycles() const override { return right_->cycles(); }

 private:
  std::unique_ptr<MacArray> right_;
};

}  // namespace npu::rtl::test
