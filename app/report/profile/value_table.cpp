#include "app/report/profile/value_table.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace rayreplay::report {
namespace {

using output::Cell;
using output::Show;
using profile::LoadedValue;
using profile::ValuePlace;

constexpr const char* kOthers = "(others)";
constexpr const char* kOthersOrSeveral = "(others, or lanes that differ)";

Cell part_of_all(std::uint64_t part, std::uint64_t whole) {
  return whole != 0 ? Cell{static_cast<double>(part) / static_cast<double>(whole)} : Cell{};
}

std::vector<Cell> place_cells(const trace::Profile& trace, const ValuePlace& place) {
  return {std::uint64_t{place.pipeline},
          std::uint64_t{place.shader},
          trace.shaders[place.shader].name,
          std::uint64_t{place.function},
          place.function_name,
          std::uint64_t{place.block},
          fmt::format("%{}", place.label),
          std::uint64_t{place.instruction},
          std::uint64_t{place.component},
          place.kind,
          place.name};
}

}  // namespace

output::Table value_table(const trace::Profile& trace, std::span<const ValuePlace> places, std::uint32_t top,
                          bool uniform) {
  const bool bounded = std::ranges::any_of(places, [](const ValuePlace& place) {
    return std::ranges::any_of(place.values, [](const LoadedValue& v) { return v.most_lanes != v.lanes; });
  });
  output::Table table;
  table.columns = {{"pipeline", "pipeline"},
                   {"shader", "shader"},
                   {"name", "name"},
                   {"function", "function", {}, 0, true},
                   {"function_name", "function"},
                   {"block", "block", {}, 0, true},
                   {"label", "label", {}, 0, true},
                   {"instruction", "instruction"},
                   {"component", "component", {}, 0, true},
                   {"kind", "kind"},
                   {"subject", "loads"},
                   {"rank", "rank"},
                   {"value", "value"},
                   {"bits", "bits", {}, 0, true},
                   {"lanes", "lanes", {}, 0, uniform},
                   {"lanes_share", "of lanes", Show::Percent, 1, uniform},
                   {"most_lanes", "at most", {}, 0, uniform || !bounded},
                   {"uniform_groups", "uniform groups"},
                   {"uniform_groups_share", "of groups", Show::Percent, 1},
                   {"place_lanes", "lanes of the load", {}, 0, true},
                   {"place_groups", "groups of the load", {}, 0, true},
                   {"untabled_lanes", "lanes whose value has no slot", {}, 0, true}};
  for (const ValuePlace& place : places) {
    const std::vector<LoadedValue> values = uniform ? profile::uniform_values(place) : place.values;
    std::uint64_t lanes = place.lanes, groups = place.groups, known_groups = 0;
    for (const LoadedValue& value : place.values) {
      known_groups += value.uniform_groups;
    }
    const auto add = [&](const Cell& rank, const Cell& value, const Cell& bits, std::uint64_t of_lanes,
                         const Cell& most, const Cell& of_groups, const Cell& groups_share) {
      std::vector<Cell> cells = place_cells(trace, place);
      cells.insert(cells.end(), {rank, value, bits, of_lanes, part_of_all(of_lanes, place.lanes), most, of_groups,
                                 groups_share, place.lanes, place.groups, place.untabled});
      table.rows.push_back(std::move(cells));
    };
    std::uint64_t rank = 0;
    for (const LoadedValue& value : values) {
      if (rank == top) {
        break;
      }
      add(++rank, profile::value_text(value.bits, place.number), std::uint64_t{value.bits}, value.lanes,
          value.most_lanes, value.uniform_groups, part_of_all(value.uniform_groups, place.groups));
      lanes -= value.lanes;
      groups -= value.uniform_groups;
      known_groups -= value.uniform_groups;
    }
    const std::uint64_t rest = uniform ? groups : lanes;
    if (place.lanes == 0) {
      add({}, {}, {}, 0, {}, std::uint64_t{0}, {});
    } else if (uniform && rest != 0) {
      add({}, std::string(kOthersOrSeveral), {}, lanes, {}, groups, part_of_all(groups, place.groups));
    } else if (rest != 0) {
      // Groups that agreed on a value without a slot are not counted.
      const bool known = place.untabled == 0;
      add({}, std::string(kOthers), {}, lanes, {}, known ? Cell{known_groups} : Cell{},
          known ? part_of_all(known_groups, place.groups) : Cell{});
    }
  }
  return table;
}

}  // namespace rayreplay::report
