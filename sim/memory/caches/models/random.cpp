// Exact set-associative cache with random replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>
#include <string>
#include <vector>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

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
     .text = std::string(
                 "Random replacement: the victim is drawn from the lines of the set, each as likely. Every cache draws "
                 "from the seed anew: results of a seed are the same everywhere.") +
             kSetAssociativeText,
     .source = "Smith, Computing Surveys 1982",
     .parameters = parameters_with_seed()},
    [](const Parameters& parameters) {
      CachePolicy policy = write_policy(parameters);
      policy.replacement = Replacement::Random;
      policy.seed = static_cast<std::uint64_t>(parameters.get_int("seed"));
      return std::make_unique<SetAssociativeModel>(policy);
    });

}  // namespace
}  // namespace rayreplay::memory
