// The keys of a JSON object.
#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace rayreplay::test {

inline std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> result;
  for (const auto& [key, value] : object.items()) {
    result.insert(key);
  }
  return result;
}

}  // namespace rayreplay::test
