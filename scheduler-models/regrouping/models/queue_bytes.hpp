// The parameter `queue_bytes` of models whose queues are in memory (queue_places.hpp).
#pragma once

#include <string>

#include "base/declare_parameters.hpp"

namespace rayreplay::scheduler {

/// `why`: the source of the default.
[[nodiscard]] inline Parameter queue_bytes_parameter(const std::string& why) {
  return declare::whole("queue_bytes", 4, "bytes",
                        "Entry of a thread in a queue in memory, which access streams store and load; 0: queues are on "
                        "chip and make no accesses. " +
                            why,
                        0, 64);
}

}  // namespace rayreplay::scheduler
