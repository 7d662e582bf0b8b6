// SPDX-License-Identifier: Apache-2.0
// An FST waveform of all that a block of a traced variant does. Only wrappers include this.
#pragma once

#include <verilated_fst_c.h>

#include <memory>
#include <string>

namespace npu::rtl {

class FstWaveform {
 public:
  explicit FstWaveform(std::string file) : file_(std::move(file)), fst_(std::make_unique<VerilatedFstC>()) {}
  FstWaveform(FstWaveform&&) = default;
  ~FstWaveform() {
    if (fst_) fst_->close();
  }

  void prepare(VerilatedContext& context) { context.traceEverOn(true); }
  template <class Model>
  void open(Model& model) {
    model.trace(fst_.get(), kAllLevels);
    fst_->open(file_.c_str());
  }
  void dump(uint64_t time) { fst_->dump(time); }

 private:
  static constexpr int kAllLevels = 99;

  std::string file_;
  std::unique_ptr<VerilatedFstC> fst_;
};

}  // namespace npu::rtl
