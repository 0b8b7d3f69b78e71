#include "sim/experiment/settings/parameter_table.hpp"

#include <array>
#include <unordered_map>

#include "base/error.hpp"
#include "sim/experiment/settings/declared_keys.hpp"

namespace rayreplay::experiment {
namespace {

struct Index {
  std::unordered_map<std::string_view, const ExperimentParameter*> by_key;
  std::vector<const ExperimentParameter*> open;
};

const Index& index() {
  static const Index result = [] {
    Index made;
    for (const ExperimentParameter& parameter : experiment_parameters()) {
      if (parameter.is_open) {
        made.open.push_back(&parameter);
      } else {
        made.by_key.emplace(parameter.declared.name, &parameter);
      }
    }
    return made;
  }();
  return result;
}

/// Of "costs.*": "costs.".
std::string_view prefix_of(const ExperimentParameter& open) {
  return std::string_view(open.declared.name).substr(0, open.declared.name.size() - 1);
}

}  // namespace

const char* to_string(Stage stage) {
  static constexpr std::array kNames = {"input", "structure", "assignment", "simt",
                                        "model", "traversal", "stream",     "cache"};
  static_assert(kNames.size() == kStages);
  return kNames.at(static_cast<std::size_t>(stage));
}

StageMask inputs_of(Stage stage) {
  constexpr StageMask kInput = bit(Stage::Input);
  constexpr StageMask kPlaced = kInput | bit(Stage::Assignment);
  constexpr StageMask kTraced = kPlaced | bit(Stage::Structure);
  switch (stage) {
    case Stage::Input:
      return 0;
    case Stage::Structure:
    case Stage::Assignment:
      return kInput;
    case Stage::Simt:
    case Stage::Model:
      return kPlaced;
    case Stage::Traversal:
    case Stage::Stream:
      return kTraced;
    case Stage::Cache:
      return kTraced | bit(Stage::Stream);
  }
  throw Error(ErrorKind::Internal, {"a stage that does not exist", "", "", "", ""});
}

StageMask with_dependents(StageMask mask) {
  StageMask result = mask;
  for (std::size_t i = 0; i < kStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    if ((inputs_of(stage) & mask) != 0) {
      result |= bit(stage);
    }
  }
  return result;
}

const std::vector<ExperimentParameter>& experiment_parameters() {
  static const std::vector<ExperimentParameter> list = declared_keys();
  return list;
}

const ExperimentParameter* find_parameter(std::string_view key) {
  const Index& known = index();
  if (const auto found = known.by_key.find(key); found != known.by_key.end()) {
    return found->second;
  }
  // Before a parameter of a spec: a shader's name may hold a colon.
  for (const ExperimentParameter* open : known.open) {
    if (key.starts_with(prefix_of(*open)) && key.size() > prefix_of(*open).size()) {
      return open;
    }
  }
  const auto colon = key.find(':');
  if (colon == std::string_view::npos || colon + 1 == key.size()) {
    return nullptr;
  }
  const auto found = known.by_key.find(key.substr(0, colon));
  return found == known.by_key.end() ? nullptr : found->second;
}

void unknown_key(std::string_view key, const std::string& where) {
  // What the key would be without a spec's parameter, and its last part alone: "l1.bytes" is near "cache.l1.bytes".
  const std::string word(key.substr(0, key.find(':')));
  std::vector<std::string> known;
  std::string behind;
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    const std::string& name = parameter.declared.name;
    known.push_back(parameter.is_open ? name.substr(0, name.size() - 2) : name);
    if (behind.empty() && name.ends_with("." + word)) {
      behind = name;
    }
  }
  const std::string near = behind.empty() ? nearest(word, known) : behind;
  throw Error(ErrorKind::Usage, {"unknown key of an experiment", where, "'" + std::string(key) + "'", "",
                                 near.empty() ? "see rayreplay list keys" : "did you mean '" + near + "'?"});
}

}  // namespace rayreplay::experiment
