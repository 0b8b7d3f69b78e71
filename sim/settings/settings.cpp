#include "sim/settings/settings.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "sim/settings/value.hpp"

namespace rayreplay::experiment {
namespace {

/// TOML is UTF-8: other bytes could be neither written nor read again.
void require_utf8(std::string_view key, const ParameterValue& value, const std::string& where) {
  const auto* written = std::get_if<std::string>(&value);
  for (const std::string_view text : {key, written == nullptr ? std::string_view() : std::string_view(*written)}) {
    if (const std::size_t at = text::invalid_at(text); at != text::kAllValid) {
      throw Error(ErrorKind::Usage, {"a setting is not UTF-8", where, fmt::format("'{}', byte {}", text, at), "UTF-8",
                                     "rename the file or folder, or give a symbolic link to it with another name"});
    }
  }
}

}  // namespace

void Settings::set(std::string_view key, const ParameterValue& value, const std::string& where) {
  require_utf8(key, value, where);
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    unknown_key(key, where);
  }
  if (parameter->is_open || parameter->declared.name == key) {
    values_.insert_or_assign(std::string(key), Setting{checked_value(*parameter, key, value, where), where});
    return;
  }
  // The type of a spec's parameter is known only when the spec is complete.
  if (parameter->model_kind.empty()) {
    throw Error(ErrorKind::Usage,
                {"the key has no parameters", place_of(where, parameter->declared.name), "'" + std::string(key) + "'",
                 "a key that holds a model", "leave out what follows the colon"});
  }
  const std::string text = to_text(value);
  if (text.find(',') != std::string::npos) {
    throw Error(ErrorKind::Usage,
                {"a parameter of a model cannot hold a comma", place_of(where, key), "'" + text + "'", "", ""});
  }
  values_.insert_or_assign(std::string(key), Setting{value, where});
}

void Settings::set_text(std::string_view assignment, const std::string& where) {
  // The first '=' ends the key in "KEY:PARAM=VALUE"; in open tables a shader's name may hold one.
  const bool open = assignment.starts_with("costs.") || assignment.starts_with("shader_costs.");
  const auto equals = open ? assignment.rfind('=') : assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw Error(ErrorKind::Usage, {"a setting is not of the form KEY=VALUE", where, "'" + std::string(assignment) + "'",
                                   "KEY=VALUE", "see rayreplay list keys"});
  }
  set(assignment.substr(0, equals), std::string(assignment.substr(equals + 1)), where);
}

bool Settings::has(std::string_view key) const {
  return values_.find(key) != values_.end();
}

const ParameterValue& Settings::at(std::string_view key) const {
  if (const auto found = values_.find(key); found != values_.end()) {
    return found->second.value;
  }
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr || parameter->is_open || parameter->declared.name != key) {
    throw Error(ErrorKind::Internal, {"a key of an experiment that is not declared", "", std::string(key), "", ""});
  }
  return parameter->declared.default_value;
}

std::int64_t Settings::integer(std::string_view key) const {
  return std::get<std::int64_t>(at(key));
}

double Settings::real(std::string_view key) const {
  return std::get<double>(at(key));
}

bool Settings::flag(std::string_view key) const {
  return std::get<bool>(at(key));
}

const std::string& Settings::text(std::string_view key) const {
  return std::get<std::string>(at(key));
}

bool is_switched_on(const Settings& settings, const std::string& key) {
  const ParameterValue& value = settings.at(key);
  if (const auto* const spec = std::get_if<std::string>(&value)) {
    const ExperimentParameter* const parameter = find_parameter(key);
    if (parameter->model_kind.empty()) {
      return !spec->empty();
    }
    return parse_spec(*spec).name != parse_spec(std::get<std::string>(parameter->declared.default_value)).name;
  }
  return std::get<bool>(value);
}

const std::string& Settings::where(std::string_view key) const {
  static const std::string kNowhere;
  const auto found = values_.find(key);
  return found == values_.end() ? kNowhere : found->second.where;
}

bool Settings::wants(std::string_view output) const {
  std::string_view rest = text("outputs");
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    if (rest.substr(0, comma) == output) {
      return true;
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

Settings of_keys(const Settings& settings, const std::function<bool(const ExperimentParameter&)>& keep) {
  Settings result;
  for (const auto& [key, setting] : settings.all()) {
    if (keep(*find_parameter(key))) {
      result.set(key, setting.value, setting.where);
    }
  }
  return result;
}

std::vector<std::pair<std::string, ParameterValue>> open_table(const Settings& settings, std::string_view table) {
  const std::string prefix = std::string(table) + ".";
  std::vector<std::pair<std::string, ParameterValue>> result;
  for (auto it = settings.all().lower_bound(prefix); it != settings.all().end() && it->first.starts_with(prefix);
       ++it) {
    result.emplace_back(it->first.substr(prefix.size()), it->second.value);
  }
  return result;
}

bool is_by_hand(const Settings& complete, std::string_view key, const ParameterValue& usual) {
  return complete.where(key).starts_with("--") || complete.at(key) != usual;
}

}  // namespace rayreplay::experiment
