// SPDX-License-Identifier: Apache-2.0
// The RTL of the VPU (rtl/blocks/vpu), clock by clock.
//
// A cycle: see which requests there are, answer those that memory grants, tick. What is not granted is asked again.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "hw/contract/gen/commands.h"

namespace npu::rtl {

class Vpu {
 public:
  // Elements of `element_bytes` bytes (48-bit values come and go in two halves of 4) of an operand: lane i, if it has a
  // bit in `lanes`, stands `offsets[i]` bytes (two's complement) from the operand's address. Its bytes are the low ones
  // of data[i]. Operands are numbered like those of the command; pooling and reductions have source 0 and result 1,
  // pooling has parameters 2.
  struct Read {
    uint32_t operand = 0, element_bytes = 0;
    uint64_t lanes = 0;
    const uint32_t* offsets = nullptr;
    uint32_t* data = nullptr;
  };
  struct Write {
    uint32_t operand = 0, element_bytes = 0;
    uint64_t lanes = 0;
    const uint32_t* offsets = nullptr;
    const uint32_t* data = nullptr;
  };
  // `bytes` bytes of a parameter block or table.
  struct Parameters {
    uint32_t operand = 0;
    uint32_t offset = 0, bytes = 0;
    uint8_t* data = nullptr;
  };

  virtual ~Vpu() = default;
  [[nodiscard]] virtual uint32_t lanes() const = 0;
  virtual void reset() = 0;
  // A command of the VPU that make_tile() took. Throws npu::Error (argument_unsupported) for a program with more
  // registers, or tables and parameter blocks of more bytes, than the RTL has room for, and for a pooling that spans
  // 2^31 rows or columns. It is accepted with the next tick.
  virtual void start(const contract::AnyCommand& command) = 0;

  // What is asked for in this cycle; false: nothing. A request stays the same until it is granted.
  [[nodiscard]] virtual bool parameters(Parameters& request) = 0;
  [[nodiscard]] virtual bool read(Read& request) = 0;
  [[nodiscard]] virtual bool write(Write& request) = 0;
  // The request's bytes were put into its `data` (results: were taken from there).
  virtual void grant_parameters() = 0;
  virtual void grant_read() = 0;
  virtual void grant_write() = 0;

  virtual void tick() = 0;
  // The tile ended with the last tick.
  [[nodiscard]] virtual bool done() const = 0;
  [[nodiscard]] virtual uint64_t cycles() const = 0;  // since construction
};

// The requests of a cycle: take(request) is called for each that is asked for, in this order. It is granted when take
// says so, which has then done what the grant means.
template <class Take>
void handshake(Vpu& block, Take&& take) {
  Vpu::Parameters parameters;
  if (block.parameters(parameters) && take(parameters)) block.grant_parameters();
  Vpu::Read read;
  if (block.read(read) && take(read)) block.grant_read();
  Vpu::Write write;
  if (block.write(write) && take(write)) block.grant_write();
}

// What a memory does: copies between an operand, whose byte at offset 0 is at `base`, and the request's data.
void fetch(const Vpu::Parameters& request, const uint8_t* base);
void fetch(const Vpu::Read& request, const uint8_t* base);
void store(const Vpu::Write& request, uint8_t* base);

// `machine` is the name of one whose RTL was built. Throws npu::Error (bad_preset) for others.
[[nodiscard]] std::unique_ptr<Vpu> make_vpu(std::string_view machine);

}  // namespace npu::rtl
