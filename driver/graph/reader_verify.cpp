// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/reader_verify.h"

#include <string>

#include "driver/graph/text.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;
using flatbuffers::Offset;
using flatbuffers::String;
using flatbuffers::Vector;

// Prices of looking at something, in bytes of the budget: what it takes in memory later, roughly.
constexpr size_t kTableCost = 64;
constexpr size_t kNameCost = 8;

// The generated verifier would do, but it follows each list as often as tables point to it: a file of some megabytes
// can keep it busy for hours. So the outer tables are walked here, one list element at a time, against the budget.
class Walk {
 public:
  Walk(std::span<const uint8_t> file, Budget& budget)
      : verifier_(file.data(), file.size(), /*max_depth=*/16, /*max_tables=*/1u << 28), budget_(budget) {}

  void graph(const tosa::TosaGraph* graph, const std::function<void(const tosa::TosaGraph&)>& require_readable) {
    using T = tosa::TosaGraph;
    start(graph, "graph");
    offset_field(graph, T::VT_VERSION, "version");
    offset_field(graph, T::VT_SOFTWARE_VERSION, "software version");
    offset_field(graph, T::VT_COMPATIBILITY, "compatibility");
    if (graph->version() == nullptr) {
      fail("version");
    }
    check(graph->version()->Verify(verifier_), "version");
    check(verifier_.VerifyTable(graph->software_version()), "software version");
    check(verifier_.VerifyTable(graph->compatibility()), "compatibility");
    require_readable(*graph);
    each(
        graph, T::VT_REGIONS, [&] { return graph->regions(); }, "regions", [this](const auto* r) { region(r); });
    verifier_.EndTable();
    only_known(graph, "the graph");
    only_known(graph->version(), "the version");
    only_known(graph->software_version(), "the software version");
    only_known(graph->compatibility(), "the compatibility");
    if (graph->compatibility() != nullptr)
      only_known(graph->compatibility()->min_reader_version(), "min_reader_version");
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw Error(ErrorCode::kFileDamaged,
                std::string("the file is damaged: its ") + what + " cannot be read (out of bounds or misaligned)");
  }

  static void check(bool good, const char* what) {
    if (!good) {
      fail(what);
    }
  }

  // Generated tables derive privately from Table, which has the verification of single fields.
  template <typename T>
  static const flatbuffers::Table* base(const T* table) {
    return reinterpret_cast<const flatbuffers::Table*>(table);
  }

  template <typename T>
  void start(const T* table, const char* what) {
    check(base(table)->VerifyTableStart(verifier_), what);
  }

  template <typename T>
  void offset_field(const T* table, flatbuffers::voffset_t field, const char* what) {
    check(base(table)->VerifyOffset(verifier_, field), what);
  }

  // What a field means that the schema lacks is not known, so a table that sets one cannot be read. The table's bounds
  // are verified.
  void only_known(const void* table, const flatbuffers::TypeTable* type, const std::string& what) {
    if (table == nullptr) return;
    const auto* bytes = static_cast<const uint8_t*>(table);
    const uint8_t* fields = bytes - flatbuffers::ReadScalar<flatbuffers::soffset_t>(bytes);
    const size_t end = flatbuffers::ReadScalar<flatbuffers::voffset_t>(fields);
    const size_t known = (2 + type->num_elems) * sizeof(flatbuffers::voffset_t);
    if (end <= known) return;
    budget_.spend(end - known);  // many tables may share one long list of fields
    for (size_t at = known; at + sizeof(flatbuffers::voffset_t) <= end; at += sizeof(flatbuffers::voffset_t)) {
      if (flatbuffers::ReadScalar<flatbuffers::voffset_t>(fields + at) == 0) continue;
      throw Error(
          ErrorCode::kFeatureUnsupported,
          what + " sets field " + std::to_string(at / sizeof(flatbuffers::voffset_t) - 2) +
              ", which a later version of the format added: what it means is not known here; export the network "
              "for TOSA 1.0");
    }
  }
  template <typename T>
  void only_known(const T* table, const std::string& what) {
    only_known(static_cast<const void*>(table), T::MiniReflectTypeTable(), what);
  }

  // Verifies a list of tables with `visit`, after its bounds.
  template <typename T, typename List, typename Visit>
  void each(const T* table, flatbuffers::voffset_t field, List list, const char* what, Visit visit) {
    offset_field(table, field, what);
    const auto* tables = list();
    if (tables == nullptr) {
      return;
    }
    check(verifier_.VerifyVector(tables), what);
    for (flatbuffers::uoffset_t i = 0; i < tables->size(); ++i) {
      budget_.spend(kTableCost);
      visit(tables->Get(i));
    }
  }

  template <typename T>
  void string(const T* table, flatbuffers::voffset_t field, const String* (T::*get)() const, const char* what) {
    offset_field(table, field, what);
    check(verifier_.VerifyString((table->*get)()), what);
  }

  template <typename T>
  void strings(const T* table, flatbuffers::voffset_t field, const Vector<Offset<String>>* (T::*get)() const,
               const char* what) {
    offset_field(table, field, what);
    const auto* list = (table->*get)();
    check(verifier_.VerifyVector(list), what);
    if (list != nullptr) {
      budget_.spend(size_t{list->size()} * kNameCost);
      check(verifier_.VerifyVectorOfStrings(list), what);
    }
  }

  void region(const tosa::TosaRegion* region) {
    using T = tosa::TosaRegion;
    start(region, "regions");
    string(region, T::VT_NAME, &T::name, "region names");
    each(
        region, T::VT_BLOCKS, [&] { return region->blocks(); }, "blocks", [this](const auto* b) { block(b); });
    verifier_.EndTable();
    only_known(region, "a region");
  }

  void block(const tosa::TosaBasicBlock* block) {
    using T = tosa::TosaBasicBlock;
    start(block, "blocks");
    string(block, T::VT_NAME, &T::name, "block names");
    size_t position = 0;
    each(
        block, T::VT_OPERATORS, [&] { return block->operators(); }, "operators",
        [&](const auto* o) { op(o, position++); });
    each(
        block, T::VT_TENSORS, [&] { return block->tensors(); }, "tensors",
        [this](const auto* t) {
          check(t->Verify(verifier_), "tensors");
          only_known(t, "tensor " + quoted(t->name()));
        });
    strings(block, T::VT_INPUTS, &T::inputs, "graph inputs");
    strings(block, T::VT_OUTPUTS, &T::outputs, "graph outputs");
    each(
        block, T::VT_SHAPES, [&] { return block->shapes(); }, "shapes",
        [this](const auto* s) {
          check(s->Verify(verifier_), "shapes");
          only_known(s, "shape " + quoted(s->name()));
        });
    verifier_.EndTable();
    only_known(block, "a block");
  }

  static std::string quoted(const String* name) {
    return in_quotes(name == nullptr ? std::string_view() : std::string_view(name->data(), name->size()));
  }

  void op(const tosa::TosaOperator* op, size_t position) {
    using T = tosa::TosaOperator;
    start(op, "operators");
    check(base(op)->VerifyField<uint32_t>(verifier_, T::VT_OP, 4), "operators");
    check(base(op)->VerifyField<uint8_t>(verifier_, T::VT_ATTRIBUTE_TYPE, 1), "operators");
    offset_field(op, T::VT_ATTRIBUTE, "attributes");
    check(tosa::VerifyAttribute(verifier_, op->attribute(), op->attribute_type()), "attributes");
    strings(op, T::VT_INPUTS, &T::inputs, "operator inputs");
    strings(op, T::VT_OUTPUTS, &T::outputs, "operator outputs");
    offset_field(op, T::VT_LOCATION, "locations");
    check(verifier_.VerifyTable(op->location()), "locations");
    verifier_.EndTable();
    const std::string what = "operator " + std::to_string(position) +
                             (op->op() > tosa::Op::MAX ? "" : std::string(" (") + tosa::EnumNameOp(op->op()) + ")");
    only_known(op, what);
    only_known(op->location(), "the location of " + what);
    attribute_known(*op, what);
  }

  void attribute_known(const tosa::TosaOperator& op, const std::string& what) {
    const flatbuffers::TypeTable* tables = tosa::AttributeTypeTable();
    const auto number = static_cast<size_t>(op.attribute_type());
    if (op.attribute() == nullptr || number >= tables->num_elems) return;
    const int table = tables->type_codes[number].sequence_ref;
    if (table < 0) return;  // no attributes
    only_known(op.attribute(), tables->type_refs[table](),
               what + ": its " + tosa::EnumNameAttribute(op.attribute_type()));
  }

  flatbuffers::Verifier verifier_;
  Budget& budget_;
};

}  // namespace

const tosa::TosaGraph& verify_file(std::span<const uint8_t> file, Budget& budget,
                                   const std::function<void(const tosa::TosaGraph&)>& require_readable) {
  // Root offset, identifier, and a table with its vtable need more than this.
  if (file.size() < 16) {
    throw Error(ErrorCode::kFileDamaged,
                file.empty() ? "the file is empty" : "the file is too short to be a TOSA graph");
  }
  if (!tosa::TosaGraphBufferHasIdentifier(file.data())) {
    throw Error(ErrorCode::kFileDamaged, "the file is not a TOSA flatbuffer (its identifier is not \"TOSA\")");
  }
  const flatbuffers::Verifier verifier(file.data(), file.size());
  const auto root = verifier.VerifyOffset(0);
  if (root == 0) {
    throw Error(ErrorCode::kFileDamaged, "the file is damaged: its root is out of bounds");
  }
  const auto* graph = reinterpret_cast<const tosa::TosaGraph*>(file.data() + root);
  Walk(file, budget).graph(graph, require_readable);
  return *graph;
}

}  // namespace npu::graph
