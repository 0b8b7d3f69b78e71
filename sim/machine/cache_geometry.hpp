// Converts a machine's caches to geometries of the cache models.
//
// Contract: a cache of 0 bytes means none. Errors: Usage for inconsistent sizes (check in
// sim/memory/caches/cache_model.hpp), with the machine and the cache.
#pragma once

#include "sim/machine/machine.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::machine {

[[nodiscard]] memory::CacheGeometry l1_geometry(const Machine& machine);
[[nodiscard]] memory::CacheGeometry l2_geometry(const Machine& machine);

}  // namespace rayreplay::machine
