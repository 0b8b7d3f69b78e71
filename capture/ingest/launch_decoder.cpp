#include "capture/ingest/launch_decoder.hpp"

#include <algorithm>
#include <numeric>

#include <tbb/parallel_for.h>

#include "capture/ingest/thread_decoder.hpp"
#include "capture/trace/file/storage.hpp"

namespace rayreplay::ingest {
namespace {

/// Consecutive threads and their records, thread by thread.
struct Range {
  std::uint32_t first = 0, last = 0;
  std::vector<std::uint64_t> offset;  ///< of thread first + i in references; one more at the end
  std::vector<RecordReference> references;
};

class LaunchDecoder {
 public:
  LaunchDecoder(const LaunchIndex& index, const std::function<bool(trace::ThreadData&)>& take,
                const AccessTable& accesses, DecodeLimits limits, PathColumn paths)
      : index_(index),
        take_(take),
        accesses_(accesses),
        limits_(limits),
        paths_(paths),
        threads_(static_cast<std::uint32_t>(index.records.size())) {
    if (paths_.paths != nullptr) {
      paths_.of_threads->assign(threads_, 0);
    }
  }

  std::uint64_t run() {
    for (std::uint32_t first = 0; first < threads_ && !stopped_;) {
      const std::uint32_t last = end_of(first, threads_, limits_.records_together);
      sort(first, last);
      for (std::uint32_t begin = first; begin < last && !stopped_;) {
        const std::uint32_t end = end_of(begin, last, limits_.records_a_batch);
        decode(begin, end);
        begin = end;
      }
      first = last;
    }
    return rayless_;
  }

 private:
  /// The threads from `first` on that have at most `records` together; at least one.
  [[nodiscard]] std::uint32_t end_of(std::uint32_t first, std::uint32_t limit, std::uint64_t records) const {
    std::uint64_t sum = index_.records[first];
    std::uint32_t end = first + 1;
    // Threads without records count too: their offsets take memory.
    while (end < limit && sum + index_.records[end] + 1 <= records) {
      sum += index_.records[end++] + 1;
    }
    return end;
  }

  void sort(std::uint32_t first, std::uint32_t last) {
    range_.first = first;
    range_.last = last;
    range_.offset.assign(std::size_t{last} - first + 1, 0);
    for (std::uint32_t thread = first; thread < last; ++thread) {
      range_.offset[thread - first + 1] = range_.offset[thread - first] + index_.records[thread];
    }
    range_.references.resize(range_.offset.back());
    std::vector<std::uint64_t> next(range_.offset.begin(), range_.offset.end() - 1);
    const bool all = first == 0 && last == threads_;
    for (std::uint64_t c = 0; c < index_.chunks.size(); ++c) {
      const Chunk chunk = parse_header(index_.chunks[c]);
      for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank) {
        const std::uint32_t thread = chunk.field(0, rank);
        if (all || (thread >= first && thread < last)) {
          range_.references[next[thread - first]++] = RecordReference(c, rank);
        }
      }
    }
  }

  void decode(std::uint32_t begin, std::uint32_t end) {
    // Blocks of a fixed number of records, so that their bounds do not depend on the workers.
    std::vector<std::uint32_t> bounds{begin};
    while (bounds.back() < end) {
      bounds.push_back(end_of(bounds.back(), end, std::max<std::uint64_t>(limits_.records_a_batch / 32, 1)));
    }
    const std::size_t blocks = bounds.size() - 1;
    std::vector<trace::ThreadData> parts(blocks);
    std::vector<std::uint64_t> rayless(blocks);
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      ThreadDecoder decoder(index_, paths_.paths, accesses_, parts[b]);
      std::uint32_t unused = 0;
      for (std::uint32_t thread = bounds[b]; thread < bounds[b + 1]; ++thread) {
        const std::uint64_t from = range_.offset[thread - range_.first];
        const std::uint64_t to = range_.offset[thread - range_.first + 1];
        decoder.decode(std::span(range_.references).subspan(from, to - from),
                       paths_.paths != nullptr ? (*paths_.of_threads)[thread] : unused);
      }
      rayless[b] = decoder.rayless();
    });
    rayless_ = std::accumulate(rayless.begin(), rayless.end(), rayless_);
    trace::ThreadData batch = blocks == 1 ? std::move(parts[0]) : join(parts);
    stopped_ = !take_(batch);
  }

  static trace::ThreadData join(const std::vector<trace::ThreadData>& parts) {
    trace::ThreadData batch;
    batch.ray_offset.push_back(0);
    batch.event_offset.push_back(0);
    std::vector<std::uint64_t> first_ray{0}, first_event{0}, first_access{0};
    const bool has_accesses = !parts.front().accesses.offset.empty();
    if (has_accesses) {
      batch.accesses.offset.push_back(0);
    }
    for (const trace::ThreadData& part : parts) {
      for (std::size_t i = 1; i < part.ray_offset.size(); ++i) {
        batch.ray_offset.push_back(first_ray.back() + part.ray_offset[i]);
        batch.event_offset.push_back(first_event.back() + part.event_offset[i]);
        if (has_accesses) {
          batch.accesses.offset.push_back(first_access.back() + part.accesses.offset[i]);
        }
      }
      first_access.push_back(first_access.back() + part.accesses.size());
      first_ray.push_back(first_ray.back() + part.rays.size());
      first_event.push_back(first_event.back() + part.events.size());
    }
    // Columns of all parts in the order of `visit`, each part at its own offset.
    using Columns = std::vector<std::pair<const char*, std::size_t>>;
    const auto columns_of = [](const trace::ThreadData& part, Columns& rays, Columns& events, Columns& accesses) {
      trace::visit_accesses(part.accesses, [&](const char*, const auto& column) {
        accesses.emplace_back(reinterpret_cast<const char*>(column.data()), column.size());
      });
      trace::visit_rays(part.rays, [&](const char*, const auto& column, bool) {
        rays.emplace_back(reinterpret_cast<const char*>(column.data()), column.size());
      });
      trace::visit_events(part.events, [&](const char*, const auto& column, bool) {
        events.emplace_back(reinterpret_cast<const char*>(column.data()), column.size());
      });
    };
    std::vector<Columns> rays(parts.size()), events(parts.size()), accesses(parts.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      columns_of(parts[p], rays[p], events[p], accesses[p]);
    }
    std::vector<std::function<void()>> copies;
    const auto gather = [&](auto& column, const std::vector<Columns>& from, const std::vector<std::uint64_t>& first,
                            std::size_t place) {
      using T = typename std::remove_reference_t<decltype(column)>::value_type;
      // A part without rows has no columns, optional or not.
      const bool present =
          std::any_of(from.begin(), from.end(), [&](const Columns& part) { return part[place].second != 0; });
      if (!present) {
        return;
      }
      column.resize(first.back());
      copies.emplace_back([&column, &from, &first, place] {
        for (std::size_t p = 0; p < from.size(); ++p) {
          const auto* data = reinterpret_cast<const T*>(from[p][place].first);
          std::copy_n(data, from[p][place].second, column.begin() + static_cast<std::ptrdiff_t>(first[p]));
        }
      });
    };
    std::size_t place = 0;
    trace::visit_rays(batch.rays, [&](const char*, auto& column, bool) { gather(column, rays, first_ray, place++); });
    place = 0;
    trace::visit_events(batch.events,
                        [&](const char*, auto& column, bool) { gather(column, events, first_event, place++); });
    place = 0;
    trace::visit_accesses(batch.accesses,
                          [&](const char*, auto& column) { gather(column, accesses, first_access, place++); });
    tbb::parallel_for(std::size_t{0}, copies.size(), [&](std::size_t i) { copies[i](); });
    return batch;
  }

  const LaunchIndex& index_;
  const std::function<bool(trace::ThreadData&)>& take_;
  const AccessTable& accesses_;
  DecodeLimits limits_;
  PathColumn paths_;
  std::uint32_t threads_;
  Range range_;
  bool stopped_ = false;
  std::uint64_t rayless_ = 0;
};

}  // namespace

std::uint64_t decode_launch(const LaunchIndex& index, const std::function<bool(trace::ThreadData&)>& take,
                            const AccessTable& accesses, DecodeLimits limits, PathColumn paths) {
  return LaunchDecoder(index, take, accesses, limits, paths).run();
}

}  // namespace rayreplay::ingest
