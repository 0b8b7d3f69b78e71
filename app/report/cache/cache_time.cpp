#include "app/report/cache/cache_time.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/report/context/answers.hpp"
#include "base/count_text.hpp"
#include "base/output_file.hpp"
#include "sim/machine/time_shares.hpp"

namespace rayreplay::report {
namespace {

using experiment::CacheResult;
using machine::TimeShares;
using nlohmann::ordered_json;

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
          {"sms", std::move(sms)}};
}

}  // namespace rayreplay::report
