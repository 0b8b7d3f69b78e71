// The file of `rayreplay cache --elements`: sums of every element, pixel, SM and kind of data by time window (HDF5).
//
// Contract: docs/cache.md lists groups and datasets. Elements are appended window by window and compressed (shuffle,
// deflate). Reuse distances by element (16 bytes a row) and the boxes of nodes are held until the end, when allocations
// give them their numbers: 32 bytes a node. Hit sums are fixed point; the root's attribute `hit_unit` is one certain
// hit. The file has a temporary name until `commit`. The same result gives the same bytes. Errors: Output if it exists
// or cannot be written; Internal for other failures of libhdf5.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/report/cache/cache_report.hpp"
#include "bvh/bvh.hpp"

namespace rayreplay::report {

class CacheFile {
 public:
  CacheFile(const std::string& path, bool force);
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  ~CacheFile();

  /// Stores the boxes of nodes and instances for `finish`.
  void take(const bvh::Bvh& structure);
  void append(const std::vector<memory::ElementRow>& rows);
  /// Stores reuse distances for `commit`.
  void take(const std::vector<memory::ElementDistances>& rows);
  /// Writes all other groups, and completes the file.
  void commit(const CacheContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::report
