// The memory of a rebuilt structure as the bytes that a GPU would read, with the rays of a launch, for tracer.cu.
//
//   memory_image TRACE.rrt OUT.bin [BUILDER [VERTEX_ORDER [PACKING]]]
//
// The rays are in row-major order, or, with a packing, in the order of warps and lanes that it gives (launch order
// linear, warps of 32).
//
// For launches of one ray a thread through one untransformed instance of one triangle geometry. Layout binary,
// depth-first, one primitive a leaf: a leaf's index is its primitive, so no list of references is read. Prints the
// offset of each array. Exit codes: 0, or 2 for other traces.
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "bvh/bvh.hpp"
#include "bvh/layouts/binary.hpp"
#include "capture/trace/reader.hpp"
#include "scheduler-models/launch_order.hpp"
#include "scheduler-models/packing.hpp"
#include "traversal/traversal.hpp"
#include "validation/gpu_caches/image.hpp"

namespace {

using namespace rayreplay;

void require(bool holds, const char* what, const char* path) {
  if (!holds) {
    throw Error(ErrorKind::Input,
                {what, path, "", "one ray a thread, one instance as it is, one triangle geometry", ""});
  }
}

void put_nodes(const bvh::Level& level, std::byte* to) {
  for (std::uint32_t record = 0; record < level.node_count; ++record) {
    bvh::BinaryNode node = bvh::binary_node(level, record);
    for (std::size_t slot = 0; slot < 2; ++slot) {
      if (node.used(slot) && node.count[slot] > 0) {
        require(node.count[slot] == 1, "a leaf has several primitives", "");
        node.index[slot] = level.references[node.index[slot]];
      }
    }
    std::memcpy(to + std::size_t{record} * sizeof(node), &node, sizeof(node));
  }
}

std::vector<std::byte> memory_of(const bvh::Bvh& structure, const trace::Geometry& geometry) {
  const bvh::MemoryMap& map = structure.memory;
  std::vector<std::byte> memory(map.end);
  put_nodes(structure.top, memory.data() + map.top_nodes);
  put_nodes(structure.bottoms[0], memory.data() + map.bottom_nodes[0]);
  const std::vector<std::uint32_t>& place = map.geometries[0].vertex_place;
  const auto placed = [&](std::uint32_t vertex) { return place.empty() ? vertex : place[vertex]; };
  for (std::size_t i = 0; i < geometry.indices.size(); ++i) {
    const std::uint32_t index = placed(geometry.indices[i]);
    std::memcpy(memory.data() + map.geometries[0].indices + i * sizeof(index), &index, sizeof(index));
  }
  for (std::uint32_t vertex = 0; vertex < geometry.vertices.size() / 3; ++vertex) {
    std::memcpy(memory.data() + map.geometries[0].vertices + std::size_t{placed(vertex)} * bvh::kVertexBytes,
                &geometry.vertices[std::size_t{vertex} * 3], bvh::kVertexBytes);
  }
  return memory;
}

constexpr std::uint32_t kWarpSize = 32;

/// Threads in the order in which their rays are written.
std::vector<std::uint32_t> threads_in_order(const trace::Launch& launch, const char* packing) {
  std::vector<std::uint32_t> threads(launch.size.threads());
  std::iota(threads.begin(), threads.end(), 0U);
  if (packing != nullptr) {
    const scheduler::WarpAssignment order = scheduler::LaunchOrders::create("linear").model->assign(launch, kWarpSize);
    const scheduler::WarpAssignment packed =
        scheduler::apply(order, scheduler::Packings::create(packing).model->compute(launch, order));
    std::vector<std::uint32_t> warp_at(packed.warps());
    for (std::uint32_t warp = 0; warp < packed.warps(); ++warp) {
      warp_at[packed.start_rank[warp]] = warp;
    }
    threads.clear();
    for (const std::uint32_t warp : warp_at) {
      for (std::uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const std::uint32_t thread = packed.thread_at[std::size_t{warp} * kWarpSize + lane];
        require(thread != scheduler::kNoThread, "a warp is not full: the size is no multiple of a warp's shape", "");
        threads.push_back(thread);
      }
    }
  }
  return threads;
}

void run(const char* path, const char* out, const char* builder, const char* vertex_order, const char* packing) {
  const trace::Trace trace = trace::load(path);
  require(trace.launches.size() == 1 && trace.scene.instances.size() == 1 && trace.scene.geometries.size() == 1,
          "the trace holds more than this program knows", path);
  const trace::Launch& launch = trace.launches[0];
  const trace::Rays& rays = launch.data.rays;
  const bvh::Bvh structure =
      bvh::build_bvh(trace.scene, launch.tlas, path,
                     {.builder = builder, .layout = "binary", .vertex_order = vertex_order, .leaf_size = 1});
  require(rays.size() == launch.size.threads() && launch.size.depth == 1 && structure.scene.instances[0].identity &&
              trace.scene.geometries[0].type == trace::GeometryType::Triangles,
          "the trace is of another kind than this program knows", path);
  const std::vector<std::byte> memory = memory_of(structure, trace.scene.geometries[0]);
  std::vector<traversal::Ray> all;
  const std::vector<std::uint32_t> threads = threads_in_order(launch, packing);
  for (const std::uint32_t thread : threads) {
    all.push_back(traversal::ray_of(rays, launch.data.ray_offset[thread]));
  }
  const auto model = traversal::Traversals::create("near-first").model;
  const traversal::TraceResult traced = model->trace(structure, all);
  std::vector<std::uint32_t> hit(all.size(), trace::kNone);
  std::uint64_t nodes = 0;
  std::uint64_t triangles = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    hit[i] = traced.hits[i].found() ? traced.hits[i].primitive : trace::kNone;
    nodes += traced.counters[i].nodes;
    triangles += traced.counters[i].triangles;
  }
  const bvh::MemoryMap& map = structure.memory;
  const ImageHeader header{kImageMagic,
                           launch.size.width,
                           launch.size.height,
                           map.end,
                           map.top_nodes,
                           map.instances,
                           map.bottom_nodes[0],
                           map.geometries[0].indices,
                           map.geometries[0].vertices,
                           structure.top.nodes.size(),
                           structure.bottoms[0].nodes.size(),
                           trace.scene.geometries[0].primitives(),
                           trace.scene.geometries[0].vertices.size() / 3};
  std::ofstream file(out, std::ios::binary);
  const auto write = [&](const void* from, std::size_t bytes) {
    file.write(static_cast<const char*>(from), static_cast<std::streamsize>(bytes));
  };
  write(&header, sizeof(header));
  for (const auto* column : {&rays.origin_x, &rays.origin_y, &rays.origin_z, &rays.direction_x, &rays.direction_y,
                             &rays.direction_z, &rays.t_min, &rays.t_max}) {
    std::vector<float> sorted;
    sorted.reserve(threads.size());
    for (const std::uint32_t thread : threads) {
      sorted.push_back((*column)[launch.data.ray_offset[thread]]);
    }
    write(sorted.data(), sorted.size() * sizeof(float));
  }
  write(hit.data(), hit.size() * sizeof(std::uint32_t));
  write(memory.data(), memory.size());
  file.close();
  if (!file) {
    throw Error(ErrorKind::Output,
                {"the file cannot be written", out, "", "", "free space on that disk, or write to another one"});
  }
  fmt::print("{}: {} triangles, {} bytes, {} node visits, {} triangle tests\n", out, header.triangles, map.end, nodes,
             triangles);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 6) {
    std::fputs("usage: memory_image TRACE.rrt OUT.bin [BUILDER [VERTEX_ORDER [PACKING]]]\n", stderr);
    return 2;
  }
  try {
    run(argv[1], argv[2], argc > 3 ? argv[3] : "medium", argc > 4 ? argv[4] : "as-given", argc > 5 ? argv[5] : nullptr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "memory_image: %s\n", error.what());
    return 2;
  }
  return 0;
}
