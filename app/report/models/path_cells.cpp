#include "app/report/models/path_cells.hpp"

#include <algorithm>
#include <optional>

namespace rayreplay::report {
namespace {

output::Cell known(const std::optional<double>& value) {
  return value ? output::Cell(*value) : output::Cell();
}

}  // namespace

std::vector<output::Column> path_columns(const std::vector<profile::PathTally>& all) {
  const bool whole =
      std::ranges::all_of(all, [](const profile::PathTally& tally) { return tally.known_lanes == tally.lanes; });
  return {{"path_efficiency", "by path", output::Show::Percent},
          {"path_share", "known", output::Show::Percent, 1, whole}};
}

std::vector<output::Cell> path_cells(const profile::PathTally& tally, std::uint32_t warp_size) {
  return {known(tally.efficiency(warp_size)), known(tally.known())};
}

std::string path_note(bool any) {
  return any ? "by path: SIMT efficiency by instruction if lanes meet again at every block: an upper bound for the "
               "shaders that rays "
               "call; trace calls share the path of their ray generation equally, so theirs may err either way\n"
             : "";
}

}  // namespace rayreplay::report
