// The file of `rayreplay traverse --accesses`: the reads of each scalar traversal (HDF5).
//
// Contract: docs/warp-traversals.md lists groups and datasets. Rows are appended batch by batch and compressed
// (shuffle, deflate), so memory is a batch. The file appears only with `commit`. Errors: Output if it exists or cannot
// be written; Internal for other failures of libhdf5.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/trace/trace.hpp"
#include "traversal/traversal.hpp"

namespace rayreplay::report {

class AccessFile {
 public:
  /// `traversals`: resolved specs, one group each.
  AccessFile(const std::string& path, bool force, const trace::Trace& trace, std::uint32_t launch,
             const std::vector<std::string>& traversals);
  AccessFile(const AccessFile&) = delete;
  AccessFile& operator=(const AccessFile&) = delete;
  ~AccessFile();

  /// `ray`: rows of the launch's rays.
  void append(std::size_t traversal, std::span<const std::uint64_t> ray,
              const traversal::RayRows<traversal::Access>& accesses);
  void commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rayreplay::report
