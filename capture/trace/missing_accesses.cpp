#include "capture/trace/missing_accesses.hpp"

#include <nlohmann/json.hpp>

#include "base/json.hpp"

namespace rayreplay::trace {
namespace {

constexpr const char* kRows = "/capture/missing_accesses";

template <class Row>
std::uint64_t number_in(const Row& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_number_unsigned() ? found->template get<std::uint64_t>() : 0;
}

}  // namespace

MissingAccesses missing_accesses(const Header& header, std::uint64_t launch) {
  using Document = nlohmann::ordered_json;
  MissingAccesses missing;
  const auto document = parse_json(header.configuration);
  const Document::json_pointer place(kRows);
  if (!document || !document->contains(place)) {
    return missing;
  }
  const Document& rows = document->at(place);
  if (!rows.is_array()) {
    return missing;
  }
  for (const Document& row : rows) {
    if (row.is_object() && row.contains("launch") && row["launch"].is_number_unsigned() && row["launch"] == launch) {
      missing = {number_in(row, "accesses"), number_in(row, "lost_words")};
    }
  }
  return missing;
}

}  // namespace rayreplay::trace
