// A record from the device to the host: one memory instruction of a warp. See labelled_trace.cu.
#pragma once

#include <cstdint>

struct WarpAccess {
  std::uint64_t address[32];  ///< by lane; of lanes outside `mask`: anything
  std::uint32_t mask;         ///< lanes whose guard predicate holds
  std::uint32_t sm;
  std::uint32_t warp;   ///< of the grid, modulo 2^32
  std::uint16_t bytes;  ///< of one lane
  std::uint16_t store;  ///< 1: a store or an atomic
};
