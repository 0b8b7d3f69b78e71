// Typed access to TOML tables, with errors that have file, line, found value and nearest known key.
//
// Contract: every error is a Usage error. The document must outlive its tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

namespace rayreplay::machine {

struct Range {
  double minimum = 0;
  double maximum = 0;
};

class TomlTable {
 public:
  TomlTable(const toml::table& table, const std::string& source) : table_(&table), source_(&source) {}

  /// Keys outside the list are errors.
  void allow(const std::vector<std::string>& keys) const;
  /// Unchanged if the key is absent.
  void read(std::string_view key, std::string& value) const;
  void read(std::string_view key, bool& value) const;
  void read(std::string_view key, double& value, Range range) const;
  void read(std::string_view key, std::uint64_t& value, Range range) const;
  void read(std::string_view key, std::uint32_t& value, Range range) const;

  [[nodiscard]] double number(const toml::node& node, std::string_view key, Range range) const;
  /// "file:line"
  [[nodiscard]] std::string place(const toml::node& node) const;
  [[nodiscard]] const toml::table& table() const {
    return *table_;
  }
  [[noreturn]] void wrong(const toml::node& node, std::string_view key, const std::string& expected) const;

 private:
  const toml::table* table_;
  const std::string* source_;
};

}  // namespace rayreplay::machine
