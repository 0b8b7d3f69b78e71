#include "sim/machine/cache_geometry.hpp"

namespace rayreplay::machine {

memory::CacheGeometry l1_geometry(const Machine& machine) {
  const memory::CacheGeometry geometry{.bytes = machine.l1_bytes,
                                       .line_bytes = machine.l1_line_bytes,
                                       .ways = machine.l1_ways,
                                       .sector_bytes = machine.l1_sector_bytes};
  if (geometry.bytes != 0) {
    memory::check(geometry, "machine '" + machine.name + "', L1");
  }
  return geometry;
}

memory::CacheGeometry l2_geometry(const Machine& machine) {
  const memory::CacheGeometry geometry{.bytes = machine.l2_bytes,
                                       .line_bytes = machine.l2_line_bytes,
                                       .ways = machine.l2_ways,
                                       .sector_bytes = machine.l2_sector_bytes};
  if (geometry.bytes != 0) {
    memory::check(geometry, "machine '" + machine.name + "', L2");
  }
  return geometry;
}

}  // namespace rayreplay::machine
