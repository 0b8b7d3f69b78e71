// Exact set-associative cache with random replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>
#include <string>
#include <vector>

#include "base/declare_parameters.hpp"
#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

std::vector<Parameter> parameters_with_seed() {
  std::vector<Parameter> all = write_parameters();
  all.push_back(declare::whole("seed", 0, "", "Seed of the victims' random numbers.", 0, 0x1p53));
  return all;
}

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "random",
     .summary = "Exact set-associative cache with random replacement",
     .text = std::string("Random replacement: the victim is a line of the set, all with equal probability. Every cache "
                         "starts from the seed: a seed gives the same results everywhere.") +
             kSetAssociativeText,
     .source = "Smith, Computing Surveys 1982",
     .parameters = parameters_with_seed()},
    [](const Parameters& parameters) {
      CachePolicy policy = write_policy(parameters, Replacement::Random);
      policy.seed = static_cast<std::uint64_t>(parameters.get_int("seed"));
      return std::make_unique<SetAssociativeModel>(policy);
    });

}  // namespace
}  // namespace rayreplay::memory
