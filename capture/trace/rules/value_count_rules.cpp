// Rules of the counts of loaded values.
#include <array>
#include <tuple>

#include <fmt/format.h>

#include "capture/trace/rules/rules.hpp"

namespace rayreplay::trace {
namespace {

constexpr const char* kValuePlaces = "/profile/values";
constexpr const char* kValueTables = "/profile/value_tables";
constexpr unsigned kMostComponents = 4;

/// Whether all columns of both tables have the rows of their tables.
bool check_lengths(const ValueCounts& counts, FaultList& faults) {
  const std::size_t places = counts.size(), values = counts.value.size();
  const std::array<std::tuple<const char*, const char*, std::size_t, std::size_t>, 11> columns = {
      {{kValuePlaces, "pipeline", counts.pipeline.size(), places},
       {kValuePlaces, "shader", counts.shader.size(), places},
       {kValuePlaces, "function", counts.function.size(), places},
       {kValuePlaces, "block", counts.block.size(), places},
       {kValuePlaces, "instruction", counts.instruction.size(), places},
       {kValuePlaces, "component", counts.component.size(), places},
       {kValuePlaces, "groups", counts.groups.size(), places},
       {kValueTables, "place", counts.place.size(), values},
       {kValueTables, "lanes", counts.value_lanes.size(), values},
       {kValueTables, "uniform_groups", counts.uniform_groups.size(), values},
       {kValueTables, "most_lanes", counts.most_lanes.size(), values}}};
  for (const auto& [table, name, found, expected] : columns) {
    if (found != expected) {
      faults.add(fmt::format("{}/{}", table, name), "the column has another number of rows than its table",
                 std::to_string(found), std::to_string(expected));
      return false;
    }
  }
  return true;
}

void check_places(const ValueCounts& counts, std::size_t shaders, std::uint32_t warp_size, FaultList& faults) {
  const auto place = [&](std::size_t row) {
    return std::tuple(counts.pipeline[row], counts.shader[row], counts.function[row], counts.instruction[row],
                      counts.component[row]);
  };
  const std::string path = kValuePlaces;
  for (std::size_t row = 0; row < counts.size() && !faults.full(); ++row) {
    if (counts.shader[row] >= shaders) {
      faults.add_row(path + "/shader", row, "the place's shader id is out of range", std::to_string(counts.shader[row]),
                     fmt::format("less than {}, the number of shaders", shaders));
    }
    if (counts.component[row] >= kMostComponents) {
      faults.add_row(path + "/component", row, "a vector has no such component", std::to_string(counts.component[row]),
                     "0 to 3");
    }
    if (row > 0 && place(row - 1) >= place(row)) {
      faults.add_row(
          path + "/instruction", row, "the rows do not ascend",
          fmt::format("pipeline {}, shader {}, function {}, instruction {}, component {}", counts.pipeline[row],
                      counts.shader[row], counts.function[row], counts.instruction[row], counts.component[row]),
          "each place once, by pipeline, shader, function, instruction and component");
    }
    check_groups(path, row, counts.lanes[row], counts.groups[row], warp_size, faults);
  }
}

void check_tables(const ValueCounts& counts, FaultList& faults) {
  const std::string path = kValueTables;
  std::uint64_t lanes = 0, groups = 0;  // of the table so far
  for (std::size_t row = 0; row < counts.value.size() && !faults.full(); ++row) {
    const std::uint32_t place = counts.place[row];
    if (place >= counts.size()) {
      faults.add_row(path + "/place", row, "there is no such place", std::to_string(place),
                     fmt::format("less than {}, the number of places", counts.size()));
      return;
    }
    const bool first = row == 0 || counts.place[row - 1] != place;
    if (row > 0 && std::tuple(counts.place[row - 1], counts.value[row - 1]) >= std::tuple(place, counts.value[row])) {
      faults.add_row(path + "/value", row, "the rows do not ascend",
                     fmt::format("place {}, value {}", place, counts.value[row]),
                     "each value of a place once, by place and value");
      return;
    }
    lanes = first ? 0 : lanes;
    groups = first ? 0 : groups;
    const std::uint64_t of_value = counts.value_lanes[row], uniform = counts.uniform_groups[row];
    if (of_value == 0 || of_value > counts.lanes[place] - lanes) {
      faults.add_row(path + "/lanes", row, "so many of the place's lanes cannot have had the value",
                     std::to_string(of_value), fmt::format("1 to {}", counts.lanes[place] - lanes));
      return;
    }
    if (uniform > of_value || uniform > counts.groups[place] - groups) {
      faults.add_row(path + "/uniform_groups", row, "so many of the place's groups cannot have had the value alone",
                     std::to_string(uniform),
                     fmt::format("{} or fewer", std::min(of_value, counts.groups[place] - groups)));
      return;
    }
    if (counts.most_lanes[row] < of_value || counts.most_lanes[row] > counts.lanes[place]) {
      faults.add_row(path + "/most_lanes", row, "it bounds the value's lanes, which are some of the place's",
                     std::to_string(counts.most_lanes[row]), fmt::format("{} to {}", of_value, counts.lanes[place]));
    }
    lanes += of_value;
    groups += uniform;
  }
}

}  // namespace

void check_value_counts(const ValueCounts& counts, std::size_t shaders, std::uint32_t warp_size, FaultList& faults) {
  if (check_lengths(counts, faults)) {
    check_places(counts, shaders, warp_size, faults);
    check_tables(counts, faults);
  }
}

}  // namespace rayreplay::trace
