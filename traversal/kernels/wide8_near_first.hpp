// The fast form of near-first: wide-8 nodes by AVX2, and leaves of opaque triangles eight at a time.
//
// Contract: the same hits, counters and accesses, bit for bit, as StackTraversal<DecodeKernel, …, true> over the same
// structure (kernels/stack_traversal.hpp), which takes rays with t_min below 0. Leaves whose candidates need more than
// "pierced, within reach" (not opaque, facing culls, boxes) go through Search::test one by one, as does everything
// where tests are logged.
#pragma once

#include "traversal/kernels/avx2.hpp"

#if RAYREPLAY_AVX2

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bvh/layouts/wide.hpp"
#include "traversal/kernels/search.hpp"
#include "traversal/kernels/stack_traversal.hpp"

namespace rayreplay::traversal {

template <class Observer>
class Wide8NearFirst {
 public:
  Wide8NearFirst(const bvh::Bvh& bvh, const Shaders* shaders, Observer& observer)
      : bvh_(&bvh),
        search_(bvh, shaders, observer),
        backward_(bvh, DecodeKernel(*bvh.layout), shaders, observer),
        stack_(64) {}

  [[nodiscard]] RAYREPLAY_TARGET_AVX2 Hit trace(std::size_t row, const Ray& ray) {
    if (ray.t_min < 0) {
      return backward_.trace(row, ray);
    }
    avx2::world_space(ray, search_.start(row, ray));
    if (!search_.done()) {
      held_ = 0;
      gathered_ = nullptr;
      avx2::widen(search_.world().box, world_);
      run<true>(bvh_->top, search_.observer().top_nodes(), world_);
    }
    return search_.hit();
  }

 private:
  template <bool kTop>
  RAYREPLAY_TARGET_AVX2 void run(const bvh::Level& level, const NodeArray& nodes, const avx2::WideRay& ray) {
    Observer& observer = search_.observer();
    const std::size_t base = held_;
    StackEntry next{ray.t_min[0], {0, 0, bvh::kNoBlock}};
    while (true) {
      if (next.place.count == 0) {
        observer.node(nodes, next.place.index);
        if (visit_node(level, next.place.index, ray, next)) {
          continue;
        }
      } else {
        observer.leaf(nodes, {});
        if constexpr (kTop) {
          visit_instances(level, next.place);
        } else {
          visit_primitives(level, next.place);
        }
        if (search_.done()) {
          held_ = base;
          return;
        }
      }
      do {
        if (held_ == base) {
          return;
        }
        next = stack_[--held_];
      } while (next.entry > search_.limit());
    }
  }

  /// Moves to the nearest met child and pushes the others. False if none is met.
  RAYREPLAY_INLINE_AVX2 bool visit_node(const bvh::Level& level, std::uint32_t record, const avx2::WideRay& ray,
                                        StackEntry& next) {
    Observer& observer = search_.observer();
    const bvh::Wide8Node& node = bvh::wide_node<8>(level, record);
    alignas(32) std::array<float, 8> entry;
    std::uint32_t used = 0;
    std::uint32_t mask = avx2::meet(node, ray, search_.limit(), entry.data(), used);
    observer.boxes(used);
    if (mask == 0) {
      return false;
    }
    const auto first = static_cast<std::size_t>(std::countr_zero(mask));
    const std::uint32_t others = mask & (mask - 1);
    if (others == 0) {
      next = child(level, node, entry.data(), first);
      observer.depth(held_);
      return true;
    }
    if ((others & (others - 1)) == 0) {
      const auto second = static_cast<std::size_t>(std::countr_zero(others));
      const bool swapped = entry[second] < entry[first];
      next = child(level, node, entry.data(), swapped ? second : first);
      if (held_ == stack_.size()) {
        stack_.resize(2 * held_);
      }
      stack_[held_++] = child(level, node, entry.data(), swapped ? first : second);
      observer.depth(held_);
      return true;
    }
    if (held_ + 8 > stack_.size()) {
      stack_.resize(2 * stack_.size());
    }
    // The rank is the index on the stack, nearest on top: no branches that depend on the distances.
    alignas(32) std::array<std::uint32_t, 8> rank;
    avx2::rank(entry.data(), mask, rank.data());
    const auto last = static_cast<std::size_t>(std::popcount(mask)) - 1;
    StackEntry* const bottom = stack_.data() + held_;
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::size_t>(std::countr_zero(left));
      bottom[last - rank[slot]] = child(level, node, entry.data(), slot);
    }
    next = bottom[last];
    held_ += last;
    observer.depth(held_);
    return true;
  }

  /// Prefetches the data of a child that was met: waiting for memory dominates. No branches; the address of a leaf
  /// without gathered triangles is meaningless, but harmless in a prefetch.
  RAYREPLAY_INLINE_AVX2 void prefetch(const bvh::Level& level, std::uint32_t index, std::uint32_t count) const {
    const auto nodes = reinterpret_cast<std::uintptr_t>(level.nodes.data()) + std::uintptr_t{index} * 256;
    const auto leaf = reinterpret_cast<std::uintptr_t>(gathered_) + std::uintptr_t{index} * 36;
    const std::uintptr_t first = count == 0 ? nodes : leaf;
    for (std::uintptr_t line = 0; line < 256; line += 64) {
      __builtin_prefetch(reinterpret_cast<const void*>(first + line));
    }
  }

  RAYREPLAY_INLINE_AVX2 StackEntry child(const bvh::Level& level, const bvh::Wide8Node& node, const float* entry,
                                         std::size_t slot) const {
    prefetch(level, node.index[slot], node.count[slot]);
    return {entry[slot], {node.index[slot], node.count[slot], bvh::kNoBlock}};
  }

  RAYREPLAY_TARGET_AVX2 void visit_instances(const bvh::Level& level, const ChildPlace& leaf) {
    for (std::uint32_t i = 0; i < leaf.count && !search_.done(); ++i) {
      if (search_.enter(level.references[leaf.index + i], visit_)) {
        start_instance();
        run<false>(bvh_->bottoms[visit_.blas], search_.observer().bottom_nodes(visit_.blas), *object_);
        if constexpr (Observer::kLogsAccesses) {
          put_kept_triangles();
        }
      }
    }
  }

  RAYREPLAY_TARGET_AVX2 void start_instance() {
    if (bvh_->scene.instances[visit_.instance].identity) {
      object_ = &world_;
    } else {
      avx2::widen(visit_.space.box, transformed_);
      object_ = &transformed_;
    }
    const PreciseRay& precise = visit_.space.precise;
    is_sheared_ = false;
    length2_ = detail::dot(precise.direction, precise.direction);
    const bvh::LeafTriangles& leaves = bvh_->leaf_triangles[visit_.blas];
    const bvh::SceneBlas& blas = bvh_->scene.blases[visit_.blas];
    indices_ = blas.geometry_count == 1 ? bvh_->scene.geometry(visit_.blas, 0).indices.data() : nullptr;
    gathered_ = search_.takes_all_triangles(visit_, leaves.opaque) ? leaves.vertices.data() : nullptr;
  }

  RAYREPLAY_INLINE_AVX2 void visit_primitives(const bvh::Level& level, const ChildPlace& leaf) {
    if (Observer::kLogsTests || gathered_ == nullptr) {
      for (std::uint32_t i = 0; i < leaf.count && !search_.done(); ++i) {
        search_.test(visit_, level.references[leaf.index + i]);
      }
      return;
    }
    constexpr std::uint32_t kPiece = bvh::LeafTriangles::kPiece;
    for (std::uint32_t i = 0; i < leaf.count && !search_.done(); i += kPiece) {
      visit_piece(level, leaf.index + i, std::min(kPiece, leaf.count - i));
    }
  }

  static constexpr std::uint32_t kUnfiltered = 4;

  RAYREPLAY_INLINE_AVX2 void visit_piece(const bvh::Level& level, std::uint32_t first, std::uint32_t count) {
    const std::uint32_t* const references = level.references.data() + first;
    // Needed if a triangle is hit: arrives together with the vertices.
    __builtin_prefetch(references);
    __builtin_prefetch(references + count - 1);
    if constexpr (Observer::kLogsAccesses) {
      for (std::uint32_t i = 0; i < count && indices_ != nullptr; ++i) {
        __builtin_prefetch(indices_ + std::size_t{references[i]} * 3);
      }
    }
    const float* const vertices = gathered_ + std::size_t{first} * 9;
    std::uint32_t tested = count;
    // Up to four triangles are tested at once: a filter saves nothing.
    std::uint32_t candidates = (1U << count) - 1;
    if (count > kUnfiltered) {
      if (!is_sheared_) {
        sheared_ = avx2::shear(visit_.space.precise);
        is_sheared_ = true;
      }
      candidates = avx2::may_pierce(sheared_, vertices, count, count);
    }
    if (candidates != 0) {
      tested = test_four(references, vertices, count, 0, candidates & 15U);
      if (tested == count && candidates > 15U) {
        tested = test_four(references, vertices, count, 4, candidates >> 4U);
      }
    }
    if constexpr (Observer::kLogsAccesses) {
      log_triangles(references, tested);
    } else {
      search_.observer().triangles(tested);
    }
  }

  /// Tests the triangles of the piece from `offset` on that are in `candidates`. Returns the number tested: all unless
  /// the search ends.
  RAYREPLAY_INLINE_AVX2 std::uint32_t test_four(const std::uint32_t* references, const float* vertices,
                                                std::uint32_t count, std::uint32_t offset, std::uint32_t candidates) {
    if (candidates == 0) {
      return count;
    }
    avx2::FourTriangles four;
    std::uint32_t mask =
        avx2::pierce(visit_.space.precise, vertices + offset, count, std::min(4U, count - offset), four);
    for (mask &= candidates; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
      std::array<float, 9> corner;
      for (std::size_t i = 0; i < 9; ++i) {
        corner[i] = vertices[i * count + offset + lane];
      }
      search_.offer_opaque(visit_, four.point(lane, length2_), {corner.data(), &corner[3], &corner[6]},
                           references[offset + lane]);
      if (search_.done()) {
        return offset + lane + 1;
      }
    }
    return count;
  }

  void log_triangles(const std::uint32_t* references, std::uint32_t count) {
    if (indices_ != nullptr) {
      const std::size_t place = search_.observer().keep_triangles(count);
      kept_.push_back({place, references, count});
      return;
    }
    const std::size_t row = bvh_->scene.blases[visit_.blas].first_geometry;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto [index, primitive] = bvh_->scene.locate(visit_.blas, references[i]);
      search_.observer().triangle(row + index, primitive);
    }
  }

  void put_kept_triangles() {
    const std::size_t row = bvh_->scene.blases[visit_.blas].first_geometry;
    for (const Kept& kept : kept_) {
      search_.observer().put_triangles(kept.place, row, kept.references, kept.count);
    }
    kept_.clear();
  }

  /// A leaf whose triangle accesses are filled in after the instance.
  struct Kept {
    std::size_t place;
    const std::uint32_t* references;
    std::uint32_t count;
  };

  const bvh::Bvh* bvh_;
  Search<Observer> search_;
  StackTraversal<DecodeKernel, Observer, true> backward_;
  InstanceVisit visit_;
  avx2::WideRay world_;
  avx2::WideRay transformed_;
  const avx2::WideRay* object_ = nullptr;
  const float* gathered_ = nullptr;         ///< of the instance that is visited; null: candidates go one by one
  const std::uint32_t* indices_ = nullptr;  ///< of the visited structure's only geometry; null: it has several
  avx2::ShearedRay sheared_;                ///< made when the first leaf wants it
  bool is_sheared_ = false;
  double length2_ = 0;
  std::vector<Kept> kept_;
  std::vector<StackEntry> stack_;
  std::size_t held_ = 0;
};

}  // namespace rayreplay::traversal

#endif
