// Shards of a sweep, and the name of its database.
//
// Contract: errors are Usage and name the option.
#pragma once

#include <cstdint>
#include <string>

namespace rayreplay::app {

struct Shard {
  std::uint32_t index = 0, count = 1;
};

/// "i/N" with i from 1 to N; "" is the whole sweep.
[[nodiscard]] Shard parse_shard(const std::string& text);

/// `asked`, or the sweep's name with .db in place of .toml, or the shard's own name. `writes`: the command writes the
/// database, so that a sweep that is not a file must name it.
[[nodiscard]] std::string database_path(const std::string& sweep, const std::string& asked, const Shard& shard,
                                        bool writes);

}  // namespace rayreplay::app
