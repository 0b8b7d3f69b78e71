#include "sim/engine/stage_key.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/engine/shader_accesses.hpp"
#include "sim/engine/stage_registry.hpp"
#include "sim/engine/stage_settings.hpp"

namespace rayreplay::experiment {
namespace {

/// Stages that read a key, from a map.
StageMask readers_of(const std::string& key) {
  static const auto known = [] {
    std::unordered_map<std::string, StageMask> map;
    for (const ExperimentParameter& parameter : experiment_parameters()) {
      map.emplace(parameter.declared.name, parameter.read_by);
    }
    return map;
  }();
  const auto found = known.find(key);
  if (found != known.end()) {
    return found->second;
  }
  const ExperimentParameter* const open = find_parameter(key);
  if (open == nullptr) {
    throw Error(ErrorKind::Internal, {"a setting has an undeclared key", key, "", "", ""});
  }
  return open->read_by;
}

bool varies(const StageInfo& stage, const std::string& key) {
  return std::ranges::any_of(stage.varies, [&key](const std::string& name) { return name == "*" || name == key; });
}

/// Keys that hold a name or path: their content is hashed instead.
bool is_a_name(std::string_view key) {
  return key == "trace" || key == "workload" || key == "outputs" || key == "machine.name";
}

/// The value as results depend on it: values that the trace decides are filled in, files count by content.
std::string value_of(const std::string& key, std::string text,
                     const std::function<std::string(const std::string& path)>& content_of,
                     const TraceDecisions& decided) {
  if (key == "warp_size") {
    return std::to_string(decided.warp_size);
  }
  if (key == "order") {
    return decided.order;
  }
  if (key == "scheduler.file" && !text.empty()) {
    return content_of(text);
  }
  if (key == "scheduler.hint_files") {
    for (const std::string& file : hint_file_paths(text)) {
      text += "\n" + content_of(file);
    }
  }
  return text;
}

}  // namespace

std::string hex(const Key& key) {
  return fmt::format("{:016x}{:016x}", key.high, key.low);
}

KeyMaker& KeyMaker::add(std::string_view field) {
  std::array<char, sizeof(std::uint64_t)> length{};
  for (std::size_t byte = 0; byte < length.size(); ++byte) {
    length[byte] = static_cast<char>((field.size() >> (8 * byte)) & 0xFFU);
  }
  bytes_.append(length.data(), length.size());
  bytes_ += field;
  return *this;
}

KeyMaker& KeyMaker::add(const Key& key) {
  return add(hex(key));
}

Key KeyMaker::key() const {
  const XXH128_hash_t hash = XXH3_128bits(bytes_.data(), bytes_.size());
  return {hash.high64, hash.low64};
}

namespace {

/// Adds the stage's code to the key: its format, the version and its metrics.
void add_program(KeyMaker& maker, const std::string& what, const StageInfo& info) {
  maker.add(what).add(std::to_string(info.format)).add(RAYREPLAY_VERSION);
  for (const Metric& metric : info.metrics) {
    maker.add(metric.name);
  }
}

}  // namespace

ExperimentKeys experiment_keys(const Settings& complete, const InputFacts& facts,
                               const std::function<std::string(const std::string& path)>& content_of) {
  const TraceDecisions decided = decisions(complete, facts);
  const std::vector<StageInfo>& infos = all_stages();
  std::vector<KeyMaker> makers(infos.size());
  std::vector<KeyMaker> groups(infos.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    add_program(makers[i], infos[i].name, infos[i]);
  }
  KeyMaker whole;
  whole.add(facts.name).add(facts.hash);
  for (const auto& [key, setting] : complete.all()) {
    std::string text = to_text(setting.value);
    whole.add(key).add(text);
    if (is_a_name(key)) {
      continue;
    }
    const StageMask readers = readers_of(key);
    if (readers == 0) {
      continue;
    }
    const std::string for_all = value_of(key, std::move(text), content_of, decided);
    for (std::size_t i = 0; i < infos.size(); ++i) {
      // A number that captured accesses decide is that of memory time alone (shader_accesses.hpp).
      const std::string value =
          key == kCyclesPerInstruction && are_cycles_decided(complete) && static_cast<Stage>(i) != stage("stream")
              ? to_text(find_parameter(kCyclesPerInstruction)->declared.default_value)
              : for_all;
      const auto uses_key = code(static_cast<Stage>(i)).uses_key;
      if ((readers & bit(static_cast<Stage>(i))) != 0 && (uses_key == nullptr || uses_key(complete, key))) {
        makers[i].add(key).add(value);
        if (!varies(infos[i], key)) {
          groups[i].add(key).add(value);
        }
      }
    }
  }
  const IsOn is_on = [&complete](const std::string& key) { return is_switched_on(complete, key); };
  ExperimentKeys keys;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const auto one = static_cast<Stage>(i);
    StageMask inputs = inputs_of(one, is_on);
    if (facts.memory && code(one).reads_of_accesses != nullptr) {
      makers[i] = {};
      add_program(makers[i], "memory " + infos[i].name, infos[i]);
      makers[i].add(code(one).reads_of_accesses(complete));
      inputs = bit(stage("input"));
    }
    if (inputs == 0) {
      makers[i].add(facts.hash);
    }
    for (std::size_t input = 0; input < i; ++input) {
      if ((inputs & bit(static_cast<Stage>(input))) != 0) {
        makers[i].add(keys.stages[input]);
      }
      if ((taken_by(one, is_on) & bit(static_cast<Stage>(input))) != 0) {
        groups[i].add(keys.stages[input]);
      }
    }
    keys.stages.push_back(makers[i].key());
    keys.groups.push_back(groups[i].key());
  }
  keys.whole = whole.key();
  return keys;
}

}  // namespace rayreplay::experiment
