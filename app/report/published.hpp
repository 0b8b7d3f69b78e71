// Published figures beside ours.
//
// Contract: a TOML file names its source, its quantities and, per packing, their values (as shares: 0.4 is +40 %):
//
//   title = "…"  source = "…"  note = "…"
//   [[quantity]]  key = "synthetic_change"  title = "…"  compare = true   # at most one is compared with our `change`
//   [[packing]]   name = "numrays"  synthetic_change = 0.40 …
//
// Unknown keys and wrong types are Input errors that say where. A packing of ours is matched by its name, whatever its
// parameters. See validation/published/.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/output/table.hpp"
#include "sim/experiment/whatif.hpp"

namespace rayreplay::report {

struct PublishedQuantity {
  std::string key;
  std::string title;
  bool compare = false;
};

struct Published {
  std::string title;
  std::string source;
  std::string note;
  std::vector<PublishedQuantity> quantities;
  std::vector<std::string> packings;                            ///< in the order of the file
  std::map<std::string, std::map<std::string, double>> values;  ///< packing, then quantity
};

[[nodiscard]] Published parse_published(std::string_view toml, const std::string& file);

/// A row for each packing that both have: ours, every published quantity, and the difference in percentage points.
[[nodiscard]] output::Table compare(const experiment::WhatIfResult& result, const Published& published);

}  // namespace rayreplay::report
