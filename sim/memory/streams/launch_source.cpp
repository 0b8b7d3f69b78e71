// Items are generated in chunks of some thousand rays. One call traces the rays of a chunk, so that a worker's lanes
// serve many warps. The chunk's traversals are freed when its streams are written.
#include "sim/memory/streams/launch_source.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "capture/trace/launch_scene.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/memory/streams/launch_memory.hpp"
#include "sim/memory/streams/shader_calls.hpp"
#include "sim/memory/streams/step_instructions.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::memory {
namespace {

using traversal::WarpTraceResult;

constexpr std::uint64_t kChunkRays = 2048;
constexpr std::uint32_t kMaxBytes = 65536;
constexpr std::uint32_t kMaxStateBytes = 1U << 20U;

void check(const StreamOptions& options) {
  const auto fail = [](const char* what, std::uint64_t found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, "access streams", std::to_string(found), expected, ""});
  };
  scheduler::check_warp_size(options.warp_size);
  if (options.payload_bytes % kLocalWord != 0 || options.payload_bytes > kMaxBytes) {
    fail("the payload's size is out of range", options.payload_bytes,
         fmt::format("a multiple of {} bytes, at most {}", kLocalWord, kMaxBytes));
  }
  if (options.record_bytes > kMaxBytes) {
    fail("the size of a shader record is out of range", options.record_bytes, fmt::format("at most {}", kMaxBytes));
  }
  if (options.pixel_bytes > kMaxBytes) {
    fail("the size of a pixel is out of range", options.pixel_bytes, fmt::format("at most {}", kMaxBytes));
  }
  if (options.load_bytes != 0 && (options.load_bytes % kLocalWord != 0 || options.load_bytes > kMaxBytes)) {
    fail("the bytes that a lane loads at once are out of range", options.load_bytes,
         fmt::format("0, or a multiple of {}, at most {}", kLocalWord, kMaxBytes));
  }
  check(options.coalescing, "access streams");
}

void check_threads(std::span<const std::uint32_t> thread_at, std::uint64_t threads, std::uint32_t warp_size) {
  const auto fail = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, "access streams", found, expected, ""});
  };
  if (thread_at.size() % warp_size != 0 || thread_at.size() / warp_size >= kNoElement) {
    fail("the places do not fill whole warps", std::to_string(thread_at.size()), fmt::format("warps of {}", warp_size));
  }
  std::vector<bool> seen(threads);
  for (const std::uint32_t thread : thread_at) {
    if (thread == scheduler::kNoThread) {
      continue;
    }
    if (thread >= threads) {
      fail("a thread of an item is out of range", std::to_string(thread), fmt::format("less than {}", threads));
    }
    if (seen[thread]) {
      fail("a thread is at two places", std::to_string(thread), "each thread at most once");
    }
    seen[thread] = true;
  }
}

void check_work(const LaunchWork& work, std::uint32_t warp_size) {
  const auto fail = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::Internal, {what, "access streams", found, expected, "report this: the caller is at fault"});
  };
  if (work.segment_at.size() % warp_size != 0 || work.segment_at.size() / warp_size >= kNoElement) {
    fail("the segments do not fill whole warps", std::to_string(work.segment_at.size()),
         fmt::format("warps of {}", warp_size));
  }
  if (!work.loads_state.empty() && work.loads_state.size() != work.segments->size()) {
    fail("not every segment says how it gets its state", std::to_string(work.loads_state.size()),
         std::to_string(work.segments->size()));
  }
  if (work.state_bytes % kLocalWord != 0 || work.state_bytes > kMaxStateBytes) {
    fail("the size of a state is out of range", std::to_string(work.state_bytes),
         fmt::format("a multiple of {} bytes, at most {}", kLocalWord, kMaxStateBytes));
  }
  std::vector<bool> seen(work.segments->size());
  for (const std::uint32_t segment : work.segment_at) {
    if (segment == scheduler::kNoSegment) {
      continue;
    }
    if (segment >= seen.size() || seen[segment]) {
      fail(segment >= seen.size() ? "a segment of an item is out of range" : "a segment is at two places",
           std::to_string(segment), fmt::format("each of {} segments once", seen.size()));
    }
    seen[segment] = true;
  }
}

/// Threads of one segment each; threads without events have none.
scheduler::Segments whole_threads(const trace::ThreadData& data) {
  scheduler::Segments segments;
  const std::size_t threads = data.threads();
  segments.first.resize(threads + 1);
  segments.first[0] = 0;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const bool any = data.event_offset[thread] < data.event_offset[thread + 1];
    segments.first[thread + 1] = segments.first[thread] + (any ? 1U : 0U);
    if (any) {
      segments.event_offset.push_back(data.event_offset[thread]);
    }
  }
  segments.event_offset.push_back(data.events.size());
  segments.bounce.resize(segments.first.back());
  std::fill(segments.bounce.begin(), segments.bounce.end(), std::uint16_t{0});
  segments.most_of_a_thread = segments.first.back() == 0 ? 0 : 1;
  return segments;
}

/// Whole threads as work.
struct WholeThreads {
  scheduler::Segments segments;
  std::vector<std::uint32_t> segment_at;
  std::vector<std::uint32_t> thread_at;

  WholeThreads(const trace::ThreadData& data, std::vector<std::uint32_t> places)
      : segments(whole_threads(data)), thread_at(std::move(places)) {
    segment_at.reserve(thread_at.size());
    for (const std::uint32_t thread : thread_at) {
      const bool any =
          thread != scheduler::kNoThread && segments.first[thread] < segments.first[std::size_t{thread} + 1];
      segment_at.push_back(any ? segments.first[thread] : scheduler::kNoSegment);
    }
  }
  [[nodiscard]] LaunchWork work() const {
    return {.segments = &segments, .segment_at = segment_at, .thread_at = thread_at};
  }
};

/// The segments and rays of some items. Rays have two numbers: *places* in `observed`, ordered by thread, and *rows* in
/// execution order: item by item, the k-th rays of its segments together.
struct Chunk {
  /// A segment in its lane.
  struct Lane {
    std::uint32_t thread = 0;
    std::uint32_t segment = 0;
    std::uint32_t home = 0;
    std::uint8_t lane = 0;
    bool first = false, last = false;  ///< segment of its thread
    bool has_rays = false;             ///< the thread
    std::uint64_t first_place = 0;
    std::uint64_t rays = 0;  ///< begun in the segment
  };

  std::vector<Lane> lanes;
  std::vector<std::size_t> first_lane;   ///< of items, one more at the end
  std::vector<std::size_t> first_group;  ///< of items, one more at the end
  std::vector<std::uint64_t> first_row;  ///< of groups, one more at the end
  std::vector<std::uint64_t> place;      ///< by row
  std::vector<RayOwner> owner;           ///< by row
  std::vector<traversal::Ray> rays;      ///< by row
  traversal::Observed observed;
  ShaderCalls calls;
};

class Source final : public LaunchSource {
 public:
  /// `keep`: owner of the arrays of `work`, or null.
  Source(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure, const LaunchWork& work,
         const StreamOptions& options, std::shared_ptr<const void> keep)
      : launch_(&launch),
        structure_(&structure),
        keep_(std::move(keep)),
        work_(work),
        options_(options),
        memory_(map_launch(trace, launch, structure,
                           static_cast<std::uint32_t>(work.thread_at.size() / options.warp_size),
                           work.loads_state.empty() ? 0 : work.state_bytes, options)),
        elements_(memory_.allocations, structure),
        table_(trace, launch, structure),
        thread_of_(work.segments->size()),
        home_(launch.data.threads(), 0),
        counted_(work.segment_at.size() / options.warp_size) {
    auto created = traversal::WarpTraversals::create(options.warp_traversal);
    model_ = std::move(created.model);
    spec_ = std::move(created.spec);
    room_ = std::make_unique<ChunkRoom>(most_rays(), options_.holding);
    for (std::size_t place = 0; place < work.thread_at.size(); ++place) {
      if (work.thread_at[place] != scheduler::kNoThread) {
        home_[work.thread_at[place]] = static_cast<std::uint32_t>(place);
      }
    }
    find_threads();
  }

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(work_.segment_at.size() / options_.warp_size);
  }
  [[nodiscard]] const Allocations& allocations() const override {
    return memory_.allocations;
  }
  [[nodiscard]] const CoalesceOptions& coalescing() const override {
    return options_.coalescing;
  }
  [[nodiscard]] SourceTally tally() const override {
    return tally_;
  }
  [[nodiscard]] std::string warp_traversal() const override {
    return spec_;
  }

  void generate(std::span<const std::uint32_t> items, std::span<WarpStream> streams) override {
    if (items.size() != streams.size()) {
      throw Error(ErrorKind::Internal, {"items and streams differ in number", "access streams",
                                        std::to_string(streams.size()), std::to_string(items.size()), ""});
    }
    // Items that were generated before are not tallied again.
    std::vector<Job> fresh;
    std::vector<Job> again;
    for (std::size_t i = 0; i < items.size(); ++i) {
      (counted_.at(items[i]) ? again : fresh).push_back({items[i], &streams[i]});
      counted_[items[i]] = true;
    }
    const SourceTally tally = generate_all(fresh, true);
    static_cast<void>(generate_all(again, false));
    tally_.rays += tally.rays;
    tally_.ignored_rays += tally.ignored_rays;
    tally_.unobserved += tally.unobserved;
  }

 private:
  struct Job {
    std::uint32_t item = 0;
    WarpStream* stream = nullptr;
  };

  /// The thread of every segment, and the rays that the thread began before it.
  void find_threads() {
    const scheduler::Segments& segments = *work_.segments;
    // The first segment of a thread has no rays before it.
    rays_before_.resize(segments.most_of_a_thread > 1 ? segments.size() : 0);
    constexpr std::size_t kThreadsPerTask = 1024;
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, launch_->data.threads(), kThreadsPerTask), [&](const auto& range) {
          for (std::size_t thread = range.begin(); thread != range.end(); ++thread) {
            std::uint32_t begun = 0;
            for (std::uint32_t segment = segments.first[thread]; segment < segments.first[thread + 1]; ++segment) {
              thread_of_[segment] = static_cast<std::uint32_t>(thread);
              if (!rays_before_.empty()) {
                rays_before_[segment] = begun;
                for (std::uint64_t event = segments.event_offset[segment]; event < segments.event_offset[segment + 1];
                     ++event) {
                  begun += trace::begins_ray(launch_->data.events.kind[event]) ? 1U : 0U;
                }
              }
            }
          }
        });
  }

  [[nodiscard]] std::span<const std::uint32_t> segments_of(std::uint32_t item) const {
    return work_.segment_at.subspan(std::size_t{item} * options_.warp_size, options_.warp_size);
  }
  [[nodiscard]] std::uint64_t rays_of_thread(std::uint32_t thread) const {
    return launch_->data.ray_offset[std::size_t{thread} + 1] - launch_->data.ray_offset[thread];
  }
  /// Rays that the thread began before the segment.
  [[nodiscard]] std::uint64_t rays_before(std::uint32_t segment) const {
    return rays_before_.empty() ? 0 : rays_before_[segment];
  }
  [[nodiscard]] bool is_first(std::uint32_t segment) const {
    return work_.segments->first[thread_of_[segment]] == segment;
  }
  [[nodiscard]] bool is_last(std::uint32_t segment) const {
    return work_.segments->first[std::size_t{thread_of_[segment]} + 1] == segment + 1;
  }
  /// Rays that the segment begins.
  [[nodiscard]] std::uint64_t rays_of_segment(std::uint32_t segment) const {
    const std::uint64_t end = is_last(segment) ? rays_of_thread(thread_of_[segment]) : rays_before(segment + 1);
    return end - rays_before(segment);
  }
  [[nodiscard]] std::uint64_t rays_of(std::uint32_t item) const {
    std::uint64_t rays = 0;
    for (const std::uint32_t segment : segments_of(item)) {
      rays += segment == scheduler::kNoSegment ? 0 : rays_of_segment(segment);
    }
    return rays;
  }

  [[nodiscard]] std::uint64_t most_rays() const {
    return model_->keeps_warps() ? kChunkRays : kChunkRays / 8;
  }

  static void add(const SourceTally& part, SourceTally& sum) {
    sum.rays += part.rays;
    sum.ignored_rays += part.ignored_rays;
    sum.unobserved += part.unobserved;
  }

  /// `fresh`: none of the items was generated before.
  [[nodiscard]] SourceTally generate_all(std::span<const Job> jobs, bool fresh) const {
    std::vector<std::size_t> first{0};
    std::uint64_t rays = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      rays += rays_of(jobs[i].item);
      if (rays >= most_rays() || i + 1 == jobs.size()) {
        first.push_back(i + 1);
        rays = 0;
      }
    }
    const auto threads = static_cast<std::uint64_t>(std::max(1, tbb::this_task_arena::max_concurrency()));
    const std::uint64_t at_a_time = std::min<std::uint64_t>(threads, first.size() - 1);
    std::vector<SourceTally> tallies(first.size() - 1);
    tbb::parallel_for(std::size_t{0}, tallies.size(), [&](std::size_t chunk) {
      for (std::size_t begin = first[chunk]; begin < first[chunk + 1];) {
        const std::size_t end = chunk_end(jobs, begin, first[chunk + 1]);
        add(generate_chunk(jobs.subspan(begin, end - begin), fresh, at_a_time), tallies[chunk]);
        begin = end;
      }
    });
    SourceTally sum;
    for (const SourceTally& tally : tallies) {
      add(tally, sum);
    }
    return sum;
  }
  /// As many jobs of [begin, end) as the chunk has room for, at least one.
  [[nodiscard]] std::size_t chunk_end(std::span<const Job> jobs, std::size_t begin, std::size_t end) const {
    const std::uint64_t most = room_->rays();
    std::uint64_t rays = rays_of(jobs[begin].item);
    std::size_t next = begin + 1;
    while (next < end && (rays += rays_of(jobs[next].item)) <= most) {
      ++next;
    }
    return next;
  }

  template <class T>
  [[nodiscard]] static std::uint64_t bytes_of(const std::vector<T>& rows) {
    return rows.capacity() * sizeof(T);
  }
  /// Includes the logs from which it is built.
  [[nodiscard]] static std::uint64_t bytes_of(const WarpTraceResult& traced) {
    constexpr std::uint64_t kCopies = 2;
    return kCopies *
           (bytes_of(traced.steps) + bytes_of(traced.ray) + bytes_of(traced.access_offset) + bytes_of(traced.accesses));
  }
  [[nodiscard]] static std::uint64_t bytes_of(const Instructions& raw) {
    return bytes_of(raw.rows) + bytes_of(raw.address) + bytes_of(raw.element) + bytes_of(raw.thread);
  }

  [[nodiscard]] Chunk make_chunk(std::span<const Job> jobs) const {
    Chunk chunk;
    std::vector<CallRange> ranges;
    for (const Job& job : jobs) {
      chunk.first_lane.push_back(chunk.lanes.size());
      const std::span<const std::uint32_t> segments = segments_of(job.item);
      for (std::uint32_t lane = 0; lane < options_.warp_size; ++lane) {
        const std::uint32_t segment = segments[lane];
        if (segment == scheduler::kNoSegment) {
          continue;
        }
        const std::uint32_t thread = thread_of_[segment];
        const std::uint64_t rays = rays_of_segment(segment);
        chunk.lanes.push_back({.thread = thread,
                               .segment = segment,
                               .home = home_[thread],
                               .lane = static_cast<std::uint8_t>(lane),
                               .first = is_first(segment),
                               .last = is_last(segment),
                               .has_rays = rays_of_thread(thread) > 0,
                               .rays = rays});
        ranges.push_back({.thread = thread,
                          .first_event = work_.segments->event_offset[segment],
                          .last_event = work_.segments->event_offset[std::size_t{segment} + 1],
                          .first_ray = rays_before(segment),
                          .rays = rays});
      }
    }
    chunk.first_lane.push_back(chunk.lanes.size());
    chunk.calls = table_.calls(ranges);
    observe_threads(chunk);
    chunk.first_row.push_back(0);
    for (std::size_t item = 0; item < jobs.size(); ++item) {
      chunk.first_group.push_back(chunk.first_row.size() - 1);
      const std::span<const Chunk::Lane> lanes = lanes_of(chunk, item);
      std::uint64_t longest = 0;
      for (const Chunk::Lane& lane : lanes) {
        longest = std::max(longest, lane.rays);
      }
      for (std::uint64_t k = 0; k < longest; ++k) {
        for (const Chunk::Lane& lane : lanes) {
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
  /// Observes the threads whose segments begin rays, each once, and sets the lanes' first places.
  void observe_threads(Chunk& chunk) const {
    std::vector<std::uint32_t> threads;
    for (const Chunk::Lane& lane : chunk.lanes) {
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
      place += rays_of_thread(thread);
    }
    for (Chunk::Lane& lane : chunk.lanes) {
      if (lane.rays > 0) {
        const auto found = std::ranges::lower_bound(threads, lane.thread) - threads.begin();
        lane.first_place = first_place[static_cast<std::size_t>(found)] + rays_before(lane.segment);
      }
    }
  }
  [[nodiscard]] static std::span<const Chunk::Lane> lanes_of(const Chunk& chunk, std::size_t item) {
    return std::span(chunk.lanes).subspan(chunk.first_lane[item], chunk.first_lane[item + 1] - chunk.first_lane[item]);
  }

  [[nodiscard]] SourceTally generate_chunk(std::span<const Job> jobs, bool fresh, std::uint64_t at_a_time) const {
    const Chunk chunk = make_chunk(jobs);
    const traversal::ObservedShaders shaders(chunk.observed, chunk.place);
    const traversal::WarpTraceOptions trace_options{.warp_size = options_.warp_size,
                                                    .counters = false,
                                                    .accesses = true,
                                                    .stack_entries = options_.stack_entries,
                                                    .shaders = &shaders};
    SourceTally tally{.rays = chunk.rays.size()};
    WarpTraceResult traced;
    if (model_->keeps_warps()) {
      traced = model_->trace(*structure_, chunk.rays, chunk.first_row, trace_options);
      tally.ignored_rays = traced.ignored_rays;
    }
    std::uint64_t traced_bytes = bytes_of(traced);
    std::uint64_t transactions = 0;
    std::size_t step = 0;
    std::uint64_t lane = 0;
    const std::vector<std::uint64_t> first_call = first_calls(chunk);
    Instructions scratch;
    WarpStream made;  // its vectors over-allocate; the copy that stays resident has the exact size
    for (std::size_t item = 0; item < jobs.size(); ++item) {
      *jobs[item].stream = {};
      made.first.clear();
      made.transactions.clear();
      made.requests.clear();
      Instructions& raw = options_.coalescing.keep_raw ? made.raw : scratch;
      raw.clear();
      InstructionWriter out(raw, options_.load_bytes);
      append_start(chunk, item, first_call, out);
      for (std::size_t group = chunk.first_group[item]; group < chunk.first_group[item + 1]; ++group) {
        append_payloads(chunk, group, out);
        if (!model_->keeps_warps()) {
          // One resident warp, whose queue is this group.
          traced = model_->trace(*structure_, chunk.rays, std::span(chunk.first_row).subspan(group, 2), trace_options);
          tally.ignored_rays += traced.ignored_rays;
          traced_bytes = std::max(traced_bytes, bytes_of(traced));
          step = 0;
          lane = 0;
        }
        std::size_t end = step;
        while (end < traced.steps.size() && (!model_->keeps_warps() || traced.steps[end].warp == group)) {
          ++end;
        }
        lane = append_steps(traced, step, end, lane, chunk.owner, elements_, stacks(), out);
        step = end;
        append_calls(chunk, item, group - chunk.first_group[item] + 1, first_call, out);
        append_pixels(chunk, item, group - chunk.first_group[item] + 1, out);
      }
      append_states(chunk, item, true, out);
      coalesce(raw, options_.coalescing, made);
      *jobs[item].stream = WarpStream(made);
      transactions += made.transactions.size();
    }
    const std::uint64_t streams = bytes_of(made.first) + bytes_of(made.transactions) + bytes_of(made.requests);
    room_->note(tally.rays, traced_bytes + bytes_of(scratch) + bytes_of(made.raw) + streams, fresh ? transactions : 0,
                at_a_time);
    tally.unobserved = shaders.unobserved();
    return tally;
  }

  [[nodiscard]] std::uint32_t lane_stride() const {
    return options_.warp_size * kLocalWord;
  }
  [[nodiscard]] StackMemory stacks() const {
    return {.start = memory_.stacks.start,
            .first_element = memory_.stacks.first_element,
            .warp_size = options_.warp_size,
            .entries = memory_.spilled_entries};
  }
  /// Adds a lane's first word in an array of local memory, which has `bytes` bytes a thread.
  void add_local(const LaunchArray& array, std::uint32_t bytes, const RayOwner& owner, InstructionWriter& out) const {
    const std::uint32_t block = owner.home / options_.warp_size;
    out.add(owner.lane,
            array.start + std::uint64_t{block} * bytes * options_.warp_size +
                std::uint64_t{owner.home % options_.warp_size} * kLocalWord,
            array.first_element + block, owner.thread);
  }
  void put_local(DataKind kind, std::uint32_t bytes, bool store, InstructionWriter& out) const {
    out.put_words(kind, bytes / kLocalWord, lane_stride(), store);
  }

  /// Instructions before the segments' rays.
  void append_start(const Chunk& chunk, std::size_t item, std::span<const std::uint64_t> first_call,
                    InstructionWriter& out) const {
    append_states(chunk, item, false, out);
    for (const Chunk::Lane& lane : lanes_of(chunk, item)) {
      if (lane.first && lane.has_rays && memory_.ray_generation.records > 0) {
        out.add(lane.lane, memory_.ray_generation.start, memory_.ray_generation.first_element, lane.thread);
      }
    }
    out.put(DataKind::ShaderRecord, options_.record_bytes, false);
    append_calls(chunk, item, 0, first_call, out);
    append_pixels(chunk, item, 0, out);
  }

  /// States that come through memory into these segments, or (`store`) into the threads' next ones.
  void append_states(const Chunk& chunk, std::size_t item, bool store, InstructionWriter& out) const {
    if (work_.loads_state.empty() || work_.state_bytes == 0) {
      return;
    }
    for (const Chunk::Lane& lane : lanes_of(chunk, item)) {
      const bool moves = store ? !lane.last && work_.loads_state[lane.segment + 1] != 0
                               : !lane.first && work_.loads_state[lane.segment] != 0;
      if (moves) {
        add_local(memory_.states, work_.state_bytes, {lane.lane, lane.thread, lane.home}, out);
      }
    }
    put_local(DataKind::State, work_.state_bytes, store, out);
  }

  /// The trace call: payloads are written.
  void append_payloads(const Chunk& chunk, std::size_t group, InstructionWriter& out) const {
    if (options_.payload_bytes > 0) {
      for (std::uint64_t row = chunk.first_row[group]; row < chunk.first_row[group + 1]; ++row) {
        add_local(memory_.payloads, options_.payload_bytes, chunk.owner[row], out);
      }
      put_local(DataKind::Payload, options_.payload_bytes, true, out);
    }
  }

  /// By lane: its first place in `calls`.
  [[nodiscard]] static std::vector<std::uint64_t> first_calls(const Chunk& chunk) {
    std::vector<std::uint64_t> first;
    first.reserve(chunk.lanes.size());
    std::uint64_t place = 0;
    for (const Chunk::Lane& lane : chunk.lanes) {
      first.push_back(place);
      place += lane.rays + 1;
    }
    return first;
  }

  /// Calls of the segments' rays `number` − 1; 0: of other rays, and outside of rays.
  void append_calls(const Chunk& chunk, std::size_t item, std::uint64_t number,
                    std::span<const std::uint64_t> first_call, InstructionWriter& out) const {
    const std::span<const Chunk::Lane> lanes = lanes_of(chunk, item);
    const auto calls_of = [&](const Chunk::Lane& lane) -> std::span<const ShaderCall> {
      const auto index = static_cast<std::size_t>(&lane - chunk.lanes.data());
      return number > lane.rays ? std::span<const ShaderCall>() : chunk.calls.of(first_call[index] + number);
    };
    std::size_t most = 0;
    for (const Chunk::Lane& lane : lanes) {
      most = std::max(most, calls_of(lane).size());
    }
    for (std::size_t j = 0; j < most; ++j) {
      const auto for_lanes = [&](const auto& visit) {
        for (const Chunk::Lane& lane : lanes) {
          if (const auto calls = calls_of(lane); j < calls.size()) {
            visit(lane, calls[j]);
          }
        }
      };
      if (options_.record_bytes > 0) {
        for_lanes([&](const Chunk::Lane& lane, const ShaderCall& call) {
          const LaunchArray& region = region_of(call.region);
          out.add(lane.lane, region.start + std::uint64_t{call.record} * options_.record_bytes,
                  region.first_element + call.record, lane.thread);
        });
        out.put(DataKind::ShaderRecord, options_.record_bytes, false);
      }
      if (options_.payload_bytes > 0) {
        for_lanes([&](const Chunk::Lane& lane, const ShaderCall& call) {
          if (call.reads_payload()) {
            add_local(memory_.payloads, options_.payload_bytes, {lane.lane, lane.thread, lane.home}, out);
          }
        });
        put_local(DataKind::Payload, options_.payload_bytes, false, out);
        for_lanes([&](const Chunk::Lane& lane, const ShaderCall& call) {
          if (call.writes_payload()) {
            add_local(memory_.payloads, options_.payload_bytes, {lane.lane, lane.thread, lane.home}, out);
          }
        });
        put_local(DataKind::Payload, options_.payload_bytes, true, out);
      }
    }
  }
  [[nodiscard]] const LaunchArray& region_of(trace::TableRegion region) const {
    switch (region) {
      case trace::TableRegion::RayGeneration:
        return memory_.ray_generation;
      case trace::TableRegion::Miss:
        return memory_.miss;
      case trace::TableRegion::Hit:
        return memory_.hit;
      case trace::TableRegion::Callable:
        break;
    }
    return memory_.callable;
  }

  /// Pixels of the threads whose last segment began its last ray as its `number`-th.
  void append_pixels(const Chunk& chunk, std::size_t item, std::uint64_t number, InstructionWriter& out) const {
    if (options_.pixel_bytes == 0) {
      return;
    }
    for (const Chunk::Lane& lane : lanes_of(chunk, item)) {
      if (lane.last && lane.has_rays && lane.rays == number) {
        out.add(lane.lane, memory_.frame_buffer.start + std::uint64_t{lane.thread} * options_.pixel_bytes,
                memory_.frame_buffer.first_element + lane.thread, lane.thread);
      }
    }
    out.put(DataKind::FrameBuffer, options_.pixel_bytes, true);
  }

  const trace::Launch* launch_;
  const bvh::Bvh* structure_;
  std::shared_ptr<const void> keep_;
  LaunchWork work_;
  StreamOptions options_;
  LaunchMemory memory_;
  ElementFinder elements_;
  ShaderTable table_;
  trace::Column<std::uint32_t> thread_of_;    ///< by segment
  trace::Column<std::uint32_t> rays_before_;  ///< by segment; empty: all 0
  std::vector<std::uint32_t> home_;           ///< by thread
  std::unique_ptr<traversal::WarpTraversal> model_;
  std::string spec_;
  std::unique_ptr<ChunkRoom> room_;
  std::vector<bool> counted_;  ///< by item: already in the tally
  SourceTally tally_;
};

}  // namespace

std::unique_ptr<LaunchSource> make_segment_source(const trace::Trace& trace, const trace::Launch& launch,
                                                  const bvh::Bvh& structure, const LaunchWork& work,
                                                  const StreamOptions& options) {
  check(options);
  trace::require_scene(trace.scene, launch, "access streams");
  check_threads(work.thread_at, launch.data.threads(), options.warp_size);
  check_work(work, options.warp_size);
  return std::make_unique<Source>(trace, launch, structure, work, options, nullptr);
}

std::unique_ptr<LaunchSource> make_launch_source(const trace::Trace& trace, const trace::Launch& launch,
                                                 const bvh::Bvh& structure, std::vector<std::uint32_t> thread_at,
                                                 const StreamOptions& options) {
  check(options);
  trace::require_scene(trace.scene, launch, "access streams");
  check_threads(thread_at, launch.data.threads(), options.warp_size);
  const auto whole = std::make_shared<const WholeThreads>(launch.data, std::move(thread_at));
  return std::make_unique<Source>(trace, launch, structure, whole->work(), options, whole);
}

}  // namespace rayreplay::memory
