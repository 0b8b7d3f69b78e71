#include "capture/trace/lost_accesses.hpp"

#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "base/count_text.hpp"
#include "base/json.hpp"

namespace rayreplay::trace {
namespace {

std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b > kMost - a ? kMost : a + b;
}

/// Launches that the rows name.
std::set<std::uint64_t> launches_of(const Header& header) {
  using Document = nlohmann::ordered_json;
  std::set<std::uint64_t> launches;
  const auto document = parse_json(header.configuration);
  const Document::json_pointer place("/capture/missing_accesses");
  if (!document || !document->contains(place) || !document->at(place).is_array()) {
    return launches;
  }
  for (const auto& row : document->at(place)) {
    if (row.is_object() && row.contains("launch") && row["launch"].is_number_unsigned()) {
      launches.insert(row["launch"].template get<std::uint64_t>());
    }
  }
  return launches;
}

}  // namespace

MissingAccesses all_missing_accesses(const Header& header) {
  MissingAccesses all;
  for (const std::uint64_t launch : launches_of(header)) {
    const MissingAccesses missing = missing_accesses(header, launch);
    all = {bounded_sum(all.accesses, missing.accesses), bounded_sum(all.lost_words, missing.lost_words)};
  }
  return all;
}

std::string lost_accesses_text(const MissingAccesses& missing, std::uint64_t recorded) {
  std::string text;
  if (missing.accesses != 0) {
    text = "the capture lost " + with_separators(missing.accesses) + " of " +
           with_separators(bounded_sum(missing.accesses, recorded)) + " accesses of shaders";
  }
  if (missing.lost_words != 0) {
    text += (text.empty() ? "the capture lost " : " and ") + counted(missing.lost_words, "word") +
            " of events, which may have held accesses of shaders";
  }
  return text;
}

}  // namespace rayreplay::trace
