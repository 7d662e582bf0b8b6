// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

std::vector<uint8_t> file(const std::string& header, size_t data_bytes, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  text += static_cast<char>(header.size());
  text += static_cast<char>(header.size() >> 8);
  if (version > 1) {
    text += std::string(2, '\0');
  }
  text += header + std::string(data_bytes, '\x01');
  return {text.begin(), text.end()};
}

ErrorCode refused(const std::function<void()>& action, const std::string& says) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    return error.code();
  }
  return ErrorCode::kOk;
}

TEST(Npy, ReadsEveryVersion) {
  for (const int version : {1, 2, 3}) {
    const NpyArray array =
        parse_npy(file("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24, version), "x.npy");
    EXPECT_EQ(array.descr, "<i4");
    EXPECT_EQ(array.shape, (Shape{2, 3}));
    EXPECT_EQ(array.bytes.size(), 24u);
  }
}

TEST(Npy, ReadsWhatWritersDiffersIn) {
  EXPECT_EQ(parse_npy(file("{\"shape\":(), \"descr\":\"|i1\",\"fortran_order\":False}", 1), "x.npy").shape, Shape{});
  EXPECT_EQ(parse_npy(file("{'descr': '<V2', 'fortran_order': False, 'shape': (4,)}\n", 8), "x.npy").descr, "<V2");
  EXPECT_EQ(parse_npy(file("{'descr': '|i1', 'fortran_order': False, 'shape': (0, 7), }", 0), "x.npy").bytes.size(),
            0u);
}

TEST(Npy, RefusesDamagedFiles) {
  const std::string good = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  const auto replaced = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  struct Bad {
    std::vector<uint8_t> bytes;
    const char* says;
  };
  const Bad kCases[] = {
      {{}, "not a .npy file"},
      {{'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0, 0, 0}, "not a .npy file"},
      {file(good, 24, 4), "format version 4.0"},
      {file(good, 23), "24 bytes of data, but 23 follow (truncated?)"},
      {file(good, 25), "but 25 follow"},
      {file(replaced("<i4", ">i4"), 24), "big endian"},
      {file(replaced("<i4", "|O"), 24), "objects"},
      {file(replaced("<i4", "<c8"), 48), "'<c8'"},
      {file(replaced("<i4", "|i4"), 24), "'|i4'"},
      {file(replaced("'<i4'", "[('a', '<i4')]"), 24), "structured"},
      {file(replaced("False", "True"), 24), "Fortran order"},
      {file(replaced("False", "None"), 24), "True or False"},
      {file(replaced("'shape': (2, 3), ", ""), 24), "incomplete"},
      {file(replaced("'shape'", "'descr'"), 24), "unexpected key 'descr'"},
      {file(replaced("2, 3", "2, -3"), 24), "size expected"},
      {file(replaced("2, 3", "99999999999999999999"), 24), "absurdly large"},
      {file(replaced("2, 3", "1099511627776, 1099511627776"), 24), "absurdly large"},
      {file(replaced(
                "2, 3", "2, 3" +
                            [] {
                              std::string more;
                              for (int i = 0; i < 40; ++i) {
                                more += ", 1";
                              }
                              return more;
                            }()),
            24),
       "dimensions"},
      {file(good + "x", 24), "incomplete"},
      {file("{'descr", 0), "does not end"},
      {file("", 0), "expected"},
  };
  for (const Bad& bad : kCases) {
    EXPECT_EQ(refused([&] { static_cast<void>(parse_npy(bad.bytes, "x.npy")); }, bad.says), ErrorCode::kBadNpy)
        << bad.says;
  }
  auto long_header = file(good, 24, 2);
  long_header[10] = 0xff;
  EXPECT_EQ(refused([&] { static_cast<void>(parse_npy(long_header, "x.npy")); }, "too long"), ErrorCode::kBadNpy);
}

TEST(Npy, NeverReadsBeyondATruncatedFile) {
  const auto whole = file("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }", 24);
  for (size_t length = 0; length < whole.size(); ++length) {
    // A buffer of its own, so that a sanitizer sees the end.
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(static_cast<void>(parse_npy(part, "x.npy")), Error);
  }
}

TEST(Npy, WritesWhatNumPyWrites) {
  const std::vector<uint8_t> bytes = serialize_npy({"<i2", {3}, {1, 0, 2, 0, 3, 0}});
  ASSERT_EQ(bytes.size(), 128u + 6u);
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_EQ(text.substr(10, 55), "{'descr': '<i2', 'fortran_order': False, 'shape': (3,),");
  EXPECT_EQ(text[127], '\n');
}

TEST(Npy, RoundTripsEveryType) {
  for (const DType type : {DType::kBool, DType::kInt4, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt48,
                           DType::kShape, DType::kFp16, DType::kBf16, DType::kFp32, DType::kFp8E4M3, DType::kFp8E5M2}) {
    for (const Shape& shape : {Shape{}, Shape{2}, Shape{2, 1, 3}}) {
      const auto elements = static_cast<size_t>(element_count(shape).value());
      const Value value{type, shape, std::vector<uint8_t>(elements * static_cast<size_t>(machine_width(type)), 0)};
      const Value again = to_value(parse_npy(serialize_npy(to_npy(value)), "x.npy"), type, &shape, false);
      EXPECT_EQ(again.bytes, value.bytes) << name(type);
      EXPECT_EQ(again.shape, shape) << name(type);
    }
  }
}

TEST(Npy, NarrowFloatsAreWrittenAsTheOfficialToolsDo) {
  const auto descr = [](DType type) { return to_npy({type, {}, std::vector<uint8_t>(2)}).descr; };
  EXPECT_EQ(descr(DType::kBf16), "<V2");
  EXPECT_EQ(descr(DType::kFp8E4M3), "<V1");
  EXPECT_EQ(descr(DType::kFp8E5M2), "|u1");
  for (const DType type : {DType::kFp8E4M3, DType::kFp8E5M2}) {
    for (const char* bytes : {"|u1", "<V1"}) {
      EXPECT_EQ(to_value({bytes, {1}, {0x7f}}, type, nullptr, false).bytes, std::vector<uint8_t>{0x7f});
    }
  }
}

TEST(Npy, ChecksTypesShapesAndRanges) {
  const Shape shape = {2};
  const auto convert = [&](const NpyArray& array, DType type, bool accept_unsigned) {
    return [=, &shape] { static_cast<void>(to_value(array, type, &shape, accept_unsigned, "input 'x'")); };
  };
  const NpyArray floats = {"<f8", {2}, std::vector<uint8_t>(16)};
  EXPECT_EQ(refused(convert(floats, DType::kFp32, false), "input 'x' has elements of float64, but the tensor is FP32"),
            ErrorCode::kBadInput);
  const NpyArray bytes = {"|u1", {2}, {200, 100}};
  EXPECT_EQ(refused(convert(bytes, DType::kInt8, false), "uint8"), ErrorCode::kBadInput);
  EXPECT_EQ(refused(convert(bytes, DType::kInt8, true), ""), ErrorCode::kOk);
  EXPECT_EQ(refused(convert(bytes, DType::kInt16, true), "int16 or the unsigned type"), ErrorCode::kBadInput);
  const NpyArray words = {"<u2", {2}, {1, 2, 3, 4}};
  EXPECT_EQ(refused(convert(words, DType::kInt16, true), ""), ErrorCode::kOk);
  const NpyArray longer = {"|i1", {3}, {1, 2, 3}};
  EXPECT_EQ(refused(convert(longer, DType::kInt8, false), "has shape [3], but the tensor has [2]"),
            ErrorCode::kBadInput);
  const NpyArray wide = {"<i8", {2}, {0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_EQ(refused(convert(wide, DType::kInt48, false), "element 0 is 281474976710656"), ErrorCode::kBadInput);
  const NpyArray nibbles = {"|i1", {2}, {7, 8}};
  EXPECT_EQ(refused(convert(nibbles, DType::kInt4, false), "element 1 is 8"), ErrorCode::kBadInput);
  const NpyArray flags = {"|b1", {2}, {1, 2}};
  EXPECT_EQ(refused(convert(flags, DType::kBool, false), "element 1 is 2"), ErrorCode::kBadInput);
}

TEST(Npy, SlicesAndStacksSequences) {
  const NpyArray frames = {"<i2", {3, 2}, {0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0}};
  std::vector<Value> values;
  for (int64_t i = 0; i < 3; ++i) {
    const NpyArray frame = slice_axis0(frames, i);
    EXPECT_EQ(frame.shape, Shape{2});
    values.push_back(to_value(frame, DType::kInt16, nullptr, false));
  }
  EXPECT_EQ(values[1].bytes, (std::vector<uint8_t>{2, 0, 3, 0}));
  const NpyArray again = to_npy(stack(values));
  EXPECT_EQ(again.shape, frames.shape);
  EXPECT_EQ(again.bytes, frames.bytes);
  EXPECT_EQ(to_npy(values[0], true).descr, "<u2");
}

TEST(Npy, WritesFilesWholeOrNotAtAll) {
  const auto folder = std::filesystem::temp_directory_path() / ("npu_npy_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const NpyArray array = {"|i1", {2}, {1, 2}};
  write_npy(folder / "a.npy", array);
  write_npy(folder / "a.npy", array);  // over the old one
  EXPECT_EQ(read_npy(folder / "a.npy").bytes, array.bytes);
  EXPECT_EQ(refused([&] { write_npy(folder / "missing" / "a.npy", array); }, "No such file"), ErrorCode::kCannotWrite);
  EXPECT_EQ(refused([&] { static_cast<void>(read_npy(folder / "b.npy")); }, "no such file"), ErrorCode::kCannotRead);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace npu::graph
