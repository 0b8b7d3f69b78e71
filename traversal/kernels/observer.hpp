// Observers of a running traversal: counters, memory accesses, tests. Template parameters, so that unused ones cost
// nothing.
//
// Contract: one observer serves one worker; `start` begins a ray. Accesses and tests are appended to the given vectors.
// Addresses are those of bvh::MemoryMap: nodes (node_bytes) and leaf blocks are read whole; an instance is its record
// of 64 bytes, read where a leaf of the top level refers to it; a triangle test reads its index triple and three
// vertices; a box primitive its box. A layout that holds primitives (layout.hpp) has them in its leaf blocks: a leaf is
// one access of node_bytes, of kind Instance, Vertex or Box by what it is, and its tests read nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bvh/bvh.hpp"
#include "traversal/kernels/decode_kernel.hpp"
#include "traversal/ray.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

/// The nodes of a level.
struct NodeArray {
  static constexpr std::uint32_t kTop = 0xFFFF'FFFFU;

  std::uint64_t address = 0;  ///< of record 0; 0 without a log
  std::uint32_t blas = kTop;
};

template <bool kCounters, bool kAccesses, bool kTests>
class Observer {
 public:
  static constexpr bool kLogsTests = kTests;
  static constexpr bool kLogsAccesses = kAccesses;
  static constexpr bool kLogsStack = false;
  static constexpr bool kCounts = kCounters;

  explicit Observer(const bvh::Bvh& bvh, AccessRows* accesses = nullptr, std::vector<PrimitiveTest>* tests = nullptr)
      : bvh_(&bvh),
        accesses_(accesses),
        tests_(tests),
        node_bytes_(bvh.traits.node_bytes),
        holds_primitives_(bvh.traits.holds_primitives) {}

  void start() {
    if constexpr (kCounters) {
      counters_ = {};
    }
  }
  [[nodiscard]] const RayCounters& counters() const {
    return counters_;
  }

  /// A level's nodes, for `node` and `leaf`.
  [[nodiscard]] NodeArray top_nodes() const {
    return {kAccesses ? bvh_->memory.top_nodes : 0, NodeArray::kTop};
  }
  [[nodiscard]] NodeArray bottom_nodes(std::uint32_t blas) const {
    return {kAccesses ? bvh_->memory.bottom_nodes[blas] : 0, blas};
  }

  void node(const NodeArray& nodes, std::uint32_t record) {
    if constexpr (kCounters) {
      ++counters_.nodes;
    }
    touch(nodes.address, record, node_bytes_, AccessKind::Node);
  }
  void boxes(std::uint32_t count) {
    if constexpr (kCounters) {
      counters_.boxes += count;
    }
  }
  /// A leaf is entered, and its leaf block read.
  void leaf(const NodeArray& nodes, const ChildPlace& place) {
    if constexpr (kCounters) {
      ++counters_.leaves;
    }
    if constexpr (kAccesses) {
      if (place.block != bvh::kNoBlock) {
        touch(nodes.address, place.block, node_bytes_, holds_primitives_ ? content(nodes, place) : AccessKind::Node);
      }
    }
  }
  void depth(std::size_t entries) {
    if constexpr (kCounters) {
      counters_.stack_depth = std::max(counters_.stack_depth, static_cast<std::uint32_t>(entries));
    }
  }
  void restart() {
    if constexpr (kCounters) {
      ++counters_.restarts;
    }
  }
  void read_instance(std::uint32_t instance) {
    if (!holds_primitives_) {
      touch(bvh_->memory.instances, instance, bvh::kInstanceBytes, AccessKind::Instance);
    }
  }
  void enter_instance() {
    if constexpr (kCounters) {
      ++counters_.instances;
    }
  }
  /// `row`: of Scene::geometries.
  void triangle(std::size_t row, std::uint32_t primitive) {
    triangles(1);
    if constexpr (kAccesses) {
      if (!holds_primitives_) {
        TriangleMemory(*bvh_, row).put(primitive, accesses_->append(4));
      }
    }
  }
  /// Reserves rows of the log for the accesses of `count` triangles, filled by `put_triangles` when their indices have
  /// arrived from memory.
  [[nodiscard]] std::size_t keep_triangles(std::uint32_t count) {
    triangles(count);
    if constexpr (kAccesses) {
      static_cast<void>(accesses_->append(std::size_t{4} * count));
      return accesses_->size() - std::size_t{4} * count;
    }
    return 0;
  }
  void put_triangles(std::size_t place, std::size_t row, const std::uint32_t* primitives, std::uint32_t count) {
    if constexpr (kAccesses) {
      const TriangleMemory memory(*bvh_, row);
      Access* to = accesses_->data() + place;
      for (std::uint32_t i = 0; i < count; ++i, to += 4) {
        memory.put(primitives[i], to);
      }
    }
  }
  /// Counts tests only; their accesses are logged one by one.
  void triangles(std::uint32_t count) {
    if constexpr (kCounters) {
      counters_.triangles += count;
    }
  }
  void read_box(std::size_t row, std::uint32_t primitive) {
    if constexpr (kAccesses) {
      if (!holds_primitives_) {
        touch(bvh_->memory.geometries[row].boxes, primitive, bvh::kBoxBytes, AccessKind::Box);
      }
    }
  }
  void procedural() {
    if constexpr (kCounters) {
      ++counters_.procedurals;
    }
  }
  void any_hit() {
    if constexpr (kCounters) {
      ++counters_.any_hits;
    }
  }
  void test(const PrimitiveTest& row) {
    if constexpr (kTests) {
      tests_->push_back(row);
    }
  }

 protected:
  [[nodiscard]] AccessRows& accesses() {
    return *accesses_;
  }

 private:
  /// Base addresses of a geometry's triangles.
  struct TriangleMemory {
    TriangleMemory(const bvh::Bvh& bvh, std::size_t row)
        : indices(bvh.memory.geometries[row].indices),
          vertices(bvh.memory.geometries[row].vertices),
          corner(bvh.scene.scene->geometries[row].indices.data()),
          place(bvh.memory.geometries[row].vertex_place.empty() ? nullptr
                                                                : bvh.memory.geometries[row].vertex_place.data()) {}

    void put(std::uint32_t primitive, Access* to) const {
      const std::uint32_t* const c = corner + std::size_t{primitive} * 3;
      AccessRows::put(to, indices + std::uint64_t{primitive} * bvh::kIndexBytes, bvh::kIndexBytes, AccessKind::Index);
      for (std::size_t i = 0; i < 3; ++i) {
        const std::uint64_t vertex = place == nullptr ? c[i] : place[c[i]];
        AccessRows::put(to + 1 + i, vertices + vertex * bvh::kVertexBytes, bvh::kVertexBytes, AccessKind::Vertex);
      }
    }

    std::uint64_t indices;
    std::uint64_t vertices;
    const std::uint32_t* corner;
    const std::uint32_t* place;
  };

  /// The kind of the leaf.
  [[nodiscard]] AccessKind content(const NodeArray& nodes, const ChildPlace& place) const {
    if (nodes.blas == NodeArray::kTop) {
      return AccessKind::Instance;
    }
    const std::uint32_t number = bvh_->bottoms[nodes.blas].references[place.index];
    const std::uint32_t geometry = bvh_->scene.locate(nodes.blas, number).first;
    return bvh_->scene.geometry(nodes.blas, geometry).type == trace::GeometryType::Boxes ? AccessKind::Box
                                                                                         : AccessKind::Vertex;
  }
  void touch(std::uint64_t array, std::uint32_t row, std::uint32_t bytes, AccessKind kind) {
    if constexpr (kAccesses) {
      accesses_->push(array + std::uint64_t{row} * bytes, bytes, kind);
    }
  }

  const bvh::Bvh* bvh_;
  AccessRows* accesses_;
  std::vector<PrimitiveTest>* tests_;
  std::uint32_t node_bytes_;
  bool holds_primitives_;
  RayCounters counters_;
};

/// Logs accesses, and also those of stack entries that do not fit on chip: an entry above `on_chip` others is stored
/// when pushed and loaded when popped. Entries dropped at the end of a ray are not loaded.
class SpillingObserver : public Observer<true, true, false> {
 public:
  static constexpr bool kLogsStack = true;
  using Observer::Observer;

  void keep_on_chip(std::uint32_t on_chip) {
    on_chip_ = on_chip;
  }
  /// `below`: number of entries below it.
  void push(std::size_t below) {
    log(below, true);
  }
  void pop(std::size_t below) {
    log(below, false);
  }

 private:
  void log(std::size_t below, bool store) {
    if (below >= on_chip_) {
      accesses().push((below - on_chip_) * kStackEntryBytes, kStackEntryBytes, AccessKind::Stack, store);
    }
  }

  std::size_t on_chip_ = 0;
};

}  // namespace rayreplay::traversal
