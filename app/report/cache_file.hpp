// The file of `rayreplay cache --elements`: sums of every element, pixel, SM and kind of data by time window (HDF5).
//
// Contract: docs/cache.md lists groups and datasets. Elements are appended window by window as they come and compressed
// (shuffle, deflate); the boxes of nodes are kept until the end, where allocations give them their numbers: 32 bytes a
// node. Hit sums are fixed point; the root's attribute `hit_unit` is one certain hit. The file is written aside and is
// there only after `commit`. The same result gives the same bytes. Errors: Output when it exists or cannot be written;
// Internal if libhdf5 fails otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/report/cache_report.hpp"
#include "bvh/bvh.hpp"

namespace rayreplay::report {

class CacheFile {
 public:
  CacheFile(const std::string& path, bool force);
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  ~CacheFile();

  /// Remembers the boxes of nodes and instances.
  void take(const bvh::Bvh& structure);
  void append(const std::vector<memory::ElementRow>& rows);
  /// Everything else, and done.
  void commit(const CacheContext& context);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::report
