// Items are generated in chunks of some thousand rays. One call traces the rays of a chunk, so that a worker's lanes
// serve many warps. The chunk's traversals are freed when its streams are written.
#include "sim/memory/streams/launch_source.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "base/error.hpp"
#include "capture/trace/launch_scene.hpp"
#include "sim/memory/streams/item_instructions.hpp"
#include "sim/memory/streams/launch_chunk.hpp"
#include "sim/memory/streams/launch_memory.hpp"
#include "sim/memory/streams/source_checks.hpp"
#include "sim/memory/streams/step_instructions.hpp"
#include "sim/memory/streams/whole_threads.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::memory {
namespace {

using traversal::WarpTraceResult;

constexpr std::uint64_t kChunkRays = 2048;

template <class T>
std::uint64_t bytes_of(const std::vector<T>& rows) {
  return rows.capacity() * sizeof(T);
}
/// While the logs of parts are joined, they exist beside the result: twice its bytes.
std::uint64_t bytes_of(const WarpTraceResult& traced) {
  constexpr std::uint64_t kCopies = 2;
  return kCopies * (bytes_of(traced.steps) + bytes_of(traced.tests) + bytes_of(traced.ray) +
                    bytes_of(traced.access_offset) + bytes_of(traced.accesses));
}
std::uint64_t bytes_of(const Instructions& raw) {
  return bytes_of(raw.rows) + bytes_of(raw.address) + bytes_of(raw.element) + bytes_of(raw.thread);
}

void add(const SourceTally& part, SourceTally& sum) {
  sum.rays += part.rays;
  sum.ignored_rays += part.ignored_rays;
  sum.unobserved += part.unobserved;
  sum.shader_accesses += part.shader_accesses;
  sum.image_accesses += part.image_accesses;
  sum.nowhere_accesses += part.nowhere_accesses;
  sum.assumed_filters += part.assumed_filters;
  sum.outside_samples += part.outside_samples;
  sum.stored_pixels += part.stored_pixels;
}

class Source final : public LaunchSource {
 public:
  /// `keep`: owner of the arrays of `work`, or null.
  Source(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure, const LaunchWork& work,
         const StreamOptions& options, std::shared_ptr<const void> keep)
      : structure_(&structure),
        keep_(std::move(keep)),
        options_(options),
        memory_(map_launch(trace, launch, structure, work, options)),
        elements_(memory_.allocations, structure),
        chunks_(trace, launch, structure, work, options, memory_.images ? &*memory_.images : nullptr),
        writes_(trace, launch, memory_, work, options_),
        is_completed_(work.queues != nullptr && work.formed != nullptr),
        counted_(work.formed != nullptr ? work.formed->most_items() : work.segment_at.size() / options.warp_size) {
    auto created = traversal::WarpTraversals::create(options.warp_traversal);
    model_ = std::move(created.model);
    spec_ = std::move(created.spec);
    room_ = std::make_unique<ChunkRoom>(most_rays(), options_.holding);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() override = default;

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(counted_.size());
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
    add(generate_all(fresh, true), tally_);
    static_cast<void>(generate_all(again, false));
  }

  void complete(std::uint32_t item, WarpStream& stream) override {
    if (!is_completed_) {
      return;
    }
    Instructions raw;
    std::vector<WarpWork> rows;
    WorkWriter work(rows);
    InstructionWriter out(raw, options_.load_bytes, options_.work ? &work : nullptr);
    writes_.append(chunks_.going_on(item), out);
    if (raw.rows.empty()) {
      return;
    }
    coalesce(raw, options_.coalescing, stream);
    if (options_.work) {
      work.finish();
      // The work behind the last instruction now lies before the first of these.
      WarpWork& before = stream.work.back();
      before.stages = {before.stages.shader(), rows.front().stages.access()};
      stream.work.insert(stream.work.end(), rows.begin() + 1, rows.end());
    }
    if (options_.coalescing.keep_raw) {
      const auto rows_before = static_cast<std::uint32_t>(stream.raw.address.size());
      for (Instruction row : raw.rows) {
        row.first += rows_before;
        stream.raw.rows.push_back(row);
      }
      stream.raw.address.insert(stream.raw.address.end(), raw.address.begin(), raw.address.end());
      stream.raw.element.insert(stream.raw.element.end(), raw.element.begin(), raw.element.end());
      stream.raw.thread.insert(stream.raw.thread.end(), raw.thread.begin(), raw.thread.end());
    }
    stream = WarpStream(stream);  // without spare capacity
  }

 private:
  struct Job {
    std::uint32_t item = 0;
    WarpStream* stream = nullptr;
  };

  [[nodiscard]] std::uint64_t most_rays() const {
    return model_->keeps_warps() ? kChunkRays : kChunkRays / 8;
  }

  /// `fresh`: none of the items was generated before.
  [[nodiscard]] SourceTally generate_all(std::span<const Job> jobs, bool fresh) const {
    std::vector<std::size_t> first{0};
    std::uint64_t rays = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      rays += chunks_.rays_of(jobs[i].item);
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
    std::uint64_t rays = chunks_.rays_of(jobs[begin].item);
    std::size_t next = begin + 1;
    while (next < end && (rays += chunks_.rays_of(jobs[next].item)) <= most) {
      ++next;
    }
    return next;
  }

  [[nodiscard]] LaunchChunk chunk_of(std::span<const Job> jobs) const {
    std::vector<std::uint32_t> items;
    items.reserve(jobs.size());
    for (const Job& job : jobs) {
      items.push_back(job.item);
    }
    return chunks_.make(items);
  }

  [[nodiscard]] SourceTally generate_chunk(std::span<const Job> jobs, bool fresh, std::uint64_t at_a_time) const {
    const LaunchChunk chunk = chunk_of(jobs);
    const traversal::ObservedShaders shaders(chunk.observed, chunk.place);
    const traversal::WarpTraceOptions trace_options{.warp_size = options_.warp_size,
                                                    .counters = false,
                                                    .accesses = true,
                                                    .tests = options_.work,
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
    Instructions scratch;
    WarpStream made;  // its vectors over-allocate; the copy that stays resident has the exact size
    for (std::size_t item = 0; item < jobs.size(); ++item) {
      *jobs[item].stream = {};
      made.first.clear();
      made.transactions.clear();
      made.requests.clear();
      made.work.clear();
      Instructions& raw = options_.coalescing.keep_raw ? made.raw : scratch;
      raw.clear();
      WorkWriter work(made.work);
      InstructionWriter out(raw, options_.load_bytes, options_.work ? &work : nullptr);
      writes_.start(chunk, item, out);
      for (std::size_t group = chunk.first_group[item]; group < chunk.first_group[item + 1]; ++group) {
        writes_.trace_call(chunk, item, group, out);
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
        writes_.rays_end(chunk, item, group, out);
      }
      writes_.end(chunk, item, out);
      if (options_.work) {
        work.finish();
        made.calls = work.calls();
      }
      coalesce(raw, options_.coalescing, made);
      *jobs[item].stream = WarpStream(made);
      transactions += made.transactions.size();
    }
    const std::uint64_t streams =
        bytes_of(made.first) + bytes_of(made.transactions) + bytes_of(made.requests) + bytes_of(made.work);
    room_->note(tally.rays, traced_bytes + bytes_of(scratch) + bytes_of(made.raw) + streams, fresh ? transactions : 0,
                at_a_time);
    tally.unobserved = shaders.unobserved();
    if (chunks_.accesses() != nullptr) {
      chunks_.accesses()->count(chunk.accesses.calls.rows, tally);
      chunks_.accesses()->count(chunk.accesses.around.rows, tally);
      chunks_.accesses()->count(chunk.accesses.entry.rows, tally);
      chunks_.accesses()->count(chunk.accesses.finish.rows, tally);
    }
    tally.stored_pixels = static_cast<std::uint64_t>(std::ranges::count_if(
        chunk.lanes, [&](const auto& of) { return options_.pixel_bytes > 0 && of.has_rays && of.stores_pixel; }));
    return tally;
  }

  [[nodiscard]] StackMemory stacks() const {
    return {.start = memory_.stacks.start,
            .first_element = memory_.stacks.first_element,
            .warp_size = options_.warp_size,
            .entries = memory_.spilled_entries};
  }

  const bvh::Bvh* structure_;
  std::shared_ptr<const void> keep_;
  StreamOptions options_;
  LaunchMemory memory_;
  ElementFinder elements_;
  ChunkMaker chunks_;
  ItemInstructions writes_;
  std::unique_ptr<traversal::WarpTraversal> model_;
  std::string spec_;
  std::unique_ptr<ChunkRoom> room_;
  bool is_completed_;          ///< streams are completed when their items start
  std::vector<bool> counted_;  ///< by item: already in the tally
  SourceTally tally_;
};

}  // namespace

std::unique_ptr<LaunchSource> make_segment_source(const trace::Trace& trace, const trace::Launch& launch,
                                                  const bvh::Bvh& structure, const LaunchWork& work,
                                                  const StreamOptions& options) {
  check(options, trace);
  trace::require_scene(trace.scene, launch, "access streams");
  check_threads(work.thread_at, launch.data.threads(), options.warp_size);
  check_work(work, options.warp_size);
  return std::make_unique<Source>(trace, launch, structure, work, options, nullptr);
}

std::unique_ptr<LaunchSource> make_launch_source(const trace::Trace& trace, const trace::Launch& launch,
                                                 const bvh::Bvh& structure, std::vector<std::uint32_t> thread_at,
                                                 const StreamOptions& options) {
  check(options, trace);
  trace::require_scene(trace.scene, launch, "access streams");
  check_threads(thread_at, launch.data.threads(), options.warp_size);
  const auto whole = std::make_shared<const WholeThreads>(launch.data, std::move(thread_at));
  return std::make_unique<Source>(trace, launch, structure, whole->work(), options, whole);
}

}  // namespace rayreplay::memory
