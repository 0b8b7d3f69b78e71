#include "app/report/packings/published.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/parameters.hpp"
#include "base/toml.hpp"
#include "scheduler-models/packing.hpp"

namespace rayreplay::report {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  [[noreturn]] void fail(std::string what, const toml::source_region& region, std::string found, std::string expected,
                         std::string fix = "") const {
    throw Error(ErrorKind::Input, {std::move(what), fmt::format("{}:{}", file_, region.begin.line), std::move(found),
                                   std::move(expected), std::move(fix)});
  }

  void allow(const toml::table& table, const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : table) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
        const std::string near = nearest(name, keys);
        fail("unknown key", key.source(), "'" + name + "'", fmt::format("one of {}", fmt::join(keys, ", ")),
             near.empty() ? "" : "did you mean '" + near + "'?");
      }
    }
  }

  [[nodiscard]] std::string text(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    if (node == nullptr || !node->is_string()) {
      fail("a string is missing", table.source(), "", std::string(key));
    }
    return node->as_string()->get();
  }

  [[nodiscard]] double number(const toml::node& node, std::string_view key) const {
    const auto value = node.value<double>();
    if (!value || !node.is_number()) {
      fail("the value has the wrong type", node.source(), std::string(key), "a number");
    }
    return *value;
  }

  template <class Visit>
  void for_each_table(const toml::table& root, std::string_view key, const Visit& visit) const {
    const toml::node* node = root.get(key);
    const toml::array* array = node == nullptr ? nullptr : node->as_array();
    if (array == nullptr) {
      fail("a list of tables is missing", root.source(), "", fmt::format("[[{}]]", key));
    }
    for (const toml::node& item : *array) {
      if (!item.is_table()) {
        fail("the value has the wrong type", item.source(), std::string(key), "a table");
      }
      visit(*item.as_table());
    }
  }

 private:
  std::string file_;
};

using WorkloadValue = std::variant<std::string, std::int64_t, bool>;

WorkloadValue workload_value(const Reader& reader, const toml::node& node, std::string_view key) {
  if (node.is_string()) {
    return node.as_string()->get();
  }
  if (node.is_integer()) {
    return node.as_integer()->get();
  }
  if (!node.is_boolean()) {
    reader.fail("the value has the wrong type", node.source(), std::string(key), "a string, an integer or a boolean");
  }
  return node.as_boolean()->get();
}

/// Unknown packings are kept; they match no row.
std::string resolved_packing(const Reader& reader, const toml::table& table) {
  const std::string spec = reader.text(table, "name");
  const std::vector<std::string> names = scheduler::Packings::names();
  if (std::find(names.begin(), names.end(), spec.substr(0, spec.find(':'))) == names.end()) {
    return spec;
  }
  try {
    return scheduler::Packings::create(spec).spec;
  } catch (const Error& error) {
    reader.fail(error.info().what, table.source(), error.info().found, error.info().expected, error.info().fix);
  }
}

nlohmann::json to_json_value(const WorkloadValue& value) {
  return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

bool agrees(const std::string& key, const nlohmann::json& ours, const nlohmann::json& published) {
  if (ours == published) {
    return true;
  }
  if ((key != "scene" && key != "integrator") || !ours.is_string() || !published.is_string()) {
    return false;
  }
  const std::string spec = ours.get<std::string>();
  return spec.substr(0, spec.find(':')) == published.get<std::string>();
}

std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

}  // namespace

Published parse_published(std::string_view toml_text, const std::string& file) {
  const Reader reader(file);
  const toml::table root = parse_toml(toml_text, file, "published figures", ErrorKind::Input);
  reader.allow(root, {"title", "source", "note", "workload", "quantity", "packing"});
  Published published;
  published.title = reader.text(root, "title");
  published.source = reader.text(root, "source");
  published.note = reader.text(root, "note");
  if (const toml::node* node = root.get("workload")) {
    const toml::table* workload = node->as_table();
    if (workload == nullptr) {
      reader.fail("the value has the wrong type", node->source(), "workload", "a table");
    }
    reader.allow(*workload,
                 {"scene", "integrator", "width", "height", "samples", "depth", "seed", "hit_groups", "next_event"});
    for (const auto& [key, value] : *workload) {
      published.workload.emplace_back(key.str(), workload_value(reader, value, key.str()));
    }
  }
  std::vector<std::string> packing_keys = {"name"};
  reader.for_each_table(root, "quantity", [&](const toml::table& table) {
    reader.allow(table, {"key", "title", "compare"});
    const toml::node* compare = table.get("compare");
    published.quantities.push_back(
        {reader.text(table, "key"), reader.text(table, "title"), compare != nullptr && compare->value_or(false)});
    packing_keys.push_back(published.quantities.back().key);
  });
  reader.for_each_table(root, "packing", [&](const toml::table& table) {
    reader.allow(table, packing_keys);
    const std::string name = resolved_packing(reader, table);
    published.packings.push_back(name);
    for (const PublishedQuantity& quantity : published.quantities) {
      if (const toml::node* node = table.get(quantity.key)) {
        published.values[name][quantity.key] = reader.number(*node, quantity.key);
      }
    }
  });
  return published;
}

std::vector<std::string> differences(const trace::Header& header, const Published& published) {
  if (published.workload.empty()) {
    return {};
  }
  const std::optional<nlohmann::ordered_json> parsed = parse_json(header.configuration);
  if (!parsed || !parsed->is_object()) {
    return {"the trace does not name its workload"};
  }
  const nlohmann::json configuration = *parsed;
  std::vector<std::string> result;
  for (const auto& [key, value] : published.workload) {
    const nlohmann::json expected = to_json_value(value);
    const auto ours = configuration.find(key);
    if (ours == configuration.end()) {
      result.push_back(fmt::format("{}: not in the trace, published {}", key, plain(expected)));
    } else if (!agrees(key, *ours, expected)) {
      result.push_back(fmt::format("{}: {}, published {}", key, plain(*ours), plain(expected)));
    }
  }
  return result;
}

std::string workload_warning(const trace::Header& header, const Published& published) {
  const std::vector<std::string> differs = differences(header, published);
  return differs.empty() ? std::string()
                         : fmt::format("the published figures are of another workload: {}", fmt::join(differs, "; "));
}

output::Table compare(const experiment::WhatIfResult& result, const Published& published) {
  output::Table table;
  table.columns = {{"packing", "packing"}, {"ours", "ours", output::Show::Change}};
  for (const PublishedQuantity& quantity : published.quantities) {
    table.columns.push_back({quantity.key, quantity.title, output::Show::Change});
  }
  table.columns.push_back({"difference_points", "difference (points)", output::Show::Plain, 2});
  for (const std::string& name : published.packings) {
    const auto values = published.values.find(name);
    for (const experiment::WhatIfRow& row : result.rows) {
      if (row.packing != name || values == published.values.end()) {
        continue;
      }
      std::vector<output::Cell> cells = {row.packing, row.change};
      output::Cell difference;
      for (const PublishedQuantity& quantity : published.quantities) {
        const auto value = values->second.find(quantity.key);
        output::Cell& cell = cells.emplace_back();
        if (value == values->second.end()) {
          continue;
        }
        cell.emplace<double>(value->second);
        if (quantity.compare) {
          difference.emplace<double>((row.change - value->second) * 100);
        }
      }
      cells.emplace_back(std::move(difference));
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

}  // namespace rayreplay::report
