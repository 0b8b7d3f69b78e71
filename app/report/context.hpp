// What every result says about itself: trace, tool, device and the resolved configuration with every parameter.
//
// Contract: text for people above a table; the same as JSON; and as columns of a CSV, so that each of its rows can be
// moved elsewhere and still say how it came about.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/output/table.hpp"
#include "base/accelerator.hpp"
#include "capture/trace/trace.hpp"
#include "sim/experiment/resolve.hpp"
#include "sim/experiment/settings/settings.hpp"

namespace rayreplay::report {

struct Context {
  std::string trace_file;
  const trace::Trace& trace;
  const experiment::Resolved& configuration;
  std::vector<std::pair<std::string, std::string>> more;  ///< key and value, for example the one packing replayed
  bool replayed = true;  ///< by the configuration's policy; false: `context_text` leaves the policy out
  const Accelerator* accelerator = nullptr;        ///< what ran where; null: all on the processor
  const experiment::Settings* settings = nullptr;  ///< that the result depends on; null: none but `configuration`

  [[nodiscard]] std::vector<StageRecord> stages() const {
    return accelerator == nullptr ? std::vector<StageRecord>() : accelerator->records();
  }
};

[[nodiscard]] std::string context_text(const Context& context);
[[nodiscard]] nlohmann::ordered_json context_json(const Context& context, const std::string& schema);
/// What one experiment cannot say, as the first line of its TOML: "# whatif: --packing numrays --packing objects". ""
/// without flags.
[[nodiscard]] std::string command_comment(const std::vector<std::pair<std::string, std::string>>& flags);
[[nodiscard]] output::Table with_context(output::Table table, const Context& context);

}  // namespace rayreplay::report
