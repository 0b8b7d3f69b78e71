// The content of a sweep's database: rows, inputs, and facts about the sweep.
//
// Contract: plain data; database.hpp stores it and reads it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/evaluator.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::sweep {

struct InputFile {
  std::string path;
  std::string hash;
  bool operator==(const InputFile&) const = default;
};

struct About {
  std::string definition_hash;
  std::string sweep;  ///< the sweep file's text
  std::uint64_t runs = 0;
  std::vector<std::string> axes;  ///< keys
  std::string objective;          ///< "more l1_hit_rate", ""
  std::string shard = "1/1";
  std::string folder{};        ///< of the sweep, absolute; relative paths of rows are relative to it; "": unknown
  std::string tool_version{};  ///< "": this version
};

/// The best configuration by a metric.
struct BestRow {
  std::uint64_t run = 0;
  double value = 0;
};

/// The result of one configuration.
struct ResultRow {
  std::uint64_t run = 0;
  std::vector<std::pair<std::string, ParameterValue>> axis_values;
  experiment::Settings settings;  ///< complete, or as far as completion got
  experiment::Outcome outcome;
  std::string host;
  std::string started;  ///< "2026-01-31T12:00:00Z"
};

/// This machine's name.
[[nodiscard]] std::string host_name();

}  // namespace rayreplay::sweep
