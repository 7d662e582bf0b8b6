// SPDX-License-Identifier: Apache-2.0
#include "hw/timing/mxu_ports.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "hw/timing/mxu_cycles.h"

namespace npu::timing {

namespace {

// Groups whose sums stand in the accumulators, and groups whose parameters are kept: two halves, two sets.
constexpr uint32_t kHalves = 2;

// Of something that waits for something else: PortSchedule::steady() is for the others to say.
constexpr uint64_t kForever = std::numeric_limits<uint64_t>::max();

// Steps before the last of these, whose end would show.
constexpr uint64_t before_last(uint64_t left) { return left == 0 ? 0 : left - 1; }

// Places in a row, a bit each, which move on together from bit 0 to `last`.
constexpr uint64_t moved(uint64_t held, uint64_t cycles) { return cycles < 64 ? held << cycles : 0; }
// As `cycles` moves leave them if each brings the same into bit 0.
constexpr uint64_t moved(uint64_t held, uint64_t cycles, bool enters) {
  return moved(held, cycles) | (enters ? ~moved(~uint64_t{0}, cycles) : 0);
}
// Moves behind which the first of what is on its way has not come to `last`.
constexpr uint64_t before_arrival(uint64_t held, uint64_t last) {
  const uint64_t coming = held & (2 * last - 1);
  if (coming == 0) return kForever;
  return static_cast<uint64_t>(std::bit_width(last) - std::bit_width(coming)) - (coming < last ? 1 : 0);
}
// Moves behind which `last` holds what it holds now, if each brings the same into bit 0.
constexpr uint64_t before_change(uint64_t held, uint64_t last, bool enters) {
  const bool now = (held & last) != 0;
  const uint64_t others = (now ? ~held : held) & (2 * last - 1);
  if (others != 0) return before_arrival(others, last);
  return enters == now ? kForever : static_cast<uint64_t>(std::bit_width(last)) - 1;
}

// A group of channels of a block of pixels; they follow each other in this order wherever groups are handled.
struct Group {
  uint64_t block = 0, group = 0;
  void next(const MxuLoops& loops) {
    if (++group < loops.groups) return;
    group = 0;
    ++block;
  }
};

// Loads the weights of the step behind the one at hand.
class Weights {
 public:
  explicit Weights(const MxuLoops& loops) : loops_(loops), beats_left_(loops.load(0)) {}
  [[nodiscard]] bool asks() const { return beats_left_ > 0; }
  [[nodiscard]] bool loaded() const { return beats_left_ == 0 && !ended(); }
  [[nodiscard]] bool ended() const { return at_.block == loops_.blocks; }  // there is no such step
  [[nodiscard]] bool first() const { return step_ == 0; }                  // of its group
  [[nodiscard]] bool last() const { return step_ + 1 == loops_.steps; }
  [[nodiscard]] uint64_t pixels() const { return loops_.block_size(at_.block); }

  void load() { --beats_left_; }
  void next() {
    if (!last()) {
      ++step_;
    } else {
      step_ = 0;
      at_.next(loops_);
    }
    beats_left_ = ended() ? 0 : loops_.load(at_.group);
  }

  [[nodiscard]] uint64_t steady() const { return asks() ? before_last(beats_left_) : kForever; }
  void skip(uint64_t cycles) {
    if (asks()) beats_left_ -= cycles;
  }

 private:
  const MxuLoops& loops_;
  Group at_;
  uint64_t step_ = 0, beats_left_;
};

// What enters the array in a cycle; a group's end comes with its last pixel, or alone when the next weights are late.
struct Item {
  bool pixel = false;
  bool starts = false, ends = false;  // a group
  bool sums = false;                  // completes those of a pixel that is not its group's last
};

// Sends pixel by pixel through the step whose weights the array holds.
class Stream {
 public:
  Stream(const MxuLoops& loops, Weights& weights) : loops_(loops), weights_(weights) {}
  // A pixel's activations come with the first of its cycles.
  [[nodiscard]] bool asks() const { return pixels_left_ > 0 && cycle_of_pixel_ == 0; }

  // `granted` can be true while the array stands, for a request that waited.
  Item step(bool granted, bool stands) {
    Item item;
    item.pixel = granted || (cycle_of_pixel_ > 0 && !stands);
    if (item.pixel) {
      item.starts = at_start_;
      at_start_ = false;
      if (++cycle_of_pixel_ == loops_.rate) {
        cycle_of_pixel_ = 0;
        --pixels_left_;
        item.sums = ends_group_ && pixels_left_ > 0;
      }
    }
    if (!stands && pixels_left_ == 0) item.ends = turn();
    return item;
  }

  // While the array does not stand.
  [[nodiscard]] uint64_t steady() const {
    if (at_start_) return 0;
    if (cycle_of_pixel_ > 0) return before_last(loops_.rate - cycle_of_pixel_);
    if (pixels_left_ > 0) return loops_.rate == 1 ? before_last(pixels_left_) : 0;
    return weights_.loaded() || (weights_.ended() && ends_group_) ? 0 : kForever;
  }
  // What enters in each of the cycles that steady() is about.
  [[nodiscard]] Item item() const {
    Item item;
    item.pixel = pixels_left_ > 0;
    item.sums = item.pixel && cycle_of_pixel_ == 0 && ends_group_;
    return item;
  }
  void skip(uint64_t cycles) {
    if (cycle_of_pixel_ > 0) {
      cycle_of_pixel_ += cycles;
    } else if (pixels_left_ > 0) {
      pixels_left_ -= cycles;
    }
  }

 private:
  // To the next step if its weights are there. True when that ends a group.
  bool turn() {
    if (!weights_.loaded() && !weights_.ended()) return false;
    const bool ends = ends_group_;
    ends_group_ = false;
    if (weights_.loaded()) {
      pixels_left_ = weights_.pixels();
      at_start_ = weights_.first();
      ends_group_ = weights_.last();
      weights_.next();
    }
    return ends;
  }

  const MxuLoops& loops_;
  Weights& weights_;
  uint64_t pixels_left_ = 0, cycle_of_pixel_ = 0;
  bool at_start_ = false;    // no pixel of the group has entered
  bool ends_group_ = false;  // the step at hand does, and has not yet
};

// The way from the operand register to the accumulators.
class Pipeline {
 public:
  explicit Pipeline(const MxuLoops& loops) : end_(uint64_t{1} << (loops.pipeline - 2)) {}
  // At the accumulators.
  [[nodiscard]] bool pixel() const { return (pixels_ & end_) != 0; }
  [[nodiscard]] bool ends() const { return (ends_ & end_) != 0; }
  [[nodiscard]] bool sums() const { return (sums_ & end_) != 0; }
  // A group's first pixel is about to arrive there.
  [[nodiscard]] bool starts() const { return (starts_ & (end_ >> 1)) != 0; }

  // While it stands, a request that waited may still fill the place that it left empty.
  void step(const Item& item, bool stands) {
    const unsigned move = stands ? 0 : 1;
    pixels_ = pixels_ << move | (item.pixel ? 1 : 0);
    starts_ = starts_ << move | (item.starts ? 1 : 0);
    ends_ = ends_ << move | (item.ends ? 1 : 0);
    sums_ = sums_ << move | (item.sums ? 1 : 0);
  }

  // While the array does not stand, and `item` enters: nothing but pixels arrives, none of them where they must not,
  // and all of them complete their sums or none does.
  [[nodiscard]] uint64_t steady(const Item& item, bool pixels_may_arrive) const {
    const uint64_t pixels = pixels_may_arrive ? kForever : before_arrival(pixels_, end_);
    return std::min({pixels, before_arrival(ends_, end_), before_arrival(starts_, end_ >> 1),
                     before_change(sums_, end_, item.sums)});
  }
  void skip(uint64_t cycles, const Item& item) {
    pixels_ = moved(pixels_, cycles, item.pixel);
    starts_ = moved(starts_, cycles);
    ends_ = moved(ends_, cycles);
    sums_ = moved(sums_, cycles, item.sums);
  }

 private:
  uint64_t end_;                                            // the bit of the last place; what enters is bit 0
  uint64_t pixels_ = 0, starts_ = 0, ends_ = 0, sums_ = 0;  // places that hold one
};

// Fetches the header, then the entries of each group that has reached the accumulators.
class Parameters {
 public:
  explicit Parameters(const MxuLoops& loops)
      : loops_(loops),
        header_beats_(ceil_div(contract::ParameterHeader::kBytes, loops.port_bytes)),
        header_left_(header_beats_),
        beats_left_(loops.parameter_beats(0)) {}
  [[nodiscard]] bool asks() const { return header_left_ > 0 || (groups_ > 0 && sets_ < kHalves); }
  // The zero points, without which nothing else begins, are in the header's first beat.
  [[nodiscard]] bool zero_points() const { return header_left_ < header_beats_; }
  [[nodiscard]] bool there() const { return sets_ > 0; }  // those of the oldest group
  // Nothing but the last beat of a group's entries is missing.
  [[nodiscard]] bool almost() const { return groups_ == 0 || (header_left_ == 0 && beats_left_ == 1); }

  void step(bool granted, bool starts, bool released) {
    if (released) --sets_;
    if (granted) take();
    if (starts) ++groups_;
  }

  // almost() stays as it is, too.
  [[nodiscard]] uint64_t steady() const {
    if (header_left_ > 0) return 0;
    return asks() ? before_last(before_last(beats_left_)) : kForever;
  }
  void skip(uint64_t cycles) {
    if (asks()) beats_left_ -= cycles;
  }

 private:
  void take() {
    if (header_left_ > 0) {
      --header_left_;
    } else if (--beats_left_ == 0) {
      --groups_;
      ++sets_;
      at_.next(loops_);
      beats_left_ = loops_.parameter_beats(at_.group);
    }
  }

  const MxuLoops& loops_;
  uint64_t header_beats_, header_left_;
  Group at_;
  uint64_t beats_left_;  // of its entries
  uint32_t groups_ = 0;  // began, and lack entries
  uint32_t sets_ = 0;    // complete and in use
};

// Stages that move together, and wait at the last one for what takes from it.
class Stages {
 public:
  [[nodiscard]] bool last() const { return (held_ & kLast) != 0; }
  // `moves`: the last one is empty, or is taken from. `enters`: something comes into the first.
  void step(bool moves, bool enters) {
    if (moves) held_ = held_ << 1 | (enters ? 1 : 0);
  }
  // Each cycle moves them.
  [[nodiscard]] uint64_t steady(bool enters) const { return before_change(held_, kLast, enters); }
  void skip(uint64_t cycles, bool enters) { held_ = moved(held_, cycles, enters); }

 private:
  static constexpr uint64_t kLast = uint64_t{1} << (kMxuRescaleStages - 1);
  uint64_t held_ = 0;  // those that hold a pixel; bits beyond the last one are of no meaning
};

// Fetches the residual's pixels ahead of the values that they are added to.
class Residual {
 public:
  explicit Residual(const MxuLoops& loops) : left_(loops.residual ? loops.pixels * loops.groups : 0) {}
  [[nodiscard]] bool asks() const { return left_ > 0 && held_ < kHeld; }
  [[nodiscard]] bool there() const { return held_ > 0; }
  void step(bool granted, bool taken) {
    if (granted) --left_;
    held_ += (granted ? 1 : 0) - (taken ? 1 : 0);
  }
  // One comes and one is taken, or neither.
  [[nodiscard]] uint64_t steady(bool taken) const {
    if (asks() != taken) return 0;
    return taken ? before_last(left_) : kForever;
  }
  void skip(uint64_t cycles, bool taken) {
    if (taken) left_ -= cycles;
  }

 private:
  static constexpr int kHeld = 2;
  uint64_t left_;
  int held_ = 0;
};

// Drains complete sums through the output stage. A group's last pixel waits for the group's end.
class Output {
 public:
  explicit Output(const MxuLoops& loops)
      : loops_(loops), pixels_left_(loops.block_size(0)), results_left_(loops.pixels * loops.groups) {}
  [[nodiscard]] bool asks() const { return (loops_.residual ? sum_ : value_).last(); }
  [[nodiscard]] bool asks_residual() const { return residual_.asks(); }
  [[nodiscard]] bool done() const { return results_left_ == 0; }
  [[nodiscard]] bool full() const { return groups_ == kHalves; }
  // The other half is empty, or its last pixel is about to leave.
  [[nodiscard]] bool almost(bool parameters) const { return groups_ == 0 || (parameters && pixels_left_ == 1); }

  // `parameters` of the oldest group are there; `sums` and `ends` arrive. True when the last pixel of that group leaves
  // the accumulators.
  bool step(bool granted, bool residual, bool parameters, bool sums, bool ends) {
    if (granted) --results_left_;
    const bool moves = loops_.residual ? add(granted, residual) : granted || !value_.last();
    const bool drains = drains_now(parameters);
    value_.step(moves, drains);
    const bool drained = moves && drains;
    if (drained) --complete_;
    if (sums || ends) ++complete_;
    const bool released = drained && --pixels_left_ == 0;
    if (released) {
      --groups_;
      at_.next(loops_);
      if (at_.block < loops_.blocks) pixels_left_ = loops_.block_size(at_.block);
    }
    if (ends) ++groups_;
    return released;
  }

  // A result each step, or none; almost() stays as it is, too. `sums` arrive in each step, or in none.
  [[nodiscard]] uint64_t steady(bool parameters, bool sums) const {
    const bool drains = drains_now(parameters);
    uint64_t steps = value_.steady(drains);
    if (drains) {
      steps = std::min(steps, before_last(before_last(pixels_left_)));
      if (!sums) steps = std::min(steps, before_last(complete_));
    } else if (sums && parameters) {
      return 0;
    }
    if (asks()) steps = std::min(steps, before_last(results_left_));
    if (!loops_.residual) return steps;
    const bool joins = value_.last();
    if (joins && !residual_.there()) return 0;
    return std::min({steps, side_.steady(joins), sum_.steady(side_.last()), residual_.steady(joins)});
  }
  void skip(uint64_t cycles, bool parameters, bool sums) {
    if (asks()) results_left_ -= cycles;
    if (loops_.residual) {
      sum_.skip(cycles, side_.last());
      side_.skip(cycles, value_.last());
      residual_.skip(cycles, value_.last());
    }
    const bool drains = drains_now(parameters);
    value_.skip(cycles, drains);
    if (drains) pixels_left_ -= cycles;
    complete_ += (sums ? cycles : 0) - (drains ? cycles : 0);
  }

 private:
  [[nodiscard]] bool drains_now(bool parameters) const { return complete_ > 0 && parameters; }
  // The stages behind the value's own. True when those move.
  bool add(bool granted, bool residual) {
    const bool sum_moves = granted || !sum_.last();
    const bool side_moves = sum_moves || !side_.last();
    const bool joins = side_moves && value_.last() && residual_.there();
    sum_.step(sum_moves, side_.last());
    side_.step(side_moves, joins);
    residual_.step(residual, joins);
    return joins || !value_.last();
  }

  const MxuLoops& loops_;
  Group at_;              // the oldest one
  uint64_t pixels_left_;  // of it, in the accumulators
  uint64_t results_left_;
  uint64_t complete_ = 0;      // pixels in the accumulators that may drain
  uint32_t groups_ = 0;        // complete, and not drained
  Stages value_, side_, sum_;  // RESCALEs of the accumulator, of a side of the addition, and of the sum
  Residual residual_{loops_};
};

class MxuPorts final : public SteppedSchedule<MxuPorts> {
 public:
  explicit MxuPorts(const MxuLoops& loops) : loops_(loops) { look(); }
  MxuPorts(const MxuPorts&) = delete;  // parts refer to each other
  MxuPorts& operator=(const MxuPorts&) = delete;

  [[nodiscard]] Ports asking() const override { return asking_; }

  // From the back to the front: each part sees those before it as they were at the cycle's beginning. Only weights are
  // of use in the cycle that brings them.
  void step(Ports granted) override {
    const bool stands = stands_;
    waiting_ = asking_ & ~granted;
    const bool released = output_.step((granted & kMxuResults) != 0, (granted & kMxuResidual) != 0, parameters_.there(),
                                       sums(), !stands && pipeline_.ends());
    parameters_.step((granted & kMxuParameters) != 0, !stands && pipeline_.starts(), released);
    if ((granted & kMxuWeights) != 0) weights_.load();
    pipeline_.step(stream_.step((granted & kMxuActivations) != 0, stands), stands);
    look();
  }

  [[nodiscard]] bool done() const override { return output_.done(); }

  // Loading stands with the array, but for a request that waited: who asks then is on its own.
  [[nodiscard]] uint64_t steady() const override {
    const uint64_t behind = std::min(parameters_.steady(), output_.steady(parameters_.there(), sums()));
    if (behind == 0) return 0;
    if (stands_) return (asking_ & (kMxuActivations | kMxuWeights)) == 0 ? known(behind) : 0;
    const uint64_t array = std::min(stream_.steady(), pipeline_.steady(stream_.item(), !output_.full()));
    return known(std::min({behind, weights_.steady(), array}));
  }
  void skip(uint64_t cycles) override {
    waiting_ = 0;
    output_.skip(cycles, parameters_.there(), sums());
    parameters_.skip(cycles);
    if (stands_) return;
    weights_.skip(cycles);
    pipeline_.skip(cycles, stream_.item());
    stream_.skip(cycles);
  }

 private:
  // Somebody has to know: what waits for ever would not be a tile.
  static uint64_t known(uint64_t cycles) { return cycles == kForever ? 0 : cycles; }
  // A pixel's last sums come to the accumulators.
  [[nodiscard]] bool sums() const { return !stands_ && pipeline_.sums(); }
  // Whether the array stands, and loading with it: a complete group finds the other half still in use or lacks
  // parameters, or a pixel finds both halves in use.
  [[nodiscard]] bool stands() const {
    if (pipeline_.pixel() && output_.full()) return true;
    return pipeline_.ends() && !(parameters_.almost() && output_.almost(parameters_.there()));
  }

  // What holds in the next cycle.
  void look() {
    stands_ = stands();
    asking_ = 0;
    if (stream_.asks()) asking_ |= kMxuActivations;
    if (weights_.asks() && parameters_.zero_points()) asking_ |= kMxuWeights;
    if (stands_) asking_ &= waiting_;
    if (parameters_.asks()) asking_ |= kMxuParameters;
    if (output_.asks()) asking_ |= kMxuResults;
    if (output_.asks_residual() && parameters_.zero_points()) asking_ |= kMxuResidual;
  }

  const MxuLoops loops_;
  Weights weights_{loops_};
  Stream stream_{loops_, weights_};
  Pipeline pipeline_{loops_};
  Parameters parameters_{loops_};
  Output output_{loops_};
  Ports waiting_ = 0;  // asked in the last cycle, in vain
  Ports asking_ = 0;
  bool stands_ = false;
};

class NoPorts final : public SteppedSchedule<NoPorts> {
 public:
  [[nodiscard]] Ports asking() const override { return 0; }
  void step(Ports) override {}
  [[nodiscard]] bool done() const override { return true; }
};

}  // namespace

std::unique_ptr<PortSchedule> mxu_ports(const contract::MxuCommand& command, const contract::Capabilities& caps) {
  if (mxu_cycles(command, caps) == Cycles{}) return std::make_unique<NoPorts>();
  return std::make_unique<MxuPorts>(mxu_loops(command, caps));
}

}  // namespace npu::timing
