#include "sim/sweep/definition/paths.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <xxhash.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "sim/settings/toml_value.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

/// Without a trailing "/".
fs::path whole_path(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

std::vector<std::string> paths_in(const std::string& key, const ParameterValue& value) {
  std::vector<std::string> paths;
  if (const auto* text = std::get_if<std::string>(&value)) {
    static_cast<void>(experiment::with_paths(key, *text, [&paths](const std::string& path) {
      paths.push_back(path);
      return path;
    }));
  }
  return paths;
}

std::string written_path(const Definition& definition, const std::string& path) {
  if (path.empty() || definition.absolute_paths.contains(path)) {
    return path;
  }
  const fs::path folder = whole_path(definition.folder.empty() ? "." : definition.folder);
  const fs::path relative = whole_path(path).lexically_relative(folder);
  return relative.empty() ? path : relative.generic_string();
}

ParameterValue written_value(const Definition& definition, const std::string& key, const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) {
    return value;
  }
  return experiment::with_paths(key, *text,
                                [&definition](const std::string& path) { return written_path(definition, path); });
}

void note_absolute(Definition& definition, const std::string& key, const ParameterValue& value) {
  for (const std::string& path : paths_in(key, value)) {
    if (fs::path(path).is_absolute()) {
      definition.absolute_paths.insert(path);
    }
  }
}

std::optional<std::string> file_hash(const std::string& path) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30U;  // hints: a number a ray
  try {
    return text_hash(read_text_file(path, kMaxBytes));
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string text_hash(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace rayreplay::sweep
