#include "capture/reference/scene.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/reference/meshes/import.hpp"
#include "capture/reference/scene_model.hpp"
#include "capture/reference/vec.hpp"

namespace rayreplay::reference {
namespace {

// Limits of the events' columns and of the 24-bit fields of an instance.
constexpr std::uint32_t kMaxGeometriesPerBlas = 65535;
constexpr std::uint32_t kMax24Bits = 0xFF'FFFFU;

[[noreturn]] void fail(std::string what, std::string where, std::string found, std::string expected) {
  throw Error(ErrorKind::Input, {std::move(what), std::move(where), std::move(found), std::move(expected),
                                 "repair the mesh in the program that wrote it, or leave the part out"});
}

template <class Array>
void require_finite(const Array& values, std::size_t per_row, const std::string& where, const char* column) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float x) { return !std::isfinite(x); });
  if (bad != values.end()) {
    fail("a value is not finite",
         fmt::format("{}, {}[{}]", where, column, static_cast<std::size_t>(bad - values.begin()) / per_row),
         fmt::format("{}", *bad), "finite numbers");
  }
}

void require_size(std::size_t size, std::size_t expected, const std::string& where, const char* column) {
  if (size != expected) {
    fail("a column has the wrong size", fmt::format("{}, {}", where, column), fmt::format("{} values", size),
         fmt::format("{} values", expected));
  }
}

void check_triangles(const SceneGeometry& part, const std::string& where) {
  const auto& [vertices, indices] = std::tie(part.geometry.vertices, part.geometry.indices);
  require_size(vertices.size(), vertices.size() / 3 * 3, where, "vertices");
  require_size(indices.size(), indices.size() / 3 * 3, where, "indices");
  require_finite(vertices, 3, where, "vertices");
  const std::size_t count = vertices.size() / 3;
  const auto bad = std::find_if(indices.begin(), indices.end(), [&](std::uint32_t index) { return index >= count; });
  if (bad != indices.end()) {
    fail("a vertex index is out of range", fmt::format("{}, triangle {}", where, (bad - indices.begin()) / 3),
         fmt::format("{}", *bad), fmt::format("less than {}, the number of vertices", count));
  }
  if (!part.normals.empty()) {
    require_size(part.normals.size(), vertices.size(), where, "normals");
    require_finite(part.normals, 3, where, "normals");
  }
  if (!part.uvs.empty()) {
    require_size(part.uvs.size(), count * 2, where, "uvs");
    require_finite(part.uvs, 2, where, "uvs");
  }
  require_size(part.spheres.size(), 0, where, "spheres");
  require_size(part.geometry.boxes.size(), 0, where, "boxes");
}

void check_boxes(const SceneGeometry& part, const std::string& where) {
  const auto& boxes = part.geometry.boxes;
  require_size(boxes.size(), boxes.size() / 6 * 6, where, "boxes");
  require_size(part.spheres.size(), boxes.size() / 6 * 4, where, "spheres");
  require_finite(boxes, 6, where, "boxes");
  require_finite(part.spheres, 4, where, "spheres");
  for (std::size_t i = 0; i < boxes.size() / 6; ++i) {
    const float radius = part.spheres[i * 4 + 3];
    if (!(radius > 0)) {
      fail("a sphere has no radius", fmt::format("{}, spheres[{}]", where, i), fmt::format("{}", radius),
           "a radius above 0");
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double center = static_cast<double>(part.spheres[i * 4 + axis]);
      const double low = static_cast<double>(boxes[i * 6 + axis]);
      const double high = static_cast<double>(boxes[i * 6 + 3 + axis]);
      if (low > center - static_cast<double>(radius) || high < center + static_cast<double>(radius)) {
        fail("a box does not hold its sphere", fmt::format("{}, boxes[{}]", where, i),
             fmt::format("{} to {} on axis {}", low, high, axis), fmt::format("to hold {} ± {}", center, radius));
      }
    }
  }
  require_size(part.geometry.vertices.size(), 0, where, "vertices");
  require_size(part.geometry.indices.size(), 0, where, "indices");
  require_size(part.normals.size(), 0, where, "normals");
  require_size(part.uvs.size(), 0, where, "uvs");
}

void check_geometry(const RenderScene& scene, std::size_t id) {
  const SceneGeometry& part = scene.geometries[id];
  const std::string where = fmt::format("geometry {} '{}'", id, part.geometry.name);
  const std::uint64_t primitives = part.geometry.primitives();
  if (primitives == 0) {
    fail("a geometry is empty", where, "0 primitives", "at least one triangle or box");
  }
  if (primitives >= trace::kNone) {
    fail("a geometry has too many primitives", where, fmt::format("{}", primitives), "ids of 32 bits");
  }
  if (part.geometry.type == trace::GeometryType::Triangles) {
    check_triangles(part, where);
  } else {
    check_boxes(part, where);
  }
  if (part.material.size() != 1 && part.material.size() != primitives) {
    fail("a geometry has the wrong number of materials", where, fmt::format("{}", part.material.size()),
         fmt::format("1 or {}, the number of primitives", primitives));
  }
  for (std::size_t row = 0; row < part.material.size(); ++row) {
    const std::uint32_t material = part.material[row];
    if (material >= scene.materials.size()) {
      fail("a material id is out of range", fmt::format("{}, material[{}]", where, row), fmt::format("{}", material),
           fmt::format("less than {}, the number of materials", scene.materials.size()));
    }
    if (scene.materials[material].kind != scene.materials[part.material.front()].kind) {
      fail("a geometry mixes material kinds", fmt::format("{}, material[{}]", where, row),
           fmt::format("material {}", material), "materials of one kind in each geometry");
    }
  }
}

void require_color(const Vec3& color, const std::string& where) {
  if (!color.allFinite() || color.minCoeff() < 0) {
    fail("a colour is negative or not finite", where, fmt::format("{} {} {}", color.x(), color.y(), color.z()),
         "finite numbers of at least 0");
  }
}

void check_materials(const RenderScene& scene) {
  for (std::size_t id = 0; id < scene.materials.size(); ++id) {
    const Material& material = scene.materials[id];
    const std::string where = fmt::format("material {} '{}'", id, material.name);
    require_color(material.color, where);
    if (static_cast<std::size_t>(material.kind) >= kMaterialKinds) {
      fail("a material kind is out of range", where, fmt::format("{}", static_cast<unsigned>(material.kind)),
           fmt::format("less than {}", kMaterialKinds));
    }
    if (!(material.fuzz >= 0 && material.fuzz <= 1)) {
      fail("a metal's fuzz is out of range", where, fmt::format("{}", material.fuzz), "0 to 1");
    }
    if (!(material.refraction_index > 0 && std::isfinite(material.refraction_index))) {
      fail("a refraction index is out of range", where, fmt::format("{}", material.refraction_index),
           "a finite number above 0");
    }
    if (!std::isfinite(material.alpha_cutoff)) {
      fail("an alpha cut-off is not finite", where, fmt::format("{}", material.alpha_cutoff), "a finite number");
    }
    if (material.texture != kNoTexture && material.texture >= scene.textures.size()) {
      fail("a texture id is out of range", where, fmt::format("{}", material.texture),
           fmt::format("less than {}, the number of textures", scene.textures.size()));
    }
  }
  for (std::size_t id = 0; id < scene.textures.size(); ++id) {
    const Texture& texture = scene.textures[id];
    const std::size_t texels = std::size_t{texture.width} * texture.height;
    if (texels == 0 || texture.rgba.size() != texels * 4) {
      fail("a texture's size does not match its texels", fmt::format("texture {}", id),
           fmt::format("{} bytes", texture.rgba.size()),
           fmt::format("4 bytes for each of {}x{} texels, at least one", texture.width, texture.height));
    }
  }
}

void check_structures(const RenderScene& scene) {
  for (std::size_t id = 0; id < scene.blases.size(); ++id) {
    const auto [first, count] = scene.blases[id];
    const std::string where = fmt::format("bottom-level structure {}", id);
    if (count == 0 || count > kMaxGeometriesPerBlas || std::uint64_t{first} + count > scene.geometries.size()) {
      fail("a bottom-level structure's geometries are out of range", where, fmt::format("{} from {}", count, first),
           fmt::format("1 to {} of the {} geometries", kMaxGeometriesPerBlas, scene.geometries.size()));
    }
  }
  if (scene.instances.empty()) {
    fail("the scene is empty", scene.name, "0 instances", "at least one instance");
  }
  for (std::size_t id = 0; id < scene.instances.size(); ++id) {
    const trace::Instance& instance = scene.instances[id];
    const std::string where = fmt::format("instance {}", id);
    if (instance.blas >= scene.blases.size()) {
      fail("an instance's bottom-level structure is out of range", where, fmt::format("{}", instance.blas),
           fmt::format("less than {}", scene.blases.size()));
    }
    require_finite(instance.transform, 4, where, "transform");
    if (is_singular(as_transform(instance.transform))) {
      fail("an instance's transform is singular", where, fmt::format("{}", fmt::join(instance.transform, " ")),
           "a 3x4 matrix that can be inverted");
    }
    if (instance.custom_index > kMax24Bits || instance.hit_group_offset > kMax24Bits) {
      fail("an instance's index does not fit its field", where,
           fmt::format("custom index {}, hit-group offset {}", instance.custom_index, instance.hit_group_offset),
           "24 bits each");
    }
  }
}

void check_camera(const Camera& camera) {
  const auto place =
      fmt::format("from {} {} {}, at {} {} {}, up {} {} {}", camera.from.x(), camera.from.y(), camera.from.z(),
                  camera.at.x(), camera.at.y(), camera.at.z(), camera.up.x(), camera.up.y(), camera.up.z());
  if (!camera.from.allFinite() || !camera.at.allFinite() || !camera.up.allFinite() ||
      !(length(normalize(camera.at - camera.from).cross(normalize(camera.up))) > 1e-6F)) {
    fail("the camera has no orientation", "camera", place,
         "finite places that differ, and an up vector that is not along the view");
  }
  if (!(camera.vertical_fov_degrees > 0 && camera.vertical_fov_degrees < 180)) {
    fail("the camera's field of view is out of range", "camera", fmt::format("{}", camera.vertical_fov_degrees),
         "between 0 and 180 degrees");
  }
  if (!(camera.aperture >= 0 && std::isfinite(camera.aperture)) ||
      !(camera.focus_distance > 0 && std::isfinite(camera.focus_distance))) {
    fail("the camera's lens is out of range", "camera",
         fmt::format("aperture {}, focus distance {}", camera.aperture, camera.focus_distance),
         "a finite aperture of at least 0 and a finite focus distance above 0");
  }
}

}  // namespace

void check(const RenderScene& scene) {
  check_materials(scene);
  for (std::size_t id = 0; id < scene.geometries.size(); ++id) {
    check_geometry(scene, id);
  }
  check_structures(scene);
  check_camera(scene.camera);
  require_color(scene.sky.bottom, "sky");
  require_color(scene.sky.top, "sky");
}

RenderScene make_scene(const std::string& spec, std::string* resolved_spec) {
  const auto finish = [&](RenderScene scene, const std::string& resolved) {
    check(scene);
    if (resolved_spec != nullptr) {
      *resolved_spec = resolved;
    }
    return scene;
  };
  const std::vector<std::string> names = Registry<SceneModel>::names();
  const bool registered = std::find(names.begin(), names.end(), spec.substr(0, spec.find(':'))) != names.end();
  std::error_code ignored;
  if (!registered && (is_mesh_file_name(spec) || std::filesystem::exists(spec, ignored))) {
    return finish(import_mesh(spec), spec);
  }
  const auto created = Registry<SceneModel>::create(spec);
  return finish(created.model->make(), created.spec);
}

}  // namespace rayreplay::reference
