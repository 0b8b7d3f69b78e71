#include "sim/comparison/model_list.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kAll = "all";

[[noreturn]] void usage(std::string what, std::string_view text, std::string expected) {
  throw Error(ErrorKind::Usage, {std::move(what), "--models", "'" + std::string(text) + "'", std::move(expected),
                                 "see rayreplay list scheduler-model"});
}

/// `key=value` belongs to the spec before it, unless a ':' shows that a name comes first.
bool is_setting(std::string_view item) {
  const auto equals = item.find('=');
  return equals != std::string_view::npos && item.substr(0, equals).find(':') == std::string_view::npos;
}

}  // namespace

std::vector<std::string> split_model_list(std::string_view text, const std::vector<std::string>& known) {
  std::vector<std::string> specs;
  bool takes_settings = false;
  for (const std::string& item : list_items(text, ',')) {
    if (item.empty()) {
      usage("a model's name is missing in the list", text, "NAME, or NAME:key=value, between any two commas");
    }
    if (is_setting(item)) {
      if (!takes_settings) {
        usage("a setting in the list of models follows no model's name", text, "the name of a model first");
      }
      // The first setting of a name follows a colon, further ones a comma.
      specs.back() += specs.back().find(':') == std::string::npos ? ":" : ",";
      specs.back() += item;
    } else if (item == kAll) {
      specs.insert(specs.end(), known.begin(), known.end());
      takes_settings = false;
    } else {
      specs.emplace_back(item);
      takes_settings = true;
    }
  }
  return specs;
}

std::vector<std::string> resolve_models(const std::vector<std::string>& specs) {
  std::vector<std::string> resolved = {scheduler::SchedulerModels::create("plain").spec};
  for (const std::string& spec : specs) {
    std::string full = scheduler::SchedulerModels::create(spec).spec;
    if (std::find(resolved.begin(), resolved.end(), full) == resolved.end()) {
      resolved.push_back(std::move(full));
    }
  }
  return resolved;
}

GivenParameters parameters_given(const std::vector<std::string>& specs) {
  GivenParameters given;
  for (const std::string& spec : specs) {
    const std::string resolved = scheduler::SchedulerModels::create(spec).spec;
    if (spec == resolved) {
      continue;
    }
    std::set<std::string>& of_model = given[resolved];
    for (const auto& [name, value] : parse_spec(spec).settings) {
      of_model.insert(name);
    }
  }
  return given;
}

}  // namespace rayreplay::experiment
