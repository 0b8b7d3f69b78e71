// The stack distance cache model: each access hits with the probability of its reuse distance.
//
// Contract: caches/stack_distance.hpp. It has lines only: sectors, stores and evictions are not modelled, and `down`
// stays empty. O(1) an access. All caches of one geometry share a table.
#include <memory>
#include <mutex>

#include "base/error.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/caches/stack_distance.hpp"

namespace rayreplay::memory {
namespace {

class StackDistanceCache final : public Cache {
 public:
  explicit StackDistanceCache(std::shared_ptr<const StackDistanceTable> table) : table_(std::move(table)) {}

  void access(std::span<const LineAccess> accesses, std::span<const std::uint32_t> distances,
              std::span<std::uint32_t> hit, std::vector<DownAccess>* /*down*/) override {
    if (distances.size() != accesses.size()) {
      throw Error(ErrorKind::Internal, {"the stack distance cache model got no distances", "", "", "", ""});
    }
    std::uint64_t hits = 0;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      hit[i] = table_->hit(distances[i]);
      hits += hit[i];
    }
    counts_.accesses += accesses.size();
    counts_.hits += hits;
  }

  [[nodiscard]] CacheCounts counts() const override {
    return counts_;
  }

 private:
  std::shared_ptr<const StackDistanceTable> table_;
  CacheCounts counts_;
};

class StackDistanceModel final : public CacheModel {
 public:
  [[nodiscard]] std::unique_ptr<Cache> make(const CacheGeometry& geometry) const override {
    const std::lock_guard lock(making_);
    if (table_ == nullptr || !(geometry == geometry_)) {
      table_ = std::make_shared<const StackDistanceTable>(geometry.associativity(), geometry.lines());
      geometry_ = geometry;
    }
    return std::make_unique<StackDistanceCache>(table_);
  }
  [[nodiscard]] bool wants_distances() const override {
    return true;
  }
  [[nodiscard]] bool exact() const override {
    return false;
  }

 private:
  mutable std::mutex making_;
  mutable std::shared_ptr<const StackDistanceTable> table_;  // of the most recent geometry
  mutable CacheGeometry geometry_;
};

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "sdcm",
     .summary = "Stack distance cache model: a probability from the reuse distance",
     .text = "An access of reuse distance D hits with the probability that fewer than A of D other lines fell into its "
             "set, with all sets equally likely: the sum over a < A of C(D,a) (A/B)^a (1-A/B)^(D-a), for B lines and A "
             "ways. A recurrence, valid for any distance, tabulates it for each geometry.\n\n"
             "Assumes that lines spread over sets at random, that replacement is LRU, and that lines are present or "
             "absent as a whole: sectors, stores and evictions are not modelled. docs/cache-models.md has its measured "
             "error against exact caches. The requests of an L1 of this model to the L2 come from an exact LRU cache "
             "of the same geometry, write-through without allocation.",
     .source = "Agarwal, Hennessy, Horowitz, ACM TOCS 1989; Arafa et al., ICS 2020",
     .parameters = {}},
    [](const Parameters&) { return std::make_unique<StackDistanceModel>(); });

}  // namespace
}  // namespace rayreplay::memory
