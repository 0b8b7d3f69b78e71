// Counts per object while a launch is classified by several workers.
//
// Contract: each worker has a tally of its own; `merge` gives the objects of all, ascending by (instance, geometry,
// primitive), for any distribution of threads. Memory: 64 to 128 bytes an object and worker.
#pragma once

#include <cstdint>
#include <vector>

#include "traversal/classification/test_kind.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::traversal {

struct ObjectCounts {
  std::uint32_t instance = 0, geometry = 0, primitive = 0;
  KindCounts counts{};

  bool operator==(const ObjectCounts&) const = default;
};

/// Hash table with open addressing; grows when half full.
class ObjectTally {
 public:
  void count(const Candidate& candidate, TestKind kind);
  [[nodiscard]] std::vector<ObjectCounts> take();

 private:
  [[nodiscard]] std::size_t place_of(std::uint32_t instance, std::uint32_t geometry, std::uint32_t primitive) const;
  void grow();

  std::vector<ObjectCounts> slots_;  ///< instance kNone: free
  std::size_t used_ = 0;
};

[[nodiscard]] std::vector<ObjectCounts> merge(std::vector<std::vector<ObjectCounts>> parts);

}  // namespace rayreplay::traversal
