#include "sim/sweep/definition/paths.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "sim/settings/machine_settings.hpp"

namespace rayreplay::sweep {
namespace {

namespace fs = std::filesystem;

using Change = std::function<std::string(const std::string& path)>;

/// `text` with every path in it transformed.
std::string with_paths(const std::string& key, const std::string& text, const Change& change) {
  const experiment::ExperimentParameter* parameter = experiment::find_parameter(key);
  if (parameter == nullptr || !parameter->is_path || text.empty()) {
    return text;
  }
  if (key == experiment::kMachineName && text.find('/') == std::string::npos && !text.ends_with(".toml")) {
    return text;
  }
  if (parameter->separator == '\0') {
    return change(text);
  }
  // "NAME:BITS=FILE" each.
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(parameter->separator, begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    result += begin == 0 ? std::string() : std::string(1, parameter->separator);
    result += equals == std::string::npos ? item : item.substr(0, equals + 1) + change(item.substr(equals + 1));
    begin = end + 1;
  }
  return result;
}

/// Without a trailing "/".
fs::path whole_path(const fs::path& path) {
  const fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

std::vector<std::string> paths_in(const std::string& key, const ParameterValue& value) {
  std::vector<std::string> paths;
  if (const auto* text = std::get_if<std::string>(&value)) {
    static_cast<void>(with_paths(key, *text, [&paths](const std::string& path) {
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
  return with_paths(key, *text, [&definition](const std::string& path) { return written_path(definition, path); });
}

void note_absolute(Definition& definition, const std::string& key, const ParameterValue& value) {
  for (const std::string& path : paths_in(key, value)) {
    if (fs::path(path).is_absolute()) {
      definition.absolute_paths.insert(path);
    }
  }
}

std::optional<std::string> file_hash(const std::string& path) {
  OpenInput file;
  try {
    file = open_input(path);
  } catch (const Error&) {
    return std::nullopt;
  }
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state(XXH3_createState(), &XXH3_freeState);
  XXH3_128bits_reset(state.get());
  std::array<char, 1U << 16U> part{};
  for (;;) {
    const ssize_t got = ::read(file.file.get(), part.data(), part.size());
    if (got < 0 && errno != EINTR) {
      return std::nullopt;
    }
    if (got == 0) {
      break;
    }
    XXH3_128bits_update(state.get(), part.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  const XXH128_hash_t hash = XXH3_128bits_digest(state.get());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace rayreplay::sweep
