// A machine's caches as the cache models take them.
//
// Contract: a cache of 0 bytes is none (bytes 0). Errors: Usage for sizes that do not fit together (check in
// sim/memory/caches/cache_model.hpp), naming the machine and the cache.
#pragma once

#include "sim/machine/machine.hpp"
#include "sim/memory/caches/cache_model.hpp"

namespace rayreplay::machine {

[[nodiscard]] memory::CacheGeometry l1_geometry(const Machine& machine);
[[nodiscard]] memory::CacheGeometry l2_geometry(const Machine& machine);

}  // namespace rayreplay::machine
