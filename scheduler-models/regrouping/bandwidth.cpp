#include "scheduler-models/regrouping/bandwidth.hpp"

#include <fmt/format.h>

#include "base/declare_parameters.hpp"
#include "base/error.hpp"

namespace rayreplay::scheduler {

Parameter bandwidth_parameter(const std::string& what) {
  return declare::real("bandwidth", 0.0, "bytes/cycle",
                       "Bandwidth at which one SM moves " + what + "; 0: the machine's.", 0, 1e6);
}

double get_bandwidth(const Parameters& parameters) {
  const double bandwidth = parameters.get_double("bandwidth");
  if (bandwidth > 0 && bandwidth < kMinBandwidth) {
    throw Error(ErrorKind::Usage,
                {"the bandwidth is too small", "bandwidth", fmt::format("{} bytes per cycle", bandwidth),
                 fmt::format("at least {}, or 0 for the machine's", kMinBandwidth), ""});
  }
  return bandwidth;
}

}  // namespace rayreplay::scheduler
