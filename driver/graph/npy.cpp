// SPDX-License-Identifier: Apache-2.0
#include "driver/graph/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "driver/graph/file.h"
#include "driver/graph/text.h"
#include "hw/contract/error.h"

namespace npu::graph {
namespace {

using contract::ErrorCode;

constexpr std::string_view kMagic = "\x93NUMPY";
// NumPy itself refuses longer headers by default.
constexpr size_t kLongestHeader = 10000;
constexpr int64_t kMostDimensions = 32;
constexpr uintmax_t kLargestNpyFile = uintmax_t{8} << 30;

struct ElementType {
  std::string_view descr;
  std::string_view numpy;  // as a user would write it
  int64_t width;
};

// Everything a tensor can hold, and what users often have instead and should be told about by name.
constexpr std::array<ElementType, 14> kElementTypes = {{
    {"|b1", "bool", 1},
    {"|i1", "int8", 1},
    {"|u1", "uint8", 1},
    {"<i2", "int16", 2},
    {"<u2", "uint16", 2},
    {"<i4", "int32", 4},
    {"<u4", "uint32", 4},
    {"<i8", "int64", 8},
    {"<u8", "uint64", 8},
    {"<f2", "float16", 2},
    {"<f4", "float32", 4},
    {"<f8", "float64", 8},
    {"<V1", "raw 1-byte elements", 1},
    {"<V2", "raw 2-byte elements", 2},
}};

const ElementType* find_type(std::string_view descr) {
  for (const auto& type : kElementTypes) {
    // One-byte and raw types have no byte order; both signs are in use for them.
    const bool no_order = type.width == 1 || type.descr[1] == 'V';
    if (descr.size() == 3 && descr.substr(1) == type.descr.substr(1) &&
        (descr[0] == type.descr[0] || (no_order && (descr[0] == '<' || descr[0] == '|')))) {
      return &type;
    }
  }
  return nullptr;
}

// The element type in which a tensor type is kept in files.
std::string_view descr_of(DType type) {
  switch (type) {
    case DType::kBool:
      return "|b1";
    case DType::kInt4:
    case DType::kInt8:
      return "|i1";
    case DType::kInt16:
      return "<i2";
    case DType::kInt32:
      return "<i4";
    case DType::kInt48:
    case DType::kShape:
      return "<i8";
    case DType::kFp16:
      return "<f2";
    case DType::kFp32:
      return "<f4";
    case DType::kBf16:
      return "<V2";
    case DType::kFp8E4M3:
      return "<V1";
    case DType::kFp8E5M2:
      return "|u1";
    default:
      break;
  }
  NPU_CHECK(false);
}

[[noreturn]] void bad(const std::string& why) { throw Error(ErrorCode::kBadNpy, why); }

struct Header {
  std::string descr;
  Shape shape;
};

// Parses the header's Python dictionary, which has exactly three known keys.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    bool have_descr = false;
    bool have_order = false;
    bool have_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !have_descr) {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '[') {
          bad("it holds structured elements; save one plain array");
        }
        header.descr = string();
        have_descr = true;
      } else if (key == "fortran_order" && !have_order) {
        if (boolean()) {
          bad("it is in Fortran order; save numpy.ascontiguousarray(x)");
        }
        have_order = true;
      } else if (key == "shape" && !have_shape) {
        header.shape = tuple();
        have_shape = true;
      } else {
        bad("its header has the unexpected key " + in_quotes(key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size() || !have_descr || !have_order || !have_shape) {
      bad("its header is incomplete");
    }
    return header;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool accept(char c) {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }

  void expect(char c) {
    if (!accept(c)) {
      bad(std::string("its header is damaged ('") + c + "' expected at character " + std::to_string(at_) + ")");
    }
  }

  std::string string() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') {
      expect('\'');
    }
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) {
      bad("its header is damaged (a text does not end)");
    }
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    bad("its header is damaged (True or False expected)");
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(number());
      if (static_cast<int64_t>(shape.size()) > kMostDimensions) {
        bad("it has more than " + std::to_string(kMostDimensions) + " dimensions");
      }
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  int64_t number() {
    skip_blanks();
    int64_t value = 0;
    const size_t start = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = value * 10 + (text_[at_] - '0');
      if (value > int64_t{1} << 40) {
        bad("a dimension of its shape is absurdly large");
      }
      ++at_;
    }
    if (at_ == start) {
      bad("its header is damaged (a size expected at character " + std::to_string(at_) + ")");
    }
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

NpyArray parse(std::span<const uint8_t> file) {
  if (file.size() < 10 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    bad("it is not a .npy file");
  }
  const int version = file[6];
  if (version < 1 || version > 3 || file[7] != 0) {
    bad("it has the unknown format version " + std::to_string(version) + "." + std::to_string(file[7]));
  }
  const size_t start = version == 1 ? 10 : 12;
  if (file.size() < start) {
    bad("it is truncated");
  }
  size_t length = file[8] | size_t{file[9]} << 8;
  if (version > 1) {
    length |= size_t{file[10]} << 16 | size_t{file[11]} << 24;
  }
  if (length > kLongestHeader) {
    bad("its header of " + std::to_string(length) + " bytes is too long");
  }
  if (file.size() - start < length) {
    bad("it is truncated");
  }
  const auto* text = reinterpret_cast<const char*>(file.data() + start);
  Header header = HeaderParser(std::string_view(text, length)).parse();
  const auto data = file.subspan(start + length);

  const ElementType* type = find_type(header.descr);
  if (type == nullptr) {
    if (header.descr.starts_with('>')) {
      bad("it is big endian (" + in_quotes(header.descr) + "); save it little endian");
    }
    if (header.descr.find('O') != std::string::npos) {
      bad("it holds Python objects; save a plain numeric array");
    }
    bad("its element type " + in_quotes(header.descr) + " is not one that a tensor can hold");
  }
  const auto elements = element_count(header.shape);
  if (!elements || *elements > INT64_MAX / type->width) {
    bad("its shape " + to_string(header.shape) + " is absurdly large");
  }
  const auto needed = static_cast<uint64_t>(*elements * type->width);
  if (data.size() != needed) {
    bad("its header says " + std::to_string(needed) + " bytes of data, but " + std::to_string(data.size()) +
        (data.size() < needed ? " follow (truncated?)" : " follow"));
  }
  return {std::string(type->descr), std::move(header.shape), {data.begin(), data.end()}};
}

void check_range(const Value& value, std::string_view what) {
  const std::optional<OutOfRange> wrong = find_out_of_range(value.type, value.bytes);
  if (!wrong) return;
  throw Error(ErrorCode::kBadInput, std::string(what) + ": element " + std::to_string(wrong->index) + " is " +
                                        std::to_string(wrong->element) + ", but " + std::string(name(value.type)) +
                                        " holds " + wrong->range);
}

std::string_view unsigned_twin(std::string_view descr) {
  if (descr == "|i1") {
    return "|u1";
  }
  return descr == "<i2" ? "<u2" : descr;
}

}  // namespace

NpyArray parse_npy(std::span<const uint8_t> file, std::string_view name) {
  try {
    return parse(file);
  } catch (const Error& error) {
    throw Error(error.code(), in_quotes(name) + ": " + error.what());
  }
}

NpyArray read_npy(const std::filesystem::path& path) {
  return parse_npy(read_file(path, kLargestNpyFile), path.string());
}

std::vector<uint8_t> serialize_npy(const NpyArray& array) {
  std::string text = "{'descr': '" + array.descr + "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < array.shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(array.shape[i]);
  }
  text += array.shape.size() == 1 ? ",), }" : "), }";
  // Data starts at a multiple of 64 bytes.
  constexpr size_t kPrefix = 10;
  text.resize((kPrefix + text.size() + 1 + 63) / 64 * 64 - kPrefix, ' ');
  text.back() = '\n';

  std::vector<uint8_t> file(kMagic.begin(), kMagic.end());
  file.push_back(1);
  file.push_back(0);
  file.push_back(static_cast<uint8_t>(text.size()));
  file.push_back(static_cast<uint8_t>(text.size() >> 8));
  file.insert(file.end(), text.begin(), text.end());
  file.insert(file.end(), array.bytes.begin(), array.bytes.end());
  return file;
}

void write_npy(const std::filesystem::path& path, const NpyArray& array) { write_file(path, serialize_npy(array)); }

Value to_value(const NpyArray& array, DType expected, const Shape* expected_shape, bool accept_unsigned,
               std::string_view what) {
  const std::string_view wanted = descr_of(expected);
  // FP8 has no NumPy type of its own; its bits come raw or as plain bytes.
  const bool is_fp8 = expected == DType::kFp8E4M3 || expected == DType::kFp8E5M2;
  const bool byte_bits = is_fp8 && (array.descr == "|u1" || array.descr == "<V1");
  const bool unsigned_bits = accept_unsigned && array.descr == unsigned_twin(wanted);
  if (array.descr != wanted && !byte_bits && !unsigned_bits) {
    const ElementType* got = find_type(array.descr);
    const ElementType* want = find_type(wanted);
    NPU_CHECK(got != nullptr && want != nullptr);
    throw Error(ErrorCode::kBadInput,
                std::string(what) + " has elements of " + std::string(got->numpy) + ", but the tensor is " +
                    std::string(name(expected)) + ": give " + std::string(want->numpy) +
                    (accept_unsigned && unsigned_twin(wanted) != wanted ? " or the unsigned type" : ""));
  }
  if (expected_shape != nullptr && array.shape != *expected_shape) {
    throw Error(ErrorCode::kBadInput, std::string(what) + " has shape " + to_string(array.shape) +
                                          ", but the tensor has " + to_string(*expected_shape));
  }
  Value value{expected, array.shape, array.bytes};
  check_range(value, what);
  return value;
}

NpyArray to_npy(const Value& value, bool as_unsigned) {
  const std::string_view descr = descr_of(value.type);
  return {std::string(as_unsigned ? unsigned_twin(descr) : descr), value.shape, value.bytes};
}

NpyArray slice_axis0(const NpyArray& array, int64_t index) {
  NPU_CHECK(!array.shape.empty() && index >= 0 && index < array.shape[0]);
  const auto bytes = static_cast<int64_t>(array.bytes.size()) / array.shape[0];
  const auto first = array.bytes.begin() + index * bytes;
  return {array.descr, Shape(array.shape.begin() + 1, array.shape.end()), {first, first + bytes}};
}

Value stack(std::span<const Value> values) {
  NPU_CHECK(!values.empty());
  Value result{values[0].type, values[0].shape, {}};
  result.shape.insert(result.shape.begin(), static_cast<int64_t>(values.size()));
  result.bytes.reserve(values.size() * values[0].bytes.size());
  for (const Value& value : values) {
    NPU_CHECK(value.type == values[0].type && value.shape == values[0].shape);
    result.bytes.insert(result.bytes.end(), value.bytes.begin(), value.bytes.end());
  }
  return result;
}

}  // namespace npu::graph
