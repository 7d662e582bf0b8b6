// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/compiler/back_checks.h"

#include <algorithm>
#include <map>
#include <random>

#include "driver/compiler/patches.h"
#include "driver/compiler/schedule/footprint.h"
#include "hw/contract/overloaded.h"
#include "tests/unit/compiler/command_interpreter.h"
#include "tests/unit/compiler/step_interpreter.h"

namespace npu::compiler::testing {
namespace {

backend::Body decode(std::span<const uint32_t> words) {
  contract::AnyCommand any = contract::decode_command(words);
  return std::visit(
      Overloaded{[]<typename Command>(Command& command) { return backend::Body(std::move(command)); },
                 // The compiler's own streams have none of these; like a declaration they touch no memory.
                 [](contract::BeginCommand&) { return backend::Body(contract::DeclareCommand()); },
                 [](contract::EndCommand&) { return backend::Body(contract::DeclareCommand()); },
                 [](contract::YieldCommand&) { return backend::Body(contract::DeclareCommand()); }},
      any);
}

// What is wrong with the patches: not one for each field of the stream that names a variable.
std::string patch_complaint(const Program& program) {
  std::vector<Patch> wanted;
  const std::span<const uint32_t> words = std::span(program.commands).first(program.main_words);
  for (size_t at = 0; at < words.size(); at += contract::command_words(words.subspan(at))) {
    std::visit([&](const auto& command) { add_patches(command, at, wanted); },
               contract::decode_command(words.subspan(at)));
  }
  const auto equal = [](const Patch& a, const Patch& b) {
    return a.word == b.word && a.field == b.field && a.source == b.source && a.index == b.index;
  };
  const bool right = std::equal(wanted.begin(), wanted.end(), program.patches.begin(), program.patches.end(), equal);
  return right ? "" : "the patches are not those of the commands";
}

bool same_bytes(const backend::ByteSet& a, const backend::ByteSet& b) {
  if (a.space != b.space || a.low != b.low || a.run != b.run || a.rank != b.rank) return false;
  for (uint32_t d = 0; d < a.rank; ++d) {
    if (a.dims[d].count != b.dims[d].count || a.dims[d].stride != b.dims[d].stride) return false;
  }
  return true;
}

}  // namespace

OrderCheck::OrderCheck(const Program& program, const contract::Capabilities& capabilities) {
  const CommandInterpreter interpreter(program, capabilities);
  // The last writer and the readers since, for every byte, the plain way.
  struct Byte {
    int32_t writer = -1;
    std::vector<int32_t> readers;
  };
  std::map<uint32_t, std::vector<Byte>> spaces;
  for (size_t i = 0; i < interpreter.size(); ++i) {
    const std::span<const uint32_t> words = interpreter.words(i);
    const contract::Header header = contract::Header::decode(words);
    nodes_.push_back({static_cast<size_t>(header.queue), header.wait});
    std::vector<size_t> earlier;
    const std::vector<backend::ByteSet> sets = backend::footprint(decode(words));
    for (const bool write : {false, true}) {
      for (const backend::ByteSet& set : sets) {
        if (set.write != write) continue;
        const bool in_place =
            std::any_of(sets.begin(), sets.end(), [&](const auto& o) { return !o.write && same_bytes(o, set); });
        std::vector<Byte>& bytes = spaces[set.space];
        if (bytes.size() < static_cast<size_t>(set.high)) bytes.resize(static_cast<size_t>(set.high));
        set.for_each_run([&](int64_t low, int64_t high) {
          for (int64_t at = low; at < high; ++at) {
            Byte& byte = bytes[static_cast<size_t>(at)];
            if (byte.writer >= 0) earlier.push_back(static_cast<size_t>(byte.writer));
            const auto self = static_cast<int32_t>(i);
            if (write) {
              if (!byte.readers.empty() && byte.readers.back() == self && !in_place) self_overlaps_.push_back(i);
              for (int32_t reader : byte.readers) earlier.push_back(static_cast<size_t>(reader));
              byte.readers.clear();
              byte.writer = self;
            } else if (byte.readers.empty() || byte.readers.back() != self) {
              byte.readers.push_back(self);
            }
          }
        });
        std::sort(earlier.begin(), earlier.end());
        earlier.erase(std::unique(earlier.begin(), earlier.end()), earlier.end());
      }
    }
    for (size_t other : earlier) {
      if (other != i && nodes_[other].queue != nodes_[i].queue) pairs_.push_back({other, i});
    }
  }
}

std::vector<std::array<int32_t, 16>> OrderCheck::clocks(const std::vector<Node>& nodes) const {
  std::vector<std::array<int32_t, 16>> start(nodes.size());
  std::array<std::vector<size_t>, 16> issued;
  const auto join = [&](std::array<int32_t, 16>& clock, size_t done) {
    for (size_t q = 0; q < 16; ++q) clock[q] = std::max(clock[q], start[done][q]);
    const auto& list = issued[nodes[done].queue];
    const auto position = std::lower_bound(list.begin(), list.end(), done) - list.begin();
    clock[nodes[done].queue] = std::max(clock[nodes[done].queue], static_cast<int32_t>(position) + 1);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    start[i].fill(0);
    auto& own = issued[nodes[i].queue];
    if (!own.empty()) join(start[i], own.back());
    for (size_t q = 0; q < 12; ++q) {
      const size_t k = nodes[i].wait[q];
      if (k > 0 && issued[q].size() + 1 > k) join(start[i], issued[q][issued[q].size() - k]);
    }
    own.push_back(i);
  }
  return start;
}

const OrderCheck::Pair* OrderCheck::unordered(const std::vector<Node>& nodes) const {
  const auto start = clocks(nodes);
  std::array<int32_t, 16> count{};
  std::vector<int32_t> position(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) position[i] = ++count[nodes[i].queue];
  for (const Pair& pair : pairs_) {
    if (start[pair.after][nodes[pair.before].queue] < position[pair.before]) return &pair;
  }
  return nullptr;
}

std::vector<std::string> OrderCheck::hazards() const {
  if (!self_overlaps_.empty()) return {"command " + std::to_string(self_overlaps_.front()) + " writes what it reads"};
  if (const Pair* pair = unordered(nodes_)) {
    return {"commands " + std::to_string(pair->before) + " and " + std::to_string(pair->after)};
  }
  return {};
}

size_t OrderCheck::token_count() const {
  size_t count = 0;
  for (const Node& node : nodes_) {
    count += static_cast<size_t>(std::count_if(node.wait.begin(), node.wait.end(), [](uint8_t k) { return k > 0; }));
  }
  return count;
}

std::vector<std::string> OrderCheck::needless_tokens(size_t limit) const {
  std::vector<std::string> out;
  const size_t every = std::max<size_t>(1, token_count() / std::max<size_t>(1, limit));
  size_t token = 0;
  std::vector<Node> nodes = nodes_;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (size_t q = 0; q < 12; ++q) {
      if (nodes_[i].wait[q] == 0 || token++ % every != 0) continue;
      nodes[i].wait[q] = 0;
      if (unordered(nodes) == nullptr) out.push_back("command " + std::to_string(i) + " on queue " + std::to_string(q));
      nodes[i].wait[q] = nodes_[i].wait[q];
    }
  }
  return out;
}

std::vector<size_t> OrderCheck::random_order(uint32_t seed) const {
  std::mt19937 random(seed);
  std::array<std::vector<size_t>, 16> queues;
  std::vector<std::array<size_t, 12>> needed(nodes_.size());  // commands of each queue that must be complete
  for (size_t i = 0; i < nodes_.size(); ++i) {
    for (size_t q = 0; q < 12; ++q) {
      const size_t k = nodes_[i].wait[q], issued = queues[q].size();
      needed[i][q] = k > 0 && issued + 1 > k ? issued + 1 - k : 0;
    }
    queues[nodes_[i].queue].push_back(i);
  }
  std::array<size_t, 16> done{};
  std::vector<size_t> order;
  while (order.size() < nodes_.size()) {
    std::vector<size_t> ready;
    for (size_t q = 0; q < 16; ++q) {
      if (done[q] == queues[q].size()) continue;
      const size_t i = queues[q][done[q]];
      bool waits = false;
      for (size_t other = 0; other < 12; ++other) waits |= needed[i][other] > done[other];
      if (!waits) ready.push_back(q);
    }
    if (ready.empty()) return {};  // deadlock
    // One queue often runs far ahead: the worst that timing can do.
    const size_t q = random() % 4 != 0 ? ready[seed % ready.size()] : ready[random() % ready.size()];
    order.push_back(queues[q][done[q]++]);
  }
  return order;
}

std::string check_module(const Module& module, const contract::Capabilities& capabilities,
                         const ScheduleOptions& options, uint32_t seed, int orders) {
  Buffers want = make_buffers(module);
  std::mt19937 random(seed);
  for (BufferId id : module.input_buffers) {
    for (uint8_t& byte : want[id]) byte = static_cast<uint8_t>(random());
  }
  std::vector<std::vector<uint8_t>> inputs;
  for (BufferId id : module.input_buffers) inputs.push_back(want[id]);
  for (BufferId id = 0; id < module.buffers.size(); ++id) {
    if (module.buffers[id].kind == BufferKind::kVariable) want[id] = module.variables[module.buffers[id].index].initial;
  }
  run_steps(module, want);

  const Program program = schedule(Module(module), capabilities, options);
  if (program.spm_peak_bytes > capabilities.spm_bytes) return "scratchpad peak is beyond its size";
  if (const std::string complaint = patch_complaint(program); !complaint.empty()) return complaint;
  const OrderCheck order(program, capabilities);
  if (const auto hazards = order.hazards(); !hazards.empty()) return "hazard: " + hazards.front();
  for (int run = 0; run <= orders; ++run) {
    CommandInterpreter device(program, capabilities, run % 2 == 1);
    for (size_t i = 0; i < inputs.size(); ++i) device.set_input(i, inputs[i]);
    if (run == 0) {
      device.run();
    } else {
      const std::vector<size_t> sequence = order.random_order(seed + static_cast<uint32_t>(run));
      if (sequence.empty() && device.size() > 0) return "deadlock";
      for (size_t i : sequence) device.execute(i);
    }
    if (!device.complaints.empty()) return device.complaints.front();
    for (size_t i = 0; i < module.output_buffers.size(); ++i) {
      if (device.output(i) != want[module.output_buffers[i]]) {
        return "output " + std::to_string(i) + " differs in run " + std::to_string(run);
      }
    }
    for (BufferId id = 0; id < module.buffers.size(); ++id) {
      if (module.buffers[id].kind != BufferKind::kVariable) continue;
      if (device.variable(module.buffers[id].index) != want[id])
        return "a variable differs in run " + std::to_string(run);
    }
  }
  return {};
}

}  // namespace npu::compiler::testing
