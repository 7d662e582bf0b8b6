// SPDX-License-Identifier: Apache-2.0
// How the fields of fields.h stand in a file:
//
//   number, enumeration   little endian, as wide as in memory       bool       u8, 0 or 1
//   text                  u32 length and bytes                      optional   u8, 0 or 1; behind 1 the value
//   vector                u64 length and the elements               structure  its fields, in order
//   Capabilities          u32 each, in the contract's order
//
// Each value has one encoding, so what was read is written again with the same bytes.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "driver/graph/byte_stream.h"
#include "driver/program_file/fields.h"

namespace npu::program_file {

template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;

// fold<T>(visit): calls visit.operator()<Field>() for the type of each field of a structure.
template <typename T, typename Visit>
constexpr void for_each_field_type(Visit&& visit) {
  using Fields = decltype(fields(std::declval<T&>()));
  [&]<size_t... i>(std::index_sequence<i...>) {
    (visit.template operator()<std::remove_cvref_t<std::tuple_element_t<i, Fields>>>(), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Fields>>());
}

// The least bytes that a value takes in a file: bounds what a damaged length can ask for.
template <typename T>
constexpr size_t least_bytes() {
  if constexpr (std::is_same_v<T, bool> || is_optional<T>) {
    return 1;
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return sizeof(T);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return sizeof(uint32_t);
  } else if constexpr (is_vector<T>) {
    return sizeof(uint64_t);
  } else if constexpr (std::is_same_v<T, contract::Capabilities>) {
    return contract::kCapabilityCount * sizeof(uint32_t);
  } else {
    size_t sum = 0;
    for_each_field_type<T>([&]<typename Field>() { sum += least_bytes<Field>(); });
    return sum;
  }
}

class LayoutHash {
 public:
  // FNV-1a over the names and types of all fields.
  template <typename T>
  constexpr void add() {
    if constexpr (std::is_same_v<T, bool>) {
      mix("bool;");
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      mix(std::is_enum_v<T> ? "enum" : std::is_signed_v<T> ? "int" : "uint");
      mix(std::string_view("1248").substr(std::bit_width(sizeof(T)) - 1, 1));
    } else if constexpr (std::is_same_v<T, std::string>) {
      mix("text;");
    } else if constexpr (is_vector<T> || is_optional<T>) {
      mix(is_vector<T> ? "vector of " : "optional ");
      add<typename T::value_type>();
    } else if constexpr (std::is_same_v<T, contract::Capabilities>) {
      for (const contract::CapabilityInfo& info : contract::kCapabilities) mix(info.name);
    } else {
      mix(field_names(std::type_identity<T>()));
      for_each_field_type<T>([&]<typename Field>() { add<Field>(); });
    }
  }
  [[nodiscard]] constexpr uint32_t value() const { return hash_; }

 private:
  constexpr void mix(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<uint8_t>(c)) * 16777619U;
  }
  uint32_t hash_ = 2166136261U;
};

template <typename T>
void encode(graph::ByteWriter& to, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    to.number(static_cast<uint8_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    to.number(value);
  } else if constexpr (std::is_enum_v<T>) {
    to.number(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    to.text(value);
  } else if constexpr (std::is_same_v<T, std::vector<uint8_t>>) {
    to.number(uint64_t{value.size()});
    to.raw(value);
  } else if constexpr (is_vector<T>) {
    to.number(uint64_t{value.size()});
    for (const auto& element : value) encode(to, element);
  } else if constexpr (is_optional<T>) {
    encode(to, value.has_value());
    if (value) encode(to, *value);
  } else if constexpr (std::is_same_v<T, contract::Capabilities>) {
    for (const contract::CapabilityInfo& info : contract::kCapabilities) to.number(value.*info.member);
  } else {
    std::apply([&](const auto&... field) { (encode(to, field), ...); }, fields(value));
  }
}

// Throws as the reader's kind says. Enumerations may get any number: check_content() looks at them.
template <typename T>
void decode(graph::ByteReader& from, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto number = from.number<uint8_t>();
    if (number > 1) from.damaged("is damaged: something is neither true nor false");
    value = number != 0;
  } else if constexpr (std::is_integral_v<T>) {
    value = from.number<T>();
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(from.number<std::underlying_type_t<T>>());
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = from.text();
  } else if constexpr (std::is_same_v<T, std::vector<uint8_t>>) {
    const auto bytes = from.take(from.number<uint64_t>());
    value.assign(bytes.begin(), bytes.end());
  } else if constexpr (is_vector<T>) {
    const auto count = from.number<uint64_t>();
    if (count > from.left() / least_bytes<typename T::value_type>()) {
      from.damaged("is damaged: it says more than it holds");
    }
    value.resize(count);
    for (auto& element : value) decode(from, element);
  } else if constexpr (is_optional<T>) {
    bool there = false;
    decode(from, there);
    if (there) decode(from, value.emplace());
  } else if constexpr (std::is_same_v<T, contract::Capabilities>) {
    for (const contract::CapabilityInfo& info : contract::kCapabilities) value.*info.member = from.number<uint32_t>();
  } else {
    std::apply([&](auto&... field) { (decode(from, field), ...); }, fields(value));
  }
}

}  // namespace npu::program_file
