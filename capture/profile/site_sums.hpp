// Sums of recorded accesses over several runs, site by site.
//
// Contract: `add` takes sites that have sums (trace::AccessSites::lanes …). Executions, warp instructions, and sectors
// and lines add up, because distinct sectors and lines are counted in each launch and summed over launches. A site that
// a run does not have adds nothing. The sum does not depend on the order of the parts. Errors: Input with the row of a
// site whose kind, memory or size differs from another run's, or at which a sum exceeds 64 bits. O(sites log sites).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "capture/trace/trace.hpp"

namespace rayreplay::profile {

class SiteSums {
 public:
  /// `shaders`: from numbers in `sites` to numbers of the sum.
  void add(const trace::AccessSites& sites, const std::map<std::uint16_t, std::uint16_t>& shaders,
           const std::string& file);
  [[nodiscard]] trace::AccessSites sums() const;

 private:
  using Place = std::tuple<std::uint16_t, std::uint32_t, std::uint32_t>;  ///< shader, function, instruction
  using What = std::tuple<std::uint32_t, trace::AccessKind, trace::AccessSpace, std::uint32_t, std::uint32_t,
                          std::uint32_t, std::uint32_t>;  ///< block, kind, space, set, binding, element, bytes
  struct Site {
    What what;
    std::array<std::uint64_t, 6> counts{};  ///< in the order of trace::AccessSites
  };
  std::map<Place, Site> sites_;
};

}  // namespace rayreplay::profile
