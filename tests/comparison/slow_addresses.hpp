// Slow, obvious count of the transactions of shaders' accesses (sim/comparison/address_score.hpp): for each access of
// each lane, the warp event that it belongs to, then sets of lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/comparison/address_score.hpp"
#include "sim/memory/streams/image_memory.hpp"
#include "sim/simt/warp_recorder.hpp"

namespace rayreplay::test {

class SlowAddresses {
 public:
  SlowAddresses(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
                experiment::AddressUnits units)
      : trace_(trace),
        data_(launch.data),
        launch_(launch),
        segments_(segments),
        units_(std::move(units)),
        images_(trace, launch, units_.image_layout, allocations_) {}

  [[nodiscard]] experiment::AddressCounts count(std::span<const std::uint32_t> segment_at, std::uint32_t warp_size,
                                                simt::Policy policy) const {
    experiment::AddressCounts counts;
    simt::WarpRecorder recorder(launch_, trace_.shaders, segments_.event_offset, warp_size, policy);
    for (std::size_t first = 0; first < segment_at.size(); first += warp_size) {
      counts += count_warp(segment_at.subspan(first, warp_size), recorder.record(segment_at.subspan(first, warp_size)));
    }
    return counts;
  }

 private:
  using Place = std::pair<std::string, std::uint64_t>;  // array, and line or sector in it

  [[nodiscard]] std::uint16_t shader_of(std::uint64_t access) const {
    return trace_.access_sites.shader[data_.accesses.site[access]];
  }
  [[nodiscard]] bool begins(std::uint64_t event) const {
    return trace::begins_ray(data_.events.kind[event]);
  }
  [[nodiscard]] bool enters(std::uint64_t event, std::uint16_t shader) const {
    return trace::enters_shader(data_.events.kind[event]) && data_.events.shader[event] == shader;
  }
  /// The segment in whose lane the access runs.
  [[nodiscard]] std::uint32_t segment_of(std::uint32_t thread, std::uint64_t access) const {
    const std::uint64_t behind = data_.event_offset[thread] + data_.accesses.event[access];
    std::uint32_t segment = segments_.first[thread];
    while (segments_.event_offset[segment + 1] < behind) {
      ++segment;
    }
    const bool has_next = segment + 1 < segments_.first[thread + 1];
    const bool resumed = segments_.event_offset[segment + 1] == behind && has_next && begins(behind) &&
                         data_.events.shader[behind] == shader_of(access) && !enters(behind - 1, shader_of(access));
    return resumed ? segment + 1 : segment;
  }
  /// The row of the call that makes the access, or of the trace call that it precedes; the segment's end: its last row
  /// + 1.
  [[nodiscard]] std::uint64_t owner_of(std::uint32_t thread, std::uint32_t segment, std::uint64_t access) const {
    const std::uint64_t behind = data_.event_offset[thread] + data_.accesses.event[access];
    for (std::uint64_t event = behind; event > segments_.event_offset[segment] && !begins(event - 1); --event) {
      if (enters(event - 1, shader_of(access))) {
        return event - 1;
      }
    }
    std::uint64_t event = behind;
    while (event < segments_.event_offset[segment + 1] && !begins(event)) {
      ++event;
    }
    return event;
  }
  /// Whether ray generation makes the access before the first event of a thread whose segment traces nothing.
  [[nodiscard]] bool enters_thread(std::uint32_t thread, std::uint32_t segment, std::uint64_t access) const {
    if (data_.accesses.event[access] != 0 || segment != segments_.first[thread] ||
        trace_.shaders[shader_of(access)].stage != trace::ShaderStage::RayGeneration) {
      return false;
    }
    for (std::uint64_t event = segments_.event_offset[segment]; event < segments_.event_offset[segment + 1]; ++event) {
      if (begins(event)) {
        return false;
      }
    }
    return true;
  }
  void add(std::set<Place>& to, std::uint64_t access, std::uint32_t unit) const {
    const std::uint32_t site = data_.accesses.site[access];
    const std::uint64_t address = data_.accesses.address[access];
    const auto add_bytes = [&](const std::string& array, std::uint64_t first, std::uint64_t bytes) {
      for (std::uint64_t byte = first; byte < first + bytes; ++byte) {
        to.insert({array, byte / unit});
      }
    };
    if (images_.is_image(site)) {
      const memory::ImagePieces pieces = images_.pieces(site, address);
      for (const auto& piece : pieces.all()) {
        add_bytes("image", piece.address, pieces.bytes);
      }
      return;
    }
    const trace::AccessSites& sites = trace_.access_sites;
    add_bytes(sites.space[site] == trace::AccessSpace::Device
                  ? "device"
                  : std::to_string(sites.set[site]) + "." + std::to_string(sites.binding[site]) + "." +
                        std::to_string(sites.element[site]),
              address, sites.bytes[site]);
  }

  [[nodiscard]] experiment::AddressCounts count_warp(std::span<const std::uint32_t> lanes,
                                                     std::span<const simt::WarpEvent> events) const {
    std::map<std::uint64_t, std::size_t> event_of_row;  // number of the warp event in which a lane's row runs
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (lanes[lane] == scheduler::kNoSegment) {
        continue;
      }
      std::uint64_t row = segments_.event_offset[lanes[lane]];
      for (std::size_t number = 0; number < events.size(); ++number) {
        if ((events[number].mask >> lane & 1U) == 0) {
          continue;
        }
        while (!trace::is_warp_event(data_.events.kind[row])) {
          ++row;
        }
        event_of_row[row++] = number;
      }
    }
    // Entries of threads meet at the warp's first trace event; without one they are by themselves.
    const auto first_trace =
        std::ranges::find_if(events, [](const simt::WarpEvent& event) { return trace::begins_ray(event.kind); });
    const std::size_t entry =
        first_trace == events.end() ? events.size() + 1 : static_cast<std::size_t>(first_trace - events.begin());
    // By warp event (behind all: the ends of segments), site and execution.
    std::map<std::tuple<std::size_t, std::uint32_t, std::uint32_t>, std::pair<std::set<Place>, std::set<Place>>> all;
    for (const std::uint32_t segment : lanes) {
      if (segment == scheduler::kNoSegment) {
        continue;
      }
      const auto thread = static_cast<std::uint32_t>(
          std::upper_bound(segments_.first.begin(), segments_.first.end(), segment) - segments_.first.begin() - 1);
      std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> executions;
      for (std::uint64_t access = data_.accesses.offset[thread]; access < data_.accesses.offset[thread + 1]; ++access) {
        const std::uint32_t site = data_.accesses.site[access];
        if (trace_.access_sites.space[site] == trace::AccessSpace::ShaderRecord ||
            segment_of(thread, access) != segment) {
          continue;
        }
        std::uint64_t owner = owner_of(thread, segment, access);
        std::size_t number = 0;
        if (enters_thread(thread, segment, access)) {
          owner = std::numeric_limits<std::uint64_t>::max();  // no row
          number = entry;
        } else {
          number = owner == segments_.event_offset[segment + 1] ? events.size() : event_of_row.at(owner);
        }
        auto& [lines, sectors] = all[{number, site, executions[{owner, site}]++}];
        add(lines, access, units_.line_bytes);
        add(sectors, access, units_.sector_bytes);
      }
    }
    experiment::AddressCounts counts;
    for (const auto& [instruction, touched] : all) {
      counts.instructions += touched.first.empty() ? 0U : 1U;
      counts.transactions += touched.first.size();
      counts.sectors += touched.second.size();
    }
    return counts;
  }

  const trace::Trace& trace_;
  const trace::ThreadData& data_;
  const trace::Launch& launch_;
  const scheduler::Segments& segments_;
  experiment::AddressUnits units_;
  memory::Allocations allocations_;
  memory::ImageMemory images_;
};

}  // namespace rayreplay::test
