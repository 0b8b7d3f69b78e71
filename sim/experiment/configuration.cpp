#include "sim/experiment/configuration.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "base/toml.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::int64_t kMaxCycles = std::numeric_limits<std::uint32_t>::max();
constexpr double kMostNumber = 1e9;
const std::vector<std::string> kCostKeys = {"costs", "default_cost"};
const std::vector<std::string> kKeys = {"launch",
                                        "warp_size",
                                        "order",
                                        "policy",
                                        "packings",
                                        "swizzles",
                                        "default_cost",
                                        "costs",
                                        "models",
                                        "machine",
                                        "hints",
                                        "hint_files",
                                        "registers_per_thread",
                                        "cost_source",
                                        "start_packing",
                                        "cycles_per_instruction",
                                        "steps_per_ray",
                                        "replay_steps",
                                        "shader_costs",
                                        "cache"};

[[noreturn]] void usage(std::string what, std::string where, std::string found, std::string expected,
                        std::string fix = "") {
  throw Error(ErrorKind::Usage,
              {std::move(what), std::move(where), std::move(found), std::move(expected), std::move(fix)});
}

/// One TOML document with the name of its file, for messages.
class Document {
 public:
  Document(std::string_view text, std::string source)
      : source_(std::move(source)), table_(parse_toml(text, source_, "configuration")) {}

  void allow(const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
        const std::string near = nearest(name, keys);
        usage("unknown key", place(key.source()), "'" + name + "'", fmt::format("one of {}", fmt::join(keys, ", ")),
              near.empty() ? "" : "did you mean '" + near + "'?");
      }
    }
  }

  void read(std::string_view key, std::uint32_t& value) const {
    if (const toml::node* node = table_.get(key)) {
      value = number(*node, key);
    }
  }
  void read(std::string_view key, std::string& value) const {
    if (const toml::node* node = table_.get(key)) {
      value = text(*node, key);
    }
  }
  void read(std::string_view key, std::vector<std::string>& values) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) {
      return;
    }
    const toml::array* array = node->as_array();
    if (array == nullptr) {
      usage("the value has the wrong type", place(node->source()), std::string(key), "a list of strings");
    }
    values.clear();
    for (const toml::node& item : *array) {
      values.push_back(text(item, key));
    }
  }
  void read_costs(Configuration& configuration) const {
    read("default_cost", configuration.default_cost);
    const toml::node* node = table_.get("costs");
    if (node == nullptr) {
      return;
    }
    const toml::table* costs = node->as_table();
    if (costs == nullptr) {
      usage("the value has the wrong type", place(node->source()), "costs", "a table of cycles by shader");
    }
    configuration.costs.clear();
    for (const auto& [key, value] : *costs) {
      configuration.costs.emplace_back(std::string(key.str()), number(value, key.str()));
    }
  }
  void read(std::string_view key, double& value) const {
    if (const toml::node* node = table_.get(key)) {
      const std::optional<double> given = node->value<double>();
      if (!node->is_number() || !given || !(*given >= 0) || *given > kMostNumber) {
        usage("the value has the wrong type or is out of range", place(node->source()), std::string(key),
              fmt::format("a number from 0 to {}", kMostNumber));
      }
      value = *given;
    }
  }
  void read(std::string_view key, bool& value) const {
    if (const toml::node* node = table_.get(key)) {
      const toml::value<bool>* given = node->as_boolean();
      if (given == nullptr) {
        usage("the value has the wrong type", place(node->source()), std::string(key), "true or false");
      }
      value = given->get();
    }
  }
  void read_models(ModelsConfiguration& models) const {
    read("models", models.models);
    read("machine", models.machine);
    read("hints", models.hints);
    read("hint_files", models.hint_files);
    read("registers_per_thread", models.registers_per_thread);
    read("cost_source", models.cost_source);
    read("start_packing", models.start_packing);
    read("cycles_per_instruction", models.cycles_per_instruction);
    read("steps_per_ray", models.steps_per_ray);
    read("replay_steps", models.replay_steps);
    if (const toml::node* node = table_.get("shader_costs")) {
      const toml::table* costs = node->as_table();
      if (costs == nullptr) {
        usage("the value has the wrong type", place(node->source()), "shader_costs", "a table of costs by shader");
      }
      // The table alone, as its own reader takes it.
      std::ostringstream text;
      text << toml::table{{"shader_costs", *costs}};
      models.shader_costs = machine::parse_shader_costs(text.str(), source_);
    }
  }
  void read_cache(std::vector<CacheSetting>& settings) const {
    const toml::node* node = table_.get("cache");
    if (node == nullptr) {
      return;
    }
    const toml::table* table = node->as_table();
    if (table == nullptr) {
      usage("the value has the wrong type", place(node->source()), "cache", "a table");
    }
    for (const auto& [key, value] : *table) {
      std::ostringstream text;
      if (const auto* string = value.as_string()) {
        text << string->get();
      } else if (value.is_integer() || value.is_boolean() || value.is_floating_point()) {
        value.visit([&text](const auto& item) { text << std::boolalpha << item; });
      } else {
        usage("the value has the wrong type", place(value.source()), std::string(key.str()),
              "a string, a number or a truth value");
      }
      settings.push_back({std::string(key.str()), text.str(), place(key.source())});
    }
  }

 private:
  [[nodiscard]] std::string place(const toml::source_region& region) const {
    return region.begin.line == 0 ? source_ : fmt::format("{}:{}", source_, region.begin.line);
  }
  [[nodiscard]] std::uint32_t number(const toml::node& node, std::string_view key) const {
    const toml::value<std::int64_t>* value = node.as_integer();
    if (value == nullptr || value->get() < 0 || value->get() > kMaxCycles) {
      usage("the value has the wrong type or is out of range", place(node.source()), std::string(key),
            fmt::format("a whole number from 0 to {}", kMaxCycles));
    }
    return static_cast<std::uint32_t>(value->get());
  }
  [[nodiscard]] std::string text(const toml::node& node, std::string_view key) const {
    const toml::value<std::string>* value = node.as_string();
    if (value == nullptr) {
      usage("the value has the wrong type", place(node.source()), std::string(key), "a string");
    }
    return value->get();
  }

  std::string source_;
  toml::table table_;
};

}  // namespace

Configuration parse_configuration(std::string_view toml, const std::string& source) {
  const Document document(toml, source);
  document.allow(kKeys);
  Configuration configuration;
  document.read("launch", configuration.launch);
  document.read("warp_size", configuration.warp_size);
  document.read("order", configuration.order);
  document.read("policy", configuration.policy);
  document.read("packings", configuration.packings);
  document.read("swizzles", configuration.swizzles);
  document.read_costs(configuration);
  document.read_models(configuration.compared);
  document.read_cache(configuration.cache);
  return configuration;
}

void parse_costs(std::string_view toml, const std::string& source, Configuration& configuration) {
  const Document document(toml, source);
  document.allow(kCostKeys);
  configuration.default_cost = 1;
  configuration.costs.clear();
  document.read_costs(configuration);
}

ShaderCosts parse_cost_list(std::string_view text) {
  ShaderCosts costs;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string item(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    // The last '=': a shader's name may hold others.
    const auto equals = item.rfind('=');
    Parameter cycles;
    cycles.name = item.substr(0, equals);
    cycles.default_value = std::int64_t{1};
    cycles.minimum = 0;
    cycles.maximum = static_cast<double>(kMaxCycles);
    if (equals == std::string::npos || equals == 0) {
      usage("a cost is not of the form SHADER=CYCLES", "--cost", "'" + item + "'", "SHADER=CYCLES,SHADER=CYCLES");
    }
    const Parameters value = rayreplay::resolve({cycles}, {{cycles.name, item.substr(equals + 1)}}, "--cost");
    costs.emplace_back(cycles.name, static_cast<std::uint32_t>(value.get_int(cycles.name)));
  }
  return costs;
}

}  // namespace rayreplay::experiment
