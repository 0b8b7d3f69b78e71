#include "app/commands/capture/layer_environment.hpp"

#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/error.hpp"
#include "capture/layer/options/options.hpp"

namespace rayreplay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayerName = "VK_LAYER_RAYREPLAY_capture";
constexpr const char* kManifest = "VkLayer_rayreplay_capture.json";

/// The folder of the layer's manifest: beside this program in a build, under lib in an installation.
fs::path find_layer() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path places[] = {here / "layer", here / ".." / "lib" / "rayreplay"};
  for (const fs::path& place : places) {
    if (fs::exists(place / kManifest, error)) {
      return fs::weakly_canonical(place, error);
    }
  }
  throw Error(ErrorKind::Input, {"the capture layer was not found", (places[0] / kManifest).string(), "", "",
                                 "build or install all of rayreplay: the layer is the target "
                                 "'VkLayer_rayreplay_capture'"});
}

/// `value` before the variable's current value.
std::string prepended(const char* variable, const std::string& value) {
  const char* present = std::getenv(variable);
  return present == nullptr || *present == '\0' ? value : value + ":" + present;
}

std::string appended(const char* variable, const std::string& value, char separator) {
  const char* present = std::getenv(variable);
  return present == nullptr || *present == '\0' ? value : present + std::string(1, separator) + value;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> layer_environment(const std::map<std::string, std::string>& settings,
                                                                   const fs::path& spool) {
  const std::string layer = find_layer().string();
  std::vector<std::pair<std::string, std::string>> environment{
      {"VK_ADD_LAYER_PATH", prepended("VK_ADD_LAYER_PATH", layer)},
      {"VK_LOADER_LAYERS_ENABLE", appended("VK_LOADER_LAYERS_ENABLE", kLayerName, ',')},
      // For loaders before 1.3.234.
      {"VK_INSTANCE_LAYERS", appended("VK_INSTANCE_LAYERS", kLayerName, ':')}};
  if (const char* path = std::getenv("VK_LAYER_PATH"); path != nullptr && *path != '\0') {
    // If set, VK_LAYER_PATH hides all other places.
    environment.emplace_back("VK_LAYER_PATH", prepended("VK_LAYER_PATH", layer));
  }
  for (const layer::Option& option : layer::option_table()) {
    const auto set = settings.find(option.name);
    if (std::strcmp(option.name, "spool") == 0) {
      environment.emplace_back(option.variable, spool.string());
    } else if (set != settings.end() && !set->second.empty()) {
      environment.emplace_back(option.variable, set->second);
    }
  }
  return environment;
}

}  // namespace rayreplay::app
