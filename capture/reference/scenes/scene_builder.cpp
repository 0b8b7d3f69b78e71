#include "capture/reference/scenes/scene_builder.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace rayreplay::reference {
namespace {

float round_down(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) > value ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                                              : nearest;
}

float round_up(double value) {
  return -round_down(-value);
}

/// The triangles of `mesh` for which `selected` holds, with the vertices they use in order of first use.
template <class Selected>
SceneGeometry extract(const TriangleMesh& mesh, Selected&& selected) {
  SceneGeometry part;
  std::vector<std::uint32_t> place(mesh.positions.size(), trace::kNone);
  std::uint32_t used = 0;
  for (std::size_t t = 0; t < mesh.triangles(); ++t) {
    if (!selected(mesh.material[t])) {
      continue;
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t vertex = mesh.indices[t * 3 + k];
      if (place[vertex] == trace::kNone) {
        place[vertex] = used++;
        const Vec3 p = mesh.positions[vertex];
        part.geometry.vertices.insert(part.geometry.vertices.end(), {p.x(), p.y(), p.z()});
        if (!mesh.normals.empty()) {
          const Vec3 n = mesh.normals[vertex];
          part.normals.insert(part.normals.end(), {n.x(), n.y(), n.z()});
        }
        if (!mesh.uvs.empty()) {
          part.uvs.insert(part.uvs.end(), {mesh.uvs[vertex].x(), mesh.uvs[vertex].y()});
        }
      }
      part.geometry.indices.push_back(place[vertex]);
    }
    part.material.push_back(mesh.material[t]);
  }
  return part;
}

void shorten_if_uniform(std::vector<std::uint32_t>& material) {
  if (std::all_of(material.begin(), material.end(), [&](std::uint32_t id) { return id == material.front(); })) {
    material.resize(1);
  }
}

}  // namespace

SceneBuilder::SceneBuilder(const std::string& name) {
  scene_.name = text::as_utf8(name);
}

/// Old mesh files have names in any encoding; a trace takes UTF-8 alone.
std::string SceneBuilder::name_of(const std::string& written) {
  if (text::invalid_at(written) == text::kAllValid) {
    return written;
  }
  if (!says_replaced_) {
    says_replaced_ = true;
    note(fmt::format("{}: some names are not UTF-8: their invalid bytes are written as U+FFFD", scene_.name));
  }
  return text::replaced(written);
}

std::uint32_t SceneBuilder::add_material(Material material, bool alpha_tested) {
  material.name = name_of(material.name);
  scene_.materials.push_back(std::move(material));
  alpha_tested_.push_back(alpha_tested);
  return static_cast<std::uint32_t>(scene_.materials.size() - 1);
}

std::uint32_t SceneBuilder::add_texture(Texture texture) {
  scene_.textures.push_back(std::move(texture));
  return static_cast<std::uint32_t>(scene_.textures.size() - 1);
}

SceneBuilder::Object SceneBuilder::add_object(const std::string& name, const TriangleMesh& mesh) {
  Object object{static_cast<std::uint32_t>(scene_.blases.size()), 0};
  const std::string geometry_name = name_of(name);
  for (std::size_t k = 0; k < kMaterialKinds; ++k) {
    const auto kind = static_cast<MaterialKind>(k);
    trace::Blas blas{static_cast<std::uint32_t>(scene_.geometries.size()), 0};
    for (const bool alpha_tested : {false, true}) {
      SceneGeometry part = extract(mesh, [&](std::uint32_t id) {
        return scene_.materials[id].kind == kind && alpha_tested_[id] == alpha_tested;
      });
      if (part.material.empty()) {
        continue;
      }
      part.geometry.name = geometry_name;
      part.geometry.opaque = !alpha_tested;
      shorten_if_uniform(part.material);
      scene_.geometries.push_back(std::move(part));
      ++blas.geometry_count;
    }
    if (blas.geometry_count > 0) {
      scene_.blases.push_back(blas);
      kind_of_blas_.push_back(kind);
      ++object.count;
    }
  }
  return object;
}

SceneBuilder::Object SceneBuilder::add_spheres(std::string name, std::span<const Sphere> spheres,
                                               std::uint32_t material) {
  SceneGeometry part;
  part.geometry.type = trace::GeometryType::Boxes;
  part.geometry.name = std::move(name);
  part.material = {material};
  for (const auto& [center, radius] : spheres) {
    part.spheres.insert(part.spheres.end(), {center.x(), center.y(), center.z(), radius});
    // Rounded outward: a box must not cut its sphere.
    const double r = static_cast<double>(radius);
    const Vec3d c = center.cast<double>();
    for (const double x : c) {
      part.geometry.boxes.push_back(round_down(x - r));
    }
    for (const double x : c) {
      part.geometry.boxes.push_back(round_up(x + r));
    }
  }
  scene_.geometries.push_back(std::move(part));
  scene_.blases.push_back({static_cast<std::uint32_t>(scene_.geometries.size() - 1), 1});
  kind_of_blas_.push_back(scene_.materials[material].kind);
  return {static_cast<std::uint32_t>(scene_.blases.size() - 1), 1};
}

void SceneBuilder::place(Object object, const Transform& transform) {
  for (std::uint32_t i = 0; i < object.count; ++i) {
    trace::Instance instance;
    as_transform(instance.transform) = transform;
    instance.blas = object.first_blas + i;
    instance.hit_group_offset = static_cast<std::uint32_t>(kind_of_blas_[instance.blas]);
    scene_.instances.push_back(instance);
  }
}

void SceneBuilder::note(std::string text) {
  scene_.notes.push_back(std::move(text));
}

RenderScene SceneBuilder::finish(const Camera& camera, const Sky& sky) {
  scene_.camera = camera;
  scene_.sky = sky;
  return std::move(scene_);
}

}  // namespace rayreplay::reference
