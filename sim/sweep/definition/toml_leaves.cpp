#include "sim/sweep/definition/toml_leaves.hpp"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/machine/toml_quote.hpp"
#include "sim/settings/settings.hpp"

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

/// Wrapped into a document with the key's own words, so that paths and lists are read as in an experiment file.
ParameterValue by_experiment(const toml::node& node, const std::string& key, const std::string& folder,
                             const Place& at) {
  std::ostringstream text;
  // As many empty lines before it as in the sweep file, so that messages have the right line number.
  text << std::string(at.line > 0 ? at.line - 1 : 0, '\n');
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    text << (begin == 0 ? "" : ".") << machine::quoted(key.substr(begin, end - begin));
    begin = end + 1;
  }
  text << " = ";
  if (const auto* single = node.as_string()) {
    text << machine::quoted(single->get());
  } else if (const auto* list = node.as_array()) {
    text << *list;
  }
  const experiment::Settings settings = experiment::parse_experiment(text.str(), at.source, folder);
  return settings.at(key);
}

}  // namespace

void usage(std::string what, std::string where, std::string found, std::string expected, std::string fix) {
  throw Error(ErrorKind::Usage,
              {std::move(what), std::move(where), std::move(found), std::move(expected), std::move(fix)});
}

std::vector<Leaf> leaves(const toml::table& table, const std::function<bool(const toml::table&)>& is_value) {
  std::vector<Leaf> found;
  collect(table, "", is_value, found);
  std::sort(found.begin(), found.end(), [](const Leaf& a, const Leaf& b) {
    return std::tie(a.at.line, a.at.column, a.key) < std::tie(b.at.line, b.at.column, b.key);
  });
  return found;
}

std::string Place::text() const {
  return line == 0 ? source : fmt::format("{}:{}", source, line);
}

Place place(const std::string& source, const toml::source_position& at) {
  return {source, at.line};
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

ParameterValue value_of(const toml::node& node, const std::string& key, const std::string& folder, const Place& at) {
  if (const auto* truth = node.as_boolean()) {
    return truth->get();
  }
  if (const auto* whole = node.as_integer()) {
    return whole->get();
  }
  if (const auto* real = node.as_floating_point()) {
    return real->get();
  }
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  if (parameter == nullptr) {
    experiment::unknown_key(key, at.text());
  }
  const auto* text = node.as_string();
  if (node.is_array() || (text != nullptr && parameter->is_path)) {
    return by_experiment(node, key, folder, at);
  }
  if (text != nullptr) {
    return text->get();
  }
  usage("the value has the wrong type", at.text(), fmt::format("{} for {}", type_of(node), key),
        "a number, a text, true or false");
}

}  // namespace rayreplay::sweep
