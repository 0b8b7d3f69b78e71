#include "kernels/traversal/bvh_on_device.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "base/registry.hpp"
#include "bvh/layouts/compressed_wide_8.hpp"
#include "kernels/traversal/records.h"
#include "kernels/traversal/self_check.hpp"

namespace rayreplay::kernels {
namespace {

using namespace traversal;

constexpr std::uint64_t kBoundary = 256;
constexpr std::uint32_t kMaxStack = 4096;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kBoundary - 1) / kBoundary * kBoundary;
}

/// Properties of one level that decide on the kernel.
struct LevelFacts {
  std::uint32_t most_references = 0;  ///< of a leaf
  std::uint32_t most_waiting = 0;     ///< entries on the stack
  bool planes_in_range = true;
};

LevelFacts examine(const bvh::Layout& layout, const bvh::Level& level, bool compressed) {
  LevelFacts facts;
  if (level.empty()) {
    return facts;
  }
  struct Step {
    std::uint32_t record;
    std::uint32_t waiting;
  };
  // 255 steps of 2^(246 − 127) are still a float.
  constexpr std::uint8_t kLastExponent = 246;
  std::vector<Step> steps{{0, 0}};
  std::array<bvh::ChildView, bvh::kMaxWidth> children;
  while (!steps.empty()) {
    const Step step = steps.back();
    steps.pop_back();
    const std::size_t count = layout.decode(level, step.record, children);
    const std::uint32_t waiting = step.waiting + static_cast<std::uint32_t>(count > 0 ? count - 1 : 0);
    facts.most_waiting = std::max(facts.most_waiting, waiting);
    for (std::size_t i = 0; i < count; ++i) {
      facts.most_references = std::max(facts.most_references, children[i].count);
      if (children[i].count == 0) {
        steps.push_back({children[i].index, waiting});
      }
    }
    if (compressed) {
      for (const std::uint8_t exponent : bvh::compressed_wide_8_node(level, step.record).exponent) {
        facts.planes_in_range = facts.planes_in_range && exponent <= kLastExponent;
      }
    }
  }
  return facts;
}

std::vector<PrimitiveRecord> gather_primitives(const bvh::PreparedScene& scene, std::uint32_t blas,
                                               const bvh::Level& level) {
  std::vector<PrimitiveRecord> records(level.references.size());
  constexpr std::size_t kGrain = 8192;
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, records.size(), kGrain), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) {
      const auto [index, primitive] = scene.locate(blas, level.references[i]);
      const trace::Geometry& geometry = scene.geometry(blas, index);
      PrimitiveRecord& record = records[i];
      record = {};
      record.primitive = primitive;
      record.geometry = index | (geometry.opaque ? RAYREPLAY_GEOMETRY_OPAQUE : 0U);
      if (geometry.type == trace::GeometryType::Boxes) {
        record.geometry |= RAYREPLAY_GEOMETRY_BOX;
        const float* box = &geometry.boxes[std::size_t{primitive} * 6];
        std::memcpy(&record.a_x, box, 3 * sizeof(float));
        std::memcpy(&record.b_x, box + 3, 3 * sizeof(float));
        continue;
      }
      const std::uint32_t* corner = &geometry.indices[std::size_t{primitive} * 3];
      std::memcpy(&record.a_x, &geometry.vertices[std::size_t{corner[0]} * 3], 3 * sizeof(float));
      std::memcpy(&record.b_x, &geometry.vertices[std::size_t{corner[1]} * 3], 3 * sizeof(float));
      std::memcpy(&record.c_x, &geometry.vertices[std::size_t{corner[2]} * 3], 3 * sizeof(float));
    }
  });
  return records;
}

InstanceRecord instance_record(const bvh::PreparedScene& scene, std::uint32_t instance) {
  const bvh::SceneInstance& prepared = scene.instances[instance];
  const trace::Instance& source = scene.source(instance);
  InstanceRecord record{};
  Eigen::Map<Transformd>(record.to_object) = prepared.to_object;
  Eigen::Map<Vec3>(record.world) = prepared.world.low;
  Eigen::Map<Vec3>(record.world + 3) = prepared.world.high;
  record.blas = prepared.blas;
  record.bits = std::uint32_t{source.mask} | std::uint32_t{source.flags} << 8U | (prepared.identity ? 1U << 16U : 0U);
  return record;
}

}  // namespace

struct BvhOnDevice::OnOne {
  std::mutex mutex;
  bool checked = false;
  bool uploaded = false;
  bool with_logs = false;
  Buffer nodes, primitives, references, instances, levels, scene;
  Buffer geometries, indices;
  SceneRecord record{};
};

BvhOnDevice::BvhOnDevice(const bvh::Bvh& bvh) : bvh_(&bvh) {
  const std::string name = parse_spec(bvh.layout_spec).name;
  if (name == "binary") {
    nodes_ = NodeKind::Binary;
  } else if (name == "wide-8") {
    nodes_ = NodeKind::Wide8;
  } else if (name == "compressed-wide-8") {
    nodes_ = NodeKind::Compressed8;
  } else {
    unfit_ = fmt::format("layout {} has no kernel; binary, wide-8 and compressed-wide-8 have", name);
    return;
  }
  std::vector<LevelFacts> facts(bvh.bottoms.size() + 1);
  const auto level_of = [&](std::size_t i) -> const bvh::Level& { return i == 0 ? bvh.top : bvh.bottoms[i - 1]; };
  tbb::parallel_for(std::size_t{0}, facts.size(), [&](std::size_t i) {
    facts[i] = examine(*bvh.layout, level_of(i), nodes_ == NodeKind::Compressed8);
  });
  std::uint32_t most_references = 0;
  std::uint32_t bottom_waiting = 0;
  std::uint64_t largest = 0;
  bool in_range = true;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    most_references = std::max(most_references, facts[i].most_references);
    bottom_waiting = std::max(bottom_waiting, i == 0 ? 0 : facts[i].most_waiting);
    largest = std::max({largest, std::uint64_t{level_of(i).node_count}, std::uint64_t{level_of(i).references.size()}});
    in_range = in_range && facts[i].planes_in_range;
  }
  most_waiting_ = facts[0].most_waiting + bottom_waiting;
  // Equal for all structures that do not need every bit, so that they share pipelines.
  count_bits_ = nodes_ == NodeKind::Compressed8 ? 2 : 6;
  if (largest >= std::uint64_t{1} << (32U - count_bits_)) {
    count_bits_ = std::max(1U, static_cast<std::uint32_t>(std::bit_width(most_references)));
  }
  if (largest >= std::uint64_t{1} << (32U - count_bits_)) {
    unfit_ = fmt::format("a structure has {} nodes or references, more than the kernels can number", largest);
  } else if (most_waiting_ > kMaxStack) {
    unfit_ = fmt::format("the structure is so deep that {} entries may wait on a stack", most_waiting_);
  } else if (!in_range) {
    unfit_ = "a node's grid leaves the range of floats";
  }
  for (const bvh::SceneBlas& blas : bvh.scene.blases) {
    if (blas.geometry_count > RAYREPLAY_GEOMETRY_INDEX) {
      unfit_ = "a structure has 2^30 geometries or more";
    }
  }
}

BvhOnDevice::~BvhOnDevice() = default;

BvhOnDevice::OnOne& BvhOnDevice::place_for(Device& device) const {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<OnOne>& place = devices_[&device];
  if (place == nullptr) {
    place = std::make_unique<OnOne>();
  }
  return *place;
}

std::uint64_t BvhOnDevice::on(Device& device, Stream& stream, bool for_logs) const {
  OnOne& one = place_for(device);
  const std::lock_guard lock(one.mutex);
  if (!one.checked) {
    require_exact_numbers(device);
    one.checked = true;
  }
  const bvh::Bvh& bvh = *bvh_;
  const bvh::PreparedScene& scene = bvh.scene;
  if (!one.uploaded) {
    std::uint64_t node_bytes = aligned(bvh.top.nodes.size());
    std::uint64_t primitives = 0;
    for (const bvh::Level& level : bvh.bottoms) {
      node_bytes += aligned(level.nodes.size());
      primitives += level.references.size();
    }
    one.nodes = device.allocate(node_bytes, "the nodes of the acceleration structures");
    one.primitives = device.allocate_array<PrimitiveRecord>(primitives, "the primitives of the leaves");
    one.references = device.allocate_array<std::uint32_t>(bvh.top.references.size(), "the references to instances");
    one.instances = device.allocate_array<InstanceRecord>(scene.instances.size(), "the instances");
    one.levels = device.allocate_array<LevelRecord>(bvh.bottoms.size(), "the acceleration structures");
    one.scene = device.allocate(sizeof(SceneRecord), "the scene");
    stream.upload_array(one.nodes, bvh.top.nodes);
    std::uint64_t node_at = aligned(bvh.top.nodes.size());
    std::uint64_t primitive_at = 0;
    std::vector<LevelRecord> levels(bvh.bottoms.size());
    for (std::uint32_t blas = 0; blas < bvh.bottoms.size(); ++blas) {
      const bvh::Level& level = bvh.bottoms[blas];
      levels[blas] = {one.nodes.address() + node_at, one.primitives.address() + primitive_at * sizeof(PrimitiveRecord),
                      bvh.memory.bottom_nodes[blas], scene.blases[blas].first_geometry, 0};
      if (level.empty()) {
        continue;
      }
      stream.upload(one.nodes, std::as_bytes(std::span(level.nodes)), node_at);
      stream.upload_array(one.primitives, gather_primitives(scene, blas, level), primitive_at);
      node_at += aligned(level.nodes.size());
      primitive_at += level.references.size();
    }
    std::vector<InstanceRecord> instances(scene.instances.size());
    for (std::uint32_t i = 0; i < instances.size(); ++i) {
      instances[i] = instance_record(scene, i);
    }
    stream.upload_array(one.references, bvh.top.references);
    stream.upload_array(one.instances, instances);
    stream.upload_array(one.levels, levels);
    one.record = {.top_nodes = one.nodes.address(),
                  .top_references = one.references.address(),
                  .memory_top_nodes = bvh.memory.top_nodes,
                  .instances = one.instances.address(),
                  .memory_instances = bvh.memory.instances,
                  .levels = one.levels.address(),
                  .geometries = 0,
                  .top_empty = bvh.top.empty() ? 1U : 0U,
                  .own_boxes = bvh.own_boxes ? 1U : 0U};
    stream.upload(one.scene, std::as_bytes(std::span(&one.record, 1)));
    // If the caller's next request fails, it drops its stream with the recorded upload; the structure must be complete
    // by then.
    stream.wait();
    one.uploaded = true;
  }
  if (for_logs && !one.with_logs) {
    const auto& geometries = scene.scene->geometries;
    // A geometry without a place in memory belongs to no structure in use.
    std::vector<bool> used(geometries.size());
    std::uint64_t words = 0;
    for (std::size_t blas = 0; blas < bvh.bottoms.size(); ++blas) {
      for (std::uint32_t g = 0; g < scene.blases[blas].geometry_count && !bvh.bottoms[blas].empty(); ++g) {
        const std::size_t row = scene.blases[blas].first_geometry + std::size_t{g};
        words += used[row] ? 0 : geometries[row].indices.size() + bvh.memory.geometries[row].vertex_place.size();
        used[row] = true;
      }
    }
    one.indices = device.allocate_array<std::uint32_t>(words, "the indices of the triangles");
    one.geometries = device.allocate_array<GeometryRecord>(geometries.size(), "the geometries");
    std::vector<GeometryRecord> records(geometries.size());
    std::uint64_t word = 0;
    const auto put = [&](const auto& values) {
      stream.upload_array(one.indices, std::span<const std::uint32_t>(values), word);
      const std::uint64_t address = one.indices.address() + word * sizeof(std::uint32_t);
      word += values.size();
      return address;
    };
    for (std::size_t row = 0; row < geometries.size(); ++row) {
      const bvh::GeometryMemory& memory = bvh.memory.geometries[row];
      records[row] = {0, 0, memory.indices, memory.vertices, memory.boxes};
      if (used[row]) {
        records[row].indices = put(geometries[row].indices);
        records[row].places = memory.vertex_place.empty() ? 0 : put(memory.vertex_place);
      }
    }
    stream.upload_array(one.geometries, records);
    one.record.geometries = one.geometries.address();
    stream.upload(one.scene, std::as_bytes(std::span(&one.record, 1)));
    stream.wait();
    one.with_logs = true;
  }
  return one.scene.address();
}

}  // namespace rayreplay::kernels
