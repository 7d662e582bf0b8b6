// SPDX-License-Identifier: Apache-2.0
#include "sim/importer/mlir_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hw/contract/error.h"

namespace npu::importer {
namespace {

// TOSA's own limit for control flow is far below.
constexpr int kMaxDepth = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' || c == '-' || c == '#';
}

// Where the string that begins at `at` ends; npos when it does not.
size_t end_of_string(std::string_view text, size_t at) {
  for (size_t i = at + 1; (i = text.find_first_of("\"\\", i)) != std::string_view::npos; i += 2) {
    if (text[i] == '"') return i + 1;
  }
  return std::string_view::npos;
}

// Where the bracket that opens at `at` is closed; npos when it is not.
size_t end_of_brackets(std::string_view text, size_t at) {
  std::string open;
  for (size_t i = at; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = end_of_string(text, i);
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      open.push_back(c);
    } else if (c == ')' || c == ']' || c == '}') {
      open.pop_back();
    } else if (c == '>' && text[i - 1] != '-' && open.back() == '<') {  // neither "->" nor a comparison
      open.pop_back();
    }
    ++i;
    if (open.empty()) return i;
  }
  return std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  MlirFile file() {
    MlirFile file;
    for (skip_space(); at_ < text_.size(); skip_space()) {
      if (text_.substr(at_, 3) == "{-#") {
        file.resources = text_.substr(at_);
        break;
      }
      if (text_[at_] == '#' || text_[at_] == '!') {
        file.aliases.push_back(until(text_.find('\n', at_)));
      } else {
        file.operations.push_back(operation());
      }
    }
    return file;
  }

 private:
  [[noreturn]] void fail() const {
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(at_), '\n');
    throw Error(contract::ErrorCode::kToolFailed,
                fmt::format("tosa-opt printed MLIR that is not understood here, at line {} of its output: '{}'", line,
                            text_.substr(at_, std::min<size_t>(60, text_.find('\n', at_) - at_))));
  }

  // Comments, too: the printer writes a block's predecessors behind its label.
  void skip_space() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        return;
      }
    }
  }
  [[nodiscard]] bool see(std::string_view token) {
    skip_space();
    return text_.substr(at_, token.size()) == token;
  }
  bool accept(std::string_view token) {
    if (!see(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail();
  }

  std::string_view until(size_t end) {
    const std::string_view piece = text_.substr(at_, end - at_);
    at_ += piece.size();
    return piece;
  }
  std::string_view brackets() {
    const size_t end = end_of_brackets(text_, at_);
    if (end == std::string_view::npos) fail();
    return until(end);
  }
  std::string_view value() {
    if (!see("%")) fail();
    size_t end = at_ + 1;
    while (end < text_.size() && name_character(text_[end])) ++end;
    return until(end);
  }
  std::string_view type() {
    skip_space();
    size_t end = at_;
    while (end < text_.size() && std::string_view(",)\n ").find(text_[end]) == std::string_view::npos) {
      end = text_[end] == '<' ? end_of_brackets(text_, end) : end + 1;
    }
    if (end == at_ || end == std::string_view::npos) fail();
    return until(end);
  }
  std::vector<std::string> types() {
    std::vector<std::string> result;
    if (!accept("(")) return {std::string(type())};
    while (!accept(")")) {
      result.emplace_back(type());
      if (!accept(",") && !see(")")) fail();
    }
    return result;
  }
  std::string_view location() {
    if (!see("loc(")) return {};
    const size_t begin = at_;
    at_ += 3;
    (void)brackets();
    return text_.substr(begin, at_ - begin);
  }

  MlirBlock block() {
    MlirBlock block;
    if (see("^")) {
      (void)until(text_.find_first_of("(:", at_));
      if (accept("(")) {
        while (!accept(")")) {
          MlirArgument argument;
          argument.name = value();
          expect(":");
          argument.type = type();
          argument.location = location();
          block.arguments.push_back(std::move(argument));
          if (!accept(",") && !see(")")) fail();
        }
      }
      expect(":");
    }
    while (!see("}") && !see("^")) block.operations.push_back(operation());
    return block;
  }

  MlirRegion region() {
    MlirRegion region;
    if (++depth_ > kMaxDepth) fail();
    expect("{");
    while (!accept("}")) region.blocks.push_back(block());
    --depth_;
    return region;
  }

  MlirOperation operation() {
    MlirOperation op;
    if (see("%")) {
      op.result = value();
      if (accept(":")) (void)until(text_.find(' ', at_));
      expect("=");
    }
    if (!see("\"")) fail();
    const size_t end = end_of_string(text_, at_);
    if (end == std::string_view::npos) fail();
    op.name = until(end);
    op.name = op.name.substr(1, op.name.size() - 2);
    expect("(");
    while (!accept(")")) {
      op.operands.emplace_back(value());
      if (!accept(",") && !see(")")) fail();
    }
    if (see("[")) (void)brackets();
    if (see("<")) op.properties = brackets();
    if (accept("(")) {
      while (!accept(")")) {
        op.regions.push_back(region());
        if (!accept(",") && !see(")")) fail();
      }
    }
    if (see("{")) (void)brackets();
    expect(":");
    op.operand_types = types();
    expect("->");
    op.result_types = types();
    op.location = location();
    if (op.operands.size() != op.operand_types.size() || op.result.empty() != op.result_types.empty()) fail();
    return op;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

template <typename List, typename Append>
void join(const List& list, std::string& out, Append append) {
  const char* separator = "";
  for (const auto& item : list) {
    out += separator;
    append(item);
    separator = ", ";
  }
}

void append_location(std::string_view location, std::string& out) {
  if (!location.empty()) out.append(" ").append(location);
}

void append_types(const std::vector<std::string>& types, std::string& out) {
  out += "(";
  join(types, out, [&](const std::string& type) { out += signless(type); });
  out += ")";
}

void append_region(const MlirRegion& region, std::string& out) {
  NPU_CHECK(region.blocks.size() <= 1);
  out += "{\n";
  for (const MlirBlock& block : region.blocks) {
    out += "^bb0(";
    join(block.arguments, out, [&](const MlirArgument& argument) {
      out += argument.name + ": " + signless(argument.type);
      append_location(argument.location, out);
    });
    out += "):\n";
    for (const MlirOperation& op : block.operations) print_mlir(op, out);
  }
  out += "}";
}

// The width's digits behind "ui" or "si" where these begin a type; 0 when they do not.
size_t signed_type_length(std::string_view text, size_t at) {
  if (at + 2 >= text.size() || text[at + 1] != 'i' || !is_digit(text[at + 2])) return 0;
  const char before = at == 0 ? ' ' : text[at - 1];
  // "4xui8" and "?xui8" are types, "maxui8" is a name.
  const bool dimension = before == 'x' && at >= 2 && (is_digit(text[at - 2]) || text[at - 2] == '?');
  if (name_character(before) && !dimension) return 0;
  size_t end = at + 2;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end < text.size() && name_character(text[end]) ? 0 : end - at;
}

}  // namespace

std::string MlirOperation::result_value(size_t index) const {
  return result_types.size() == 1 ? result : fmt::format("{}#{}", result, index);
}

MlirFile parse_mlir(std::string_view generic) { return Parser(generic).file(); }

void print_mlir(const MlirOperation& op, std::string& out) {
  if (!op.result.empty()) {
    out += op.result;
    if (op.result_types.size() > 1) out += fmt::format(":{}", op.result_types.size());
    out += " = ";
  }
  out.append("\"").append(op.name).append("\"(");
  join(op.operands, out, [&](const std::string& operand) { out += operand; });
  out += ") ";
  if (!op.properties.empty()) out += signless(op.properties) + " ";
  if (!op.regions.empty()) {
    out += "(";
    join(op.regions, out, [&](const MlirRegion& region) { append_region(region, out); });
    out += ") ";
  }
  out += ": ";
  append_types(op.operand_types, out);
  out += " -> ";
  append_types(op.result_types, out);
  append_location(op.location, out);
  out += "\n";
}

std::string signless(std::string_view text) {
  constexpr std::string_view kQuantised = "!quant.uniform<";
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (text[i] == '"') {
      i = std::min(end_of_string(text, i), text.size());
    } else if ((text[i] == 'u' || text[i] == 's') && signed_type_length(text, i) > 0) {
      i += signed_type_length(text, i);
      result += text.substr(begin + 1, i - begin - 1);
      continue;
    } else if (text.substr(i, kQuantised.size()) == kQuantised) {
      const size_t storage = i + kQuantised.size();
      i = std::min(end_of_brackets(text, storage - 1), text.size());
      result += signless(text.substr(storage, text.find_first_of("<:>", storage) - storage));
      continue;
    } else {
      ++i;
    }
    result += text.substr(begin, i - begin);
  }
  return result;
}

std::string without_quantisation(std::string_view text) {
  constexpr std::string_view kDialect = "!quant.";
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t next = text.find_first_of("\"/!", i);
    result += text.substr(i, next - i);
    if (next == std::string_view::npos) break;
    const size_t open =
        text.substr(next, kDialect.size()) == kDialect ? text.find_first_of("<>, \n", next) : std::string_view::npos;
    size_t end = next + 1;
    if (text[next] == '"') {
      end = std::min(end_of_string(text, next), text.size());
    } else if (text.substr(next, 2) == "//") {
      end = std::min(text.find('\n', next), text.size());
    } else if (open != std::string_view::npos && text[open] == '<') {
      end = std::min(end_of_brackets(text, open), text.size());
      const std::string_view all = text.substr(next, end - next);
      const std::string_view storage = text.substr(open + 1, text.find_first_of("<:>", open + 1) - open - 1);
      if (storage.starts_with('u')) result += "ui" + std::string(storage.substr(1));
      if (!storage.starts_with('u')) result += storage;
      result.append(static_cast<size_t>(std::count(all.begin(), all.end(), '\n')), '\n');
      i = end;
      continue;
    }
    result += text.substr(next, end - next);
    i = end;
  }
  return result;
}

std::string_view property(std::string_view properties, std::string_view key) {
  if (properties.size() < 4) return {};
  const std::string_view text = properties.substr(2, properties.size() - 4);
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && text[end] != ',') {
      const char c = text[end];
      end = c == '"'                               ? end_of_string(text, end)
            : std::string_view("([{<").find(c) < 4 ? end_of_brackets(text, end)
                                                   : end + 1;
    }
    const std::string_view entry = text.substr(i, end - i);
    if (entry.starts_with(key) && entry.substr(key.size(), 3) == " = ") return entry.substr(key.size() + 3);
    if (end >= text.size()) break;
    i = std::min(text.find_first_not_of(' ', end + 1), text.size());
  }
  return {};
}

std::string_view string_property(std::string_view properties, std::string_view key) {
  std::string_view text = property(properties, key);
  if (text.starts_with('"')) text.remove_prefix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  return text;
}

}  // namespace npu::importer
