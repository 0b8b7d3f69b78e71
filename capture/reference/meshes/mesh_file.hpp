// Shared by the importers of mesh files: reading, errors with a place, numbers, and the end of an import.
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

/// Decimal text as a float: "nan" and "inf" are read as such; numbers too large for a float become infinite.
[[nodiscard]] std::optional<float> parse_float(std::string_view text);

/// Flat normals on separate vertices, for a mesh without normals beside parts that have them.
void give_flat_normals(TriangleMesh& mesh);

[[nodiscard]] RenderScene finish_import(SceneBuilder& builder, const std::filesystem::path& path,
                                        const std::optional<Camera>& camera, std::uint64_t degenerate_triangles);

RenderScene import_obj(const std::filesystem::path& path);
RenderScene import_ply(const std::filesystem::path& path);
RenderScene import_gltf(const std::filesystem::path& path);

}  // namespace rayreplay::reference
