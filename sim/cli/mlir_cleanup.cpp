#include "sim/cli/mlir_cleanup.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

namespace npu::cli {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    visit(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

bool name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

struct Cast {
  std::string_view result, operand;
};

// "%a = builtin.unrealized_conversion_cast %b : T to T"
std::optional<Cast> same_type_cast(std::string_view line) {
  constexpr std::string_view kCast = " = builtin.unrealized_conversion_cast ";
  line = trim(line);
  const size_t at = line.find(kCast);
  if (at == std::string_view::npos || !line.starts_with('%')) return std::nullopt;
  const std::string_view rest = line.substr(at + kCast.size());
  const size_t colon = rest.find(" : "), to = rest.find(" to ");
  if (colon == std::string_view::npos || to == std::string_view::npos || to < colon) return std::nullopt;
  if (trim(rest.substr(colon + 3, to - colon - 3)) != trim(rest.substr(to + 4))) return std::nullopt;
  return Cast{line.substr(0, at), trim(rest.substr(0, colon))};
}

// The line with each value that a dropped cast defined replaced by the cast's operand; strings are left alone.
std::string with_replaced_values(std::string_view line, const std::map<std::string, std::string, std::less<>>& values) {
  std::string result;
  bool quoted = false;
  for (size_t i = 0; i < line.size();) {
    if (line[i] == '"') quoted = !quoted;
    if (quoted && line[i] == '\\' && i + 1 < line.size()) {
      result.append(line.substr(i, 2));
      i += 2;
      continue;
    }
    if (quoted || line[i] != '%') {
      result.push_back(line[i++]);
      continue;
    }
    size_t end = i + 1;
    while (end < line.size() && name_character(line[end])) ++end;
    const std::string_view value = line.substr(i, end - i);
    const auto found = values.find(value);
    result.append(found == values.end() ? value : std::string_view(found->second));
    i = end;
  }
  return result;
}

}  // namespace

std::string clean_mlir(std::string_view text) {
  std::string result;
  std::map<std::string, std::string, std::less<>> values;
  for_each_line(text, [&](std::string_view line) {
    if (line.starts_with("module attributes {")) {
      result += "module {\n";
      return;
    }
    if (const auto cast = same_type_cast(line)) {
      const auto earlier = values.find(cast->operand);
      values[std::string(cast->result)] = earlier == values.end() ? std::string(cast->operand) : earlier->second;
      return;
    }
    result += (values.empty() ? std::string(line) : with_replaced_values(line, values)) + "\n";
  });
  return result;
}

std::vector<std::string> foreign_operations(std::string_view text) {
  std::vector<std::string> names;
  for_each_line(text, [&](std::string_view line) {
    line = trim(line);
    // Only what stands where an operation's name stands: after "= ", or first.
    if (line.starts_with('%')) {
      const size_t equals = line.find(" = ");
      if (equals == std::string_view::npos) return;
      line.remove_prefix(equals + 3);
    }
    if (line.starts_with('"')) line.remove_prefix(1);
    if (!line.starts_with("tfl.") && !line.starts_with("tf.")) return;
    size_t end = 0;
    while (end < line.size() && name_character(line[end])) ++end;
    std::string name(line.substr(0, end));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  });
  return names;
}

}  // namespace npu::cli
