// `rayreplay cache` on the small trace, with caches so small that there are misses of every sort.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/app/small_trace.hpp"

namespace rayreplay::test {

class CacheCommand : public SmallTrace {
 protected:
  [[nodiscard]] static Outcome ask(const std::vector<std::string>& more, const std::string& file = trace(),
                                   const RunOptions& options = {}) {
    std::vector<std::string> words = {"cache", file};
    for (const auto& [option, value] : {std::pair{"--machine", "rtx4060-laptop"},
                                        {"--l1", "4KiB:ways=4"},
                                        {"--l2", "32KiB:ways=8"},
                                        {"--sms", "4"}}) {
      if (std::ranges::find(more, option) == more.end()) {
        words.insert(words.end(), {option, value});
      }
    }
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words, options);
  }
  /// The JSON answer; null where the command failed.
  [[nodiscard]] static nlohmann::json answer(const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = ask(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.code == 0 ? nlohmann::json::parse(outcome.output) : nlohmann::json();
  }
  [[nodiscard]] static std::string document(const std::string& name) {
    return read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/" + name);
  }
};

/// Misses of a row, as the sum of their five classes.
inline double sum_of_classes(const nlohmann::json& row) {
  double sum = 0;
  for (const char* key : {"cold", "stored_only", "new_sectors", "capacity", "conflict"}) {
    sum += row[key].get<double>();
  }
  return sum;
}

}  // namespace rayreplay::test
