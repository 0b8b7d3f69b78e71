#include "capture/layer/options/module_list.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <set>

namespace rayreplay::layer {
namespace {

constexpr std::size_t kHashDigits = 32;
constexpr std::string_view kDigits = "0123456789abcdef";

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && text.find_first_not_of(kDigits) == std::string_view::npos;
}

/// Of a file in the folder itself.
bool is_file_name(std::string_view text) {
  return !text.empty() && text.find_first_of("/ \t\r") == std::string_view::npos && text != "." && text != "..";
}

}  // namespace

std::string module_hash(std::span<const std::uint32_t> words) {
  const auto hash = XXH3_128bits(words.data(), words.size_bytes());
  std::string text;
  for (const std::uint64_t half : {hash.high64, hash.low64}) {
    for (unsigned shift = 64; shift != 0; shift -= 4) {
      text += kDigits[half >> (shift - 4) & 0xFU];
    }
  }
  return text;
}

std::optional<std::vector<ListedModule>> parse_module_list(std::string_view text, std::string& why) {
  std::vector<ListedModule> modules;
  std::set<std::string> seen;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto at = "line " + std::to_string(++number);
    if (number == 1) {
      if (line != kModuleListStart) {
        why = at + " is not '" + std::string(kModuleListStart) + "'";
        return std::nullopt;
      }
      continue;
    }
    const auto first = line.find(' ');
    const auto second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos || !is_hash(line.substr(0, first)) ||
        !is_hash(line.substr(first + 1, second - first - 1)) || !is_file_name(line.substr(second + 1))) {
      why = at + " is not 'MODULE HASH FILE' with hashes of 32 digits and the name of a file in this folder";
      return std::nullopt;
    }
    ListedModule module{std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1)),
                        std::string(line.substr(second + 1))};
    if (!seen.insert(module.module).second) {
      why = at + " has a module that stood above";
      return std::nullopt;
    }
    modules.push_back(std::move(module));
  }
  if (number == 0) {
    why = "it is empty";
    return std::nullopt;
  }
  return modules;
}

std::string module_list_text(std::span<const ListedModule> modules) {
  std::string text = std::string(kModuleListStart) + "\n";
  for (const ListedModule& module : modules) {
    text += module.module + " " + module.hash + " " + module.file + "\n";
  }
  return text;
}

}  // namespace rayreplay::layer
