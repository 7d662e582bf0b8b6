// SPDX-License-Identifier: Apache-2.0
#include "rtl/verilated/fifo.h"

#include <Vfifo_cell.h>

#include "rtl/verilated/clocked.h"

namespace npu::rtl {
namespace {

class VerilatedFifo final : public Fifo {
 public:
  VerilatedFifo() { reset(); }

  void reset() override {
    set_input(false, 0);
    set_ready(false);
    model_.reset();
  }
  void set_input(bool valid, uint8_t data) override {
    model_->valid_i = valid;
    model_->data_i = data;
    model_.settle();
  }
  void set_ready(bool ready) override { model_->ready_i = ready; }
  [[nodiscard]] bool ready() override { return model_->ready_o != 0; }
  [[nodiscard]] bool valid() override { return model_->valid_o != 0; }
  [[nodiscard]] uint8_t data() override { return model_->data_o; }
  void tick() override { model_.tick(); }

 private:
  Clocked<Vfifo_cell> model_;
};

}  // namespace

std::unique_ptr<Fifo> make_fifo() { return std::make_unique<VerilatedFifo>(); }

}  // namespace npu::rtl
