// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "driver/compiler/dram_needs.h"
#include "driver/compiler/lower.h"
#include "driver/compiler/promote.h"
#include "driver/compiler/room.h"
#include "driver/compiler/schedule.h"
#include "driver/compiler/size_check.h"
#include "driver/compiler/size_choices.h"
#include "driver/compiler/size_expressions.h"
#include "driver/compiler/slow_sizes.h"
#include "driver/graph/infer.h"
#include "driver/graph/resolve.h"
#include "driver/graph/text.h"
#include "driver/graph/validate.h"
#include "driver/graph/value.h"
#include "hw/contract/error.h"

namespace npu::compiler {
namespace {

using contract::ErrorCode;
using graph::Dim;
using graph::Dims;

constexpr size_t kMostLoweredBytes = size_t{256} << 20;
// Programs for slow sizes are left out where all would take more than this part of the device's DRAM.
constexpr uint64_t kPartOfDram = 2;

uint32_t bytes_of(graph::DType type, const graph::Shape& shape) {
  return static_cast<uint32_t>(*graph::element_count(shape) * graph::machine_width(type));
}

void set_shape(graph::Shape shape, Variable& variable) {
  variable.shape = std::move(shape);
  variable.bytes = bytes_of(variable.type, variable.shape);
  variable.hash = variable_hash(variable.type, variable.shape);
}

class BoundsCompiler {
 public:
  BoundsCompiler(const graph::Graph& graph, std::span<const SizeBounds> bounds,
                 const contract::Capabilities& capabilities, const Options& options,
                 const std::function<void(uint64_t, uint64_t)>& progress)
      : graph_(graph),
        inference_(infer(graph)),
        choices_(graph, (check_inference(), inference_), bounds),
        capabilities_(capabilities),
        schedule_(options.schedule),
        most_iterations_(options.most_iterations),
        promote_to_fp32_(options.promote_to_fp32),
        firmware_(options.firmware),
        progress_(progress) {
    find_values();
  }

  std::vector<Program> run() {
    std::vector<Program> programs = compile_all();
    add_programs_for_slow_sizes(choices_, slow_sizes(), programs);
    make_room_for_all(programs);
    return programs;
  }

 private:
  void check_inference() const {
    if (!inference_.without_expression.empty()) {
      const graph::NoExpression& none = inference_.without_expression.front();
      const graph::Block& block = graph_.regions[none.place.region].blocks.front();
      throw Error(ErrorCode::kFeatureUnsupported,
                  fmt::format("{}: {}, so it cannot be compiled for bounds; compile it for each choice of sizes",
                              graph::describe(block.operators[none.place.position], none.place.position), none.why));
    }
  }

  // A variable is that of all programs, so that each of them allocates it for the largest.
  static void make_room_for_all(std::vector<Program>& programs) {
    std::map<std::string_view, graph::Shape> largest;
    for (const Program& program : programs) {
      for (const Variable& variable : program.variables) {
        graph::Shape& shape = largest.try_emplace(variable.identity, variable.shape).first->second;
        for (size_t d = 0; d < shape.size(); ++d) shape[d] = std::max(shape[d], variable.shape[d]);
      }
    }
    for (Program& program : programs) {
      for (Variable& variable : program.variables) set_shape(largest.at(variable.identity), variable);
    }
  }

  // What words may depend on: symbols, sizes, and products of neighbours, which steps take as one dimension.
  void find_values() {
    std::set<Dim> found;
    for (const graph::SymbolId symbol : choices_.symbols()) add_value(Dim::symbol(symbol), found);
    std::set<Dim> products;
    for (const std::vector<Dims>& tensors : inference_.sizes) {
      for (const Dims& dims : tensors) {
        for (size_t first = 0; first < dims.size(); ++first) {
          add_value(dims[first], found);
          Dim product = dims[first];
          for (size_t last = first + 1; last < dims.size(); ++last) {
            try {
              product = product * dims[last];
            } catch (const graph::NotExpressible&) {
              break;
            }
            products.insert(product);
          }
        }
      }
    }
    for (const Dim& product : products) add_value(product, found);
  }

  void add_value(const Dim& dim, std::set<Dim>& found) {
    if (dim.is_number() || !found.insert(dim).second) return;
    std::vector<int64_t> by_choice;
    for (size_t c = 0; c < choices_.choices().size(); ++c) {
      const std::optional<int64_t> value = choices_.evaluate(dim, c);
      if (!value || *value > std::numeric_limits<int32_t>::max()) return;  // beyond all words
      by_choice.push_back(*value);
    }
    if (!is_news(by_choice)) return;
    dims_.push_back(dim);
    values_.push_back(std::move(by_choice));
  }

  // Whether a rule may need it: not if it is a multiple of another value and a constant, since rules are affine.
  bool is_news(const std::vector<int64_t>& values) {
    const auto other = std::find_if(values.begin(), values.end(), [&](int64_t v) { return v != values.front(); });
    if (other == values.end()) return false;
    const int64_t unit = *other - values.front();
    std::vector<double> shape;  // the same for all that are affine functions of each other
    for (const int64_t value : values) {
      shape.push_back(static_cast<double>(value - values.front()) / static_cast<double>(unit));
    }
    const auto [known, fresh] = known_.try_emplace(std::move(shape), unit);
    if (!fresh && unit % known->second == 0) return false;
    known->second = unit;
    return true;
  }

  [[nodiscard]] graph::Graph graph_of(size_t choice) const {
    graph::GivenShapes given;
    const graph::Block& main = graph_.main();
    for (const graph::TensorId id : main.inputs) {
      graph::Shape& shape = given[main.tensors[id].name];
      for (const Dim& dim : inference_.sizes.front()[id]) shape.push_back(choices_.evaluate(dim, choice).value());
    }
    graph::Graph sized = resolve(graph_, given);
    graph::validate(sized);
    return promote_to_fp32_ ? promote(sized, capabilities_) : sized;
  }

  // Lowered for one choice. Many programs are tried with each, so they are kept while there is room.
  Module module_of(size_t choice) {
    const auto known = lowered_.find(choice);
    if (known != lowered_.end()) return known->second;
    Module module = lower(graph_of(choice), capabilities_, most_iterations_, StepDimensions::kOfTensors);
    const size_t bytes = bytes_about(module);
    if (lowered_bytes_ + bytes <= kMostLoweredBytes) {
      lowered_bytes_ += bytes;
      lowered_.emplace(choice, module);
    }
    return module;
  }

  static size_t bytes_about(const Module& module) {
    constexpr size_t kOfAStep = 2048;  // with its views
    size_t bytes = module.steps.size() * kOfAStep;
    for (const Buffer& buffer : module.buffers) bytes += sizeof(Buffer) + buffer.data.size();
    return bytes;
  }

  // Programs that are for all of the choices together.
  std::vector<Program> compile_all() {
    std::vector<Program> programs;
    std::vector<size_t> pending(choices_.choices().size());
    std::iota(pending.begin(), pending.end(), size_t{0});
    while (!pending.empty()) {
      if (programs.size() == kMostPrograms) {
        throw Error(ErrorCode::kArgumentUnsupported,
                    fmt::format("the sizes need more than {} programs, because the steps of the network change with "
                                "them; narrow the bounds, or compile for each choice of sizes",
                                kMostPrograms));
      }
      pending_ = pending.size();
      const Program& program = programs.emplace_back(compile_largest(pending));
      std::erase_if(pending, [&](size_t choice) { return is_within(choices_.choices()[choice], program.sizes); });
    }
    pending_ = 0;
    return programs;
  }

  SlowSizesOptions slow_sizes() {
    return {kMostPrograms,
            (uint64_t{capabilities_.dram_mib} << 20) / kPartOfDram,
            [this](const Program& program) { return needs_of(program, firmware_).total(); },
            [this](std::vector<size_t> choices) { return compile_largest(std::move(choices)); },
            [this](const Program& program, size_t choice) {
              Program fixed = at_sizes(program, choices_.choices()[choice]);
              estimate(capabilities_, schedule_.dram, fixed);
              return fixed.estimated_cycles;
            },
            [this](size_t choice) {
              return schedule(lower(graph_of(choice), capabilities_, most_iterations_), capabilities_, schedule_)
                  .estimated_cycles;
            },
            [this](size_t done, size_t all) { say(1, static_cast<double>(done) / static_cast<double>(all)); }};
  }

  // How far each of the two parts of the work is. It never goes back.
  void say(int part, double done) {
    constexpr uint64_t kAll = 10'000;
    said_ = std::max(said_, static_cast<uint64_t>((part + done) / 2 * kAll));
    if (progress_) progress_(said_, kAll);
  }

  // While a program is tried with the choices that have none: it takes half of them, say.
  void say_tried(size_t tried, size_t count) {
    const auto all = static_cast<double>(choices_.choices().size()), pending = static_cast<double>(pending_);
    say(0, (all - pending + pending / 2 * static_cast<double>(tried) / static_cast<double>(count)) / all);
  }

  // A program for the first of the choices, and for those of the others that have its steps, and no larger sizes: what
  // no step reads does not count for the steps, but inputs have room for the largest sizes.
  Program compile_largest(std::vector<size_t> choices) {
    const std::vector<int64_t>& largest = choices_.choices()[choices.front()];
    std::erase_if(choices, [&](size_t choice) {
      const std::vector<int64_t>& own = choices_.choices()[choice];
      return !std::equal(own.begin(), own.end(), largest.begin(), std::less_equal<>());
    });
    SizedModules modules;
    modules.count = choices.size();
    modules.module = [&](size_t i) {
      if (pending_ > 0) say_tried(i, choices.size());
      return module_of(choices[i]);
    };
    std::vector<std::vector<int64_t>> values, sizes;
    for (const std::vector<int64_t>& by_choice : values_) {
      std::vector<int64_t>& own = values.emplace_back();
      for (const size_t choice : choices) own.push_back(by_choice[choice]);
    }
    for (const size_t choice : choices) sizes.push_back(choices_.choices()[choice]);
    std::vector<SizeRange> box;
    modules.leave = [&](std::vector<bool>& taken) { box = box_of(sizes, 0, taken); };
    SizedProgram sized = schedule_sizes(modules, values, capabilities_, schedule_);
    // One context runs all of the programs.
    for (const Variable& variable : sized.program.variables) {
      schedule_.placed_in_dram.insert_or_assign(variable.identity, variable.in_dram);
    }
    complete(box, sized.program);
    return std::move(sized.program);
  }

  // All of the table but its rules, and the sizes of the ports.
  void complete(const std::vector<SizeRange>& box, Program& program) const {
    SizeTable& table = program.sizes;
    for (size_t i = 0; i < box.size(); ++i) {
      const graph::Symbol& symbol = inference_.open.symbols()[choices_.symbols()[i]];
      table.symbols.push_back({symbol.name, static_cast<int32_t>(box[i].least), static_cast<int32_t>(box[i].most)});
    }
    SizeExpressions expressions(choices_.symbols(), table);
    for (SizeTable::Rule& rule : table.rules) {
      for (uint16_t* value : {&rule.selector, &rule.first, &rule.second}) *value = expressions.number_of(dims_[*value]);
    }
    for (const SizeDemand& demand : choices_.demands(box)) {
      table.conditions.push_back(
          {demand.relation, expressions.number_of(demand.left), expressions.number_of(demand.right), demand.text});
    }
    // Of the largest sizes, too, the stream is what the rules make of it: words that nothing looks at have a value.
    std::vector<int64_t> largest;
    for (const SizeRange& range : box) largest.push_back(range.most);
    apply_rules(table, evaluate(table, largest), program.commands);
    const auto renumber = [&](SizedNumber& number) {
      for (int32_t* value : {&number.value, &number.second}) {
        if (*value >= 0) *value = expressions.number_of(dims_[static_cast<size_t>(*value)]);
      }
    };
    for (Layer& layer : program.layers) {
      renumber(layer.sized_macs);
      for (SizedNumber& size : layer.input_sizes) renumber(size);
      for (SizedNumber& size : layer.output_sizes) renumber(size);
    }
    check_conditions(box, table);
    const graph::Block& main = graph_.main();
    set_sizes(main, main.inputs, expressions, program.inputs);
    set_sizes(main, main.outputs, expressions, program.outputs);
    set_variable_sizes(expressions, program.variables);
    std::set<uint16_t> results;
    for (const Port& port : program.outputs) {
      for (const int32_t size : port.sizes) {
        if (size >= 0 && results.insert(static_cast<uint16_t>(size)).second) {
          table.results.push_back(static_cast<uint16_t>(size));
        }
      }
    }
    require_room(program);
  }

  static void require_room(const Program& program) {
    if (encoded_bytes(program.sizes) > contract::kMostSizeTableBytes) {
      throw Error(
          ErrorCode::kArgumentUnsupported,
          fmt::format("what the sizes change takes {} bytes, and a device takes {}; narrow the bounds, or compile "
                      "for each choice of sizes",
                      encoded_bytes(program.sizes), contract::kMostSizeTableBytes));
    }
    const std::string damage = find_size_damage(program);
    if (!damage.empty()) panic(__FILE__, __LINE__, damage.c_str());
  }

  // The graph multiplies in another order, so a product may have no value there, and one here: this looks at what the
  // table takes, size by size.
  void check_conditions(const std::vector<SizeRange>& box, const SizeTable& table) const {
    const auto takes = [&](const std::vector<int64_t>& sizes) {
      const SizeValues values = evaluate(table, sizes);
      return std::all_of(table.conditions.begin(), table.conditions.end(),
                         [&](const SizeTable::Condition& condition) { return holds(condition, values); });
    };
    const auto right = [&](const auto& all, bool taken) {
      return std::all_of(all.begin(), all.end(), [&](const std::vector<int64_t>& sizes) {
        return !is_within(sizes, box) || takes(sizes) == taken;
      });
    };
    if (right(choices_.choices(), true) && right(choices_.refused(), false)) return;
    throw Error(ErrorCode::kArgumentUnsupported,
                "a table of sizes computes with 64 bits, and what must hold of these sizes takes more; narrow the "
                "bounds, or compile for each choice of sizes");
  }

  void set_sizes(const graph::Block& main, const std::vector<graph::TensorId>& ids, SizeExpressions& expressions,
                 std::vector<Port>& ports) const {
    NPU_CHECK(ids.size() == ports.size());
    for (size_t i = 0; i < ports.size(); ++i) {
      NPU_CHECK(main.tensors[ids[i]].name == ports[i].name);
      ports[i].sizes = values_of(inference_.sizes.front()[ids[i]], expressions);
    }
  }

  void set_variable_sizes(SizeExpressions& expressions, std::vector<Variable>& variables) const {
    std::map<std::string, const Dims*> sizes;  // by identity; all tensors of a variable have the same
    for (size_t region = 0; region < graph_.regions.size(); ++region) {
      const std::vector<graph::Tensor>& tensors = graph_.regions[region].blocks.front().tensors;
      for (size_t id = 0; id < tensors.size(); ++id) {
        if (tensors[id].variable) {
          sizes.try_emplace(graph::variable_identity(tensors[id]), &inference_.sizes[region][id]);
        }
      }
    }
    for (Variable& variable : variables) {
      const Dims& dims = *sizes.at(variable.identity);
      // An initial value has one size.
      if (variable.initial.empty() && !graph::numbers_of(dims)) variable.sizes = values_of(dims, expressions);
    }
  }

  // As Port::sizes has them.
  static std::vector<int32_t> values_of(const Dims& dims, SizeExpressions& expressions) {
    std::vector<int32_t> values;
    for (const Dim& dim : dims) values.push_back(dim.is_number() ? -1 : int32_t{expressions.number_of(dim)});
    return values;
  }

  const graph::Graph& graph_;
  const graph::Inference inference_;
  const SizeChoices choices_;
  const contract::Capabilities& capabilities_;
  ScheduleOptions schedule_;
  const uint32_t most_iterations_;
  const bool promote_to_fp32_;
  const bool firmware_;
  const std::function<void(uint64_t, uint64_t)>& progress_;
  std::vector<Dim> dims_;                     // what rules may be functions of
  std::vector<std::vector<int64_t>> values_;  // of these, by choice
  std::map<std::vector<double>, int64_t> known_;
  std::map<size_t, Module> lowered_;  // by choice
  size_t lowered_bytes_ = 0;
  size_t pending_ = 0;  // choices that have no program yet
  uint64_t said_ = 0;   // to progress_
};

void fix(const SizedNumber& sized, const SizeValues& values, int64_t& number) {
  if (sized.value < 0) return;
  // A file may name a value that these sizes leave undefined: numbers of a layer are only shown.
  const auto value = [&](int32_t of) { return of < 0 ? 1 : values.at(static_cast<size_t>(of)).value_or(0); };
  number = sized.factor * value(sized.value) * value(sized.second) + sized.addend;
}

graph::Shape shape_at(graph::Shape largest, const std::vector<int32_t>& sizes, const SizeValues& values) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] >= 0) largest[d] = values.at(static_cast<size_t>(sizes[d])).value();
  }
  return largest;
}

}  // namespace

std::vector<Program> compile_bounds(const graph::Graph& graph, std::span<const SizeBounds> bounds,
                                    const contract::Capabilities& capabilities, const Options& options,
                                    const std::function<void(uint64_t, uint64_t)>& progress) {
  std::vector<Program> programs;
  const Attempt attempt = [&](const contract::Capabilities& machine) {
    programs = BoundsCompiler(graph, bounds, machine, options, progress).run();
    MachineNeeds needs;
    for (const Program& program : programs) {
      needs.add(program, machine, options.schedule.two_places, options.firmware);
    }
    return needs;
  };
  require_room(capabilities, options.firmware, attempt, "it");
  return programs;
}

Program at_sizes(const Program& program, std::span<const int64_t> sizes) {
  Program fixed = program;
  const SizeValues values = evaluate(program.sizes, sizes);
  apply_rules(program.sizes, values, fixed.commands);
  fixed.sizes = {};
  for (std::vector<Port>* ports : {&fixed.inputs, &fixed.outputs}) {
    for (Port& port : *ports) {
      port.shape = shape_at(port.shape, port.sizes, values);
      port.bytes = bytes_of(port.type, port.shape);
      port.sizes.clear();
    }
  }
  for (Variable& variable : fixed.variables) {
    set_shape(shape_at(variable.shape, variable.sizes, values), variable);
    variable.sizes.clear();
  }
  for (Layer& layer : fixed.layers) {
    fix(layer.sized_macs, values, layer.macs);
    for (size_t d = 0; d < layer.input_sizes.size(); ++d) fix(layer.input_sizes[d], values, layer.input_shape[d]);
    for (size_t d = 0; d < layer.output_sizes.size(); ++d) fix(layer.output_sizes[d], values, layer.output_shape[d]);
    layer.sized_macs = {};
    layer.input_sizes.clear();
    layer.output_sizes.clear();
  }
  return fixed;
}

}  // namespace npu::compiler
