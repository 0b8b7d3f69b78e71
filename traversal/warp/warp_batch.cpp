#include "traversal/warp/warp_batch.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::traversal {

void check_warps(std::span<const Ray> rays, std::span<const std::uint64_t> first_ray, const WarpTraceOptions& options) {
  const auto fail = [](const char* what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, "warp traversal", found, expected, ""});
  };
  if (options.warp_size < 1 || options.warp_size > 64) {
    fail("the warp size is out of range", std::to_string(options.warp_size), "1 to 64");
  }
  if (rays.size() > 0xFFFF'FFFFU) {
    fail("too many rays in one batch", std::to_string(rays.size()), "less than 2^32");
  }
  for (std::size_t warp = 0; warp + 1 < first_ray.size(); ++warp) {
    if (first_ray[warp] > first_ray[warp + 1] || first_ray[warp + 1] > rays.size()) {
      fail("the rows of the warps do not ascend within the rays",
           fmt::format("warp {}: {} to {}", warp, first_ray[warp], first_ray[warp + 1]),
           fmt::format("at most {}", rays.size()));
    }
    if (first_ray[warp + 1] - first_ray[warp] > options.warp_size) {
      fail("a warp has more rays than lanes",
           fmt::format("warp {}: {} rays", warp, first_ray[warp + 1] - first_ray[warp]),
           fmt::format("at most {}", options.warp_size));
    }
  }
}

void join_logs(std::vector<StepLog>& logs, const WarpTraceOptions& options, WarpTraceResult& result) {
  std::size_t steps = 0;
  std::size_t lanes = 0;
  std::size_t accesses = 0;
  for (const StepLog& log : logs) {
    steps += log.steps.size();
    lanes += log.ray.size();
    accesses += log.accesses.size();
    result.ignored_rays += log.ignored_rays;
    for (std::size_t kind = 0; kind < kStepKinds; ++kind) {
      result.tally[kind] += log.tally[kind];
    }
  }
  result.steps.reserve(steps);
  result.tests.reserve(options.tests ? steps : 0);
  result.ray.reserve(lanes);
  result.accesses.reserve(accesses);
  if (options.accesses) {
    result.access_offset.reserve(lanes + 1);
    result.access_offset.push_back(0);
  }
  for (StepLog& log : logs) {
    result.steps.insert(result.steps.end(), log.steps.begin(), log.steps.end());
    result.tests.insert(result.tests.end(), log.tests.begin(), log.tests.end());
    result.ray.insert(result.ray.end(), log.ray.begin(), log.ray.end());
    for (const std::uint64_t end : log.access_end) {
      result.access_offset.push_back(result.accesses.size() + end);
    }
    result.accesses.insert(result.accesses.end(), log.accesses.begin(), log.accesses.end());
    log = {};
  }
}

}  // namespace rayreplay::traversal
