#include "sim/memory/streams/launch_chunk.hpp"

#include <algorithm>

#include "scheduler-models/warp_assignment.hpp"

namespace rayreplay::memory {

ChunkMaker::ChunkMaker(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
                       const LaunchWork& work, const StreamOptions& options, const ImageMemory* images)
    : launch_(&launch),
      work_(work),
      warp_size_(options.warp_size),
      table_(trace, launch, structure),
      rays_(launch, *work.segments),
      stores_are_pixels_(options.stores_are_pixels),
      home_(launch.data.threads(), 0) {
  if (options.shader_accesses) {
    accesses_.emplace(trace, launch, options.writes_images, *images);
  }
  for (std::size_t place = 0; place < work.thread_at.size(); ++place) {
    if (work.thread_at[place] != scheduler::kNoThread) {
      home_[work.thread_at[place]] = static_cast<std::uint32_t>(place);
    }
  }
}

std::uint64_t ChunkMaker::rays_of(std::uint32_t item) const {
  std::uint64_t rays = 0;
  const ItemLanes lanes = lanes_of(item);
  for (const std::uint32_t segment : std::span(lanes.segment_at).first(warp_size_)) {
    rays += segment == scheduler::kNoSegment ? 0 : rays_.of_segment(segment);
  }
  return rays;
}

std::vector<LaneGoingOn> ChunkMaker::going_on(std::uint32_t item) const {
  std::vector<LaneGoingOn> going;
  const ItemLanes lanes = lanes_of(item);
  for (std::uint32_t lane = 0; lane < warp_size_; ++lane) {
    const std::uint32_t segment = lanes.segment_at[lane];
    if (segment != scheduler::kNoSegment && !rays_.is_last(segment)) {
      going.push_back({rays_.thread(segment), segment + 1, static_cast<std::uint8_t>(lane)});
    }
  }
  return going;
}

LaunchChunk ChunkMaker::make(std::span<const std::uint32_t> items) const {
  LaunchChunk chunk;
  std::vector<CallRange> ranges;
  for (const std::uint32_t item : items) {
    chunk.first_lane.push_back(chunk.lanes.size());
    add_lanes(lanes_of(item), chunk, ranges);
  }
  chunk.first_lane.push_back(chunk.lanes.size());
  chunk.calls = table_.calls(ranges);
  if (accesses_) {
    chunk.accesses = accesses_->find(ranges, chunk.calls);
  }
  observe_threads(chunk);
  chunk.first_row.push_back(0);
  for (std::size_t item = 0; item < items.size(); ++item) {
    chunk.first_group.push_back(chunk.first_row.size() - 1);
    const std::span<const LaunchChunk::Lane> lanes = chunk.lanes_of(item);
    std::uint64_t longest = 0;
    for (const LaunchChunk::Lane& lane : lanes) {
      longest = std::max(longest, lane.rays);
    }
    for (std::uint64_t k = 0; k < longest; ++k) {
      for (const LaunchChunk::Lane& lane : lanes) {
        if (k < lane.rays) {
          chunk.place.push_back(lane.first_place + k);
          chunk.owner.push_back({lane.lane, lane.thread, lane.home});
          chunk.rays.push_back(chunk.observed.rays[lane.first_place + k]);
        }
      }
      chunk.first_row.push_back(chunk.place.size());
    }
  }
  chunk.first_group.push_back(chunk.first_row.size() - 1);
  return chunk;
}

ChunkMaker::ItemLanes ChunkMaker::lanes_of(std::uint32_t item) const {
  ItemLanes lanes;
  const std::span<std::uint32_t> segment_at = std::span(lanes.segment_at).first(warp_size_);
  if (work_.formed != nullptr) {
    const std::uint64_t moved = work_.formed->segments_of(item, segment_at);
    lanes.moved = work_.stores_moved ? moved : 0;
  } else {
    std::ranges::copy(work_.segment_at.subspan(std::size_t{item} * warp_size_, warp_size_), segment_at.begin());
  }
  return lanes;
}

void ChunkMaker::add_lanes(const ItemLanes& lanes, LaunchChunk& chunk, std::vector<CallRange>& ranges) const {
  for (std::uint32_t lane = 0; lane < warp_size_; ++lane) {
    const std::uint32_t segment = lanes.segment_at[lane];
    if (segment == scheduler::kNoSegment) {
      continue;
    }
    const std::uint32_t thread = rays_.thread(segment);
    const std::uint64_t rays = rays_.of_segment(segment);
    const std::uint64_t first_call =
        chunk.lanes.empty() ? 0 : chunk.lanes.back().first_call + chunk.lanes.back().rays + 1;
    chunk.lanes.push_back({.thread = thread,
                           .segment = segment,
                           .home = home_[thread],
                           .lane = static_cast<std::uint8_t>(lane),
                           .first = rays_.is_first(segment),
                           .last = rays_.is_last(segment),
                           .has_rays = rays_.of_thread(thread) > 0,
                           .moved = (lanes.moved >> lane & 1U) != 0,
                           .first_call = first_call,
                           .rays = rays,
                           .stores_pixel = accesses_ && stores_are_pixels_ && rays_.is_last(segment) &&
                                           accesses_->stores_result(thread)});
    ranges.push_back({.thread = thread,
                      .first_event = work_.segments->event_offset[segment],
                      .last_event = work_.segments->event_offset[std::size_t{segment} + 1],
                      .first_ray = rays_.before(segment),
                      .rays = rays});
  }
}

/// Observes the threads whose segments begin rays, each once, and sets the lanes' first places.
void ChunkMaker::observe_threads(LaunchChunk& chunk) const {
  std::vector<std::uint32_t> threads;
  for (const LaunchChunk::Lane& lane : chunk.lanes) {
    if (lane.rays > 0) {
      threads.push_back(lane.thread);
    }
  }
  std::ranges::sort(threads);
  threads.erase(std::ranges::unique(threads).begin(), threads.end());
  chunk.observed = traversal::observe(*launch_, threads);
  std::vector<std::uint64_t> first_place;
  first_place.reserve(threads.size());
  std::uint64_t place = 0;
  for (const std::uint32_t thread : threads) {
    first_place.push_back(place);
    place += rays_.of_thread(thread);
  }
  for (LaunchChunk::Lane& lane : chunk.lanes) {
    if (lane.rays > 0) {
      const auto found = std::ranges::lower_bound(threads, lane.thread) - threads.begin();
      lane.first_place = first_place[static_cast<std::size_t>(found)] + rays_.before(lane.segment);
    }
  }
}

}  // namespace rayreplay::memory
