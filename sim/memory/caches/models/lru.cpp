// Exact set-associative cache with LRU replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

class Lru final : public CacheModel {
 public:
  explicit Lru(const CachePolicy& policy) : policy_(policy) {}
  [[nodiscard]] std::unique_ptr<Cache> make(const CacheGeometry& geometry) const override {
    return make_set_associative(geometry, policy_);
  }

 private:
  CachePolicy policy_;
};

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "lru",
     .summary = "Exact set-associative cache, least recently used line out",
     .text = "Exact LRU: the victim is the line of the set whose last access is longest ago. Any access counts as use, "
             "stores and sector misses too. The set of a line is line mod sets, "
             "for any number of sets.\n\n"
             "Tags are kept by line, data by sector: an access hits if the line and all sectors that it touches are "
             "there. Loads fill what is missing. Stores fetch nothing; a store that the cache keeps makes its sectors "
             "valid. O(1) an access for any number of ways. Assumes that fills are there at once.",
     .source = "Mattson et al., IBM Systems Journal 1970",
     .parameters = write_parameters()},
    [](const Parameters& parameters) {
      CachePolicy policy = write_policy(parameters);
      policy.replacement = Replacement::Lru;
      return std::make_unique<Lru>(policy);
    });

}  // namespace
}  // namespace rayreplay::memory
