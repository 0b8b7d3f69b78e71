#include "capture/profile/access_notes.hpp"

#include <fmt/format.h>

#include "base/count_text.hpp"
#include "capture/trace/access_sample.hpp"
#include "capture/trace/lost_accesses.hpp"

namespace rayreplay::profile {

std::vector<std::string> access_notes(const trace::Header& header, std::uint64_t recorded) {
  std::vector<std::string> notes;
  if (const std::uint64_t every = trace::access_sample(header); every > 1) {
    notes.push_back(fmt::format(
        "the accesses of shaders are those of one thread in {} alone (--profile-memory-sample): numbers are the "
        "recorded ones, nothing is scaled, and warp instructions hold these threads alone",
        with_separators(every)));
  }
  if (const std::string lost = trace::lost_accesses_text(trace::all_missing_accesses(header), recorded);
      !lost.empty()) {
    notes.push_back(fmt::format(
        "{}: numbers are those of the recorded ones, and nothing is scaled; a capture with a larger --memory has all",
        lost));
  }
  return notes;
}

}  // namespace rayreplay::profile
