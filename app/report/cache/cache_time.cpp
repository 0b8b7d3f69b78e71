#include "app/report/cache/cache_time.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/answers.hpp"
#include "base/count_text.hpp"
#include "base/output_file.hpp"
#include "sim/machine/time_shares.hpp"
#include "sim/machine/time_split.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using machine::TimeShares;
using nlohmann::ordered_json;
using output::Show;

TimeShares shares_of(const CacheResult& result) {
  return machine::time_shares(result.interleaved.time, result.interleaved.cycles, result.interleaved.mshr_stall_cycles,
                              result.machine);
}

/// "load unit" as a key: "load_unit".
std::string as_key(std::string_view name) {
  std::string key(name);
  for (char& letter : key) {
    letter = letter == ' ' || letter == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return key;
}

}  // namespace

bool has_time(const CacheResult& result) {
  return !result.interleaved.time.sms.empty();
}

std::string cache_time_answer(const CacheResult& result) {
  return answer_line(machine::time_verdict(shares_of(result)));
}

std::string cache_time_sentence(const CacheResult& result) {
  const TimeShares shares = shares_of(result);
  std::string text = "SM-cycles:";
  const char* separator = " ";
  for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
    text += fmt::format("{}{} {:.1f} %", separator, machine::kTimePartNames[part], 100 * shares.parts[part]);
    separator = ", ";
  }
  text += fmt::format("; {:.1f} of {} of an SM resident; busy:", shares.resident_warps,
                      counted(result.options.interleaving.resident_warps, "warp"));
  separator = " ";
  for (std::size_t resource = 0; resource < machine::kResourcesOfTime; ++resource) {
    text += fmt::format("{}{} {:.1f} %", separator, machine::kResourceNames[resource], 100 * shares.busy[resource]);
    separator = ", ";
  }
  return text + "\n";
}

output::Table cache_time_table(const CacheResult& result) {
  const TimeShares shares = shares_of(result);
  output::Table table;
  table.columns = {{"of", "time"}, {"name", "of"}, {"share", "share", output::Show::Percent, 1}};
  for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
    table.rows.push_back({std::string("SM-cycles"), std::string(machine::kTimePartNames[part]), shares.parts[part]});
  }
  for (std::size_t resource = 0; resource < machine::kResourcesOfTime; ++resource) {
    table.rows.push_back({std::string("busy"), std::string(machine::kResourceNames[resource]), shares.busy[resource]});
  }
  return table;
}

output::Table cache_time_sms(const CacheResult& result) {
  const auto spread = machine::sm_spread(result.interleaved.time, result.interleaved.cycles);
  output::Table table;
  table.columns = {{"part", "of an SM's cycles"},
                   {"least", "least", Show::Percent, 1},
                   {"median", "median", Show::Percent, 1},
                   {"most", "most", Show::Percent, 1},
                   {"sm", "of SM"}};
  for (std::size_t part = 0; part < machine::kSmParts; ++part) {
    table.rows.push_back({std::string(part == machine::kWithWarpsPart ? "with warps" : machine::kTimePartNames[part]),
                          spread[part].least, spread[part].median, spread[part].most, std::uint64_t{spread[part].sm}});
  }
  return table;
}

output::Table cache_time_stages(const CacheResult& result) {
  const machine::StageShares shares = machine::stage_shares(result.interleaved.time);
  output::Table table;
  table.columns = {{"stage", "stage"}, {"share", "warp-cycles", Show::Percent, 1}};
  for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
    table.columns.push_back({as_key(machine::kTimePartNames[state]), machine::kTimePartNames[state], Show::Percent, 1});
  }
  for (std::size_t stage = 0; stage < memory::kWorkStages; ++stage) {
    std::vector<output::Cell> row = {std::string(memory::kWorkStageNames[stage]),
                                     std::accumulate(shares[stage].begin(), shares[stage].end(), 0.0)};
    row.insert(row.end(), shares[stage].begin(), shares[stage].end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

output::Table cache_time_stages_met(const CacheResult& result) {
  output::Table table = cache_time_stages(result);
  std::erase_if(table.rows, [](const std::vector<output::Cell>& row) { return std::get<double>(row[1]) == 0; });
  return table;
}

output::Table cache_time_states(const CacheResult& result) {
  output::Table table;
  table.columns = {{"sm", "SM"}, {"busy", "with warps"}, {"barrier", "barrier"}, {"idle", "idle"}};
  for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
    table.columns.push_back({as_key(machine::kTimePartNames[state]), machine::kTimePartNames[state]});
  }
  for (const machine::SmTime& sm : result.interleaved.time.sms) {
    std::vector<output::Cell> row = {std::uint64_t{table.rows.size()}, sm.busy, sm.barrier, sm.idle};
    row.insert(row.end(), sm.waits.begin(), sm.waits.end());
    table.rows.push_back(std::move(row));
  }
  return table;
}

pictures::BarPlot cache_time_chart(const CacheResult& result) {
  const output::Table stages = cache_time_stages_met(result);
  pictures::BarPlot chart{.title = "Memory time by stage",
                          .note =
                              "Warp-cycles by stage of the pipeline, and the states of the warps in it. All bars "
                              "together are 100 %.",
                          .value_title = "warp-cycles (%)",
                          .stacked = true};
  constexpr std::size_t kFirst = 2;  // column of the first state
  for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
    chart.series.push_back({machine::kTimePartNames[state], state, {}});
  }
  for (const std::vector<output::Cell>& row : stages.rows) {
    chart.categories.push_back(std::get<std::string>(row[0]));
    for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
      chart.series[state].values.push_back(100 * std::get<double>(row[kFirst + state]));
    }
  }
  return chart;
}

ordered_json cache_time_json(const CacheResult& result) {
  const TimeShares shares = shares_of(result);
  ordered_json parts;
  for (std::size_t part = 0; part < machine::kTimeParts; ++part) {
    parts[as_key(machine::kTimePartNames[part])] = shares.parts[part];
  }
  ordered_json busy;
  for (std::size_t resource = 0; resource < machine::kResourcesOfTime; ++resource) {
    busy[as_key(machine::kResourceNames[resource])] = shares.busy[resource];
  }
  ordered_json sms = ordered_json::array();
  for (const machine::SmTime& sm : result.interleaved.time.sms) {
    ordered_json warps;
    for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
      warps[as_key(machine::kTimePartNames[state])] = sm.waits[state];
    }
    sms.push_back({{"busy", sm.busy}, {"barrier", sm.barrier}, {"idle", sm.idle}, {"warp_cycles", std::move(warps)}});
  }
  return {{"shares", std::move(parts)},
          {"busy", std::move(busy)},
          {"bound", as_key(machine::kResourceNames[static_cast<std::size_t>(shares.bound)])},
          {"resident_warps", shares.resident_warps},
          {"l2_bytes", result.interleaved.time.l2_bytes},
          {"dram_bytes", result.interleaved.time.dram_bytes},
          {"dram_written_bytes", result.interleaved.time.dram_written_bytes},
          {"stages", output::to_json(cache_time_stages(result))},
          {"sm_spread", output::to_json(cache_time_sms(result))},
          {"sms", std::move(sms)}};
}

}  // namespace rayreplay::report
