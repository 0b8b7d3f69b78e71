// Exact set-associative cache with FIFO replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

class Fifo final : public CacheModel {
 public:
  explicit Fifo(const CachePolicy& policy) : policy_(policy) {}
  [[nodiscard]] std::unique_ptr<Cache> make(const CacheGeometry& geometry) const override {
    return make_set_associative(geometry, policy_);
  }

 private:
  CachePolicy policy_;
};

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "fifo",
     .summary = "Exact set-associative cache, oldest line out",
     .text = "Exact FIFO: the victim is the line of the set that came first, however often it was used. Hits change "
             "nothing in the order. The set of a line is line mod sets, "
             "for any number of sets.\n\n"
             "Tags are kept by line, data by sector: an access hits if the line and all sectors that it touches are "
             "there. Loads fill what is missing. Stores fetch nothing; a store that the cache keeps makes its sectors "
             "valid. O(1) an access for any number of ways. Assumes that fills are there at once.",
     .source = "Smith, Computing Surveys 1982",
     .parameters = write_parameters()},
    [](const Parameters& parameters) {
      CachePolicy policy = write_policy(parameters);
      policy.replacement = Replacement::Fifo;
      return std::make_unique<Fifo>(policy);
    });

}  // namespace
}  // namespace rayreplay::memory
