#include "capture/reference/shader_table.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace rayreplay::reference {
namespace {

constexpr unsigned kForceOpaque = 4;    // VK_GEOMETRY_INSTANCE_FORCE_OPAQUE_BIT_KHR
constexpr unsigned kForceNoOpaque = 8;  // VK_GEOMETRY_INSTANCE_FORCE_NO_OPAQUE_BIT_KHR

/// A hit group before its shaders have ids.
struct Wanted {
  bool intersection = false;
  bool any_hit = false;
  bool closest_hit = false;
};

constexpr std::size_t kTypes = 2;
constexpr std::size_t kMaxGroups = kMaterialKinds * kTypes;

std::size_t group_of(const RenderScene& scene, const SceneGeometry& geometry, HitGroups groups) {
  if (groups == HitGroups::Single) {
    return 0;
  }
  const auto kind = static_cast<std::size_t>(scene.materials.at(geometry.material.at(0)).kind);
  return kind * kTypes + static_cast<std::size_t>(geometry.geometry.type);
}

std::string group_name(std::size_t group, HitGroups groups, const std::array<Wanted, kMaxGroups>& wanted) {
  if (groups == HitGroups::Single) {
    return "any material";
  }
  const std::size_t kind = group / kTypes;
  const bool both = wanted.at(kind * kTypes).closest_hit && wanted.at(kind * kTypes + 1).closest_hit;
  const std::string name = to_string(static_cast<MaterialKind>(kind));
  return both ? name + (group % kTypes == 0 ? " triangles" : " spheres") : name;
}

/// A record of the binding table is chosen by offset + geometry · stride; here the offset and stride are chosen.
void fill_offsets(ShaderTable& table, const RenderScene& scene, const std::vector<std::size_t>& record_group) {
  bool one_group_each = true;
  for (const auto& blas : scene.blases) {
    for (std::uint32_t i = 1; i < blas.geometry_count; ++i) {
      one_group_each &= record_group[blas.first_geometry] == record_group[blas.first_geometry + i];
    }
  }
  table.sbt_stride = one_group_each ? 0 : 1;
  for (const auto& instance : scene.instances) {
    const std::uint32_t first = scene.blases.at(instance.blas).first_geometry;
    table.hit_group_offset.push_back(one_group_each ? static_cast<std::uint32_t>(record_group[first]) : first);
  }
}

}  // namespace

bool is_opaque(const trace::Instance& instance, const trace::Geometry& geometry) {
  if ((instance.flags & kForceOpaque) != 0) {
    return true;
  }
  return (instance.flags & kForceNoOpaque) == 0 && geometry.opaque;
}

const char* to_string(MaterialKind kind) {
  static constexpr std::array<const char*, kMaterialKinds> kNames{"diffuse", "metal", "dielectric", "emissive"};
  return kNames.at(static_cast<std::size_t>(kind));
}

ShaderTable make_shader_table(const RenderScene& scene, HitGroups groups, bool shadow_rays,
                              const std::string& ray_generation_name) {
  ShaderTable table;
  std::array<Wanted, kMaxGroups> wanted;
  std::vector<std::size_t> group_ids;
  for (const auto& geometry : scene.geometries) {
    group_ids.push_back(group_of(scene, geometry, groups));
    Wanted& group = wanted.at(group_ids.back());
    group.closest_hit = true;
    group.intersection |= geometry.geometry.type == trace::GeometryType::Boxes;
  }
  for (const auto& instance : scene.instances) {
    const auto& blas = scene.blases.at(instance.blas);
    table.several_geometries |= blas.geometry_count > 1;
    for (std::uint32_t i = 0; i < blas.geometry_count; ++i) {
      const std::size_t geometry = blas.first_geometry + std::size_t{i};
      if (!is_opaque(instance, scene.geometries.at(geometry).geometry)) {
        wanted.at(group_ids[geometry]).any_hit = true;
        table.all_opaque = false;
      }
    }
  }

  const auto add = [&](trace::ShaderStage stage, std::string name) {
    table.shaders.push_back({stage, "main", std::move(name), {}});
    return static_cast<std::uint16_t>(table.shaders.size() - 1);
  };
  table.ray_generation = add(trace::ShaderStage::RayGeneration, ray_generation_name);
  std::array<ShaderTable::HitGroup, kMaxGroups> made;
  const auto add_stage = [&](trace::ShaderStage stage, bool Wanted::*needed, std::uint16_t ShaderTable::HitGroup::*id,
                             const std::string& prefix) {
    for (std::size_t group = 0; group < kMaxGroups; ++group) {
      if (wanted.at(group).*needed) {
        made.at(group).*id = add(stage, prefix + group_name(group, groups, wanted));
      }
    }
  };
  using HitGroup = ShaderTable::HitGroup;
  add_stage(trace::ShaderStage::Intersection, &Wanted::intersection, &HitGroup::intersection, "sphere test, ");
  add_stage(trace::ShaderStage::AnyHit, &Wanted::any_hit, &HitGroup::any_hit, "alpha test, ");
  add_stage(trace::ShaderStage::ClosestHit, &Wanted::closest_hit, &HitGroup::closest_hit, "shading, ");
  table.miss = add(trace::ShaderStage::Miss, "sky");
  if (shadow_rays) {
    table.shadow_miss = add(trace::ShaderStage::Miss, "unoccluded");
  }

  table.groups.reserve(group_ids.size());
  for (const std::size_t group : group_ids) {
    table.groups.push_back(made.at(group));
  }
  std::array<std::size_t, kMaxGroups> record{};
  std::size_t records = 0;
  for (std::size_t group = 0; group < kMaxGroups; ++group) {
    record.at(group) = records;
    records += wanted.at(group).closest_hit ? 1U : 0U;
  }
  std::vector<std::size_t> record_group;
  record_group.reserve(group_ids.size());
  for (const std::size_t group : group_ids) {
    record_group.push_back(record.at(group));
  }
  fill_offsets(table, scene, record_group);
  return table;
}

}  // namespace rayreplay::reference
