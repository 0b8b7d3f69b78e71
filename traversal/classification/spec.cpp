#include "traversal/classification/spec.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/parameters.hpp"

namespace rayreplay::traversal {

std::string with_setting(const std::string& spec, std::string_view key, std::uint64_t value) {
  const auto settings = parse_spec(spec).settings;
  const bool set =
      std::any_of(settings.begin(), settings.end(), [&](const auto& setting) { return setting.first == key; });
  return set ? spec : fmt::format("{}{}{}={}", spec, spec.find(':') == std::string::npos ? ":" : ",", key, value);
}

}  // namespace rayreplay::traversal
