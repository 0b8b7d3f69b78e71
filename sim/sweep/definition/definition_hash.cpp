#include <filesystem>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sim/sweep/definition/definition.hpp"

namespace rayreplay::sweep {
namespace {

/// Grows with what is hashed, and with how.
constexpr int kVersion = 1;

/// Every part with its length before it: no two lists of parts make one text.
class Description {
 public:
  explicit Description(const std::string& folder) : folder_(folder) {}

  void add(std::string_view part) {
    text_ += fmt::format("{}:{};", part.size(), part);
  }
  void add(double number) {
    add(fmt::format("{:a}", number));
  }
  void add(const std::string& key, const ParameterValue& value) {
    add(key);
    add(fmt::format("{}", value.index()));
    const auto* text = std::get_if<std::string>(&value);
    const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
    const bool is_path = text != nullptr && parameter != nullptr && parameter->is_path;
    add(is_path ? from_folder(*text) : to_text(value));
  }

  [[nodiscard]] std::string hash() const {
    const XXH128_hash_t hash = XXH3_128bits(text_.data(), text_.size());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  /// The sweep may be started from elsewhere, and its folder lie elsewhere on another machine. Paths of lists (hint
  /// files) stay as they are.
  [[nodiscard]] std::string from_folder(const std::string& path) const {
    // A machine may be a name as well.
    const bool is_name = path.find('/') == std::string::npos && !path.ends_with(".rrt") && !path.ends_with(".toml");
    if (folder_.empty() || path.empty() || is_name) {
      return path;
    }
    const std::filesystem::path folder = std::filesystem::path(folder_).lexically_normal();
    const std::filesystem::path given = std::filesystem::path(path).lexically_normal();
    const std::filesystem::path relative = given.lexically_relative(folder);
    return relative.empty() || folder.is_absolute() != given.is_absolute() ? path : relative.generic_string();
  }

  std::string folder_;
  std::string text_;
};

}  // namespace

std::string definition_hash(const Definition& definition) {
  Description description(definition.folder);
  description.add(fmt::format("rayreplay sweep {}", kVersion));
  description.add(fmt::format("base {}", definition.base.all().size()));
  for (const auto& [key, setting] : definition.base.all()) {
    description.add(key, setting.value);
  }
  for (const Factor& factor : definition.factors) {
    description.add(fmt::format("factor {}", factor.axes.size()));
    for (const Axis& axis : factor.axes) {
      description.add(axis.key);
      description.add(fmt::format("axis {}", axis.values.size()));
      for (const ParameterValue& value : axis.values) {
        description.add(axis.key, value);
      }
      if (axis.range) {
        description.add(axis.range->low);
        description.add(axis.range->high);
        description.add(fmt::format("{} {}", axis.range->logarithmic, axis.range->whole));
      }
    }
  }
  for (const auto& exclude : definition.excludes) {
    description.add(fmt::format("exclude {}", exclude.size()));
    for (const auto& [key, value] : exclude) {
      description.add(key, value);
    }
  }
  for (const Condition& condition : definition.conditions) {
    description.add("where");
    description.add(condition.text());
  }
  description.add("sampler");
  description.add(definition.sampler);
  return description.hash();
}

}  // namespace rayreplay::sweep
