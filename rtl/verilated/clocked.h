// SPDX-License-Identifier: Apache-2.0
// What the wrappers share: a clock, and bits of ports of any width. Only wrappers include this, for it includes
// Verilator's headers.
#pragma once

#include <verilated.h>
#ifdef NPU_RTL_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>

#include <cstdlib>
#include <string>
#endif

#include <bit>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "rtl/verilated/assertion.h"
#include "rtl/verilated/sign.h"

namespace npu::rtl {

// Writes no waveform, and costs nothing; waveform.h has the one that writes.
struct NoWaveform {
  void prepare(VerilatedContext&) {}
  template <class Model>
  void open(Model&) {}
  void dump(uint64_t) {}
};

// A Verilated module with ports clk_i and rst_ni.
template <class Model, class Waveform = NoWaveform>
class Clocked {
 public:
  explicit Clocked(Waveform waveform = {})
      : context_(std::make_unique<VerilatedContext>()), waveform_(std::move(waveform)) {
    Verilated::threadContextp(context_.get());
    context_->threads(NPU_RTL_THREADS);  // else a context starts threads that no model uses
    waveform_.prepare(*context_);
    model_ = std::make_unique<Model>(context_.get());
    waveform_.open(*model_);
  }
  ~Clocked() {
    // A model takes its scopes out of the thread's context, whichever model ran there last.
    Verilated::threadContextp(context_.get());
    model_->final();
    keep_coverage();
  }
  Clocked(const Clocked&) = delete;
  Clocked& operator=(const Clocked&) = delete;

  // Outputs follow the inputs that were set, within the cycle.
  void settle() { model_->eval(); }

  // One rising edge. Inputs are sampled as they are; outputs are those behind the edge. Throws AssertionFailed.
  void tick() {
    // Assertions look for their context there, whatever block this thread clocked last.
    if (Verilated::threadContextp() != context_.get()) Verilated::threadContextp(context_.get());
    model_->clk_i = 0;
    step();
    model_->clk_i = 1;
    step();
    if (context_->gotError()) fail();
  }

  void reset() {
    model_->rst_ni = 0;
    tick();
    tick();
    model_->rst_ni = 1;
    settle();
  }

  [[nodiscard]] uint64_t cycles() const { return context_->time() / 2; }
  Model* operator->() { return model_.get(); }
  const Model* operator->() const { return model_.get(); }

 private:
  [[noreturn]] void fail() {
    context_->gotError(false);
    throw AssertionFailed(take_failed_assertion());
  }

  // A file of counts for each module that lived, in the folder that the environment names.
  void keep_coverage() {
#ifdef NPU_RTL_COVERAGE
    static unsigned written = 0;
    const char* folder = std::getenv("NPU_COVERAGE_DIR");
    if (folder == nullptr) return;
    const std::string name = std::to_string(getpid()) + "-" + model_->modelName() + "-" + std::to_string(written++);
    context_->coveragep()->write((std::string(folder) + "/" + name + ".dat").c_str());
#endif
  }

  void step() {
    model_->eval();
    waveform_.dump(context_->time());
    context_->timeInc(1);
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  [[no_unique_address]] Waveform waveform_;  // closed before the model goes
};

// A port of more than 64 bits is an array of words, element 0 lowest, a narrower one a number: on such a machine both
// are the bytes of the memory's order.
static_assert(std::endian::native == std::endian::little);
template <class Port>
uint8_t* bytes_of(Port& port) {
  static_assert(std::is_trivially_copyable_v<Port>);
  return reinterpret_cast<uint8_t*>(&port);
}
template <class Port>
const uint8_t* bytes_of(const Port& port) {
  return reinterpret_cast<const uint8_t*>(&port);
}
// Of a port that no machine has with fewer than 65 bits.
template <std::size_t N>
uint32_t* words_of(VlWide<N>& port) {
  return port.m_storage;
}
template <std::size_t N>
const uint32_t* words_of(const VlWide<N>& port) {
  return port.m_storage;
}

// Bits [lsb, lsb + width) of a port, width <= 64.
template <class Port>
requires std::is_integral_v<Port>
void put_bits(Port& port, unsigned lsb, unsigned width, uint64_t value) {
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  port = static_cast<Port>((uint64_t{port} & ~(mask << lsb)) | ((value & mask) << lsb));
}
template <class Port>
requires std::is_integral_v<Port> uint64_t get_bits(const Port& port, unsigned lsb, unsigned width) {
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  return (uint64_t{port} >> lsb) & mask;
}
template <std::size_t N>
void put_bits(VlWide<N>& port, unsigned lsb, unsigned width, uint64_t value) {
  for (unsigned done = 0; done < width;) {
    const unsigned word = (lsb + done) / 32, bit = (lsb + done) % 32;
    const unsigned count = width - done < 32 - bit ? width - done : 32 - bit;
    put_bits(port.m_storage[word], bit, count, value >> done);
    done += count;
  }
}
template <std::size_t N>
uint64_t get_bits(const VlWide<N>& port, unsigned lsb, unsigned width) {
  uint64_t value = 0;
  for (unsigned done = 0; done < width;) {
    const unsigned word = (lsb + done) / 32, bit = (lsb + done) % 32;
    const unsigned count = width - done < 32 - bit ? width - done : 32 - bit;
    value |= get_bits(port.m_storage[word], bit, count) << done;
    done += count;
  }
  return value;
}

}  // namespace npu::rtl
