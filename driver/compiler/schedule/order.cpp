// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/schedule/order.h"

#include <algorithm>

#include "hw/contract/gen/accesses.h"

namespace npu::compiler::backend {
namespace {

// Asks for one kind: no other command changes what the table says of a variable while it touches none of its bytes.
bool is_declaration(const Command& command) { return std::holds_alternative<contract::DeclareCommand>(command.body); }

bool reads_variable(const Command& load) {
  bool reads = false;
  const auto note = [&](const contract::MemoryAccess& access) {
    reads |= access.access == contract::Access::kRead && access.base.region == contract::Region::kVariable;
  };
  std::visit([&](const auto& command) { for_each_access(command, note); }, load.body);
  return reads;
}

class Hoister {
 public:
  Hoister(const std::vector<Command>& commands, std::span<const QueueCounts> needs, Estimator& estimator)
      : commands_(commands), needs_(needs), estimator_(estimator) {
    order_.reserve(commands.size());
  }

  std::vector<size_t> run() {
    find_loads();
    for (size_t i = 0; i < commands_.size(); ++i) {
      if (commands_[i].part == Command::Part::kLoad) {
        if (!queues_[queue_of(i)].passed(i)) issue_load(i);
        continue;
      }
      hoist();
      issue(i);
      passed_ = i + 1;
    }
    return std::move(order_);
  }

 private:
  // The loads of a queue, in their order.
  struct LoadQueue {
    std::vector<size_t> loads;
    std::vector<size_t> behind;  // what a load must stay behind is before this position
    size_t next = 0;
    [[nodiscard]] bool passed(size_t load) const { return next > 0 && loads[next - 1] >= load; }
  };

  [[nodiscard]] contract::Queue queue_of(size_t i) const { return header_of(commands_[i].body).queue; }

  void find_loads() {
    size_t control = 0, declaration = 0;
    for (size_t i = 0; i < commands_.size(); ++i) {
      if (is_control(commands_[i].body)) control = i + 1;
      if (is_declaration(commands_[i])) declaration = i + 1;
      if (commands_[i].part != Command::Part::kLoad) continue;
      LoadQueue& queue = queues_[queue_of(i)];
      queue.loads.push_back(i);
      // A declaration touches no bytes, but the sequencer executes it in its turn.
      queue.behind.push_back(reads_variable(commands_[i]) ? std::max(control, declaration) : control);
    }
  }

  // Issues loads that nothing holds back.
  void hoist() {
    for (const contract::Queue q : contract::kQueuesOfEngines) {
      LoadQueue& queue = queues_[q];
      while (queue.next < queue.loads.size() && queue.behind[queue.next] <= passed_ && estimator_.has_room(q) &&
             is_free(queue.loads[queue.next])) {
        issue_load(queue.loads[queue.next]);
      }
    }
  }

  // Whether all that the load needs has been issued.
  [[nodiscard]] bool is_free(size_t load) const {
    return std::all_of(contract::kQueuesOfEngines.begin(), contract::kQueuesOfEngines.end(),
                       [&](contract::Queue q) { return static_cast<size_t>(needs_[load][q]) <= estimator_.issued(q); });
  }

  void issue_load(size_t i) {
    issue(i);
    ++queues_[queue_of(i)].next;
  }

  void issue(size_t i) {
    order_.push_back(i);
    estimator_.issue(commands_[i], &needs_[i]);
  }

  const std::vector<Command>& commands_;
  const std::span<const QueueCounts> needs_;
  Estimator& estimator_;
  contract::EngineQueueTable<LoadQueue> queues_;
  std::vector<size_t> order_;
  size_t passed_ = 0;  // all commands before this one are issued
};

}  // namespace

std::vector<size_t> hoist_loads(const std::vector<Command>& commands, std::span<const QueueCounts> needs,
                                std::span<const Variable> variables, const contract::Capabilities& capabilities) {
  Estimator estimator(commands.size(), variables, capabilities);
  return Hoister(commands, needs, estimator).run();
}

}  // namespace npu::compiler::backend
