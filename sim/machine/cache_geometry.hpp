// Converts a machine's caches to geometries of the cache models.
//
// Contract: a cache of 0 bytes means none. Errors: Usage for inconsistent sizes (check in
// sim/memory/caches/cache_model.hpp), with the machine and the cache.
#pragma once

#include <cstdint>

#include "sim/machine/machine.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::machine {

/// Most lines of all L1s and the L2 together: an interleaving keeps a tag for each line.
inline constexpr std::uint64_t kMaxLines = std::uint64_t{1} << 28U;

[[nodiscard]] memory::CacheGeometry l1_geometry(const Machine& machine);
[[nodiscard]] memory::CacheGeometry l2_geometry(const Machine& machine);

}  // namespace rayreplay::machine
