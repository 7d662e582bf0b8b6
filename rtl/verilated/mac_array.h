// SPDX-License-Identifier: Apache-2.0
// The RTL of the MXU (rtl/blocks/mac_array), clock by clock.
//
// A cycle: see which requests there are, answer those that memory grants, tick. What is not granted is asked again.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "hw/contract/gen/commands.h"

namespace npu::rtl {

class MacArray {
 public:
  // All offsets are bytes from the address that the command has for the operand.
  //
  // `elements` elements each of some positions of the input, for `pixels` pixels side by side. Element e of position i
  // of pixel p goes to data + (p * pixel_pitch + i * pitch + e) * element_bytes. Positions outside the input box are
  // not asked for.
  struct Activations {
    static constexpr uint32_t kMostPixels = 8;
    uint32_t pixels = 0;
    std::array<uint64_t, kMostPixels> positions{};  // of each pixel, a bit each
    const uint32_t* offsets = nullptr;              // of position 0, 1, ... of the first pixel, two's complement
    int32_t pixel_stride = 0;                       // to those of the next pixel
    uint32_t elements = 0, element_bytes = 0, pitch = 0, pixel_pitch = 0;
    uint8_t* data = nullptr;

    // Calls visit(pixel, position, offset) for each that is asked for.
    template <class Visit>
    void each(Visit&& visit) const {
      for (uint32_t pixel = 0; pixel < pixels; ++pixel) {
        const uint32_t moved = pixel * static_cast<uint32_t>(pixel_stride);
        for (uint64_t left = positions[pixel]; left != 0; left &= left - 1) {
          const auto position = static_cast<uint32_t>(std::countr_zero(left));
          visit(pixel, position, static_cast<int32_t>(offsets[position] + moved));
        }
      }
    }
    // Where the elements of a position go.
    [[nodiscard]] uint8_t* place(uint32_t pixel, uint32_t position) const {
      return data + (size_t{pixel} * pixel_pitch + size_t{position} * pitch) * element_bytes;
    }
  };
  // `columns` columns of `elements` elements each. Element e of column c goes to data + (c * pitch + e) *
  // element_bytes.
  struct Weights {
    int32_t offset = 0, column_stride = 0, element_stride = 0;
    uint32_t columns = 0, elements = 0, element_bytes = 0, pitch = 0;
    uint8_t* data = nullptr;
  };
  struct Parameters {
    int32_t offset = 0;
    uint32_t bytes = 0;
    uint8_t* data = nullptr;
  };
  // `columns` neighbouring elements, the pixel that is added to the next result. Element c goes to data + c * pitch.
  struct Residual {
    int32_t offset = 0;
    uint32_t columns = 0, element_bytes = 0, pitch = 0;
    uint8_t* data = nullptr;
  };
  // `columns` neighbouring elements.
  struct Results {
    int32_t offset = 0;
    uint32_t columns = 0, element_bytes = 0;
    const uint32_t* data = nullptr;  // 48 bits each, lowest word first
  };

  virtual ~MacArray() = default;
  virtual void reset() = 0;
  // The command's fields must have passed MxuTile::parse. Throws npu::Error (argument_unsupported) for a tile of
  // a floating-point type that the machine lacks, and for one that spans 2^31 rows or columns of input. It is accepted
  // with the next tick.
  virtual void start(const contract::MxuCommand& command) = 0;

  // What is asked for in this cycle; false: nothing. A request stays the same until it is granted.
  [[nodiscard]] virtual bool activations(Activations& request) = 0;
  [[nodiscard]] virtual bool weights(Weights& request) = 0;
  [[nodiscard]] virtual bool parameters(Parameters& request) = 0;
  [[nodiscard]] virtual bool residual(Residual& request) = 0;
  [[nodiscard]] virtual bool results(Results& request) = 0;
  // The request's bytes were put into its `data` (results: were taken from there).
  virtual void grant_activations() = 0;
  virtual void grant_weights() = 0;
  virtual void grant_parameters() = 0;
  virtual void grant_residual() = 0;
  virtual void grant_results() = 0;

  virtual void tick() = 0;
  // The last result was taken with the last tick.
  [[nodiscard]] virtual bool done() const = 0;
  [[nodiscard]] virtual uint64_t cycles() const = 0;  // since construction
};

// The requests of a cycle: take(request) is called for each that is asked for, in this order. It is granted when take
// says so, which has then done what the grant means.
template <class Take>
void handshake(MacArray& block, Take&& take) {
  MacArray::Activations activations;
  if (block.activations(activations) && take(activations)) block.grant_activations();
  MacArray::Weights weights;
  if (block.weights(weights) && take(weights)) block.grant_weights();
  MacArray::Parameters parameters;
  if (block.parameters(parameters) && take(parameters)) block.grant_parameters();
  MacArray::Residual residual;
  if (block.residual(residual) && take(residual)) block.grant_residual();
  MacArray::Results results;
  if (block.results(results) && take(results)) block.grant_results();
}

// What a memory does: copies between an operand, whose byte at offset 0 is at `base`, and the request's data.
void fetch(const MacArray::Activations& request, const uint8_t* base);
void fetch(const MacArray::Weights& request, const uint8_t* base);
void fetch(const MacArray::Parameters& request, const uint8_t* base);
void fetch(const MacArray::Residual& request, const uint8_t* base);
void store(const MacArray::Results& request, uint8_t* base);

// `machine` is the name of one whose RTL was built. Throws npu::Error (bad_preset) for others.
[[nodiscard]] std::unique_ptr<MacArray> make_mac_array(std::string_view machine);

}  // namespace npu::rtl
