// Names of the places in shaders that access memory: function, accessed member or image, and line of the source.
//
// Contract: names come from the modules of a trace's shaders (place_names.hpp, spirv/source_lines.hpp). A site whose
// shader has no module that can be parsed, or whose instruction is no access there, has empty names: its counts stay
// without them. One pass over each shader's module.
#pragma once

#include <string>
#include <vector>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

struct AccessName {
  std::string function;  ///< "main"; "%12" without a name
  std::string label;     ///< of the block: "%14"
  std::string place;     ///< "scene.vertices[].position", "member 2 of binding 0/3"
  std::string source;    ///< "closest.rchit:12"; without debug information ""
};

/// By row of `sites`.
[[nodiscard]] std::vector<AccessName> access_names(const std::vector<trace::Shader>& shaders,
                                                   const trace::AccessSites& sites);

}  // namespace rayreplay::profile
