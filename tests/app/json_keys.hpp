// The keys of a JSON object, and whether a text names them.
#pragma once

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace rayreplay::test {

inline std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> result;
  for (const auto& [key, value] : object.items()) {
    result.insert(key);
  }
  return result;
}

/// The manual names every key, as `key`.
inline void expect_named(const nlohmann::json& object, const std::string& manual) {
  for (const std::string& key : keys_of(object)) {
    EXPECT_THAT(manual, testing::HasSubstr("`" + key + "`"));
  }
}

}  // namespace rayreplay::test
