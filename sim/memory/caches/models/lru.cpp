// Exact set-associative cache with LRU replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>
#include <string>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "lru",
     .summary = "Exact set-associative cache with LRU replacement",
     .text =
         std::string(
             "Exact LRU: the victim is the line of the set whose last access is longest ago. Any access counts as use, "
             "stores and sector misses too.") +
         kSetAssociativeText,
     .source = "Mattson et al., IBM Systems Journal 1970",
     .parameters = write_parameters()},
    [](const Parameters& parameters) {
      return std::make_unique<SetAssociativeModel>(write_policy(parameters, Replacement::Lru));
    });

}  // namespace
}  // namespace rayreplay::memory
