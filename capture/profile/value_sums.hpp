// Sums of counts of loaded values, place by place and value by value, over parts: runs of an application.
//
// If a part's table lacks a value and had room, none of its lanes had the value. If the table was full, some of the
// lanes that found no room may have had it. So a sum has two numbers: lanes that certainly had the value (value_lanes),
// and the most that may have had it (most_lanes).
//
// Contract: `add` takes the places of one pipeline and shader of checked counts (trace::load_profile); Input names the
// file of lanes whose sum exceeds 64 bits, or of a place in another block than before. An empty part says that a run
// has the pipeline's shader and none of its places. `sums` has the places that all parts of a pipeline and shader have,
// in the order of trace::ValueCounts. Sums are the same in any order of the parts, also where parts are sums
// themselves. O(rows log rows).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "capture/profile/merge_state.hpp"
#include "capture/profile/row_parts.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

class ValueSums {
 public:
  void add(std::uint32_t pipeline, std::uint16_t shader, const trace::ValueCounts& counts, RowRange places,
           const std::string& file);
  [[nodiscard]] trace::ValueCounts sums() const;
  /// Places that only some parts of their pipeline and shader have.
  void add_left_out(std::set<LeftOut>& left_out) const;

 private:
  struct ValueSum {
    std::uint64_t lanes = 0, uniform_groups = 0, most_lanes = 0;
    std::uint64_t rest = 0;  ///< of the parts that have the value: lanes that found no room
  };
  struct PlaceSum {
    std::uint32_t block = 0;
    std::size_t parts = 0;
    std::uint64_t lanes = 0, groups = 0, rest = 0;
    std::map<std::uint32_t, ValueSum> values;
  };
  using Place = std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>;  ///< function, instruction, component
  struct ShaderSum {
    std::size_t parts = 0;
    std::map<Place, PlaceSum> places;
  };

  std::map<std::pair<std::uint32_t, std::uint16_t>, ShaderSum> shaders_;
};

}  // namespace rayreplay::profile
