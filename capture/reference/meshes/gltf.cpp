// glTF 2.0 (.gltf, .glb): nodes with full transforms become instances, meshes become objects that are shared between
// them. Morph targets, skins and animations are dropped; points and lines too.
#include <array>
#include <map>

#include <fmt/format.h>

#include "capture/reference/meshes/gltf_materials.hpp"
#include "capture/reference/meshes/gltf_model.hpp"
#include "capture/reference/meshes/mesh_file.hpp"

namespace rayreplay::reference {
namespace {

Transformd local_matrix(const tinygltf::Node& node) {
  if (node.matrix.size() == 16) {
    return Eigen::Map<const Eigen::Matrix4d>(node.matrix.data()).topRows<3>();
  }
  const auto part = [](const std::vector<double>& values, std::size_t i, double fallback) {
    return i < values.size() ? values[i] : fallback;
  };
  const double x = part(node.rotation, 0, 0);
  const double y = part(node.rotation, 1, 0);
  const double z = part(node.rotation, 2, 0);
  const double w = part(node.rotation, 3, 1);
  const double sx = part(node.scale, 0, 1);
  const double sy = part(node.scale, 1, 1);
  const double sz = part(node.scale, 2, 1);
  return Transformd{{(1 - 2 * (y * y + z * z)) * sx, 2 * (x * y - z * w) * sy, 2 * (x * z + y * w) * sz,
                     part(node.translation, 0, 0)},
                    {2 * (x * y + z * w) * sx, (1 - 2 * (x * x + z * z)) * sy, 2 * (y * z - x * w) * sz,
                     part(node.translation, 1, 0)},
                    {2 * (x * z - y * w) * sx, 2 * (y * z + x * w) * sy, (1 - 2 * (x * x + y * y)) * sz,
                     part(node.translation, 2, 0)}};
}

class GltfImport {
 public:
  explicit GltfImport(const std::filesystem::path& path)
      : path_(path), model_(load_gltf(path)), builder_(path.filename().string()), materials_(model_, path_, builder_) {}

  RenderScene run() {
    seen_.assign(model_.nodes.size(), false);
    walk();
    if (!model_.animations.empty() || !model_.skins.empty()) {
      builder_.note(fmt::format("{}: animations and skins are dropped", path_.string()));
    }
    if (dropped_primitives_ > 0) {
      builder_.note(
          fmt::format("{}: {} primitives of points or lines are dropped", path_.string(), dropped_primitives_));
    }
    if (dropped_instances_ > 0) {
      builder_.note(
          fmt::format("{}: {} nodes with a singular transform are dropped", path_.string(), dropped_instances_));
    }
    return finish_import(builder_, path_, camera_, degenerate_);
  }

 private:
  struct Visit {
    int node = 0;
    Transformd to_world = Transformd::Identity();
  };

  [[noreturn]] void fail(const std::string& place, std::string what, std::string found, std::string expected) const {
    bad_mesh(path_, place, std::move(what), std::move(found), std::move(expected));
  }

  std::vector<int> roots() const {
    if (model_.scenes.empty()) {
      std::vector<bool> is_child(model_.nodes.size(), false);
      for (const tinygltf::Node& node : model_.nodes) {
        for (const int child : node.children) {
          if (child >= 0 && static_cast<std::size_t>(child) < is_child.size()) {
            is_child[static_cast<std::size_t>(child)] = true;
          }
        }
      }
      std::vector<int> result;
      for (std::size_t i = 0; i < is_child.size(); ++i) {
        if (!is_child[i]) {
          result.push_back(static_cast<int>(i));
        }
      }
      return result;
    }
    const int scene = std::max(model_.defaultScene, 0);
    if (static_cast<std::size_t>(scene) >= model_.scenes.size()) {
      fail("scene", "the default scene is out of range", fmt::format("{}", scene),
           fmt::format("less than {}, the number of scenes", model_.scenes.size()));
    }
    return model_.scenes[static_cast<std::size_t>(scene)].nodes;
  }

  void walk() {
    std::vector<Visit> pending;
    const auto push_all = [&](const std::vector<int>& nodes, const Transformd& to_world) {
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        pending.push_back({*node, to_world});
      }
    };
    push_all(roots(), Visit{}.to_world);
    while (!pending.empty()) {
      const Visit visit = pending.back();
      pending.pop_back();
      const std::string place = fmt::format("nodes[{}]", visit.node);
      if (visit.node < 0 || static_cast<std::size_t>(visit.node) >= model_.nodes.size()) {
        fail(place, "a node is out of range", fmt::format("{}", visit.node),
             fmt::format("less than {}, the number of nodes", model_.nodes.size()));
      }
      const auto id = static_cast<std::size_t>(visit.node);
      if (seen_[id]) {
        fail(place, "a node has two parents or is its own ancestor", "a second reference", "a tree of nodes");
      }
      seen_[id] = true;
      const tinygltf::Node& node = model_.nodes[id];
      const Transformd to_world = compose(visit.to_world, local_matrix(node));
      place_mesh(node, to_world, place);
      take_camera(node, to_world);
      push_all(node.children, to_world);
    }
  }

  void place_mesh(const tinygltf::Node& node, const Transformd& to_world, const std::string& place) {
    if (node.mesh == -1) {
      return;
    }
    if (node.mesh < 0 || static_cast<std::size_t>(node.mesh) >= model_.meshes.size()) {
      fail(place, "a node's mesh is out of range", fmt::format("{}", node.mesh),
           fmt::format("less than {}, the number of meshes", model_.meshes.size()));
    }
    const auto known = objects_.find(node.mesh);
    const SceneBuilder::Object object =
        known != objects_.end() ? known->second : objects_.emplace(node.mesh, read_mesh(node.mesh)).first->second;
    const Transform transform = to_world.cast<float>();
    if (!transform.allFinite()) {
      fail(place, "a transform is not finite", fmt::format("{}", fmt::join(transform.reshaped<Eigen::RowMajor>(), " ")),
           "finite numbers");
    }
    // A scale of 0 is how exporters hide a node.
    if (is_singular(transform)) {
      ++dropped_instances_;
      return;
    }
    builder_.place(object, transform);
  }

  SceneBuilder::Object read_mesh(int mesh_id) {
    const tinygltf::Mesh& mesh = model_.meshes[static_cast<std::size_t>(mesh_id)];
    std::vector<TriangleMesh> parts;
    bool any_normals = false;
    bool any_uvs = false;
    for (std::size_t i = 0; i < mesh.primitives.size(); ++i) {
      TriangleMesh part = read_primitive(mesh.primitives[i], fmt::format("meshes[{}].primitives[{}]", mesh_id, i));
      any_normals = any_normals || !part.normals.empty();
      any_uvs = any_uvs || !part.uvs.empty();
      parts.push_back(std::move(part));
    }
    TriangleMesh whole;
    for (TriangleMesh& part : parts) {
      if (any_normals && part.normals.empty()) {
        give_flat_normals(part);
      }
      if (any_uvs) {
        part.uvs.resize(part.positions.size());
      }
      whole.append(part, Transform::Identity());
    }
    degenerate_ += count_degenerate(whole);
    return builder_.add_object(mesh.name.empty() ? fmt::format("mesh {}", mesh_id) : mesh.name, whole);
  }

  TriangleMesh read_primitive(const tinygltf::Primitive& primitive, const std::string& place) {
    TriangleMesh mesh;
    const int mode = primitive.mode;
    if (mode != TINYGLTF_MODE_TRIANGLES && mode != TINYGLTF_MODE_TRIANGLE_STRIP && mode != TINYGLTF_MODE_TRIANGLE_FAN) {
      ++dropped_primitives_;
      return mesh;
    }
    const std::uint32_t material = materials_.id(primitive.material, place + ".material");
    if (!primitive.attributes.contains("POSITION")) {
      fail(place, "a primitive has no positions", "no POSITION", "the attribute POSITION");
    }
    mesh.positions = read_vectors(primitive, "POSITION", place, 0);
    if (primitive.attributes.contains("NORMAL")) {
      mesh.normals = read_vectors(primitive, "NORMAL", place, mesh.positions.size());
      for (Vec3& normal : mesh.normals) {
        normal = normalize(normal);
      }
    }
    const std::string uv_name = fmt::format("TEXCOORD_{}", materials_.uv_set(primitive.material));
    if (primitive.attributes.contains(uv_name)) {
      for (const Vec3& uv : read_vectors(primitive, uv_name, place, mesh.positions.size())) {
        mesh.uvs.push_back(uv.head<2>());
      }
    }
    add_triangles(mesh, read_indices(primitive, mesh.positions.size(), place), mode, material);
    if (!primitive.targets.empty()) {
      builder_.note(fmt::format("{}: {}: morph targets are dropped", path_.string(), place));
    }
    return mesh;
  }

  /// Rows of two or three finite numbers; `expected_rows` 0: any.
  std::vector<Vec3> read_vectors(const tinygltf::Primitive& primitive, const std::string& name,
                                 const std::string& place, std::size_t expected_rows) const {
    const std::string where = place + "." + name;
    const AccessorRows accessor(model_, primitive.attributes.at(name), path_, where);
    const int components = name.starts_with("TEXCOORD") ? 2 : 3;
    if (accessor.components() != components || (expected_rows != 0 && accessor.rows() != expected_rows) ||
        accessor.rows() >= trace::kNone) {
      fail(where, "an attribute has the wrong shape",
           fmt::format("{} rows of {}", accessor.rows(), accessor.components()),
           expected_rows == 0 ? fmt::format("rows of {}", components)
                              : fmt::format("{} rows of {}", expected_rows, components));
    }
    std::vector<Vec3> rows(accessor.rows());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      Vec3& v = rows[row];
      v = {accessor.number(row, 0), accessor.number(row, 1), components == 3 ? accessor.number(row, 2) : 0.0F};
      if (!v.allFinite()) {
        fail(fmt::format("{}[{}]", where, row), "a value is not finite", fmt::format("{} {} {}", v.x(), v.y(), v.z()),
             "finite numbers");
      }
    }
    return rows;
  }

  std::vector<std::uint32_t> read_indices(const tinygltf::Primitive& primitive, std::size_t vertices,
                                          const std::string& place) const {
    std::vector<std::uint32_t> indices;
    if (primitive.indices == -1) {
      indices.resize(vertices);
      for (std::size_t i = 0; i < vertices; ++i) {
        indices[i] = static_cast<std::uint32_t>(i);
      }
      return indices;
    }
    const std::string where = place + ".indices";
    const AccessorRows accessor(model_, primitive.indices, path_, where);
    if (accessor.components() != 1 || !accessor.is_unsigned()) {
      fail(where, "the indices have the wrong type", fmt::format("rows of {}", accessor.components()),
           "scalars of unsigned byte, short or int");
    }
    indices.resize(accessor.rows());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      indices[i] = accessor.index(i);
      if (indices[i] >= vertices) {
        fail(fmt::format("{}[{}]", where, i), "a vertex index is out of range", fmt::format("{}", indices[i]),
             fmt::format("less than {}, the number of vertices", vertices));
      }
    }
    return indices;
  }

  void add_triangles(TriangleMesh& mesh, const std::vector<std::uint32_t>& indices, int mode, std::uint32_t material) {
    if (mode == TINYGLTF_MODE_TRIANGLES) {
      for (std::size_t i = 0; i + 2 < indices.size(); i += 3) {
        mesh.add_triangle(indices[i], indices[i + 1], indices[i + 2], material);
      }
      return;
    }
    for (std::size_t i = 2; i < indices.size(); ++i) {
      const bool strip = mode == TINYGLTF_MODE_TRIANGLE_STRIP;
      // Every second triangle of a strip runs the other way round.
      const bool turned = strip && i % 2 == 1;
      const std::uint32_t a = strip ? indices[i - 2] : indices[0];
      mesh.add_triangle(a, indices[turned ? i : i - 1], indices[turned ? i - 1 : i], material);
    }
  }

  void take_camera(const tinygltf::Node& node, const Transformd& m) {
    if (camera_ || node.camera < 0 || static_cast<std::size_t>(node.camera) >= model_.cameras.size()) {
      return;
    }
    const tinygltf::Camera& from = model_.cameras[static_cast<std::size_t>(node.camera)];
    const double degrees = from.perspective.yfov * 180 / std::numbers::pi;
    const Transform t = m.cast<float>();
    const Vec3 back = t.col(2);
    const Vec3 up = t.col(1);
    const Vec3 place = t.col(3);
    // A camera that cannot be looked through is not worth an error: the bounding box is framed instead.
    if (from.type != "perspective" || !(degrees > 0 && degrees < 180) || !place.allFinite() || !back.allFinite() ||
        !up.allFinite() || !(length(normalize(back).cross(normalize(up))) > 1e-3F) || length(place) > 1e18F) {
      builder_.note(
          fmt::format("{}: camera {} is dropped: it is not a sound perspective camera", path_.string(), node.camera));
      return;
    }
    Camera camera;
    camera.from = place;
    camera.at = place - normalize(back) * std::max(1.0F, length(place));
    camera.up = normalize(up);
    camera.vertical_fov_degrees = static_cast<float>(degrees);
    camera.focus_distance = length(camera.at - camera.from);
    camera_ = camera;
  }

  std::filesystem::path path_;
  tinygltf::Model model_;
  SceneBuilder builder_;
  GltfMaterials materials_;
  std::map<int, SceneBuilder::Object> objects_;
  std::vector<bool> seen_;
  std::optional<Camera> camera_;
  std::uint64_t degenerate_ = 0;
  std::uint64_t dropped_primitives_ = 0;
  std::uint64_t dropped_instances_ = 0;
};

}  // namespace

RenderScene import_gltf(const std::filesystem::path& path) {
  return GltfImport(path).run();
}

}  // namespace rayreplay::reference
