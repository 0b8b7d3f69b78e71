#include "capture/reference/meshes/import.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "capture/reference/meshes/mesh_file.hpp"

namespace rayreplay::reference {
namespace {

std::string extension_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

}  // namespace

bool is_mesh_file_name(const std::string& name) {
  const std::string extension = extension_of(name);
  return extension == ".obj" || extension == ".ply" || extension == ".gltf" || extension == ".glb";
}

RenderScene import_mesh(const std::filesystem::path& path) {
  const std::string extension = extension_of(path);
  if (extension == ".obj") {
    return import_obj(path);
  }
  if (extension == ".ply") {
    return import_ply(path);
  }
  if (extension == ".gltf" || extension == ".glb") {
    return import_gltf(path);
  }
  throw Error(ErrorKind::Input, {"the file is not a mesh that can be read", path.string(),
                                 extension.empty() ? "no extension" : "extension " + extension,
                                 ".obj, .ply, .gltf or .glb", "convert the mesh, or give a scene's name"});
}

}  // namespace rayreplay::reference
