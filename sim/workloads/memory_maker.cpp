#include "sim/workloads/memory_maker.hpp"

#include <array>

#include "base/error.hpp"

namespace rayreplay::workloads {

MemoryWorkload begin_memory(const std::string& name, std::uint32_t warp_size, std::uint32_t sms,
                            std::uint64_t data_bytes, std::uint64_t addresses) {
  if (addresses > kMaxAddresses) {
    throw Error(ErrorKind::Usage,
                {"the workload would be too large", "workload '" + name + "'", std::to_string(addresses) + " addresses",
                 "at most " + std::to_string(kMaxAddresses), "let it read less, or less often"});
  }
  MemoryWorkload made;
  made.header.tool = "rayreplay";
  made.header.device = "none (synthetic)";
  made.header.application = "rayreplay workload " + name;
  made.header.warp_size = warp_size;
  made.header.sms = sms;
  made.header.allocations.push_back({"data", import::kDataOther, kDataStart, data_bytes, 4});
  made.records.clear();
  return made;
}

void read_line(MemoryWorkload& workload, std::uint16_t sm, std::uint32_t warp, std::uint64_t line) {
  constexpr std::uint32_t kLaneBytes = kLineBytes / kLineLanes;
  std::array<std::uint64_t, kLineLanes> addresses{};
  for (std::uint32_t lane = 0; lane < kLineLanes; ++lane) {
    addresses.at(lane) = kDataStart + line * kLineBytes + std::uint64_t{lane} * kLaneBytes;
  }
  workload.records.add(sm, warp, false, kLaneBytes, (std::uint64_t{1} << kLineLanes) - 1, addresses.data());
}

AnswerSettings cache_of(const std::string& level, std::uint64_t lines, std::uint32_t line_bytes) {
  const std::string prefix = "cache." + level + ".";
  return {{prefix + "bytes", std::to_string(lines * line_bytes)},
          {prefix + "line_bytes", std::to_string(line_bytes)},
          {prefix + "sector_bytes", std::to_string(line_bytes)},
          {prefix + "ways", "0"},
          {prefix + "model", "lru"}};
}

}  // namespace rayreplay::workloads
