#include "sim/memory/streams/item_instructions.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace rayreplay::memory {
namespace {

DataKind kind_of(trace::AccessKind kind, bool image) {
  switch (kind) {
    case trace::AccessKind::Load:
      break;
    case trace::AccessKind::Store:
      return image ? DataKind::ImageStore : DataKind::ShaderStore;
    case trace::AccessKind::Atomic:
      return image ? DataKind::ImageAtomic : DataKind::ShaderAtomic;
    case trace::AccessKind::Sample:
      return image ? DataKind::ImageSample : DataKind::ShaderLoad;
  }
  return image ? DataKind::ImageLoad : DataKind::ShaderLoad;
}

bool is_store(trace::AccessKind kind) {
  return kind == trace::AccessKind::Store || kind == trace::AccessKind::Atomic;
}

/// Lanes with their recorded accesses.
struct LaneRows {
  std::vector<const LaunchChunk::Lane*> lanes;
  std::vector<std::span<const std::uint64_t>> rows;

  void add(const LaunchChunk::Lane& lane, std::span<const std::uint64_t> of_lane) {
    if (!of_lane.empty()) {
      lanes.push_back(&lane);
      rows.push_back(of_lane);
    }
  }
};

}  // namespace

/// States of the lanes for which `moves` holds.
template <class Moves>
void ItemInstructions::states(const LaunchChunk& chunk, std::size_t item, bool store, Moves moves,
                              InstructionWriter& out) const {
  if (!work_.has_states()) {
    return;
  }
  out.depend();
  out.enter(WorkStage::Exchange);
  for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
    if (moves(lane)) {
      add_local(memory_->states, work_.state_bytes, {lane.lane, lane.thread, lane.home}, out);
    }
  }
  put_local(DataKind::State, work_.state_bytes, store, out);
}

/// Adds the entry by which the thread gets to this segment.
void ItemInstructions::add_entry(std::uint32_t lane, std::uint32_t thread, std::uint32_t segment,
                                 InstructionWriter& out) const {
  const scheduler::QueueEntry entry = work_.queues->entry(segment);
  out.add(lane,
          memory_->queues.start + entry.queue * memory_->queue_stride +
              std::uint64_t{entry.place} * work_.queues->entry_bytes(),
          memory_->queues.first_element + entry.queue, thread);
}

/// Loads the entries of the threads that come from queues.
void ItemInstructions::entries(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const {
  if (work_.queues == nullptr) {
    return;
  }
  out.depend();
  out.enter(WorkStage::Exchange);
  for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
    if (!lane.first) {
      add_entry(lane.lane, lane.thread, lane.segment, out);
    }
  }
  out.put(DataKind::Queue, work_.queues->entry_bytes(), false);
}

void ItemInstructions::append(std::span<const LaneGoingOn> lanes, InstructionWriter& out) const {
  out.depend();
  out.enter(WorkStage::Exchange);
  std::vector<std::uint32_t> seen;
  for (const LaneGoingOn& lane : lanes) {
    const std::uint32_t queue = work_.queues->entry(lane.next_segment).queue;
    if (std::ranges::find(seen, queue) == seen.end()) {
      seen.push_back(queue);
      out.add(lane.lane, memory_->queue_counters.start + std::uint64_t{queue} * kCounterBytes,
              memory_->queue_counters.first_element + queue, lane.thread);
    }
  }
  out.put(DataKind::Queue, kCounterBytes, true);
  out.depend();
  for (const LaneGoingOn& lane : lanes) {
    add_entry(lane.lane, lane.thread, lane.next_segment, out);
  }
  out.put(DataKind::Queue, work_.queues->entry_bytes(), true);
}

void ItemInstructions::start(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const {
  entries(chunk, item, out);
  states(
      chunk, item, true, [](const LaunchChunk::Lane& lane) { return lane.moved; }, out);
  const auto loads = [this](const LaunchChunk::Lane& lane) {
    return lane.moved || (!lane.first && !work_.loads_state.empty() && work_.loads_state[lane.segment] != 0);
  };
  states(chunk, item, false, loads, out);
  out.depend();
  out.enter(WorkStage::RayGeneration);
  for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
    if (lane.first && lane.has_rays && memory_->ray_generation.records > 0) {
      out.add(lane.lane, memory_->ray_generation.start, memory_->ray_generation.first_element, lane.thread);
    }
  }
  out.put(DataKind::ShaderRecord, options_->record_bytes, false);
  calls(chunk, item, 0, out);
  behind_rays(chunk, item, 0, out);
  if (!chunk.has_groups(item)) {
    out.enter(WorkStage::RayGeneration);
    before_rays(chunk, item, 1, out);
  }
}

void ItemInstructions::trace_call(const LaunchChunk& chunk, std::size_t item, std::size_t group,
                                  InstructionWriter& out) const {
  out.depend();
  out.enter(WorkStage::RayGeneration);
  const std::uint64_t number = group - chunk.first_group[item] + 1;
  if (out.work() != nullptr) {
    std::vector<LaneCall> made;
    for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
      if (number <= lane.rays) {
        made.push_back(chunk.calls.trace_call[lane.first_call + number]);
      }
    }
    run(together(made, out), out);
  }
  before_rays(chunk, item, number, out);
  if (options_->payload_bytes > 0) {
    for (std::uint64_t row = chunk.first_row[group]; row < chunk.first_row[group + 1]; ++row) {
      add_local(memory_->payloads, options_->payload_bytes, chunk.owner[row], out);
    }
    put_local(DataKind::Payload, options_->payload_bytes, true, out);
  }
}

void ItemInstructions::rays_end(const LaunchChunk& chunk, std::size_t item, std::size_t group,
                                InstructionWriter& out) const {
  const std::uint64_t number = group - chunk.first_group[item] + 1;
  calls(chunk, item, number, out);
  behind_rays(chunk, item, number, out);
}

void ItemInstructions::end(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const {
  finish(chunk, item, out);
  const auto stores = [this](const LaunchChunk::Lane& lane) {
    return !lane.last && !work_.loads_state.empty() && work_.loads_state[lane.segment + 1] != 0;
  };
  states(chunk, item, true, stores, out);
  if (work_.queues != nullptr && work_.formed == nullptr) {
    std::vector<LaneGoingOn> going;
    for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
      if (!lane.last) {
        going.push_back({lane.thread, lane.segment + 1, lane.lane});
      }
    }
    append(going, out);
  }
}

/// Calls of the segments' rays `number` − 1; 0: of other rays, and outside of rays.
void ItemInstructions::calls(const LaunchChunk& chunk, std::size_t item, std::uint64_t number,
                             InstructionWriter& out) const {
  const std::span<const LaunchChunk::Lane> lanes = chunk.lanes_of(item);
  const auto calls_of = [&](const LaunchChunk::Lane& lane) -> std::span<const ShaderCall> {
    return number > lane.rays ? std::span<const ShaderCall>() : chunk.calls.of(lane.first_call + number);
  };
  std::size_t most = 0;
  for (const LaunchChunk::Lane& lane : lanes) {
    most = std::max(most, calls_of(lane).size());
  }
  for (std::size_t j = 0; j < most; ++j) {
    const auto for_lanes = [&](const auto& visit) {
      for (const LaunchChunk::Lane& lane : lanes) {
        if (const auto of_lane = calls_of(lane); j < of_lane.size()) {
          visit(lane, of_lane[j]);
        }
      }
    };
    out.depend();
    std::vector<CallRun> runs;
    if (out.work() != nullptr || options_->shader_accesses) {
      std::vector<LaneCall> made;
      for_lanes([&](const LaunchChunk::Lane&, const ShaderCall& call) { made.push_back({call.number(), call.event}); });
      runs = together(made, out);
    }
    if (out.work() != nullptr) {
      out.enter(stage_of_round(runs));
    }
    if (options_->record_bytes > 0) {
      for_lanes([&](const LaunchChunk::Lane& lane, const ShaderCall& call) {
        const LaunchArray& region = region_of(call.region);
        out.add(lane.lane, region.start + std::uint64_t{call.record} * options_->record_bytes,
                region.first_element + call.record, lane.thread);
      });
      out.put(DataKind::ShaderRecord, options_->record_bytes, false);
    }
    if (options_->payload_bytes > 0) {
      for_lanes([&](const LaunchChunk::Lane& lane, const ShaderCall& call) {
        if (call.reads_payload()) {
          add_local(memory_->payloads, options_->payload_bytes, {lane.lane, lane.thread, lane.home}, out);
        }
      });
      put_local(DataKind::Payload, options_->payload_bytes, false, out);
    }
    if (options_->shader_accesses) {
      run_with_accesses(chunk, item, number, j, runs, out);
    } else {
      run(runs, out);
    }
    if (options_->payload_bytes > 0) {
      out.depend();
      for_lanes([&](const LaunchChunk::Lane& lane, const ShaderCall& call) {
        if (call.writes_payload()) {
          add_local(memory_->payloads, options_->payload_bytes, {lane.lane, lane.thread, lane.home}, out);
        }
      });
      put_local(DataKind::Payload, options_->payload_bytes, true, out);
    }
  }
}

/// The different calls among the `j`-th ones, `runs`, each with its work and its lanes' recorded accesses.
void ItemInstructions::run_with_accesses(const LaunchChunk& chunk, std::size_t item, std::uint64_t number,
                                         std::size_t j, const std::vector<CallRun>& runs,
                                         InstructionWriter& out) const {
  for (const CallRun& one : runs) {
    LaneRows found;
    for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
      if (number > lane.rays) {
        continue;
      }
      const std::uint64_t place = lane.first_call + number;
      const std::span<const ShaderCall> of_lane = chunk.calls.of(place);
      if (j < of_lane.size() && of_lane[j].number() == one.call) {
        found.add(lane, chunk.accesses.calls.of(chunk.calls.first[place] + j));
      }
    }
    if (out.work() != nullptr) {
      out.enter(stage_of(static_cast<trace::EventKind>(one.call % trace::kEventKinds)));
      run({one}, out);
    }
    accesses(found.lanes, found.rows, out);
  }
  if (out.work() != nullptr) {
    out.enter(stage_of_round(runs));
  }
}

/// Recorded accesses before the `number`-th trace calls. Lanes that make no trace call enter with the first ones.
void ItemInstructions::before_rays(const LaunchChunk& chunk, std::size_t item, std::uint64_t number,
                                   InstructionWriter& out) const {
  if (!options_->shader_accesses) {
    return;
  }
  LaneRows found;
  for (std::size_t row = chunk.first_lane[item]; row < chunk.first_lane[item + 1]; ++row) {
    const LaunchChunk::Lane& lane = chunk.lanes[row];
    if (number <= lane.rays) {
      found.add(lane, chunk.accesses.around.of(lane.first_call + number));
    } else if (number == 1) {
      found.add(lane, chunk.accesses.entry.of(row));
    }
  }
  accesses(found.lanes, found.rows, out);
  out.depend();
}

/// Recorded accesses of shaders other than ray generation, in segments that began their last ray as their `number`-th.
void ItemInstructions::behind_rays(const LaunchChunk& chunk, std::size_t item, std::uint64_t number,
                                   InstructionWriter& out) const {
  if (!options_->shader_accesses) {
    return;
  }
  LaneRows found;
  for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
    if (lane.rays == number) {
      found.add(lane, chunk.accesses.around.of(lane.first_call));
    }
  }
  out.enter(WorkStage::RayGeneration);
  accesses(found.lanes, found.rows, out);
}

/// Behind all rays, where all lanes meet again: what ray generation still accesses, then pixels.
void ItemInstructions::finish(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const {
  if (options_->shader_accesses) {
    LaneRows found;
    for (std::size_t row = chunk.first_lane[item]; row < chunk.first_lane[item + 1]; ++row) {
      found.add(chunk.lanes[row], chunk.accesses.finish.of(row));
    }
    out.enter(WorkStage::RayGeneration);
    accesses(found.lanes, found.rows, out);
  }
  pixels(chunk, item, out);
}

/// Recorded accesses of these lanes, rows of the launch's.
void ItemInstructions::accesses(std::span<const LaunchChunk::Lane* const> lanes,
                                std::span<const std::span<const std::uint64_t>> rows, InstructionWriter& out) const {
  std::vector<std::vector<std::uint32_t>> sites(rows.size());
  for (std::size_t lane = 0; lane < rows.size(); ++lane) {
    for (const std::uint64_t row : rows[lane]) {
      sites[lane].push_back(recorded_->site[row]);
    }
  }
  const AlignedAccesses aligned = align_accesses(sites);
  for (std::size_t i = 0; i + 1 < aligned.first.size(); ++i) {
    const std::span<const AlignedAccess> together =
        std::span(aligned.accesses).subspan(aligned.first[i], aligned.first[i + 1] - aligned.first[i]);
    const std::uint32_t site = sites[together.front().lane][together.front().place];
    if (memory_->images->is_image(site)) {
      image_accesses(site, together, lanes, rows, out);
      continue;
    }
    for (const auto [lane, place] : together) {
      const ShaderMemory::Place found = memory_->shaders->place(site, recorded_->address[rows[lane][place]]);
      out.add(lanes[lane]->lane, found.address, found.element, lanes[lane]->thread);
    }
    out.depend();
    out.put(kind_of(sites_->kind[site], false), sites_->bytes[site], is_store(sites_->kind[site]));
  }
}

/// One execution of a site that accesses images: an instruction for each size of blocks, ascending.
void ItemInstructions::image_accesses(std::uint32_t site, std::span<const AlignedAccess> together,
                                      std::span<const LaunchChunk::Lane* const> lanes,
                                      std::span<const std::span<const std::uint64_t>> rows,
                                      InstructionWriter& out) const {
  std::map<std::uint32_t, std::vector<std::size_t>> of_size;
  std::vector<ImagePieces> found;
  for (const auto [lane, place] : together) {
    found.push_back(memory_->images->pieces(site, recorded_->address[rows[lane][place]]));
    if (found.back().count > 0) {
      of_size[found.back().bytes].push_back(found.size() - 1);
    }
  }
  out.depend();
  for (const auto& [bytes, members] : of_size) {
    std::vector<LanePieces> pieces;
    for (const std::size_t member : members) {
      const LaunchChunk::Lane& lane = *lanes[together[member].lane];
      pieces.push_back({lane.lane, lane.thread, found[member].all()});
    }
    out.put_pieces(kind_of(sites_->kind[site], true), bytes, is_store(sites_->kind[site]), pieces);
  }
}

/// Pixels of the threads in their last segments.
void ItemInstructions::pixels(const LaunchChunk& chunk, std::size_t item, InstructionWriter& out) const {
  if (options_->pixel_bytes == 0) {
    return;
  }
  out.depend();
  out.enter(WorkStage::RayGeneration);
  for (const LaunchChunk::Lane& lane : chunk.lanes_of(item)) {
    if (lane.last && lane.has_rays && !lane.stores_pixel) {
      out.add(lane.lane, memory_->frame_buffer.start + std::uint64_t{lane.thread} * options_->pixel_bytes,
              memory_->frame_buffer.first_element + lane.thread, lane.thread);
    }
  }
  out.put(DataKind::FrameBuffer, options_->pixel_bytes, true);
}

/// The different calls among those of the lanes; with work, their costs and the counts of both.
std::vector<CallRun> ItemInstructions::together(std::vector<LaneCall>& calls, InstructionWriter& out) const {
  if (out.work() == nullptr) {
    return run_together(calls, {}, nullptr);
  }
  std::vector<CallRun> runs = run_together(calls, options_->call_work, options_->lane_costs.get());
  out.work()->count_calls(runs.size(), calls.size());
  return runs;
}

WorkStage ItemInstructions::stage_of_round(const std::vector<CallRun>& calls) {
  LongestStage longest;
  for (const CallRun& run : calls) {
    const auto kind = static_cast<trace::EventKind>(run.call % trace::kEventKinds);
    longest.add(stage_of(kind), run.work.issue, run.work.latency);
  }
  return longest.stage();
}

/// Runs these calls, one after another.
void ItemInstructions::run(const std::vector<CallRun>& calls, InstructionWriter& out) {
  for (const CallRun& run : calls) {
    out.work()->run(run.work.issue, run.work.latency);
  }
}

/// Adds a lane's first word in an array of local memory, which has `bytes` bytes a thread.
void ItemInstructions::add_local(const LaunchArray& array, std::uint32_t bytes, const RayOwner& owner,
                                 InstructionWriter& out) const {
  const std::uint32_t block = owner.home / options_->warp_size;
  out.add(owner.lane,
          array.start + std::uint64_t{block} * bytes * options_->warp_size +
              std::uint64_t{owner.home % options_->warp_size} * kLocalWord,
          array.first_element + block, owner.thread);
}

void ItemInstructions::put_local(DataKind kind, std::uint32_t bytes, bool store, InstructionWriter& out) const {
  out.put_words(kind, bytes / kLocalWord, options_->warp_size * kLocalWord, store);
}

const LaunchArray& ItemInstructions::region_of(trace::TableRegion region) const {
  switch (region) {
    case trace::TableRegion::RayGeneration:
      return memory_->ray_generation;
    case trace::TableRegion::Miss:
      return memory_->miss;
    case trace::TableRegion::Hit:
      return memory_->hit;
    case trace::TableRegion::Callable:
      break;
  }
  return memory_->callable;
}

}  // namespace rayreplay::memory
