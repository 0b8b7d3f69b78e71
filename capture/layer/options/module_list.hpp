// A folder of shader modules that replace an application's own: `rayreplay optimise` writes it, the layer reads it.
//
// The folder has a list, kModuleList: a line kModuleListStart, then a line for each module, "MODULE HASH FILE": the
// hash of the application's words, that of the file's words, and the file's name in the folder. Hashes are XXH3-128 of
// the words as bytes, 32 hexadecimal digits.
//
// Contract: `parse_module_list` takes any text; none, with the reason in `why`, unless every line is as above, names no
// other folder, and no module stands twice. Linear in the text. The standard library only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rayreplay::layer {

inline constexpr const char* kModuleList = "modules.list";
inline constexpr std::string_view kModuleListStart = "rayreplay.modules/1";
/// Longer lists and files are refused.
inline constexpr std::uint64_t kMostListBytes = std::uint64_t{16} << 20U, kMostModuleBytes = std::uint64_t{64} << 20U;

/// How the layer's note on a replaced module begins; the module's hash follows.
inline constexpr std::string_view kReplacedNote = "shaders: replaced module ";

struct ListedModule {
  std::string module, hash, file;
};

[[nodiscard]] std::string module_hash(std::span<const std::uint32_t> words);

[[nodiscard]] std::optional<std::vector<ListedModule>> parse_module_list(std::string_view text, std::string& why);
[[nodiscard]] std::string module_list_text(std::span<const ListedModule> modules);

}  // namespace rayreplay::layer
