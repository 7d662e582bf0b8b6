// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/reader_verify.h"

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

  void graph(const tosa::TosaGraph* graph) {
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
    each(
        graph, T::VT_REGIONS, [&] { return graph->regions(); }, "regions", [this](const auto* r) { region(r); });
    verifier_.EndTable();
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
  }

  void block(const tosa::TosaBasicBlock* block) {
    using T = tosa::TosaBasicBlock;
    start(block, "blocks");
    string(block, T::VT_NAME, &T::name, "block names");
    each(
        block, T::VT_OPERATORS, [&] { return block->operators(); }, "operators", [this](const auto* o) { op(o); });
    each(
        block, T::VT_TENSORS, [&] { return block->tensors(); }, "tensors",
        [this](const auto* t) { check(t->Verify(verifier_), "tensors"); });
    strings(block, T::VT_INPUTS, &T::inputs, "graph inputs");
    strings(block, T::VT_OUTPUTS, &T::outputs, "graph outputs");
    each(
        block, T::VT_SHAPES, [&] { return block->shapes(); }, "shapes",
        [this](const auto* s) { check(s->Verify(verifier_), "shapes"); });
    verifier_.EndTable();
  }

  void op(const tosa::TosaOperator* op) {
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
  }

  flatbuffers::Verifier verifier_;
  Budget& budget_;
};

}  // namespace

const tosa::TosaGraph& verify_file(std::span<const uint8_t> file, Budget& budget) {
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
  Walk(file, budget).graph(graph);
  return *graph;
}

}  // namespace npu::graph
