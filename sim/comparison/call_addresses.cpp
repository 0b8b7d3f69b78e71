#include "sim/comparison/call_addresses.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"
#include "sim/memory/streams/recorded_accesses.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::size_t kThreadsOfAddresses = 512;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
constexpr const char* kWithout = "leave the accesses out: --shader-accesses off";

/// Calls visit(list, site, execution of the site in the list, access row) for the accesses of some threads.
class Walk {
 public:
  Walk(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
       const memory::AccessFinder& finder)
      : data_(launch.data), segments_(segments), finder_(finder), executions_(trace.access_sites.size(), 0) {}

  template <class Visit>
  void threads(std::size_t first, std::size_t last, const Visit& visit) {
    for (std::size_t thread = first; thread < last; ++thread) {
      if (data_.accesses.offset[thread] == data_.accesses.offset[thread + 1]) {
        continue;
      }
      for (std::uint32_t s = segments_.first[thread]; s < segments_.first[thread + 1]; ++s) {
        segment(static_cast<std::uint32_t>(thread), s, visit);
      }
    }
  }

 private:
  template <class Visit>
  void segment(std::uint32_t thread, std::uint32_t segment, const Visit& visit) {
    memory::CallRange range;
    range.thread = thread;
    range.first_event = segments_.event_offset[segment];
    range.last_event = segments_.event_offset[std::size_t{segment} + 1];
    calls_.calls.clear();
    begins_.clear();
    for (std::uint64_t row = range.first_event; row < range.last_event; ++row) {
      const trace::EventKind kind = data_.events.kind[row];
      if (trace::begins_ray(kind)) {
        begins_.push_back(row);
      } else if (trace::is_warp_event(kind)) {
        memory::ShaderCall call;
        call.kind = kind;
        call.shader = data_.events.shader[row];
        call.event = row;
        calls_.calls.push_back(call);
      }
    }
    range.rays = begins_.size();
    // The finder takes the calls of all places of a range together.
    calls_.first.assign(range.rays + 2, calls_.calls.size());
    calls_.first.front() = 0;
    const memory::RecordedAccesses found = finder_.find({&range, 1}, calls_);
    list(CallAddresses::entry_list(segment, range.first_event), found.entry.of(0), visit);
    for (std::size_t call = 0; call < calls_.calls.size(); ++call) {
      list(CallAddresses::event_list(segment, calls_.calls[call].event), found.calls.of(call), visit);
    }
    for (std::size_t ray = 0; ray < begins_.size(); ++ray) {
      list(CallAddresses::event_list(segment, begins_[ray]), found.around.of(ray + 1), visit);
    }
    // Of other shaders, then of ray generation: they share no site, so that both count executions from 0.
    list(CallAddresses::event_list(segment, range.last_event), found.around.of(0), visit);
    list(CallAddresses::event_list(segment, range.last_event), found.finish.of(0), visit);
  }

  template <class Visit>
  void list(std::uint64_t number, std::span<const std::uint64_t> rows, const Visit& visit) {
    for (const std::uint64_t row : rows) {
      const std::uint32_t site = data_.accesses.site[row];
      visit(number, site, executions_[site]++, row);
    }
    for (const std::uint64_t row : rows) {
      executions_[data_.accesses.site[row]] = 0;
    }
  }

  const trace::ThreadData& data_;
  const scheduler::Segments& segments_;
  const memory::AccessFinder& finder_;
  memory::ShaderCalls calls_;
  std::vector<std::uint64_t> begins_;      ///< rows of the segment's trace calls
  std::vector<std::uint32_t> executions_;  ///< by site, in the present list
};

/// Runs `work(walk, first thread, last thread)` for pieces of the launch.
template <class Work>
void for_pieces(const trace::Trace& trace, const trace::Launch& launch, const scheduler::Segments& segments,
                const memory::AccessFinder& finder, const Work& work) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, launch.data.threads(), kThreadsOfAddresses),
                            [&](const auto& range) {
                              Walk walk(trace, launch, segments, finder);
                              work(walk, range.begin(), range.end());
                            });
}

void raise(std::atomic<std::uint32_t>& most, std::uint32_t value) {
  std::uint32_t seen = most.load();
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

}  // namespace

AccessPlaces::AccessPlaces(const trace::Trace& trace, const trace::Launch& launch, const AddressUnits& units)
    : units_(units), trace_(trace) {
  memory::CoalesceOptions sizes;
  sizes.line_bytes = units.line_bytes;
  sizes.sector_bytes = units.sector_bytes;
  memory::check(sizes, "machine.l1_line_bytes, machine.l1_sector_bytes");
  buffers_ = std::make_unique<memory::ShaderMemory>(trace, launch, allocations_);
  images_ = std::make_unique<memory::ImageMemory>(trace, launch, units.image_layout, allocations_);
  units_.image_layout = images_->layout();
  if (allocations_.end() / units.sector_bytes >= kMost) {
    throw Error(ErrorKind::Resource,
                {"the accesses of shaders touch too many sectors", "machine.l1_sector_bytes",
                 fmt::format("{} bytes in sectors of {}", allocations_.end(), units.sector_bytes),
                 fmt::format("at most {} sectors", kMost), fmt::format("take larger sectors, or {}", kWithout)});
  }
}

void AccessPlaces::sectors(std::uint32_t site, std::uint64_t address, std::vector<std::uint32_t>& into) const {
  into.clear();
  const auto add = [&](std::uint64_t first, std::uint32_t bytes) {
    for (std::uint64_t sector = first / units_.sector_bytes; sector <= (first + bytes - 1) / units_.sector_bytes;
         ++sector) {
      into.push_back(static_cast<std::uint32_t>(sector));
    }
  };
  if (images_->is_image(site)) {
    const memory::ImagePieces pieces = images_->pieces(site, address);
    for (const auto& piece : pieces.all()) {
      add(piece.address, pieces.bytes);
    }
    std::ranges::sort(into);
    into.erase(std::ranges::unique(into).begin(), into.end());
  } else if (buffers_->has(site)) {
    add(buffers_->place(site, address).address, trace_.access_sites.bytes[site]);
  }
}

CallAddresses::CallAddresses(const trace::Trace& trace, const trace::Launch& launch,
                             const scheduler::Segments& segments, const AccessPlaces& places)
    : segments_(&segments),
      line_shift_(
          static_cast<std::uint32_t>(std::countr_zero(places.units().line_bytes / places.units().sector_bytes))) {
  const memory::AccessFinder finder(trace, launch, {}, places.images());
  const trace::Accesses& accesses = launch.data.accesses;
  first_.assign(launch.data.events.size() + 2 * segments.size() + 1, 0);
  std::vector<std::atomic<std::uint32_t>> executions(trace.access_sites.size());
  for_pieces(trace, launch, segments, finder, [&](Walk& walk, std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> sectors;
    walk.threads(first, last, [&](std::uint64_t list, std::uint32_t site, std::uint32_t execution, std::uint64_t row) {
      places.sectors(site, accesses.address[row], sectors);
      first_[list + 1] += sectors.size();
      raise(executions[site], execution + 1);
    });
  });
  for (std::size_t list = 1; list < first_.size(); ++list) {
    first_[list] += first_[list - 1];
  }
  std::vector<std::uint64_t> instruction(executions.size() + 1, 0);  // of the first execution, by site
  for (std::size_t site = 0; site < executions.size(); ++site) {
    instruction[site + 1] = instruction[site] + executions[site];
  }
  if (instruction.back() > kMost) {
    throw Error(ErrorKind::Resource,
                {"shaders run too many different accesses", "access sites of the trace",
                 fmt::format("{} executions", instruction.back()), fmt::format("at most {}", kMost), kWithout});
  }
  entries_.resize(first_.back());
  for_pieces(trace, launch, segments, finder, [&](Walk& walk, std::size_t first, std::size_t last) {
    std::vector<std::uint32_t> sectors;
    std::uint64_t present = kMost << 32U;  // the list that is being filled
    std::uint64_t filled = 0;
    const auto finish = [&] {
      if (filled > 0) {
        const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first_[present]);
        std::sort(begin, begin + static_cast<std::ptrdiff_t>(filled));
      }
    };
    walk.threads(first, last, [&](std::uint64_t list, std::uint32_t site, std::uint32_t execution, std::uint64_t row) {
      if (list != present) {
        finish();
        present = list;
        filled = 0;
      }
      places.sectors(site, accesses.address[row], sectors);
      for (const std::uint32_t sector : sectors) {
        entries_[first_[list] + filled++] = (instruction[site] + execution) << 32U | sector;
      }
    });
    finish();
  });
}

}  // namespace rayreplay::experiment
