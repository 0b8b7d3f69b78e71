// A small trace of the built-in tracer, for the viewer's tests.
#pragma once

#include <memory>
#include <string>

#include "tests/app/run_command.hpp"

namespace rayreplay::test {

/// One Weekend, 40x24 pixels with 2 samples: rows of warps that the launch's edges cut.
inline std::string small_view(const Scratch& scratch) {
  std::string path = scratch / "t.rrt";
  const Outcome outcome = run_command({"trace", "--scene", "one-weekend", "--size", "40x24", "--spp", "2", "-o", path});
  return outcome.code == 0 ? path : outcome.errors;
}

}  // namespace rayreplay::test
