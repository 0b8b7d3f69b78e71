// The provenance of every result: trace, tool, device and the resolved configuration with every parameter.
//
// Contract: as text above a table, as JSON, and as columns of a CSV, so that each row is self-contained.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/report/export/table.hpp"
#include "app/report/page/page.hpp"
#include "base/accelerator.hpp"
#include "capture/trace/trace.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::report {

struct Context {
  std::string trace_file;
  const trace::Trace& trace;
  const experiment::Resolved& configuration;
  Facts more;                                ///< key and value, for example the one packing replayed
  bool replayed = true;                      ///< by the configuration's policy; false: `context_text` omits the policy
  const Accelerator* accelerator = nullptr;  ///< device of each stage; null: all on the processor
  const experiment::Settings* settings = nullptr;  ///< all that affect the result; null: only `configuration`

  [[nodiscard]] std::vector<StageRecord> stages() const {
    return accelerator == nullptr ? std::vector<StageRecord>() : accelerator->records();
  }
};

/// The head of a launch's page: trace, application and launch; `more`; tool, devices and missing data.
[[nodiscard]] Facts launch_facts(const Context& context, const std::string& launch, const Facts& more);
[[nodiscard]] std::string context_text(const Context& context);
[[nodiscard]] nlohmann::ordered_json context_json(const Context& context, const std::string& schema);
/// Flags that an experiment file cannot express, as the first line of its TOML: "# whatif: --packing numrays --packing
/// objects". "" without such flags.
[[nodiscard]] std::string command_comment(const std::vector<std::pair<std::string, std::string>>& flags);
[[nodiscard]] output::Table with_context(output::Table table, const Context& context);

}  // namespace rayreplay::report
