#include "sim/machine/toml_table.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"

namespace rayreplay::machine {
namespace {

std::string written(const toml::node& node) {
  std::ostringstream text;
  node.visit([&text](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) {
      text << value;
    } else {
      text << "a table or list";
    }
  });
  return text.str();
}

std::string range_text(Range range) {
  return fmt::format("{} to {}", range.minimum, range.maximum);
}

}  // namespace

std::string TomlTable::place(const toml::node& node) const {
  const auto line = node.source().begin.line;
  return line == 0 ? *source_ : fmt::format("{}:{}", *source_, line);
}

void TomlTable::wrong(const toml::node& node, std::string_view key, const std::string& expected) const {
  throw Error(ErrorKind::Usage, {fmt::format("'{}' has the wrong type or is out of range", key), place(node),
                                 written(node), expected, ""});
}

void TomlTable::allow(const std::vector<std::string>& keys) const {
  for (const auto& [key, value] : *table_) {
    const std::string name(key.str());
    if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
      const std::string near = nearest(name, keys);
      throw Error(ErrorKind::Usage,
                  {"unknown key", place(value), "'" + name + "'", fmt::format("one of {}", fmt::join(keys, ", ")),
                   near.empty() ? "" : "did you mean '" + near + "'?"});
    }
  }
}

void TomlTable::read(std::string_view key, std::string& value) const {
  if (const toml::node* node = table_->get(key)) {
    if (!node->is_string()) {
      wrong(*node, key, "a string");
    }
    value = node->as_string()->get();
  }
}

void TomlTable::read(std::string_view key, bool& value) const {
  if (const toml::node* node = table_->get(key)) {
    if (!node->is_boolean()) {
      wrong(*node, key, "true or false");
    }
    value = node->as_boolean()->get();
  }
}

double TomlTable::number(const toml::node& node, std::string_view key, Range range) const {
  double value = 0;
  if (const auto* whole = node.as_integer()) {
    value = static_cast<double>(whole->get());
  } else if (const auto* real = node.as_floating_point()) {
    value = real->get();
  } else {
    wrong(node, key, "a number, " + range_text(range));
  }
  // Not (value < minimum): NaN is out of range too.
  if (!(value >= range.minimum && value <= range.maximum)) {
    wrong(node, key, range_text(range));
  }
  return value + 0.0;  // -0 as 0: written without a sign, as whole numbers are
}

void TomlTable::read(std::string_view key, double& value, Range range) const {
  if (const toml::node* node = table_->get(key)) {
    value = number(*node, key, range);
  }
}

void TomlTable::read(std::string_view key, std::uint64_t& value, Range range) const {
  if (const toml::node* node = table_->get(key)) {
    if (!node->is_integer()) {
      wrong(*node, key, "a whole number, " + range_text(range));
    }
    value = static_cast<std::uint64_t>(number(*node, key, range));
  }
}

void TomlTable::read(std::string_view key, std::uint32_t& value, Range range) const {
  std::uint64_t wide = value;
  read(key, wide, range);
  value = static_cast<std::uint32_t>(wide);
}

}  // namespace rayreplay::machine
