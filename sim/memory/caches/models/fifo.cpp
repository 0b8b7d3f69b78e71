// Exact set-associative cache with FIFO replacement.
//
// Contract: caches/set_associative.hpp.
#include <memory>
#include <string>

#include "sim/memory/caches/set_associative.hpp"

namespace rayreplay::memory {
namespace {

const CacheModels::Registrar kRegistrar(
    {.kind = {},
     .name = "fifo",
     .summary = "Exact set-associative cache with FIFO replacement",
     .text =
         std::string(
             "Exact FIFO: the victim is the line of the set that was allocated first. Hits do not change the order.") +
         kSetAssociativeText,
     .source = "Smith, Computing Surveys 1982",
     .parameters = write_parameters()},
    [](const Parameters& parameters) {
      return std::make_unique<SetAssociativeModel>(write_policy(parameters, Replacement::Fifo));
    });

}  // namespace
}  // namespace rayreplay::memory
