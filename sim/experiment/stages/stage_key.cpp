#include "sim/experiment/stages/stage_key.hpp"

#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/parameters.hpp"
#include "sim/experiment/stages/stage_settings.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::array<std::uint32_t, kStages> kFormats = {1, 1, 1, 1, 2, 1, 1, 1};
constexpr std::string_view kLaunch = "launch";
constexpr std::string_view kModel = "scheduler.model";

/// Which stages read a key, without a walk through the list.
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
    throw Error(ErrorKind::Internal, {"a setting has a key that nobody declared", key, "", "", ""});
  }
  return open->read_by;
}

/// Not what results depend on: their content is hashed instead.
bool is_a_name(std::string_view key) {
  return key == "trace" || key == "workload" || key == "outputs" || key == "machine.name";
}

/// As results depend on it: what the trace decides is resolved, files count by content. `text`: as it was set.
std::string value_of(const std::string& key, std::string text,
                     const std::function<std::string(const std::string& path)>& content_of,
                     const TraceDecisions& decided) {
  if (key == "warp_size") {
    return std::to_string(decided.warp_size);
  }
  if (key == "order") {
    return decided.order;
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

std::uint32_t format_of(Stage stage) {
  return kFormats.at(static_cast<std::size_t>(stage));
}

ExperimentKeys experiment_keys(const Settings& complete, const InputFacts& facts,
                               const std::function<std::string(const std::string& path)>& content_of) {
  const TraceDecisions decided = decisions(complete, facts);
  std::array<KeyMaker, kStages> makers;
  for (std::size_t i = 0; i < kStages; ++i) {
    makers[i].add(to_string(static_cast<Stage>(i))).add(std::to_string(kFormats[i])).add(RAYREPLAY_VERSION);
  }
  KeyMaker whole;
  whole.add(facts.name).add(facts.hash);
  KeyMaker model_group;
  KeyMaker traversal_group;
  KeyMaker memory_stream;
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
    const std::string value = value_of(key, std::move(text), content_of, decided);
    for (std::size_t i = 0; i < kStages; ++i) {
      if ((readers & bit(static_cast<Stage>(i))) != 0) {
        makers[i].add(key).add(value);
      }
    }
    if ((readers & bit(Stage::Model)) != 0 && key != kModel) {
      model_group.add(key).add(value);
    }
  }
  ExperimentKeys keys;
  makers[0].add(facts.hash);
  if (facts.memory) {
    // Nothing but the sizes of the coalescer is read of what makes a launch's stream.
    const memory::CoalesceOptions coalescing = coalescing_of(complete);
    KeyMaker& stream = makers[static_cast<std::size_t>(Stage::Stream)];
    stream = {};
    stream.add("memory stream").add(std::to_string(format_of(Stage::Stream))).add(RAYREPLAY_VERSION);
    stream.add(fmt::format("{} {} {}", coalescing.line_bytes, coalescing.sector_bytes, coalescing.coalesce));
  }
  for (std::size_t i = 0; i < kStages; ++i) {
    const StageMask inputs =
        facts.memory && static_cast<Stage>(i) == Stage::Stream ? bit(Stage::Input) : inputs_of(static_cast<Stage>(i));
    for (std::size_t input = 0; input < i; ++input) {
      if ((inputs & bit(static_cast<Stage>(input))) != 0) {
        makers[i].add(keys.stages[input]);
      }
    }
    keys.stages[i] = makers[i].key();
  }
  const Key& input = of(keys.stages, Stage::Input);
  const Key& assignment = of(keys.stages, Stage::Assignment);
  const Key& structure = of(keys.stages, Stage::Structure);
  const std::string launch = to_text(complete.at(kLaunch));
  keys.structure_metrics = KeyMaker().add("structure metrics").add(structure).key();
  keys.bound = KeyMaker().add("bound").add(input).add(launch).add(std::to_string(decided.warp_size)).key();
  keys.ray_steps = KeyMaker().add("ray steps").add(input).add(launch).key();
  keys.model_group = model_group.add(assignment).key();
  keys.traversal_group = traversal_group.add(structure).add(assignment).key();
  keys.whole = whole.key();
  return keys;
}

}  // namespace rayreplay::experiment
