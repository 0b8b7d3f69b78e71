// Keys of results: hashes of all they depend on.
//
// Contract: a stage's key is XXH3-128 over its name, format version, tool version, the keys of the stages it takes, and
// every setting it reads (parameter_table.hpp) as key and value. Inputs and files of hints count by content, not path;
// a machine by its figures, not its name. Values that the trace decides (warp size, order "auto") are filled in. Texts
// are hashed with their lengths.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/stage_input.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

struct Key {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Key&) const = default;
  bool operator<(const Key& other) const {
    return high != other.high ? high < other.high : low < other.low;
  }
};
[[nodiscard]] std::string hex(const Key& key);  ///< 32 digits

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    return key.low;
  }
};

/// Hash of a sequence of fields.
class KeyMaker {
 public:
  KeyMaker& add(std::string_view field);
  KeyMaker& add(const Key& key);
  [[nodiscard]] Key key() const;

 private:
  std::string bytes_;
};

/// Keys of one experiment's results.
struct ExperimentKeys {
  std::vector<Key> stages;  ///< by stage: its result, or its numbers where it gives no result (numbers_key)
  /// By stage: hash of all dependencies except the keys of StageInfo::varies; equal for experiments computed together.
  std::vector<Key> groups;
  Key whole;  ///< every setting, as text of the resolved configuration
};

/// `complete` settings and the facts of their input; `content_of` gives the hash of a file's content.
[[nodiscard]] ExperimentKeys experiment_keys(const Settings& complete, const InputFacts& facts,
                                             const std::function<std::string(const std::string& path)>& content_of);

}  // namespace rayreplay::experiment
