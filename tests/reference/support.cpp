#include "tests/reference/support.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "capture/reference/random.hpp"

namespace rayreplay::test {

using reference::MaterialKind;

namespace {

template <class Column>
void append_to(Column& all, const Column& part) {
  all.insert(all.end(), part.begin(), part.end());
}

template <class T>
bool same_bytes(const trace::Column<T>& a, const trace::Column<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

void MemorySink::begin(trace::LaunchSize launch_size, trace::LaunchColumns launch_columns) {
  size = launch_size;
  columns = launch_columns;
  data.ray_offset.assign(1, 0);
  data.event_offset.assign(1, 0);
}

void MemorySink::append(const trace::ThreadData& batch) {
  const std::uint64_t rays = data.rays.size();
  const std::uint64_t events = data.events.size();
  for (std::size_t i = 1; i < batch.ray_offset.size(); ++i) {
    data.ray_offset.push_back(rays + batch.ray_offset[i]);
    data.event_offset.push_back(events + batch.event_offset[i]);
  }
  append_to(data.rays.origin_x, batch.rays.origin_x);
  append_to(data.rays.origin_y, batch.rays.origin_y);
  append_to(data.rays.origin_z, batch.rays.origin_z);
  append_to(data.rays.direction_x, batch.rays.direction_x);
  append_to(data.rays.direction_y, batch.rays.direction_y);
  append_to(data.rays.direction_z, batch.rays.direction_z);
  append_to(data.rays.t_min, batch.rays.t_min);
  append_to(data.rays.t_max, batch.rays.t_max);
  append_to(data.rays.flags, batch.rays.flags);
  append_to(data.rays.cull_mask, batch.rays.cull_mask);
  append_to(data.rays.sbt_offset, batch.rays.sbt_offset);
  append_to(data.rays.sbt_stride, batch.rays.sbt_stride);
  append_to(data.rays.miss_index, batch.rays.miss_index);
  append_to(data.events.kind, batch.events.kind);
  append_to(data.events.shader, batch.events.shader);
  append_to(data.events.t, batch.events.t);
  append_to(data.events.instance, batch.events.instance);
  append_to(data.events.primitive, batch.events.primitive);
  append_to(data.events.hit_kind, batch.events.hit_kind);
  append_to(data.events.accepted, batch.events.accepted);
  append_to(data.events.geometry, batch.events.geometry);
}

std::vector<RayStory> MemorySink::stories() const {
  std::vector<RayStory> result;
  const auto& rays = data.rays;
  const auto& events = data.events;
  for (std::uint64_t thread = 0; thread < data.threads(); ++thread) {
    std::uint64_t ray = data.ray_offset[thread];
    for (std::uint64_t row = data.event_offset[thread]; row < data.event_offset[thread + 1]; ++row) {
      if (trace::begins_ray(events.kind[row])) {
        result.push_back({thread,
                          {{rays.origin_x.at(ray), rays.origin_y.at(ray), rays.origin_z.at(ray)},
                           {rays.direction_x.at(ray), rays.direction_y.at(ray), rays.direction_z.at(ray)},
                           rays.t_min.at(ray),
                           rays.t_max.at(ray)},
                          rays.flags.at(ray),
                          rays.sbt_stride.at(ray),
                          rays.miss_index.at(ray),
                          {}});
        ++ray;
      }
      const std::uint16_t geometry = events.geometry.empty() ? std::uint16_t{0} : events.geometry.at(row);
      result.at(result.size() - 1)
          .events.push_back({events.kind[row], events.shader.at(row), events.t.at(row), events.instance.at(row),
                             events.primitive.at(row), geometry, events.hit_kind.at(row), events.accepted.at(row)});
    }
  }
  return result;
}

trace::Trace traced(const reference::RenderScene& scene, const reference::TracerOptions& options) {
  MemorySink sink;
  reference::trace_scene(scene, options, &sink);
  reference::CaptureDescription description = reference::describe_capture(scene, options);
  trace::Trace trace;
  trace.header = std::move(description.header);
  trace.shaders = std::move(description.shaders);
  trace.scene = std::move(description.scene);
  trace.launches.resize(1);
  trace.launches[0].size = sink.size;
  trace.launches[0].data = std::move(sink.data);
  return trace;
}

bool same(const trace::ThreadData& a, const trace::ThreadData& b) {
  const auto& r = a.rays;
  const auto& s = b.rays;
  const auto& e = a.events;
  const auto& f = b.events;
  return same_bytes(a.ray_offset, b.ray_offset) && same_bytes(a.event_offset, b.event_offset) &&
         same_bytes(r.origin_x, s.origin_x) && same_bytes(r.origin_y, s.origin_y) &&
         same_bytes(r.origin_z, s.origin_z) && same_bytes(r.direction_x, s.direction_x) &&
         same_bytes(r.direction_y, s.direction_y) && same_bytes(r.direction_z, s.direction_z) &&
         same_bytes(r.t_min, s.t_min) && same_bytes(r.t_max, s.t_max) && same_bytes(r.flags, s.flags) &&
         same_bytes(r.cull_mask, s.cull_mask) && same_bytes(r.sbt_offset, s.sbt_offset) &&
         same_bytes(r.sbt_stride, s.sbt_stride) && same_bytes(r.miss_index, s.miss_index) &&
         same_bytes(e.kind, f.kind) && same_bytes(e.shader, f.shader) && same_bytes(e.t, f.t) &&
         same_bytes(e.instance, f.instance) && same_bytes(e.primitive, f.primitive) &&
         same_bytes(e.hit_kind, f.hit_kind) && same_bytes(e.accepted, f.accepted) && same_bytes(e.geometry, f.geometry);
}

SceneKit::SceneKit() {
  scene.name = "hand-made";
  scene.camera = {.from = {0, 0, 5}, .at = {0, 0, 0}, .up = {0, 1, 0}, .vertical_fov_degrees = 50};
}

std::uint32_t SceneKit::material(MaterialKind kind, const Vec3& color) {
  scene.materials.push_back({.name = "m" + std::to_string(scene.materials.size()), .kind = kind, .color = color});
  scene.materials.back().fuzz = 0.1F;
  return static_cast<std::uint32_t>(scene.materials.size() - 1);
}

std::uint32_t SceneKit::perforated(std::uint32_t cells) {
  reference::Texture texture{cells, cells, {}};
  for (std::uint32_t row = 0; row < cells; ++row) {
    for (std::uint32_t column = 0; column < cells; ++column) {
      const std::uint8_t alpha = (row + column) % 2 == 0 ? 255 : 0;
      texture.rgba.insert(texture.rgba.end(), {200, 180, 100, alpha});
    }
  }
  scene.textures.push_back(std::move(texture));
  const std::uint32_t id = material(MaterialKind::Diffuse, {1, 1, 1});
  scene.materials[id].texture = static_cast<std::uint32_t>(scene.textures.size() - 1);
  return id;
}

void SceneKit::place(const Transform& transform, std::uint8_t flags) {
  const auto geometries = static_cast<std::uint32_t>(scene.geometries.size());
  const auto blases = static_cast<std::uint32_t>(scene.blases.size());
  scene.blases.push_back({geometries - 1, 1});
  trace::Instance instance;
  as_transform(instance.transform) = transform;
  instance.blas = blases;
  instance.flags = flags;
  scene.instances.push_back(instance);
}

void SceneKit::add_spheres(const std::vector<float>& spheres, std::uint32_t material, bool opaque,
                           const Transform& transform, std::uint8_t flags) {
  reference::SceneGeometry geometry;
  geometry.geometry.type = trace::GeometryType::Boxes;
  geometry.geometry.opaque = opaque;
  for (std::size_t i = 0; i < spheres.size(); i += 4) {
    for (const float sign : {-1.0F, 1.0F}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        geometry.geometry.boxes.push_back(std::nextafter(spheres[i + axis] + sign * spheres[i + 3], sign * 1e30F));
      }
    }
  }
  geometry.spheres = spheres;
  geometry.material = {material};
  scene.geometries.push_back(std::move(geometry));
  place(transform, flags);
}

void SceneKit::add_square(std::uint32_t material, bool opaque, const Transform& transform, std::uint8_t flags) {
  reference::SceneGeometry geometry;
  geometry.geometry.opaque = opaque;
  geometry.geometry.vertices = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
  geometry.geometry.indices = {0, 1, 2, 0, 2, 3};
  geometry.uvs = {0, 0, 1, 0, 1, 1, 0, 1};
  geometry.material = {material};
  scene.geometries.push_back(std::move(geometry));
  place(transform, flags);
}

void SceneKit::add_triangles(const std::vector<float>& corners, std::uint32_t material, bool opaque,
                             const Transform& transform, std::uint8_t flags) {
  reference::SceneGeometry geometry;
  geometry.geometry.opaque = opaque;
  geometry.geometry.vertices.assign(corners.begin(), corners.end());
  for (std::uint32_t i = 0; i < corners.size() / 3; ++i) {
    geometry.geometry.indices.push_back(i);
  }
  geometry.material = {material};
  scene.geometries.push_back(std::move(geometry));
  place(transform, flags);
}

reference::RenderScene sphere_cloud(std::uint32_t count, std::uint64_t seed) {
  SceneKit kit;
  reference::Random random(seed, 0);
  const std::uint32_t materials[] = {kit.material(MaterialKind::Diffuse), kit.material(MaterialKind::Metal),
                                     kit.material(MaterialKind::Dielectric, {1, 1, 1})};
  for (std::uint32_t i = 0; i < count; ++i) {
    const float x = 2 * random.symmetric();
    const float y = 2 * random.symmetric();
    const float z = 2 * random.symmetric();
    kit.add_spheres({x, y, z, 0.1F + 0.4F * random.uniform()}, materials[i % 3]);
  }
  return kit.scene;
}

reference::RenderScene mixed_scene(std::uint64_t seed) {
  using reference::compose;
  using reference::rotation_x;
  using reference::rotation_y;
  using reference::scaling;
  using reference::translation;
  SceneKit kit;
  reference::Random random(seed, 0);
  const std::uint32_t plain = kit.material(MaterialKind::Diffuse);
  const std::uint32_t holes = kit.perforated(6);
  const std::uint32_t metal = kit.material(MaterialKind::Metal);
  const std::uint32_t lamp = kit.material(MaterialKind::Emissive, {4, 4, 3});
  const auto sphere_row = [&](std::size_t count) {
    std::vector<float> spheres;
    for (std::size_t i = 0; i < count; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        spheres.push_back(random.symmetric());
      }
      spheres.push_back(0.1F + 0.2F * random.uniform());
    }
    return spheres;
  };
  std::vector<float> soup;
  for (int i = 0; i < 40; ++i) {
    const Vec3 centre = random.in_unit_sphere();
    for (int corner = 0; corner < 3; ++corner) {
      const Vec3 p = centre + random.in_unit_sphere() * 0.4F;
      soup.insert(soup.end(), {p.x(), p.y(), p.z()});
    }
  }
  kit.add_spheres(sphere_row(12), plain, true,
                  compose(compose(translation({-1, 0, 0}), rotation_x(0.5)), scaling({1, 1.5F, 0.7F})));
  kit.add_spheres(sphere_row(5), holes, false, compose(translation({1.2F, 0.4F, 0.5F}), scaling({1, -1, 1})));
  kit.add_spheres({1, -1, 1, 0.3F}, lamp);
  kit.add_square(holes, false, compose(translation({0, 0, 2}), rotation_y(0.4)));
  kit.add_square(holes, false,
                 compose(compose(translation({0.3F, 0.2F, 1}), rotation_y(2.9)), scaling({1.4F, 1.2F, 1})));
  kit.add_triangles(soup, metal, true,
                    compose(compose(translation({0.4F, -0.6F, 0}), rotation_y(1.1)), scaling({-1.3F, 1, 1})));
  kit.add_square(plain, true, compose(compose(translation({0, -2, 0}), rotation_x(-1.5707963)), scaling({4, 4, 1})));
  // A second instance of the sphere row, and one structure that holds the soup twice: opaque metal, perforated.
  kit.scene.instances.push_back(kit.scene.instances.front());
  as_transform(kit.scene.instances.back().transform) =
      compose(translation({0.5F, 1, -1}), scaling({0.5F, 0.5F, -0.5F}));
  reference::SceneGeometry copy = kit.scene.geometries.at(5);
  kit.scene.geometries.push_back(copy);
  copy.geometry.opaque = false;
  for (float& coordinate : copy.geometry.vertices) {
    coordinate += 0.1F;
  }
  copy.material = {holes};
  kit.scene.geometries.push_back(std::move(copy));
  kit.scene.blases.push_back({static_cast<std::uint32_t>(kit.scene.geometries.size() - 2), 2});
  trace::Instance both;
  both.blas = static_cast<std::uint32_t>(kit.scene.blases.size() - 1);
  as_transform(both.transform) = compose(translation({-0.8F, 1, 1}), rotation_x(0.3));
  kit.scene.instances.push_back(both);
  return kit.scene;
}

reference::TracerOptions small_options() {
  reference::TracerOptions options;
  options.width = 48;
  options.height = 32;
  options.samples = 2;
  options.depth = 6;
  options.seed = 7;
  options.batch_threads = 100;
  return options;
}

}  // namespace rayreplay::test
