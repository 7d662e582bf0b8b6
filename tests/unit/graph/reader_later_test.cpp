// SPDX-License-Identifier: Apache-2.0
// Files of later versions: what the schema does not know is refused as unsupported, never read over.
#include <gtest/gtest.h>

#include <string>

#include "driver/graph/reader.h"
#include "driver/graph/tosa_generated.h"
#include "driver/graph/validate.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

// A file with one CAST from INT8 to the type `to`, each of whose tables can set one field more than the schema has.
struct LaterFile {
  std::string later;  // the table that does
  tosa::Attribute attributes = tosa::Attribute::CastAttribute;
  tosa::DType to = tosa::DType::INT32;
  int32_t minor = 1;
  std::array<int32_t, 3> reader = {2026, 8, 0};

  [[nodiscard]] Graph read() {
    const auto version = done("version", tosa::VersionTypeTable(), [&] {
      b_.AddElement<int32_t>(tosa::Version::VT__MAJOR, 1, -1);
      b_.AddElement<int32_t>(tosa::Version::VT__MINOR, minor, -1);
      b_.AddElement<int32_t>(tosa::Version::VT__PATCH, 0, -1);
    });
    const auto software = done("software version", tosa::SoftwareVersionTypeTable(), [] {});
    const auto asked = done("min_reader_version", tosa::SoftwareVersionTypeTable(), [&] {
      b_.AddElement<int32_t>(tosa::SoftwareVersion::VT__MAJOR, reader[0], -1);
      b_.AddElement<int32_t>(tosa::SoftwareVersion::VT__MINOR, reader[1], -1);
      b_.AddElement<int32_t>(tosa::SoftwareVersion::VT__MICRO, reader[2], -1);
    });
    const auto compatibility = done("compatibility", tosa::SerializationCompatibilityTypeTable(),
                                    [&] { offset(tosa::SerializationCompatibility::VT_MIN_READER_VERSION, asked); });
    const Any regions = list(region());
    const auto graph = done("graph", tosa::TosaGraphTypeTable(), [&] {
      offset(tosa::TosaGraph::VT_VERSION, version);
      offset(tosa::TosaGraph::VT_REGIONS, regions);
      offset(tosa::TosaGraph::VT_SOFTWARE_VERSION, software);
      offset(tosa::TosaGraph::VT_COMPATIBILITY, compatibility);
    });
    b_.Finish(flatbuffers::Offset<tosa::TosaGraph>(graph.o), "TOSA");
    return parse_tosa(
        std::make_shared<const std::vector<uint8_t>>(b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize()),
        "later.tosa");
  }

 private:
  using Any = flatbuffers::Offset<void>;

  void offset(flatbuffers::voffset_t field, Any value) { b_.AddOffset(field, value); }
  Any text(const char* characters) { return b_.CreateString(characters).Union(); }
  Any list(Any item) { return b_.CreateVector(&item, 1).Union(); }
  Any name(const char* characters) {
    const auto string = b_.CreateString(characters);
    return b_.CreateVector(&string, 1).Union();
  }

  template <typename Fields>
  Any done(const std::string& table, const flatbuffers::TypeTable* type, Fields fields) {
    const auto start = b_.StartTable();
    fields();
    if (table == later) {
      const auto next = static_cast<flatbuffers::voffset_t>(type->num_elems);
      b_.AddElement<uint8_t>(flatbuffers::FieldIndexToOffset(next), 1, 0);
    }
    return {b_.EndTable(start)};
  }

  Any tensor(const char* label, tosa::DType type) {
    const Any string = text(label);
    const Any shape = b_.CreateVector(std::vector<int32_t>{4}).Union();
    return done(std::string("tensor '") + label + "'", tosa::TosaTensorTypeTable(), [&] {
      offset(tosa::TosaTensor::VT_NAME, string);
      offset(tosa::TosaTensor::VT_SHAPE, shape);
      b_.AddElement<uint32_t>(tosa::TosaTensor::VT_TYPE, static_cast<uint32_t>(type), 0);
    });
  }

  Any region() {
    const auto number = static_cast<size_t>(attributes);
    const flatbuffers::TypeTable* tables = tosa::AttributeTypeTable();
    const flatbuffers::TypeTable* own = tables->type_refs[tables->type_codes[number].sequence_ref]();
    const Any fields = done("attributes", own, [] {});
    const Any where = done("location", tosa::OpLocationTypeTable(), [] {});
    const Any in = name("x"), out = name("y");
    const Any op = done("operator", tosa::TosaOperatorTypeTable(), [&] {
      b_.AddElement<uint32_t>(tosa::TosaOperator::VT_OP, static_cast<uint32_t>(number), 0);
      b_.AddElement<uint8_t>(tosa::TosaOperator::VT_ATTRIBUTE_TYPE, static_cast<uint8_t>(number), 0);
      offset(tosa::TosaOperator::VT_ATTRIBUTE, fields);
      offset(tosa::TosaOperator::VT_INPUTS, in);
      offset(tosa::TosaOperator::VT_OUTPUTS, out);
      offset(tosa::TosaOperator::VT_LOCATION, where);
    });
    const Any shape_name = text("s");
    const Any shape =
        done("shape 's'", tosa::TosaShapeTypeTable(), [&] { offset(tosa::TosaShape::VT_NAME, shape_name); });
    const std::array<Any, 2> both = {tensor("x", tosa::DType::INT8), tensor("y", to)};
    const Any tensors = b_.CreateVector(both.data(), both.size()).Union();
    const Any operators = list(op), shapes = list(shape), main = text("main");
    const Any block = done("block", tosa::TosaBasicBlockTypeTable(), [&] {
      offset(tosa::TosaBasicBlock::VT_NAME, main);
      offset(tosa::TosaBasicBlock::VT_OPERATORS, operators);
      offset(tosa::TosaBasicBlock::VT_TENSORS, tensors);
      offset(tosa::TosaBasicBlock::VT_INPUTS, in);
      offset(tosa::TosaBasicBlock::VT_OUTPUTS, out);
      offset(tosa::TosaBasicBlock::VT_SHAPES, shapes);
    });
    const Any blocks = list(block);
    return done("region", tosa::TosaRegionTypeTable(), [&] {
      offset(tosa::TosaRegion::VT_NAME, main);
      offset(tosa::TosaRegion::VT_BLOCKS, blocks);
    });
  }

  flatbuffers::FlatBufferBuilder b_;
};

// Reads and validates; the error's code and text, or kOk.
std::pair<ErrorCode, std::string> end_of(LaterFile file) {
  try {
    validate(file.read());
    return {ErrorCode::kOk, ""};
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
}

LaterFile with_later(const std::string& table) {
  LaterFile file;
  file.later = table;
  return file;
}

TEST(ReaderLater, TheFileItselfIsGood) {
  const auto [code, text] = end_of({});
  EXPECT_EQ(code, ErrorCode::kOk) << text;
}

TEST(ReaderLater, AFieldThatTheSchemaLacksIsRefusedInEachTable) {
  for (const char* table : {"graph", "version", "software version", "compatibility", "min_reader_version", "region",
                            "block", "operator", "location", "tensor 'x'", "tensor 'y'", "shape 's'"}) {
    SCOPED_TRACE(table);
    const auto [code, text] = end_of(with_later(table));
    EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kFeatureUnsupported)) << text;
    EXPECT_NE(text.find(table), std::string::npos) << text;
  }
}

TEST(ReaderLater, AnAttributeThatTheSchemaLacksNamesItsOperator) {
  for (uint32_t i = 1; i <= static_cast<uint32_t>(tosa::Attribute::MAX); ++i) {
    LaterFile file = with_later("attributes");
    file.attributes = static_cast<tosa::Attribute>(i);
    const std::string op = tosa::EnumNameOp(static_cast<tosa::Op>(i));
    const auto [code, text] = end_of(std::move(file));
    EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kFeatureUnsupported)) << text;
    EXPECT_NE(text.find("operator 0 (" + op + "): its " + tosa::EnumNameAttribute(static_cast<tosa::Attribute>(i))),
              std::string::npos)
        << text;
  }
}

TEST(ReaderLater, AFileMayAskForThisReaderOrAnEarlierOne) {
  for (const std::array<int32_t, 3> version : {std::array{2026, 8, 0}, {2026, 7, 9}, {2025, 99, 99}, {-1, -1, -1}}) {
    LaterFile file;
    file.reader = version;
    EXPECT_EQ(end_of(std::move(file)).first, ErrorCode::kOk) << version[0] << '.' << version[1];
  }
  for (const std::array<int32_t, 3> version : {std::array{2026, 8, 1}, {2026, 9, 0}, {2099, 0, 0}}) {
    LaterFile file;
    file.reader = version;
    const auto [code, text] = end_of(std::move(file));
    EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kVersionUnsupported)) << text;
    EXPECT_NE(text.find("reader of version " + std::to_string(version[0])), std::string::npos) << text;
  }
}

// The version comes first: a later one may make of all else what is not known here.
TEST(ReaderLater, AFileOfALaterVersionIsRefusedForThat) {
  for (const char* table : {"graph", "region", "block", "operator", "attributes", "tensor 'x'", "version"}) {
    SCOPED_TRACE(table);
    LaterFile minor = with_later(table);
    minor.minor = 2;
    const auto [code, text] = end_of(std::move(minor));
    EXPECT_EQ(contract::name(code), contract::name(ErrorCode::kVersionUnsupported)) << text;
    EXPECT_NE(text.find("TOSA version 1.2.0"), std::string::npos) << text;
    EXPECT_EQ(Error(code, text).exit_status(), 3);
    LaterFile reader = with_later(table);
    reader.reader = {2027, 1, 0};
    EXPECT_EQ(contract::name(end_of(std::move(reader)).first), contract::name(ErrorCode::kVersionUnsupported));
  }
}

// CAST from INT8 to INT4 is no row of 1.0; whether 1.1 has it is not known here.
TEST(ReaderLater, TypesThatTheFileVersionMayAllowAreUnsupported) {
  for (const int32_t minor : {0, 1}) {
    LaterFile file;
    file.to = tosa::DType::INT4;
    file.minor = minor;
    const auto [code, text] = end_of(std::move(file));
    EXPECT_EQ(contract::name(code), contract::name(minor == 0 ? ErrorCode::kBadType : ErrorCode::kFeatureUnsupported));
    EXPECT_EQ(Error(code, text).exit_status(), minor == 0 ? 2 : 3);
    EXPECT_NE(text.find("CAST"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace npu::graph
