// Exact set-associative cache with random replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>
#include <vector>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

class RandomReplacement final : public CacheModel {
 public:
  explicit RandomReplacement(const CachePolicy& policy) : policy_(policy) {}
  [[nodiscard]] std::unique_ptr<Cache> make(const CacheGeometry& geometry) const override {
    return make_set_associative(geometry, policy_);
  }

 private:
  CachePolicy policy_;
};

std::vector<Parameter> parameters_with_seed() {
  std::vector<Parameter> all = write_parameters();
  Parameter seed;
  seed.name = "seed";
  seed.default_value = std::int64_t{0};
  seed.text = "Seed of the victims' random numbers.";
  seed.minimum = 0;
  seed.maximum = 0x1p53;
  all.push_back(seed);
  return all;
}

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "Exact set-associative cache, a line drawn at random out",
     .text = "Random replacement: the victim is drawn from the lines of the set, each as likely. Every cache draws "
             "from the seed anew: results of a seed are the same everywhere. The set of a line is line mod sets, "
             "for any number of sets.\n\n"
             "Tags are kept by line, data by sector: an access hits if the line and all sectors that it touches are "
             "there. Loads fill what is missing. Stores fetch nothing; a store that the cache keeps makes its sectors "
             "valid. O(1) an access for any number of ways. Assumes that fills are there at once.",
     .source = "Smith, Computing Surveys 1982",
     .parameters = parameters_with_seed()},
    [](const Parameters& parameters) {
      CachePolicy policy = write_policy(parameters);
      policy.replacement = Replacement::Random;
      policy.seed = static_cast<std::uint64_t>(parameters.get_int("seed"));
      return std::make_unique<RandomReplacement>(policy);
    });

}  // namespace
}  // namespace rayreplay::memory
