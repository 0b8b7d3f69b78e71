// The table of a process's recorded accesses to buffers and images: which row a record's site has. Internal to this
// room.
//
// Contract: takes the spool's layouts of all modules. A module whose sites are out of order, of shaders that are not in
// the spool, or otherwise not such as the layer writes, is left out with a line in `remarks`. `row_of` is thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/ingest/chunk.hpp"
#include "capture/ingest/spool_contents.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::ingest {

class AccessTable {
 public:
  AccessTable() = default;
  AccessTable(const SpoolContents& contents, std::vector<std::string>& remarks);

  [[nodiscard]] bool empty() const {
    return sites_.size() == 0;
  }
  [[nodiscard]] const trace::AccessSites& sites() const {
    return sites_;
  }
  /// The row of a record of an access; empty: its shader has no such site.
  [[nodiscard]] std::optional<std::uint32_t> row_of(const Chunk& chunk) const;

 private:
  trace::AccessSites sites_;
  std::unordered_map<std::uint16_t, std::vector<std::uint32_t>> rows_;  ///< by shader: row by site; kNone: none
};

}  // namespace rayreplay::ingest
