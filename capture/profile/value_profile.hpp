// Values that a trace's shaders loaded: for each place the values of its table, most frequent first.
//
// A place is a component of a load (trace::ValueCounts). A value has all its executions in the table, or none.
// Executions whose value found no room are `untabled`; a value outside the table has at most that many.
//
// Contract: `value_profile` takes a checked profile (trace::load_profile); Input names the row of a place that its
// shader's module does not have, or that is no component of a load of 32-bit numbers. Places stay in their order,
// values come by falling number of lanes (or of uniform groups), equal ones by their bits. O(rows log rows), and one
// pass over each shader's module.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/trace/reader.hpp"

namespace rayreplay::profile {

enum class NumberKind : std::uint8_t { Unsigned = 0, Signed, Float };

struct LoadedValue {
  std::uint32_t bits = 0;
  std::uint64_t lanes = 0;           ///< that had it
  std::uint64_t most_lanes = 0;      ///< that may have had it: more than `lanes` only in merged runs
  std::uint64_t uniform_groups = 0;  ///< whose lanes all had it
};

struct ValuePlace {
  std::uint32_t pipeline = 0;
  std::uint16_t shader = 0;
  std::uint32_t function = 0, block = 0, instruction = 0;
  std::uint8_t component = 0;
  std::string function_name;  ///< of the debug information; or "%12"
  std::uint32_t label = 0;    ///< of the block
  std::string kind;           ///< "load", "image read", "sample"
  std::string name;           ///< "material.albedo.x", "member 2 of binding 0/3"
  NumberKind number = NumberKind::Unsigned;
  std::uint64_t lanes = 0, groups = 0;
  std::uint64_t untabled = 0;       ///< lanes
  std::vector<LoadedValue> values;  ///< the whole table, by falling number of lanes
};

[[nodiscard]] std::vector<ValuePlace> value_profile(const trace::Profile& profile, const std::string& file);

/// By falling number of uniform groups; without those that have none.
[[nodiscard]] std::vector<LoadedValue> uniform_values(const ValuePlace& place);

/// "-3", "0.25", "nan (0x7fc00001)".
[[nodiscard]] std::string value_text(std::uint32_t bits, NumberKind number);

}  // namespace rayreplay::profile
