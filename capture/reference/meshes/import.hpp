// Mesh files as scenes.
//
// Contract: `import_mesh` reads an .obj, .ply, .gltf or .glb file (extension in any case) into a scene with its
// materials and instances; features without a counterpart are dropped or replaced and noted in RenderScene::notes. The
// camera is the file's own or frames the bounding box. Files are untrusted: every offset, count and index is checked
// before use; a bad file is an Input error with the file and the place.
#pragma once

#include <filesystem>
#include <string>

#include "capture/reference/scene.hpp"

namespace rayreplay::reference {

/// Whether the name ends in one of the four extensions.
[[nodiscard]] bool is_mesh_file_name(const std::string& name);

[[nodiscard]] RenderScene import_mesh(const std::filesystem::path& path);

}  // namespace rayreplay::reference
