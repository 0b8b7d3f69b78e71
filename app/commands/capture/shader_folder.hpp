// The folder of `rayreplay optimise`: rewritten modules, a list of them for the layer, and a manifest for people.
//
// Contract: `write_shader_folder` writes all or nothing (output_folder.hpp). `check_shader_folder` reads list, manifest
// and files, and throws Input, with the file and what to do, unless the manifest has this program's schema, manifest
// and list name the same modules, and every file has its hash. O(bytes of the folder).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/output_folder.hpp"
#include "capture/layer/options/module_list.hpp"

namespace rayreplay::app {

inline constexpr const char* kShaderManifest = "manifest.json";
inline constexpr const char* kShaderSchema = "rayreplay.optimise/1";

struct RewrittenModule {
  layer::ListedModule listed;
  std::vector<std::uint32_t> words;
};

[[nodiscard]] output::FolderKind shader_folder_kind();

void write_shader_folder(const std::filesystem::path& path, bool force, const std::vector<RewrittenModule>& modules,
                         const nlohmann::ordered_json& manifest);

[[nodiscard]] std::vector<layer::ListedModule> check_shader_folder(const std::filesystem::path& path);

}  // namespace rayreplay::app
