// Published figures beside ours.
//
// Contract: a TOML file names its source, its quantities and, per packing, their values (as shares: 0.4 is +40 %):
//
//   title = "…"  source = "…"  note = "…"
//   [workload]    scene = "one-weekend"  width = 1280 …   # optional: what the figures hold for
//   [[quantity]]  key = "synthetic_change"  title = "…"  compare = true   # at most one is compared with our `change`
//   [[packing]]   name = "numrays"  synthetic_change = 0.40 …
//
// Unknown keys and wrong types are Input errors that say where. A packing is matched by its whole resolved spec: a name
// alone means all of its parameters' defaults. See validation/published/.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/report/export/table.hpp"
#include "sim/engine/stages/simt.hpp"

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
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t, bool>>> workload;  ///< sorted by key
  std::vector<std::string> packings;                            ///< resolved specs, in the order of the file
  std::map<std::string, std::map<std::string, double>> values;  ///< packing, then quantity
};

[[nodiscard]] Published parse_published(std::string_view toml, const std::string& file);

/// Where `[workload]` differs from the trace's configuration (JSON, header.configuration): "width: 64, published 1280".
/// A scene or an integrator without parameters is matched by its name. Empty: the same workload.
[[nodiscard]] std::vector<std::string> differences(const trace::Header& header, const Published& published);

/// The differences as one sentence; "" without any.
[[nodiscard]] std::string workload_warning(const trace::Header& header, const Published& published);

/// A row for each packing of both: our value, every published quantity, and the difference in percentage points.
[[nodiscard]] output::Table compare(const experiment::WhatIfResult& result, const Published& published);

}  // namespace rayreplay::report
