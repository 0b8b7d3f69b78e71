#include "app/commands/capture/shader_folder.hpp"

#include <map>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/capture/module_file.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"

namespace rayreplay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFix = "write the folder again with 'rayreplay optimise'";

bool is_own(std::string_view name) {
  return name == kShaderManifest || name == layer::kModuleList || name.ends_with(".spv");
}

std::string text_of(const nlohmann::ordered_json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Hash of a module's file by the hash of the application's module, as the manifest has them.
std::map<std::string, std::string> hashes_of(const fs::path& file) {
  const auto document = parse_json(read_text_file(file, kMaxTextBytes, "manifest of modules"));
  const std::string schema = document ? text_of(*document, "schema") : std::string();
  if (schema != kShaderSchema) {
    throw Error(ErrorKind::Input,
                {"this is no manifest of rewritten modules", file.string(),
                 !document ? "no JSON" : fmt::format("schema '{}'", schema), fmt::format("'{}'", kShaderSchema), kFix});
  }
  std::map<std::string, std::string> hashes;
  const auto modules = document->find("modules");
  if (modules == document->end() || !modules->is_array()) {
    throw Error(ErrorKind::Input, {"the manifest has no list of modules", file.string() + ":modules", "", "", kFix});
  }
  for (const auto& module : *modules) {
    if (const std::string hash = text_of(module, "hash"); !hash.empty()) {
      hashes[text_of(module, "module")] = hash;
    }
  }
  return hashes;
}

}  // namespace

output::FolderKind shader_folder_kind() {
  return {kShaderManifest, kShaderSchema, is_own};
}

void write_shader_folder(const fs::path& path, bool force, const std::vector<RewrittenModule>& modules,
                         const nlohmann::ordered_json& manifest) {
  output::OutputFolder folder(path, force, shader_folder_kind());
  std::vector<layer::ListedModule> list;
  for (const RewrittenModule& module : modules) {
    const auto bytes = std::as_bytes(std::span(module.words));
    write_file(folder.temporary_path() / module.listed.file,
               {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, false);
    list.push_back(module.listed);
  }
  write_file(folder.temporary_path() / layer::kModuleList, layer::module_list_text(list), false);
  write_file(folder.temporary_path() / kShaderManifest, json_text(manifest, 2) + "\n", false);
  folder.commit();
}

std::vector<layer::ListedModule> check_shader_folder(const fs::path& path) {
  const fs::path list_file = path / layer::kModuleList;
  std::string why;
  const auto list = layer::parse_module_list(read_text_file(list_file, layer::kMostListBytes, "list of modules"), why);
  if (!list) {
    throw Error(ErrorKind::Input, {"the list of modules cannot be read: " + why, list_file.string(), "", "", kFix});
  }
  const fs::path manifest = path / kShaderManifest;
  const auto hashes = hashes_of(manifest);
  for (const layer::ListedModule& module : *list) {
    const auto known = hashes.find(module.module);
    if (known == hashes.end() || known->second != module.hash) {
      throw Error(ErrorKind::Input, {"the list and the manifest differ", list_file.string(), "module " + module.module,
                                     "the manifest's hash of its file", kFix});
    }
    const fs::path file = path / module.file;
    if (const std::string hash = layer::module_hash(read_module_file(file.string())); hash != module.hash) {
      throw Error(ErrorKind::Input, {"the module is not the one that was written", file.string(), "hash " + hash,
                                     "hash " + module.hash, kFix});
    }
  }
  if (hashes.size() != list->size()) {
    throw Error(ErrorKind::Input,
                {"the list and the manifest differ", list_file.string(), fmt::format("{} modules", list->size()),
                 fmt::format("{}, as the manifest has", hashes.size()), kFix});
  }
  return *list;
}

}  // namespace rayreplay::app
