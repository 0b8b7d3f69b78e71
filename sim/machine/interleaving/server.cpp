#include "sim/machine/interleaving/server.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::machine {

void throw_too_long(const char* what, double cycles, double most) {
  throw Error(ErrorKind::Resource, {what, "", fmt::format("{:.4g} cycles", cycles), fmt::format("at most {:.4g}", most),
                                    "check the machine's rates and latencies"});
}

}  // namespace rayreplay::machine
