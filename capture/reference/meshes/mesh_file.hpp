// What the importers of mesh files share: reading the file, failing with a place in it, numbers, the end of an import.
//
// Contract: `read_file` takes regular files only and throws Input with the reason. `finish_import` throws Input when
// nothing was placed, notes degenerate triangles and frames the bounding box when the file has no camera.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "capture/reference/scenes/scene_builder.hpp"

namespace rayreplay::reference {

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// Throws Input: "path:place: what (found …; expected …). Fix: …".
[[noreturn]] void bad_mesh(const std::filesystem::path& path, const std::string& place, std::string what,
                           std::string found, std::string expected);

/// Decimal text as a float: "nan" and "inf" are read as such, and what is too large for a float becomes infinite.
[[nodiscard]] std::optional<float> parse_float(std::string_view text);

/// Corner normals for a mesh that lacks them next to parts that have them: flat ones, on vertices of their own.
void give_flat_normals(TriangleMesh& mesh);

[[nodiscard]] RenderScene finish_import(SceneBuilder& builder, const std::filesystem::path& path,
                                        const std::optional<Camera>& camera, std::uint64_t degenerate_triangles);

RenderScene import_obj(const std::filesystem::path& path);
RenderScene import_ply(const std::filesystem::path& path);
RenderScene import_gltf(const std::filesystem::path& path);

}  // namespace rayreplay::reference
