// Any-order traversal: a random choice among all pending entries is visited next.
//
// Contract: kernels/pending_traversal.hpp with random keys: every entry draws one, and the lowest is next. A key is a
// hash (splitmix64) of the parameter `seed`, the ray's index in the batch, and the entry: its kind, its instance, and
// the set of primitives (top level: instances) below it. It depends neither on other entries nor on the encoding of
// boxes or the numbers of nodes: two structures that partition the primitives alike are visited in the same order as
// far as they agree, and an additional box that is met changes the order of no other. Equal keys (one primitive in
// several leaves): in order of arrival. Entries beyond the closest hit are skipped in their turn. The same for any
// number of threads. Sets are summed once a call of `trace`: O(records + references), 8 bytes a record.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <tbb/parallel_for.h>

#include "base/declare_parameters.hpp"
#include "base/split_mix.hpp"
#include "traversal/kernels/batch.hpp"
#include "traversal/kernels/pending_traversal.hpp"
#include "traversal/kernels/waiting_line.hpp"

namespace rayreplay::traversal {
namespace {

std::uint64_t mix(std::uint64_t z) {
  return split_mix(z, 0);
}

/// A number for a set of references: the sum of their hashes, independent of the tree's partition.
std::uint64_t set_of(const bvh::Level& level, std::uint32_t first, std::uint32_t count) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    sum += mix(level.references[std::size_t{first} + i]);
  }
  return sum;
}

/// The set below each node of a level.
std::vector<std::uint64_t> sets_below(const bvh::Layout& layout, const bvh::Level& level) {
  struct Met {
    std::uint32_t record;
    std::uint32_t parent;
  };
  std::vector<std::uint64_t> sets(level.node_count, 0);
  if (level.empty()) {
    return sets;
  }
  std::vector<Met> nodes{{0, 0}};  // parents before their children
  std::array<bvh::ChildView, bvh::kMaxWidth> children;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::uint32_t record = nodes[i].record;
    const std::size_t count = layout.decode(level, record, children);
    for (std::size_t slot = 0; slot < count; ++slot) {
      if (children[slot].count == 0) {
        nodes.push_back({children[slot].index, record});
      } else {
        sets[record] += set_of(level, children[slot].index, children[slot].count);
      }
    }
  }
  for (std::size_t i = nodes.size() - 1; i > 0; --i) {
    sets[nodes[i].parent] += sets[nodes[i].record];
  }
  return sets;
}

/// Sets below the nodes of both levels.
struct Sets {
  explicit Sets(const bvh::Bvh& bvh) : top(sets_below(*bvh.layout, bvh.top)), bottoms(bvh.bottoms.size()) {
    tbb::parallel_for(std::size_t{0}, bottoms.size(),
                      [&](std::size_t blas) { bottoms[blas] = sets_below(*bvh.layout, bvh.bottoms[blas]); });
  }

  std::vector<std::uint64_t> top;
  std::vector<std::vector<std::uint64_t>> bottoms;  ///< per blas
};

class ByLot : public WaitingLine<std::uint64_t> {
 public:
  ByLot(const bvh::Bvh& bvh, const Sets& sets, std::uint64_t seed) : bvh_(&bvh), sets_(&sets), seed_(seed) {}

  void start(std::size_t row) {
    clear();
    of_ray_ = mix(seed_ + mix(row));
  }
  void push(const Pending& entry, std::uint32_t instance) {
    const std::uint64_t place = (std::uint64_t{instance} << 8U) | static_cast<std::uint64_t>(entry.kind);
    WaitingLine::push(mix(mix(of_ray_ + mix(place)) + identity(entry, instance)), entry);
  }

 private:
  /// Identity within kind and instance.
  [[nodiscard]] std::uint64_t identity(const Pending& entry, std::uint32_t instance) const {
    if (entry.kind != Pending::Kind::Child) {
      return entry.place.index;  // a primitive's number; an instance is known already
    }
    const bool top = instance == kTopLevel;
    const std::uint32_t blas = top ? 0 : bvh_->scene.instances[instance].blas;
    if (entry.place.count == 0) {
      return (top ? sets_->top : sets_->bottoms[blas])[entry.place.index];
    }
    return set_of(top ? bvh_->top : bvh_->bottoms[blas], entry.place.index, entry.place.count);
  }

  const bvh::Bvh* bvh_;
  const Sets* sets_;
  std::uint64_t seed_;
  std::uint64_t of_ray_ = 0;
};

class AnyOrder final : public Traversal {
 public:
  explicit AnyOrder(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] TraceResult trace_on_cpu(const bvh::Bvh& bvh, std::span<const Ray> rays,
                                         const TraceOptions& options) const override {
    const Sets sets(bvh);
    return trace_batch(bvh, rays, options, [&]<class O>(O& observer) {
      return PendingTraversal<DecodeKernel, O, ByLot>(bvh, DecodeKernel(*bvh.layout), options.shaders, observer,
                                                      ByLot(bvh, sets, seed_));
    });
  }

 private:
  std::uint64_t seed_;
};

const Traversals::Registrar kRegistrar(
    {.kind = {},
     .name = "any-order",
     .summary = "Pending entries are visited in random order",
     .text = "The pessimistic extreme, with a reproducible order for experiments: instances, nodes and single "
             "primitives of both levels wait in one set; each draws a random key when it joins, and the lowest key is "
             "next. A key depends only on the seed, the ray and the set of primitives below the entry: an additional "
             "box that is met does not change the order of the others, and all layouts of one tree are visited in the "
             "same order. A primitive is tested only if its own tight box is met; entries beyond the closest hit when "
             "their turn comes are skipped.",
     .source = "rayreplay",
     .parameters = {declare::whole("seed", 1, "", "Seed of the random keys; each ray draws its own.", 0, 9e18)}},
    [](const Parameters& parameters) {
      return std::make_unique<AnyOrder>(static_cast<std::uint64_t>(parameters.get_int("seed")));
    });

}  // namespace
}  // namespace rayreplay::traversal
