// The environment in which a program runs under the capture layer.
//
// Contract: `layer_environment` gives the variables that make the Vulkan loader load the layer (added to what the
// loader's variables have already), and the layer's options: those of `settings` (by name in the option table; empty
// ones are left out) and the folder of the spool. Errors: Input if the layer is not there.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace rayreplay::app {

[[nodiscard]] std::vector<std::pair<std::string, std::string>> layer_environment(
    const std::map<std::string, std::string>& settings, const std::filesystem::path& spool);

}  // namespace rayreplay::app
