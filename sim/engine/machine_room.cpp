#include "sim/engine/machine_room.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/engine/stages/stream.hpp"
#include "sim/settings/machine_settings.hpp"
#include "sim/settings/thread_registers.hpp"

namespace rayreplay::experiment {
namespace {

constexpr const char* kAskedResident = "schedule.resident_warps";
constexpr const char* kSmRegisters = "machine.registers";
constexpr const char* kMostResident = "machine.resident_warps";

std::int64_t registers_of_warp(const Settings& complete, std::uint32_t warp_size) {
  return std::int64_t{warp_size} * complete.integer(kThreadRegisters);
}

std::string places_of_keys(const Settings& complete, std::initializer_list<const char*> keys) {
  std::vector<std::string> places;
  for (const char* key : keys) {
    if (!complete.where(key).empty()) {
      places.push_back(place_of(complete.where(key), key));
    }
  }
  return places.empty() ? fmt::format("machine '{}'", complete.text(kMachineName))
                        : fmt::format("{}", fmt::join(places, "; "));
}

/// The warps for which an SM has registers.
std::int64_t fitting(const Settings& complete, std::uint32_t warp_size) {
  return complete.integer(kSmRegisters) / std::max<std::int64_t>(registers_of_warp(complete, warp_size), 1);
}

void add_notes_of_time(const machine::Machine& machine, std::int64_t warps, std::uint32_t warp_size,
                       std::vector<std::string>& notes) {
  const std::uint32_t partitions = machine.issue_partitions;
  if (warps < partitions) {
    notes.push_back(
        fmt::format("an SM holds {} and has {} partitions (machine.issue_partitions): {} of them never have a warp, "
                    "and their issue "
                    "slots are lost",
                    counted(static_cast<std::uint64_t>(warps), "warp"), partitions, partitions - warps));
  } else if (machine.resident_warps % partitions != 0) {
    notes.push_back(
        fmt::format("machine.resident_warps = {} does not divide among {} partitions (machine.issue_partitions): some "
                    "have a warp more than others",
                    machine.resident_warps, partitions));
  }
  if (machine.l2_bytes > 0 && machine.l2_bytes_per_second < machine.dram_bytes_per_second) {
    notes.push_back(
        fmt::format("the L2 serves fewer bytes a second than DRAM (machine.l2_bytes_per_second = {}, "
                    "machine.dram_bytes_per_second = {}): all of DRAM's traffic passes the L2, so DRAM's bandwidth is "
                    "never reached",
                    machine.l2_bytes_per_second, machine.dram_bytes_per_second));
  }
  if (machine.rt_rays > 0 && machine.rt_rays < warp_size) {
    notes.push_back(fmt::format(
        "a ray-tracing unit of {} (machine.rt_rays) is smaller than a warp of {}: it takes one such warp at "
        "a time, beyond its limit",
        counted(machine.rt_rays, "ray"), warp_size));
  }
}

}  // namespace

void require_registers(const Settings& complete, std::uint32_t warp_size) {
  if (fitting(complete, warp_size) > 0) {
    return;
  }
  throw Error(
      ErrorKind::Usage,
      {"an SM has too few registers for a single warp", places_of_keys(complete, {kThreadRegisters, kSmRegisters}),
       fmt::format("{} = {}, a warp of {} threads with {} = {} needs {}", kSmRegisters, complete.integer(kSmRegisters),
                   warp_size, kThreadRegisters, complete.integer(kThreadRegisters),
                   registers_of_warp(complete, warp_size)),
       "room for at least one warp", fmt::format("lower {}, or raise {}", kThreadRegisters, kSmRegisters)});
}

void require_warps_fit(const Settings& complete, std::uint32_t warp_size) {
  const std::int64_t asked = complete.integer(kAskedResident);
  if (asked == 0) {
    require_registers(complete, warp_size);
  } else if (asked > complete.integer(kMostResident)) {
    throw Error(ErrorKind::Usage, {"an SM of the machine does not hold so many warps",
                                   place_of(complete.where(kAskedResident), kAskedResident), fmt::format("{}", asked),
                                   fmt::format("at most {}, {}", complete.integer(kMostResident), kMostResident),
                                   fmt::format("for another machine, set {} too", kMostResident)});
  }
}

void require_shading_sms(const Settings& complete) {
  const machine::Machine machine = machine_of(complete);
  static_cast<void>(scheduler::SchedulerModels::create(complete.text("scheduler.model"))
                        .model->charges(machine::facts(machine, machine.resident_warps)));
}

std::vector<std::string> machine_notes(const Settings& complete, std::uint32_t warp_size) {
  std::vector<std::string> notes;
  if (std::string registers = note_on_registers(complete); !registers.empty()) {
    notes.push_back(std::move(registers));
  }
  const std::int64_t asked = complete.integer(kAskedResident);
  const std::int64_t fit = fitting(complete, warp_size);
  if (asked > fit) {
    notes.push_back(fmt::format("{} = {} replaces the {} for which an SM has registers ({} of {} a thread)",
                                kAskedResident, asked, counted(static_cast<std::uint64_t>(fit), "warp"),
                                complete.integer(kSmRegisters), complete.integer(kThreadRegisters)));
  }
  if (has_memory_time(complete)) {
    const std::int64_t warps = asked > 0 ? asked : std::clamp<std::int64_t>(fit, 1, complete.integer(kMostResident));
    add_notes_of_time(machine_of(complete), warps, warp_size, notes);
  }
  return notes;
}

}  // namespace rayreplay::experiment
