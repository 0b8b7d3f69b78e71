// Tables of accesses to buffers and images: of `rayreplay profile --rows memory` and of the report, a row for each
// recorded site; and of the images that they access.
//
// Contract: docs/surfaces.md lists the keys. Texts that are not known are empty cells. Shares are of all transactions.
#pragma once

#include <string>
#include <vector>

#include "app/report/export/table.hpp"
#include "capture/profile/access_names.hpp"
#include "capture/profile/access_profile.hpp"

namespace rayreplay::report {

/// Accesses by row of a trace's sites.
struct AccessDetails {
  std::vector<profile::SiteAccesses> accesses;
  std::vector<profile::AccessName> names;
  std::vector<std::size_t> order{};  ///< of the table's rows; empty: that of the sites
  std::vector<std::string> notes{};  ///< of access_notes: what the accesses are not
};

[[nodiscard]] output::Table access_table(const std::vector<trace::Shader>& shaders, const trace::AccessSites& sites,
                                         const AccessDetails& details);

/// Rows of sites by falling number of transactions, then of executions.
[[nodiscard]] std::vector<std::size_t> by_transactions(const std::vector<profile::SiteAccesses>& accesses);

/// A row for each descriptor with an image that the sites can access, with the number of launches in which it is the
/// same. `names`: of access_names.
[[nodiscard]] output::Table image_table(const trace::Trace& trace, const std::vector<profile::AccessName>& names);

}  // namespace rayreplay::report
