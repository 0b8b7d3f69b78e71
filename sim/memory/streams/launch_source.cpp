// Items are generated in chunks of some thousand rays. One call traces the rays of a chunk, so that a worker's lanes
// serve many warps. The chunk's traversals are freed when its streams are written.
#include "sim/memory/streams/launch_source.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
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

/// The threads and rays of some items. Rays have two numbers: *places* in `observed`, ordered by thread, and *rows* in
/// execution order: item by item, the k-th rays of its threads together.
struct Chunk {
  struct Thread {
    std::uint32_t thread = 0;
    std::uint8_t lane = 0;
    std::uint64_t first_place = 0;
    std::uint64_t rays = 0;
  };

  std::vector<Thread> threads;
  std::vector<std::size_t> first_thread;  ///< of items, one more at the end
  std::vector<std::size_t> first_group;   ///< of items, one more at the end
  std::vector<std::uint64_t> first_row;   ///< of groups, one more at the end
  std::vector<std::uint64_t> place;       ///< by row
  std::vector<RayOwner> owner;            ///< by row
  std::vector<traversal::Ray> rays;       ///< by row
  traversal::Observed observed;
  ShaderCalls calls;
};

class Source final : public LaunchSource {
 public:
  Source(const trace::Trace& trace, const trace::Launch& launch, const bvh::Bvh& structure,
         std::vector<std::uint32_t> thread_at, const StreamOptions& options)
      : launch_(&launch),
        structure_(&structure),
        thread_at_(std::move(thread_at)),
        options_(options),
        memory_(map_launch(trace, launch, structure, static_cast<std::uint32_t>(thread_at_.size() / options.warp_size),
                           options)),
        elements_(memory_.allocations, structure.memory.end),
        table_(trace, launch, structure),
        counted_(thread_at_.size() / options.warp_size) {
    auto created = traversal::WarpTraversals::create(options.warp_traversal);
    model_ = std::move(created.model);
    spec_ = std::move(created.spec);
    room_ = std::make_unique<ChunkRoom>(most_rays(), options_.holding);
  }

  [[nodiscard]] std::uint32_t items() const override {
    return static_cast<std::uint32_t>(thread_at_.size() / options_.warp_size);
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

  [[nodiscard]] std::uint64_t rays_of(std::uint32_t item) const {
    std::uint64_t rays = 0;
    for (std::uint32_t lane = 0; lane < options_.warp_size; ++lane) {
      const std::size_t thread = thread_at_[std::size_t{item} * options_.warp_size + lane];
      if (thread != scheduler::kNoThread) {
        rays += launch_->data.ray_offset[thread + 1] - launch_->data.ray_offset[thread];
      }
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
    std::vector<std::uint32_t> ids;
    std::uint64_t places = 0;
    for (const Job& job : jobs) {
      chunk.first_thread.push_back(chunk.threads.size());
      for (std::uint32_t lane = 0; lane < options_.warp_size; ++lane) {
        const std::uint32_t thread = thread_at_[std::size_t{job.item} * options_.warp_size + lane];
        if (thread != scheduler::kNoThread) {
          const auto& offset = launch_->data.ray_offset;
          const std::uint64_t rays = offset[std::size_t{thread} + 1] - offset[thread];
          chunk.threads.push_back({thread, static_cast<std::uint8_t>(lane), places, rays});
          ids.push_back(thread);
          places += rays;
        }
      }
    }
    chunk.first_thread.push_back(chunk.threads.size());
    chunk.observed = traversal::observe(*launch_, ids);
    chunk.calls = table_.calls(ids);
    chunk.first_row.push_back(0);
    for (std::size_t item = 0; item < jobs.size(); ++item) {
      chunk.first_group.push_back(chunk.first_row.size() - 1);
      const std::span<const Chunk::Thread> threads = threads_of(chunk, item);
      std::uint64_t longest = 0;
      for (const Chunk::Thread& thread : threads) {
        longest = std::max(longest, thread.rays);
      }
      for (std::uint64_t k = 0; k < longest; ++k) {
        for (const Chunk::Thread& thread : threads) {
          if (k < thread.rays) {
            chunk.place.push_back(thread.first_place + k);
            chunk.owner.push_back({thread.lane, thread.thread});
            chunk.rays.push_back(chunk.observed.rays[thread.first_place + k]);
          }
        }
        chunk.first_row.push_back(chunk.place.size());
      }
    }
    chunk.first_group.push_back(chunk.first_row.size() - 1);
    return chunk;
  }
  [[nodiscard]] static std::span<const Chunk::Thread> threads_of(const Chunk& chunk, std::size_t item) {
    return std::span(chunk.threads)
        .subspan(chunk.first_thread[item], chunk.first_thread[item + 1] - chunk.first_thread[item]);
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
      append_start(chunk, item, out);
      for (std::size_t group = chunk.first_group[item]; group < chunk.first_group[item + 1]; ++group) {
        append_payloads(chunk, group, jobs[item].item, out);
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
        lane = append_steps(traced, step, end, lane, chunk.owner, elements_, stack_of(jobs[item].item), out);
        step = end;
        append_calls(chunk, item, group - chunk.first_group[item] + 1, jobs[item].item, out);
        append_pixels(chunk, item, group - chunk.first_group[item] + 1, out);
      }
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
  [[nodiscard]] StackMemory stack_of(std::uint32_t item) const {
    StackMemory stack{.warp_size = options_.warp_size, .entries = memory_.spilled_entries};
    if (memory_.stacks.records > 0) {
      stack.start = memory_.stacks.start +
                    std::uint64_t{item} * memory_.spilled_entries * traversal::kStackEntryBytes * stack.warp_size;
      stack.element = memory_.stacks.first_element + item;
    }
    return stack;
  }

  /// Every thread with rays reads the ray-generation record; then the calls before its first ray.
  void append_start(const Chunk& chunk, std::size_t item, InstructionWriter& out) const {
    for (const Chunk::Thread& thread : threads_of(chunk, item)) {
      if (thread.rays > 0 && memory_.ray_generation.records > 0) {
        out.add(thread.lane, memory_.ray_generation.start, memory_.ray_generation.first_element, thread.thread);
      }
    }
    out.put(DataKind::ShaderRecord, options_.record_bytes, false);
    append_calls(chunk, item, 0, 0, out);
  }

  void add_payload(std::uint32_t item, std::uint32_t lane, std::uint32_t thread, InstructionWriter& out) const {
    out.add(lane,
            memory_.payloads.start + std::uint64_t{item} * options_.payload_bytes * options_.warp_size +
                std::uint64_t{lane} * kLocalWord,
            memory_.payloads.first_element + item, thread);
  }
  void put_payloads(bool store, InstructionWriter& out) const {
    out.put_words(DataKind::Payload, options_.payload_bytes / kLocalWord, lane_stride(), store);
  }

  /// The trace call: payloads are written.
  void append_payloads(const Chunk& chunk, std::size_t group, std::uint32_t item, InstructionWriter& out) const {
    if (options_.payload_bytes > 0) {
      for (std::uint64_t row = chunk.first_row[group]; row < chunk.first_row[group + 1]; ++row) {
        add_payload(item, chunk.owner[row].lane, chunk.owner[row].thread, out);
      }
      put_payloads(true, out);
    }
  }

  /// Calls of the threads' rays `number` − 1; 0: before any ray.
  void append_calls(const Chunk& chunk, std::size_t item, std::uint64_t number, std::uint32_t item_number,
                    InstructionWriter& out) const {
    const std::span<const Chunk::Thread> threads = threads_of(chunk, item);
    const auto calls_of = [&](const Chunk::Thread& thread) -> std::span<const ShaderCall> {
      // Each thread has one more entry here than it has rays.
      const auto before = static_cast<std::uint64_t>(&thread - chunk.threads.data());
      return number > thread.rays ? std::span<const ShaderCall>()
                                  : chunk.calls.of(thread.first_place + before + number);
    };
    std::size_t most = 0;
    for (const Chunk::Thread& thread : threads) {
      most = std::max(most, calls_of(thread).size());
    }
    for (std::size_t j = 0; j < most; ++j) {
      const auto for_lanes = [&](const auto& visit) {
        for (const Chunk::Thread& thread : threads) {
          if (const auto calls = calls_of(thread); j < calls.size()) {
            visit(thread, calls[j]);
          }
        }
      };
      if (options_.record_bytes > 0) {
        for_lanes([&](const Chunk::Thread& thread, const ShaderCall& call) {
          const LaunchArray& region = region_of(call.region);
          out.add(thread.lane, region.start + std::uint64_t{call.record} * options_.record_bytes,
                  region.first_element + call.record, thread.thread);
        });
        out.put(DataKind::ShaderRecord, options_.record_bytes, false);
      }
      if (options_.payload_bytes > 0) {
        for_lanes([&](const Chunk::Thread& thread, const ShaderCall& call) {
          if (call.reads_payload()) {
            add_payload(item_number, thread.lane, thread.thread, out);
          }
        });
        put_payloads(false, out);
        for_lanes([&](const Chunk::Thread& thread, const ShaderCall& call) {
          if (call.writes_payload()) {
            add_payload(item_number, thread.lane, thread.thread, out);
          }
        });
        put_payloads(true, out);
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

  /// Pixels of the threads whose last ray was their `number`-th.
  void append_pixels(const Chunk& chunk, std::size_t item, std::uint64_t number, InstructionWriter& out) const {
    if (options_.pixel_bytes == 0) {
      return;
    }
    for (const Chunk::Thread& thread : threads_of(chunk, item)) {
      if (thread.rays == number) {
        out.add(thread.lane, memory_.frame_buffer.start + std::uint64_t{thread.thread} * options_.pixel_bytes,
                memory_.frame_buffer.first_element + thread.thread, thread.thread);
      }
    }
    out.put(DataKind::FrameBuffer, options_.pixel_bytes, true);
  }

  const trace::Launch* launch_;
  const bvh::Bvh* structure_;
  std::vector<std::uint32_t> thread_at_;
  StreamOptions options_;
  LaunchMemory memory_;
  ElementFinder elements_;
  ShaderTable table_;
  std::unique_ptr<traversal::WarpTraversal> model_;
  std::string spec_;
  std::unique_ptr<ChunkRoom> room_;
  std::vector<bool> counted_;  ///< by item: already in the tally
  SourceTally tally_;
};

}  // namespace

std::unique_ptr<LaunchSource> make_launch_source(const trace::Trace& trace, const trace::Launch& launch,
                                                 const bvh::Bvh& structure, std::vector<std::uint32_t> thread_at,
                                                 const StreamOptions& options) {
  check(options);
  trace::require_scene(trace.scene, launch, "access streams");
  check_threads(thread_at, launch.data.threads(), options.warp_size);
  return std::make_unique<Source>(trace, launch, structure, std::move(thread_at), options);
}

}  // namespace rayreplay::memory
