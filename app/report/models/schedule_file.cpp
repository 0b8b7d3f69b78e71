#include "app/report/models/schedule_file.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <hdf5.h>

#include "app/report/export/hdf5_parts.hpp"
#include "capture/trace/file/hdf5_output.hpp"
#include "scheduler-models/regrouping/state_moves.hpp"
#include "sim/launch/launch_work.hpp"
#include "sim/launch/schedule_file.hpp"

namespace rayreplay::report {
namespace {

using hdf5::checked;
using hdf5::GrowingColumn;
using hdf5::make_group;
using hdf5::Place;
using hdf5::write_number;
using hdf5::write_text;
using hdf5::written;
using trace::hdf5::Handle;

constexpr std::size_t kStep = std::size_t{1} << 16U;  // rows in one write

void write_warps(hid_t root, const experiment::CompareRow& row, const Place& place) {
  const Handle group = make_group(root, "warps");
  const auto u32 = [&](const char* name, const std::uint32_t* values, std::size_t count) {
    GrowingColumn(group.get(), name, H5T_STD_U32LE, H5T_NATIVE_UINT32).append(values, count, place);
  };
  const auto f64 = [&](const char* name, const std::vector<double>& values) {
    GrowingColumn(group.get(), name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE).append(values.data(), values.size(), place);
  };
  const scheduler::SegmentSchedule& schedule = row.schedule;
  const machine::Placement& placement = row.timing.placement;
  std::vector<std::uint32_t> unit(schedule.warps()), round(schedule.warps());
  for (std::size_t i = 0; i < schedule.units(); ++i) {
    for (std::uint64_t k = schedule.unit_begin[i]; k < schedule.unit_begin[i + 1]; ++k) {
      std::fill(unit.begin() + static_cast<std::ptrdiff_t>(schedule.round_begin[k]),
                unit.begin() + static_cast<std::ptrdiff_t>(schedule.round_begin[k + 1]), static_cast<std::uint32_t>(i));
      std::fill(round.begin() + static_cast<std::ptrdiff_t>(schedule.round_begin[k]),
                round.begin() + static_cast<std::ptrdiff_t>(schedule.round_begin[k + 1]),
                static_cast<std::uint32_t>(k - schedule.unit_begin[i]));
    }
  }
  u32("sm", placement.sm.data(), placement.sm.size());
  u32("slot", placement.slot.data(), placement.slot.size());
  u32("unit", unit.data(), unit.size());
  u32("round", round.data(), round.size());
  u32("moved", schedule.moved.data(), schedule.moved.size());
  std::vector<std::uint32_t> delay =
      experiment::start_delays(row.cut, schedule, row.charges, row.grouping == scheduler::Grouping::Timed);
  delay.resize(schedule.warps());
  u32("delay", delay.data(), delay.size());
  f64("start", placement.start);
  f64("end", placement.end);
}

void write_units(hid_t root, const experiment::CompareRow& row, std::uint32_t shading_sms, const Place& place) {
  const Handle group = make_group(root, "units");
  std::vector<std::uint32_t> sm(row.schedule.unit_sm.begin(), row.schedule.unit_sm.end());
  for (std::uint32_t& one : sm) {
    one = one == scheduler::kAnySm ? one : one % shading_sms;
  }
  GrowingColumn(group.get(), "sm", H5T_STD_U32LE, H5T_NATIVE_UINT32).append(sm.data(), sm.size(), place);
}

void write_places(hid_t root, const experiment::CompareRow& row, const scheduler::StateMoves& moves, const Place& place,
                  Progress* progress) {
  const Handle group = make_group(root, "places");
  GrowingColumn segments(group.get(), "segment", H5T_STD_U32LE, H5T_NATIVE_UINT32);
  GrowingColumn threads(group.get(), "thread", H5T_STD_U32LE, H5T_NATIVE_UINT32);
  GrowingColumn first_events(group.get(), "first_event", H5T_STD_U64LE, H5T_NATIVE_UINT64);
  GrowingColumn event_counts(group.get(), "events", H5T_STD_U32LE, H5T_NATIVE_UINT32);
  GrowingColumn states(group.get(), "state", H5T_STD_U8LE, H5T_NATIVE_UINT8);
  std::optional<GrowingColumn> queues;
  if (row.queues.entry_bytes != 0) {
    queues.emplace(group.get(), "queue", H5T_STD_U64LE, H5T_NATIVE_UINT64);
  }
  const trace::Column<std::uint32_t> thread_of = scheduler::thread_of_segments(row.cut);
  const trace::Column<std::uint32_t>& all = row.schedule.segment_at;
  std::vector<std::uint32_t> thread, events;
  std::vector<std::uint64_t> first;
  std::vector<std::uint8_t> state;
  std::vector<std::uint64_t> queue;
  for (std::size_t begin = 0; begin < all.size(); begin += kStep) {
    const std::size_t end = std::min(all.size(), begin + kStep);
    thread.clear();
    first.clear();
    events.clear();
    state.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t segment = all[i];
      const bool runs = segment != scheduler::kNoSegment;
      thread.push_back(runs ? thread_of[segment] : scheduler::kNoThread);
      first.push_back(runs ? row.cut.event_offset[segment] : 0);
      events.push_back(
          runs ? static_cast<std::uint32_t>(row.cut.event_offset[segment + 1] - row.cut.event_offset[segment]) : 0);
      state.push_back(runs && !moves.empty() ? moves[segment] : std::uint8_t{0});
    }
    segments.append(&all[begin], end - begin, place);
    threads.append(thread.data(), thread.size(), place);
    first_events.append(first.data(), first.size(), place);
    event_counts.append(events.data(), events.size(), place);
    states.append(state.data(), state.size(), place);
    if (queues) {
      queue.clear();
      for (std::size_t i = begin; i < end; ++i) {
        queue.push_back(all[i] == scheduler::kNoSegment ? 0 : (*row.queues.keys)[all[i]]);
      }
      queues->append(queue.data(), queue.size(), place);
    }
    if (progress != nullptr) {
      progress->advance(end - begin);
    }
  }
}

}  // namespace

void write_schedule(const std::string& path, bool force, const experiment::CompareRow& row, const trace::Trace& trace,
                    const experiment::Resolved& configuration, const machine::Machine& machine, Progress* progress) {
  const trace::hdf5::QuietScope quiet;
  const Place place{"the schedule", path};
  trace::hdf5::OutputHdf5 file(path, force, "the schedule");
  if (progress != nullptr) {
    progress->start("schedule", row.schedule.segment_at.size());
  }
  const hid_t root = file.root();
  write_text(root, "schema", std::string(experiment::kScheduleSchema));
  write_text(root, "tool_version", RAYREPLAY_VERSION);
  write_text(root, "trace_hash", trace.hash);
  write_number(root, "launch", configuration.launch);
  write_text(root, "model", row.model);
  write_text(root, "machine", machine::to_toml(machine));
  write_text(root, "order", configuration.order);
  write_text(root, "policy", simt::to_string(configuration.policy));
  write_number(root, "warp_size", row.schedule.warp_size);
  write_number(root, "sms", machine.sms);
  const bool is_timed = row.grouping == scheduler::Grouping::Timed;
  write_text(root, "placement", std::string(is_timed ? experiment::kPlacedByWarps : experiment::kPlacedByUnits));
  write_number(root, "spread", !is_timed && row.schedule.spread ? 1 : 0);  // of units alone
  write_number(root, "withheld_sms", row.charges.withheld_sms);
  write_number(root, "state_bytes", experiment::state_bytes_of(row.charges));
  write_number(root, "payload_bytes", row.moved_payload_bytes);
  write_number(root, "queue_bytes", row.queues.entry_bytes);
  write_number(root, "queue_places", is_timed ? row.queue_places : 0);
  const scheduler::StateMoves moves =
      is_timed ? scheduler::timed_state_moves(row.cut, row.schedule, row.moved_lanes, row.charges.state_traffic)
               : scheduler::static_state_moves(row.cut, row.schedule, row.charges.state_traffic);
  write_warps(root, row, place);
  write_units(root, row, machine.sms - row.charges.withheld_sms, place);
  write_places(root, row, moves, place, progress);
  file.commit();
  if (progress != nullptr) {
    progress->finish();
  }
}

}  // namespace rayreplay::report
