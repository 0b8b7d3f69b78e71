// Names of results: hashes of all that they depend on.
//
// Contract: a stage's key is XXH3-128 over its name, the version of its format, the tool's version, the keys of the
// stages whose results it takes, and every setting that it reads (parameter_table.hpp) as key and value. Of the input
// it is the content that counts, not the path; of a machine its figures, not its name; files of hints count by content.
// What the trace decides (warp size, order "auto") stands resolved. Texts are hashed with their lengths.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sim/experiment/settings/settings.hpp"
#include "sim/experiment/stages/stage_input.hpp"

namespace rayreplay::experiment {

struct Key {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const Key&) const = default;
};
[[nodiscard]] std::string hex(const Key& key);  ///< 32 digits

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    return key.low;
  }
};

/// Fields one after another, then their hash.
class KeyMaker {
 public:
  KeyMaker& add(std::string_view field);
  KeyMaker& add(const Key& key);
  [[nodiscard]] Key key() const;

 private:
  std::string bytes_;
};

using StageKeys = std::array<Key, kStages>;
[[nodiscard]] inline const Key& of(const StageKeys& keys, Stage stage) {
  return keys[static_cast<std::size_t>(stage)];
}

/// What one experiment's results are found by.
struct ExperimentKeys {
  StageKeys stages{};  ///< of Structure: the structure itself
  Key structure_metrics;
  Key bound;        ///< the fewest warp events of the launch
  Key ray_steps;    ///< visits of every ray (scheduler.replay_steps)
  Key model_group;  ///< Model, but for which model
  Key traversal_group;
  Key whole;  ///< every setting, as text of the resolved configuration
};

/// `complete` settings and the facts of their input; `content_of` gives the hash of a file's content.
[[nodiscard]] ExperimentKeys experiment_keys(const Settings& complete, const InputFacts& facts,
                                             const std::function<std::string(const std::string& path)>& content_of);

/// Version of what a stage gives: goes up when the same settings give other numbers or another form.
[[nodiscard]] std::uint32_t format_of(Stage stage);

}  // namespace rayreplay::experiment
