#include "sim/sweep/definition/toml_leaves.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace rayreplay::sweep {
namespace {

void collect(const toml::table& table, const std::string& prefix,
             const std::function<bool(const toml::table&)>& is_value, std::vector<Leaf>& found) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const toml::table* inner = node.as_table();
    if (inner != nullptr && (!is_value || !is_value(*inner))) {
      collect(*inner, name + ".", is_value, found);
    } else {
      found.push_back({name, &node, key.source().begin});
    }
  }
}

}  // namespace

std::vector<Leaf> leaves(const toml::table& table, const std::function<bool(const toml::table&)>& is_value) {
  std::vector<Leaf> found;
  collect(table, "", is_value, found);
  std::sort(found.begin(), found.end(), [](const Leaf& a, const Leaf& b) {
    return std::tie(a.at.line, a.at.column, a.key) < std::tie(b.at.line, b.at.column, b.key);
  });
  return found;
}

std::string place(const std::string& source, const toml::source_position& at) {
  return at.line == 0 ? source : fmt::format("{}:{}", source, at.line);
}

std::string type_of(const toml::node& node) {
  if (node.is_string()) {
    return "a text";
  }
  if (node.is_number()) {
    return "a number";
  }
  if (node.is_boolean()) {
    return "a truth value";
  }
  if (node.is_array()) {
    return "a list";
  }
  return node.is_table() ? "a table" : "a date or time";
}

}  // namespace rayreplay::sweep
