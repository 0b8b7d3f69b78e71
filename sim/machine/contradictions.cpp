#include "sim/machine/contradictions.hpp"

#include <utility>

#include <fmt/format.h>

namespace rayreplay::machine {

std::optional<Contradiction> contradiction(const Machine& machine) {
  const Contradiction all[] = {
      {"software_traversal", true, "rt_rays", static_cast<double>(machine.rt_rays)},
      {"software_traversal", true, "rt_boxes_per_cycle", machine.rt_boxes_per_cycle},
      {"software_traversal", true, "rt_triangles_per_cycle", machine.rt_triangles_per_cycle},
      {"reorders", false, "withheld_sms", static_cast<double>(machine.withheld_sms)},
  };
  for (const Contradiction& one : all) {
    const bool flag = one.flag == "reorders" ? machine.reorders : machine.software_traversal;
    if (flag == one.value && one.amount > 0) {
      return one;
    }
  }
  return std::nullopt;
}

ErrorInfo error_of(const Contradiction& found, const std::string& prefix, std::string where) {
  const std::string flag = prefix + std::string(found.flag);
  const std::string number = prefix + std::string(found.number);
  return {found.value ? "a machine without a ray-tracing unit has a number of the unit"
                      : "a machine that does not reorder has a number of its reordering",
          std::move(where), fmt::format("{} = {} and {} = {}", flag, found.value, number, found.amount),
          fmt::format("{} = 0, or {} = {}", number, flag, !found.value),
          fmt::format("set {} to 0, or {} to {}", number, flag, !found.value)};
}

}  // namespace rayreplay::machine
