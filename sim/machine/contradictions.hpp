// Keys of a machine that contradict each other: a switch, and a number that means nothing beside it.
//
// Contract: `contradiction` gives the first one, in the order below; nothing for a machine without any. Machine files
// and settings with one are errors before any work. The models themselves ignore the number. O(1).
//   software_traversal = true   rt_rays, rt_boxes_per_cycle, rt_triangles_per_cycle above 0: there is no unit
//   reorders = false            withheld_sms above 0: nothing reorders
// reorder_cycles above 0 is no contradiction: a what-if asks what an exchange would cost on such a machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::machine {

struct Contradiction {
  std::string_view flag;    ///< "software_traversal"
  bool value = false;       ///< of the flag
  std::string_view number;  ///< "rt_rays"
  double amount = 0;
};

[[nodiscard]] std::optional<Contradiction> contradiction(const Machine& machine);

/// `prefix`: of keys, "" or "machine.".
[[nodiscard]] ErrorInfo error_of(const Contradiction& found, const std::string& prefix, std::string where);

}  // namespace rayreplay::machine
