// Experiments as TOML files: `parse_experiment`, `to_toml`.
#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.hpp"
#include "base/toml.hpp"
#include "sim/machine/costs.hpp"
#include "sim/machine/toml_quote.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/settings.hpp"
#include "sim/settings/toml_value.hpp"
#include "sim/settings/value.hpp"

namespace rayreplay::experiment {
namespace {

/// Joins a relative path with the file's folder.
std::string in_folder(const std::string& path, const std::string& folder) {
  return path.empty() || folder.empty() || std::filesystem::path(path).is_absolute()
             ? path
             : (std::filesystem::path(folder) / path).lexically_normal().string();
}

[[noreturn]] void wrong_type(const std::string& key, const toml::node& node, const std::string& where,
                             const char* expected) {
  std::ostringstream found;
  found << node.type();
  throw Error(ErrorKind::Usage, {"the value has the wrong type", place_of(where, key), found.str(), expected, ""});
}

class Reader {
 public:
  Reader(std::string source, std::string folder) : source_(std::move(source)), folder_(std::move(folder)) {}

  Settings read(std::string_view text) {
    const toml::table document = parse_toml(text, source_, "experiment");
    read_table(document, "");
    return std::move(settings_);
  }

 private:
  [[nodiscard]] std::string place(const toml::source_region& region) const {
    return region.begin.line == 0 ? source_ : fmt::format("{}:{}", source_, region.begin.line);
  }

  void read_table(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      const std::string where = place(key.source());
      if (const toml::table* inner = node.as_table()) {
        if (is_hand_cost(path, *inner)) {
          settings_.set(path, hand_cost(std::string(key.str()), *inner, place_of(where, path)), where);
          continue;
        }
        require_table(path, where);
        read_table(*inner, path + ".");
        continue;
      }
      settings_.set(path, value_of(node, path, folder_, where), where);
    }
  }

  /// True for `shader_costs.metal = {issue = 40, latency = 400}`, and for the form with counts of blocks.
  static bool is_hand_cost(const std::string& path, const toml::table& table) {
    constexpr std::array<std::string_view, 5> kWords = {"issue", "latency", "blocks", "calls", "times"};
    return path.starts_with("shader_costs.") && std::ranges::any_of(table, [&](const auto& item) {
             return std::ranges::find(kWords, std::string_view(item.first.str())) != kWords.end();
           });
  }

  /// The text form of the key: "40:400", "2x".
  [[nodiscard]] static std::string hand_cost(const std::string& shader, const toml::table& table,
                                             const std::string& place) {
    std::ostringstream text;
    text << toml::table{{"shader_costs", toml::table{{shader, table}}}};
    machine::HandCost cost;
    try {
      cost = machine::parse_shader_costs(text.str(), place).front();
    } catch (const Error& error) {
      ErrorInfo info = error.info();  // its line numbers are relative to this table
      info.where = place;
      throw Error(error.kind(), info);
    }
    return (cost.times < 0 ? std::string() : fmt::format("{}x", cost.times)) +
           (cost.issue < 0 ? std::string() : fmt::format("{}", cost.issue)) +
           (cost.latency < 0 ? std::string() : fmt::format(":{}", cost.latency));
  }

  /// Refuses names that no key starts with: an empty table of a wrong name is an error too.
  static void require_table(const std::string& path, const std::string& where) {
    const std::string prefix = path + ".";
    const auto within = [&](const ExperimentParameter& parameter) {
      const std::string& name = parameter.declared.name;
      return name.starts_with(prefix) || (parameter.is_open && path.starts_with(name.substr(0, name.size() - 1)));
    };
    if (std::ranges::none_of(experiment_parameters(), within)) {
      unknown_key(path, where);
    }
  }

  std::string source_;
  std::string folder_;
  Settings settings_;
};

bool is_bare(const std::string& key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string value_text(const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? to_text(value) : machine::quoted(*text);
}

/// One table of the file.
struct Section {
  std::string name;  ///< "": the keys before the first table
  std::string lines;
};

Section& section_of(std::vector<Section>& sections, const std::string& name) {
  const auto found = std::ranges::find(sections, name, &Section::name);
  return found == sections.end() ? sections.emplace_back(Section{name, ""}) : *found;
}

void write_line(Section& section, const std::string& key, const ParameterValue& value,
                const ExperimentParameter& parameter, bool commented) {
  section.lines += fmt::format("{} = {}", is_bare(key) ? key : machine::quoted(key), value_text(value));
  if (commented) {
    const Parameter& declared = parameter.declared;
    section.lines += fmt::format("  # {}{}{}", declared.unit, declared.unit.empty() ? "" : ": ", declared.text);
  }
  section.lines += '\n';
}

}  // namespace

std::string with_paths(const std::string& key, const std::string& text,
                       const std::function<std::string(const std::string& path)>& change) {
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr || !parameter->is_path || text.empty()) {
    return text;
  }
  if (key == kMachineName && text.find('/') == std::string::npos && !text.ends_with(".toml")) {
    return text;
  }
  if (parameter->separator == '\0') {
    return change(text);
  }
  // "NAME:BITS=FILE" each.
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(parameter->separator, begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    result += begin == 0 ? std::string() : std::string(1, parameter->separator);
    result += equals == std::string::npos ? item : item.substr(0, equals + 1) + change(item.substr(equals + 1));
    begin = end + 1;
  }
  return result;
}

ParameterValue value_of(const toml::node& node, const std::string& key, const std::string& folder,
                        const std::string& where) {
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    unknown_key(key, where);
  }
  const auto with_folder = [&](const std::string& text) {
    return with_paths(key, text, [&folder](const std::string& path) { return in_folder(path, folder); });
  };
  const bool takes_list = parameter->separator != '\0';
  if (const toml::array* list = node.as_array(); list != nullptr && takes_list) {
    std::string text;
    for (const toml::node& item : *list) {
      if (!item.is_string()) {
        wrong_type(key, item, where, "a list of texts");
      }
      text += (text.empty() ? std::string() : std::string(1, parameter->separator)) + item.as_string()->get();
    }
    return with_folder(text);
  }
  if (const auto* text = node.as_string()) {
    return with_folder(text->get());
  }
  if (const auto* number = node.as_integer()) {
    return number->get();
  }
  if (const auto* number = node.as_floating_point()) {
    return number->get();
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get();
  }
  wrong_type(key, node, where, takes_list ? "a text or a list of texts" : "one value");
}

Settings parse_experiment(std::string_view toml, const std::string& source, const std::string& folder) {
  return Reader(source, folder).read(toml);
}

std::string to_toml(const Settings& complete, bool commented) {
  std::vector<Section> sections = {{"", ""}};
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    const std::string& name = parameter.declared.name;
    const auto dot = name.rfind('.');
    const std::string table = dot == std::string::npos ? "" : name.substr(0, dot);
    if (parameter.is_open) {
      for (const auto& [key, value] : open_table(complete, table)) {
        write_line(section_of(sections, table), key, value, parameter, commented);
      }
    } else if (complete.has(name)) {
      write_line(section_of(sections, table), dot == std::string::npos ? name : name.substr(dot + 1), complete.at(name),
                 parameter, commented);
    }
    if (!parameter.model_kind.empty()) {
      // Settings that are not complete may hold parameters of specs.
      const std::string prefix = name + ":";
      for (auto it = complete.all().lower_bound(prefix); it != complete.all().end() && it->first.starts_with(prefix);
           ++it) {
        write_line(section_of(sections, table), it->first.substr(dot == std::string::npos ? 0 : dot + 1),
                   it->second.value, parameter, commented);
      }
    }
  }
  std::string result;
  for (const Section& section : sections) {
    if (!section.name.empty()) {
      result += fmt::format("{}[{}]\n", result.empty() ? "" : "\n", section.name);
    }
    result += section.lines;
  }
  return result;
}

}  // namespace rayreplay::experiment
