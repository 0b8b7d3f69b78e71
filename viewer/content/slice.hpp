// Slices: columns of numbers with facts about them, as the bytes that the page reads.
//
// Contract: little-endian. "RRS1", the length of the facts (32 bits), the facts as JSON, zeros up to a multiple of 8
// bytes; then the columns, each padded to 8 bytes. The facts' "columns" lists them in order: `name`, `type` ("f32",
// "u32", "u8"), `count`, and `offset` from the end of the head. Facts that a caller adds stand beside "columns".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rayreplay::viewer {

class Slice {
 public:
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();

  void add(std::string_view name, std::span<const float> values);
  void add(std::string_view name, std::span<const std::uint32_t> values);
  void add(std::string_view name, std::span<const std::uint8_t> values);

  [[nodiscard]] std::string bytes() const;

 private:
  void add(std::string_view name, const char* type, const void* data, std::size_t count, std::size_t bytes);

  nlohmann::ordered_json columns_ = nlohmann::ordered_json::array();
  std::string data_;
};

}  // namespace rayreplay::viewer
