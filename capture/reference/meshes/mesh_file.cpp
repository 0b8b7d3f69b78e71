#include "capture/reference/meshes/mesh_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"

namespace rayreplay::reference {
namespace {

/// Looks at the scene from the front, a little from the right and from above, so that its bounding sphere fits.
Camera frame(const RenderScene& scene, const std::filesystem::path& path) {
  constexpr float kHuge = std::numeric_limits<float>::max();
  Vec3 low{kHuge, kHuge, kHuge};
  Vec3 high = -low;
  for (const auto& instance : scene.instances) {
    const auto [first, count] = scene.blases[instance.blas];
    const Transform to_world = as_transform(instance.transform);
    for (std::uint32_t g = first; g < first + count; ++g) {
      const auto& vertices = scene.geometries[g].geometry.vertices;
      for (std::size_t i = 0; i < vertices.size(); i += 3) {
        const Vec3 p = transform_point(to_world, Vec3(&vertices[i]));
        low = low.cwiseMin(p);
        high = high.cwiseMax(p);
      }
    }
  }
  Camera camera;
  camera.at = low * 0.5F + high * 0.5F;
  const float radius = length(high - camera.at);
  if (!std::isfinite(radius) || !camera.at.allFinite() || radius > 1e18F) {
    bad_mesh(path, "", "the scene is too large to be traced with 32-bit numbers", fmt::format("radius {}", radius),
             "at most 1e18");
  }
  const float reach = std::max(radius, 1e-6F * std::max(1.0F, length(camera.at)));
  camera.vertical_fov_degrees = 40;
  camera.focus_distance = reach / sine(std::numbers::pi / 9) * 1.05F;
  camera.from = camera.at + normalize({0.5F, 0.35F, 1}) * camera.focus_distance;
  return camera;
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  // The scene of a larger mesh would not fit into memory either.
  constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 30U;
  return read_text_file(path, kMaxBytes, "mesh");
}

void bad_mesh(const std::filesystem::path& path, const std::string& place, std::string what, std::string found,
              std::string expected) {
  throw Error(ErrorKind::Input,
              {std::move(what), place.empty() ? path.string() : path.string() + ":" + place, std::move(found),
               std::move(expected), "export the mesh again or repair it in a mesh editor"});
}

std::optional<float> parse_float(std::string_view text) {
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return std::nullopt;
  }
  if (error == std::errc::result_out_of_range) {
    // Out of a double's range; the exponent's sign tells too small from too large.
    const bool tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
    return tiny ? 0.0F : std::numeric_limits<float>::infinity();
  }
  if (std::isfinite(value) && std::fabs(value) > static_cast<double>(std::numeric_limits<float>::max())) {
    return std::numeric_limits<float>::infinity();
  }
  return static_cast<float>(value);
}

void give_flat_normals(TriangleMesh& mesh) {
  TriangleMesh flat;
  for (std::size_t t = 0; t < mesh.triangles(); ++t) {
    const std::uint32_t* corner = &mesh.indices[t * 3];
    const Vec3 a = mesh.positions[corner[0]];
    const Vec3 normal = normalize((mesh.positions[corner[1]] - a).cross(mesh.positions[corner[2]] - a));
    const auto first = static_cast<std::uint32_t>(flat.positions.size());
    for (std::size_t k = 0; k < 3; ++k) {
      flat.positions.push_back(mesh.positions[corner[k]]);
      flat.normals.push_back(normal);
      if (!mesh.uvs.empty()) {
        flat.uvs.push_back(mesh.uvs[corner[k]]);
      }
    }
    flat.add_triangle(first, first + 1, first + 2, mesh.material[t]);
  }
  mesh = std::move(flat);
}

RenderScene finish_import(SceneBuilder& builder, const std::filesystem::path& path, const std::optional<Camera>& camera,
                          std::uint64_t degenerate_triangles) {
  if (degenerate_triangles > 0) {
    builder.note(
        fmt::format("{}: {} degenerate triangles are kept; no ray hits them", path.string(), degenerate_triangles));
  }
  RenderScene scene = builder.finish(camera.value_or(Camera{}), Sky{});
  if (scene.instances.empty()) {
    bad_mesh(path, "", "the file holds no triangles", "0 triangles", "at least one triangle");
  }
  if (!camera) {
    scene.camera = frame(scene, path);
  }
  return scene;
}

}  // namespace rayreplay::reference
