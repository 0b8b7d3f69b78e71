#include "sim/memory/streams/launch_memory.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint64_t kBoundary = 256;
constexpr const char* kSource = "access streams";

class Table {
 public:
  explicit Table(Allocations& allocations) : allocations_(&allocations) {}

  /// At a given address; empty arrays get no allocation.
  void place(std::string name, DataKind kind, std::uint64_t start, std::uint64_t bytes, std::uint32_t element_bytes,
             std::uint32_t subject = kNoAllocation) {
    if (bytes > 0) {
      Allocation row;
      row.name = std::move(name);
      row.kind = kind;
      row.start = start;
      row.bytes = bytes;
      row.element_bytes = element_bytes;
      row.subject = subject;
      allocations_->add(std::move(row), kSource);
    }
  }
  /// After all earlier allocations.
  LaunchArray append(const char* name, DataKind kind, std::uint64_t records, std::uint64_t record_bytes) {
    if (records == 0 || record_bytes == 0) {
      return {};
    }
    const std::uint64_t start = (std::max(end_, allocations_->end()) + kBoundary - 1) / kBoundary * kBoundary;
    place(name, kind, start, records * record_bytes, static_cast<std::uint32_t>(record_bytes));
    return {start, records, allocations_->rows().back().first_element};
  }
  void set_end(std::uint64_t end) {
    end_ = end;
  }

 private:
  Allocations* allocations_;
  std::uint64_t end_ = 0;
};

void place_structure(const bvh::Bvh& structure, Table& table) {
  const bvh::MemoryMap& map = structure.memory;
  const trace::Scene& scene = *structure.scene.scene;
  table.place("top nodes", DataKind::Node, map.top_nodes, structure.top.nodes.size(), structure.traits.node_bytes);
  table.place("instances", DataKind::Instance, map.instances,
              structure.scene.instances.size() * std::uint64_t{bvh::kInstanceBytes}, bvh::kInstanceBytes);
  std::vector<bool> placed(scene.geometries.size());
  for (std::uint32_t blas = 0; blas < structure.bottoms.size(); ++blas) {
    if (structure.bottoms[blas].empty()) {
      continue;
    }
    table.place(fmt::format("blas {} nodes", blas), DataKind::Node, map.bottom_nodes[blas],
                structure.bottoms[blas].nodes.size(), structure.traits.node_bytes, blas);
    for (std::uint32_t g = 0; g < structure.scene.blases[blas].geometry_count; ++g) {
      const std::uint32_t row = structure.scene.blases[blas].first_geometry + g;
      if (placed[row]) {
        continue;
      }
      placed[row] = true;
      const trace::Geometry& geometry = scene.geometries[row];
      const bvh::GeometryMemory& memory = map.geometries[row];
      if (geometry.type == trace::GeometryType::Boxes) {
        table.place(fmt::format("geometry {} boxes", row), DataKind::Box, memory.boxes,
                    geometry.primitives() * bvh::kBoxBytes, bvh::kBoxBytes, row);
      } else {
        table.place(fmt::format("geometry {} indices", row), DataKind::Index, memory.indices,
                    geometry.primitives() * bvh::kIndexBytes, bvh::kIndexBytes, row);
        table.place(fmt::format("geometry {} vertices", row), DataKind::Vertex, memory.vertices,
                    geometry.vertices.size() / 3 * bvh::kVertexBytes, bvh::kVertexBytes, row);
      }
    }
  }
  table.set_end(map.end);
}

template <class Values>
std::uint64_t largest(const Values& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

/// Number of records of each region of the shader binding table.
std::array<std::uint64_t, 4> count_records(const trace::Trace& trace, const trace::Launch& launch,
                                           const bvh::Bvh& structure) {
  std::array<std::uint64_t, 4> records{1, 0, 0, 0};
  for (const trace::ShaderRecord& record : launch.shader_table) {
    std::uint64_t& count = records[static_cast<std::size_t>(record.region)];
    count = std::max(count, std::uint64_t{record.index} + 1);
  }
  const trace::Rays& rays = launch.data.rays;
  if (rays.size() == 0) {
    return records;
  }
  std::uint64_t& misses = records[static_cast<std::size_t>(trace::TableRegion::Miss)];
  misses = std::max(misses, largest(rays.miss_index) + 1);
  const std::uint64_t stride = std::min<std::uint64_t>(largest(rays.sbt_stride), 15);
  std::uint64_t& hits = records[static_cast<std::size_t>(trace::TableRegion::Hit)];
  for (std::uint32_t i = 0; i < structure.scene.instances.size(); ++i) {
    const trace::Instance& instance = structure.scene.source(i);
    const std::uint64_t geometries = std::max(trace.scene.blases[instance.blas].geometry_count, 1U);
    hits = std::max(hits, instance.hit_group_offset + stride * (geometries - 1) +
                              std::min<std::uint64_t>(largest(rays.sbt_offset), 15) + 1);
  }
  std::uint64_t& callables = records[static_cast<std::size_t>(trace::TableRegion::Callable)];
  const bool calls =
      std::ranges::find(launch.data.events.kind, trace::EventKind::Callable) != launch.data.events.kind.end();
  if (calls) {
    // The record of a call is not in the trace: assumes one for each shader (launch_source.hpp).
    callables = std::max<std::uint64_t>(callables, trace.shaders.size());
  }
  return records;
}

/// Maximum stack entries below the root of a level.
std::uint32_t most_entries(const bvh::Layout& layout, const bvh::Level& level) {
  if (level.empty()) {
    return 0;
  }
  struct Visit {
    std::uint32_t record;
    std::uint32_t waiting;
  };
  std::uint32_t most = 1;  // the root itself
  std::vector<Visit> visits{{0, 0}};
  std::array<bvh::ChildView, bvh::kMaxWidth> children;
  while (!visits.empty()) {
    const Visit visit = visits.back();
    visits.pop_back();
    const auto count = static_cast<std::uint32_t>(layout.decode(level, visit.record, children));
    most = std::max(most, visit.waiting + count);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (children[i].count == 0) {
        visits.push_back({children[i].index, visit.waiting + count - 1});
      }
    }
  }
  return most;
}

void place_queues(const scheduler::QueuePlaces& queues, Table& table, LaunchMemory& memory) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31U;
  if (queues.places() > kMostBytes / queues.entry_bytes()) {
    throw Error(ErrorKind::Resource, {"a queue of the scheduler model is too large", kSource,
                                      fmt::format("{} entries of {} bytes", queues.places(), queues.entry_bytes()),
                                      fmt::format("at most {} bytes", kMostBytes), "set queue_bytes to less"});
  }
  memory.queue_stride = (queues.places() * queues.entry_bytes() + kBoundary - 1) / kBoundary * kBoundary;
  memory.queues = table.append("queues", DataKind::Queue, queues.queues(), memory.queue_stride);
  memory.queue_counters = table.append("queue counters", DataKind::Queue, queues.queues(), kCounterBytes);
}

}  // namespace

std::uint32_t most_stack_entries(const bvh::Bvh& structure) {
  std::uint32_t bottom = 0;
  for (const bvh::Level& level : structure.bottoms) {
    bottom = std::max(bottom, most_entries(*structure.layout, level));
  }
  return most_entries(*structure.layout, structure.top) + bottom;
}

LaunchMemory map_launch(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
                        const LaunchWork& work, const StreamOptions& options) {
  const std::uint64_t warps = work.thread_at.size() / options.warp_size;
  const std::uint32_t state_bytes = work.has_states() ? work.state_bytes : 0;
  LaunchMemory memory;
  Table table(memory.allocations);
  place_structure(structure, table);
  const std::array<std::uint64_t, 4> records = count_records(trace, launch, structure);
  const auto region = [&](const char* name, trace::TableRegion which) {
    return table.append(name, DataKind::ShaderRecord, records[static_cast<std::size_t>(which)], options.record_bytes);
  };
  memory.ray_generation = region("ray-generation records", trace::TableRegion::RayGeneration);
  memory.miss = region("miss records", trace::TableRegion::Miss);
  memory.hit = region("hit records", trace::TableRegion::Hit);
  memory.callable = region("callable records", trace::TableRegion::Callable);
  memory.payloads =
      table.append("payloads", DataKind::Payload, warps, std::uint64_t{options.payload_bytes} * options.warp_size);
  if (options.stack_entries > 0) {
    const std::uint32_t most = most_stack_entries(structure);
    memory.spilled_entries = most - std::min(most, options.stack_entries);
    memory.stacks =
        table.append("stacks", DataKind::Stack, warps,
                     std::uint64_t{memory.spilled_entries} * traversal::kStackEntryBytes * options.warp_size);
  }
  memory.frame_buffer = table.append("frame buffer", DataKind::FrameBuffer, launch.size.threads(), options.pixel_bytes);
  memory.states = table.append("states", DataKind::State, warps, std::uint64_t{state_bytes} * options.warp_size);
  if (work.queues != nullptr) {
    place_queues(*work.queues, table, memory);
  }
  if (options.shader_accesses) {
    memory.shaders.emplace(trace, launch, memory.allocations);
    memory.images.emplace(trace, launch, options.image_layout, memory.allocations);
  }
  return memory;
}

ElementFinder::ElementFinder(const Allocations& allocations, const bvh::Bvh& structure)
    : row_of_page_((structure.memory.end + kPage - 1) / kPage, 0) {
  const std::uint64_t end = structure.memory.end;
  for (const Allocation& allocation : allocations.rows()) {
    if (allocation.start >= end) {
      continue;
    }
    const std::uint64_t last = (allocation.start + allocation.bytes - 1) / kPage;
    std::fill(row_of_page_.begin() + static_cast<std::ptrdiff_t>(allocation.start / kPage),
              row_of_page_.begin() + static_cast<std::ptrdiff_t>(last) + 1, static_cast<std::uint32_t>(rows_.size()));
    rows_.push_back({allocation.start, ~std::uint64_t{0} / allocation.element_bytes + 1, allocation.first_element});
  }
  if (structure.traits.holds_primitives) {
    counted_.resize(allocations.elements());
    std::iota(counted_.begin(), counted_.end(), 0U);
    count_leaves(structure, bvh::LeafSource::kTop);
    for (std::uint32_t blas = 0; blas < structure.bottoms.size(); ++blas) {
      count_leaves(structure, blas);
    }
  }
}

void ElementFinder::count_leaves(const bvh::Bvh& structure, std::uint32_t blas) {
  const bool top = blas == bvh::LeafSource::kTop;
  const bvh::Level& level = top ? structure.top : structure.bottoms[blas];
  const bvh::MemoryMap& map = structure.memory;
  const auto address_of = [&](std::uint32_t reference) {
    if (top) {
      return map.instances + std::uint64_t{reference} * bvh::kInstanceBytes;
    }
    const auto [index, primitive] = structure.scene.locate(blas, reference);
    const std::size_t row = structure.scene.blases[blas].first_geometry + std::size_t{index};
    return structure.scene.scene->geometries[row].type == trace::GeometryType::Boxes
               ? map.geometries[row].boxes + std::uint64_t{primitive} * bvh::kBoxBytes
               : map.geometries[row].indices + std::uint64_t{primitive} * bvh::kIndexBytes;
  };
  std::vector<std::uint32_t> open(level.empty() ? 0 : 1, 0);
  std::array<bvh::ChildView, bvh::kMaxWidth> children;
  while (!open.empty()) {
    const std::size_t count = structure.layout->decode(level, open.back(), children);
    open.pop_back();
    for (const bvh::ChildView& child : std::span(children).first(count)) {
      if (child.count == 0) {
        open.push_back(child.index);
      } else {
        const std::uint64_t nodes = top ? map.top_nodes : map.bottom_nodes[blas];
        counted_[element(nodes + std::uint64_t{child.block} * level.node_bytes)] =
            element(address_of(level.references[child.index]));
      }
    }
  }
}

}  // namespace rayreplay::memory
