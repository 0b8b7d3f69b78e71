#include "sim/settings/parameter_table.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/error.hpp"
#include "sim/settings/declared_keys.hpp"

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

/// Message for a key of older configuration files; "" for others.
std::string renamed_key(std::string_view key) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kRenamed = {{
      {"packings", "the key is packing; to compare several, say rayreplay whatif --packing A --packing B"},
      {"swizzles", "say rayreplay whatif --swizzle FILE"},
      {"models", "the key is scheduler.model; to compare several, say rayreplay whatif --models A,B"},
      {"start_packing", "the key is packing"},
      {"machine", "the key is machine.name"},
      {"cache.machine", "the key is machine.name"},
      {"cache.l1", "the keys are machine.l1_bytes and cache.l1.bytes, line_bytes, ways, sector_bytes"},
      {"cache.l2", "the keys are machine.l2_bytes and cache.l2.bytes, line_bytes, ways, sector_bytes"},
      {"cache.l1_model", "the key is cache.l1.model"},
      {"cache.l2_model", "the key is cache.l2.model"},
      {"cache.schedule", "the key is schedule.distribution"},
      {"cache.resident_warps", "the key is schedule.resident_warps"},
      {"cache.warp_traversal", "the key is traversal.warp"},
  }};
  for (const auto& [old, now] : kRenamed) {
    if (key == old) {
      return std::string(now);
    }
  }
  return "";
}

std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('.') + 1);  // npos + 1 is 0
}

/// Whether a list of keys and tables ("machine.*") holds the key.
bool names(const std::vector<std::string>& keys, std::string_view key) {
  return std::ranges::any_of(keys, [key](const std::string& name) {
    return name == key || (name.ends_with(".*") && key.starts_with(std::string_view(name).substr(0, name.size() - 1)));
  });
}

/// "costs." for "costs.*".
std::string_view prefix_of(const ExperimentParameter& open) {
  return std::string_view(open.declared.name).substr(0, open.declared.name.size() - 1);
}

}  // namespace

const std::vector<ExperimentParameter>& experiment_parameters() {
  static const std::vector<ExperimentParameter> list = [] {
    std::vector<ExperimentParameter> made = declared_keys();
    for (ExperimentParameter& parameter : made) {
      parameter.read_by = stages_named(parameter.readers, false);
      for (std::size_t i = 0; i < stage_count(); ++i) {
        if (names(all_stages()[i].reads, parameter.declared.name)) {
          parameter.read_by |= bit(static_cast<Stage>(i));
        }
      }
    }
    return made;
  }();
  return list;
}

const std::vector<Shorthand>& shorthands() {
  static const std::vector<Shorthand> list = [] {
    std::vector<Shorthand> made = declared_shorthands();
    for (Shorthand& shorthand : made) {
      shorthand.read_by = stages_named(shorthand.readers, false);
    }
    return made;
  }();
  return list;
}

const ExperimentParameter* find_parameter(std::string_view key) {
  const Index& known = index();
  if (const auto found = known.by_key.find(key); found != known.by_key.end()) {
    return found->second;
  }
  // Open tables come before parameters of specs: a shader's name may hold a colon.
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
  // The nearest name is sought for the key without its parameter, and for its last part alone: "l1.bytes" is near
  // "cache.l1.bytes", "cache.builder" near "bvh.builder".
  const std::string word(key.substr(0, key.find(':')));
  std::vector<std::string> known;
  std::string behind, beside;
  for (const ExperimentParameter& parameter : experiment_parameters()) {
    const std::string& name = parameter.declared.name;
    known.push_back(parameter.is_open ? name.substr(0, name.size() - 2) : name);
    if (behind.empty() && name.ends_with("." + word)) {
      behind = name;
    }
    if (beside.empty() && !parameter.is_open && last_part(name) == last_part(word)) {
      beside = name;
    }
  }
  std::string near = !behind.empty() ? behind : !beside.empty() ? beside : nearest(word, known);
  if (!near.empty() && find_parameter(near) == nullptr) {
    near += ".*";  // an open table
  }
  const std::string renamed = renamed_key(word);
  throw Error(ErrorKind::Usage, {"unknown key of an experiment", where, "'" + std::string(key) + "'", "",
                                 !renamed.empty() ? renamed
                                 : near.empty()   ? "see rayreplay list keys"
                                                  : "did you mean '" + near + "'?"});
}

void require_read_by_stage(std::string_view key, const std::string& where) {
  const ExperimentParameter* parameter = find_parameter(key);
  if (parameter == nullptr) {
    unknown_key(key, where);
  }
  if (const std::string command = command_of(parameter->read_by); !command.empty()) {
    throw Error(ErrorKind::Usage, {"no stage of 'run' and 'sweep' reads the key", where, "'" + std::string(key) + "'",
                                   "a key that a stage reads", "rayreplay " + command + " alone reads it"});
  }
}

}  // namespace rayreplay::experiment
