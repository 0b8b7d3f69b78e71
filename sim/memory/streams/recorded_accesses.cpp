#include "sim/memory/streams/recorded_accesses.hpp"

#include <algorithm>
#include <ranges>

namespace rayreplay::memory {
namespace {

template <class Found>
AccessLists listed(const std::vector<Found>& found, std::uint64_t lists) {
  AccessLists result;
  result.first.assign(lists + 1, 0);
  for (const Found& one : found) {
    ++result.first[one.list + 1];
  }
  for (std::uint64_t list = 0; list < lists; ++list) {
    result.first[list + 1] += result.first[list];
  }
  std::vector<std::uint64_t> next(result.first.begin(), result.first.end() - 1);
  result.rows.resize(found.size());
  for (const Found& one : found) {
    result.rows[next[one.list]++] = one.row;
  }
  return result;
}

}  // namespace

AccessFinder::AccessFinder(const trace::Trace& trace, const trace::Launch& launch,
                           std::span<const std::uint8_t> writes_images, const ImageMemory& images)
    : launch_(&launch),
      sites_(&trace.access_sites),
      images_(&images),
      of_ray_generation_(sites_->size(), false),
      is_result_(sites_->size(), false) {
  for (std::size_t site = 0; site < is_result_.size(); ++site) {
    const std::uint16_t shader = sites_->shader[site];
    of_ray_generation_[site] = trace.shaders[shader].stage == trace::ShaderStage::RayGeneration;
    is_result_[site] =
        sites_->kind[site] == trace::AccessKind::Store && of_ray_generation_[site] &&
        (images.is_image(static_cast<std::uint32_t>(site)) || writes_images.empty() || writes_images[shader] == 0);
  }
}

/// Whether an access just before this event, the first of a segment, is of this segment and not of the one before.
bool AccessFinder::begins_later(std::uint64_t event, std::uint32_t site) const {
  const trace::Events& events = launch_->data.events;
  const std::uint16_t shader = sites_->shader[site];
  return trace::begins_ray(events.kind[event]) && events.shader[event] == shader &&
         !(trace::enters_shader(events.kind[event - 1]) && events.shader[event - 1] == shader);
}

/// `number`: of the range.
void AccessFinder::find_in(const CallRange& range, std::uint64_t number, std::uint64_t first_place,
                           const ShaderCalls& calls, Lists& found) const {
  const trace::ThreadData& data = launch_->data;
  const trace::Accesses& accesses = data.accesses;
  const std::uint64_t of_thread = data.event_offset[range.thread];
  const bool is_first = range.first_event == of_thread;
  const bool is_last = range.last_event == data.event_offset[std::size_t{range.thread} + 1];
  struct Call {
    std::uint64_t event = 0, number = 0;
  };
  std::vector<Call> made;  // in the range, by event
  for (std::uint64_t call = calls.first[first_place]; call < calls.first[first_place + range.rays + 1]; ++call) {
    made.push_back({calls.calls[call].event, call});
  }
  std::ranges::sort(made, {}, &Call::event);
  std::size_t next_call = 0;
  std::vector<std::uint64_t> open;  // calls since the last trace call
  std::uint64_t begun = 0;
  std::uint64_t event = range.first_event;
  const auto rows = std::views::iota(accesses.offset[range.thread], accesses.offset[std::size_t{range.thread} + 1]);
  const auto happened = [&](std::uint64_t row) { return of_thread + accesses.event[row]; };
  for (auto row = std::ranges::lower_bound(rows, range.first_event, {}, happened);
       row != rows.end() && happened(*row) <= range.last_event; ++row) {
    const std::uint64_t behind = happened(*row);
    const std::uint32_t site = accesses.site[*row];
    if (sites_->space[site] == trace::AccessSpace::ShaderRecord ||
        (behind == range.first_event && !is_first && !begins_later(behind, site)) ||
        (behind == range.last_event && !is_last && begins_later(behind, site))) {
      continue;
    }
    for (; event < behind; ++event) {
      if (trace::begins_ray(data.events.kind[event])) {
        ++begun;
        open.clear();
      } else if (next_call < made.size() && made[next_call].event == event) {
        open.push_back(made[next_call++].number);
      }
    }
    const auto owner = std::find_if(open.rbegin(), open.rend(), [&](std::uint64_t call) {
      return calls.calls[call].shader == sites_->shader[site];
    });
    if (owner != open.rend()) {
      found.calls.push_back({*owner, *row});
    } else if (begun < range.rays) {
      found.around.push_back({first_place + begun + 1, *row});
    } else if (!of_ray_generation_[site]) {
      found.around.push_back({first_place, *row});
    } else if (range.rays == 0 && behind == of_thread) {
      found.entry.push_back({number, *row});
    } else {
      found.finish.push_back({number, *row});
    }
  }
}

RecordedAccesses AccessFinder::find(std::span<const CallRange> ranges, const ShaderCalls& calls) const {
  Lists found;
  std::uint64_t place = 0;
  for (std::uint64_t number = 0; number < ranges.size(); ++number) {
    find_in(ranges[number], number, place, calls, found);
    place += ranges[number].rays + 1;
  }
  return {listed(found.calls, calls.calls.size()), listed(found.around, place), listed(found.entry, ranges.size()),
          listed(found.finish, ranges.size())};
}

bool AccessFinder::stores_result(std::uint32_t thread) const {
  const trace::Accesses& accesses = launch_->data.accesses;
  for (std::uint64_t row = accesses.offset[thread]; row < accesses.offset[std::size_t{thread} + 1]; ++row) {
    const std::uint32_t site = accesses.site[row];
    if (is_result_[site] && (!images_->is_image(site) || images_->has(site, accesses.address[row]))) {
      return true;
    }
  }
  return false;
}

void AccessFinder::count(std::span<const std::uint64_t> rows, SourceTally& tally) const {
  const trace::Accesses& accesses = launch_->data.accesses;
  for (const std::uint64_t row : rows) {
    const std::uint32_t site = accesses.site[row];
    if (!images_->is_image(site)) {
      ++tally.shader_accesses;
    } else if (images_->has(site, accesses.address[row])) {
      ++tally.shader_accesses;
      ++tally.image_accesses;
      tally.outside_samples += images_->is_outside(site, accesses.address[row]) ? 1U : 0U;
      tally.assumed_filters += images_->assumes_filter(site, accesses.address[row]) ? 1U : 0U;
    } else {
      ++tally.nowhere_accesses;
    }
  }
}

}  // namespace rayreplay::memory
