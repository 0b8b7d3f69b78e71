// The work of warps: written out by hand, and its sums against the trace's events and the counters of the traversals.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bvh/bvh.hpp"
#include "scheduler-models/regrouping/segments.hpp"
#include "scheduler-models/warp_assignment.hpp"
#include "sim/memory/streams/launch_source.hpp"
#include "tests/memory/launch_streams.hpp"
#include "tests/memory/traced_launches.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/one_triangle.hpp"
#include "traversal/observed.hpp"

namespace rayreplay::test {
namespace {

using memory::DataKind;
using memory::Instruction;
using memory::kIssueScale;
using memory::make_launch_source;
using memory::StreamOptions;
using memory::WarpCalls;
using memory::WarpStream;
using memory::WarpWork;
using memory::WorkStage;
using scheduler::kNoSegment;
using scheduler::kNoThread;
using trace::EventKind;

/// Costs in which every sum of different calls is another number: no two calls cost the same.
StreamOptions with_work(const trace::Trace& trace, StreamOptions options = {}) {
  options.work = true;
  options.coalescing.keep_raw = true;
  options.call_work.clear();
  for (std::uint32_t call = 0; call < trace.shaders.size() * trace::kEventKinds; ++call) {
    options.call_work.push_back({kIssueScale * 3 + call * call, 100 + call});
  }
  return options;
}

/// "test 3/2/0 end 3 run 7+70 begin 2", or "follows".
std::string told(const WarpWork& row) {
  std::string text;
  if (row.visits + row.boxes + row.triangles > 0) {
    text +=
        " test " + std::to_string(row.visits) + "/" + std::to_string(row.boxes) + "/" + std::to_string(row.triangles);
  }
  text += row.rays_end > 0 ? " end " + std::to_string(row.rays_end) : "";
  if (row.issue + row.latency > 0) {
    text += " run " + std::to_string(row.issue) + "+" + std::to_string(row.latency);
  }
  text += row.rays_begin > 0 ? " begin " + std::to_string(row.rays_begin) : "";
  text += row.follows ? " follows" : "";
  return text.empty() ? "" : text.substr(1);
}

/// A letter for the stage of the row's shader instructions, if it has any, and one for that of its access, if it has
/// one.
std::string stages_of(const WarpWork& row, bool has_access) {
  constexpr std::string_view kLetters =
      "gtiacmlx";  // generation, traversal, intersection, any, closest, miss, calLable
  const auto letter = [&](WorkStage stage) { return std::string(1, kLetters[static_cast<std::size_t>(stage)]); };
  return (row.issue + row.latency > 0 ? letter(row.stages.shader()) : "") +
         (has_access ? letter(row.stages.access()) : "-");
}

/// A triangle at x = 1 and three threads: 0 hits it, 1 passes it by, 2 hits it twice, by a trace call of its hit.
class WorkByHand : public testing::Test {
 protected:
  WorkByHand() {
    trace_.shaders.resize(5);
    trace_.shaders[4].stage = trace::ShaderStage::Callable;
    trace_.scene = one_triangle();
    LaunchBuilder builder({3, 1, 1});
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2);
    builder.thread().begin(0, 0, 5, 5, 1, 0, 0).miss(1);
    builder.thread().begin(0, 0, 0.25F, 0.25F, 1, 0, 0).closest_hit(2).callable(4);
    builder.begin(2, 0, 0.5F, 0.25F, 1, 0, 0).closest_hit(2);
    trace_.launches.push_back(builder.build());
    structure_ = bvh::build_bvh(trace_.scene, 0, "by hand", {.layout = "binary"});
  }
  /// Call costs: 1000 · (shader + 1) + kind, ten times as many cycles.
  [[nodiscard]] WarpStream stream(StreamOptions options) const {
    options.warp_size = 4;
    options.coalescing.keep_raw = true;
    options.work = true;
    for (std::uint32_t shader = 0; shader < 5; ++shader) {
      for (std::uint32_t kind = 0; kind < trace::kEventKinds; ++kind) {
        const std::uint32_t cost = 1000 * (shader + 1) + kind;
        options.call_work.push_back({cost, 10 * cost});
      }
    }
    const auto source = make_launch_source(trace_, trace_.launches[0], structure_, {0, 1, 2, kNoThread}, options);
    return all_streams(*source)[0];
  }
  [[nodiscard]] std::vector<std::string> rows(const StreamOptions& options) const {
    const WarpStream made = stream(options);
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < made.work.size(); ++i) {
      const bool last = i + 1 == made.work.size();
      const Instruction* const next = last ? nullptr : &made.raw.rows[i];
      const std::string before = told(made.work[i]);
      rows.push_back(before + (before.empty() ? "" : ", ") +
                     (last ? std::string("end") : std::string(to_string(next->kind)) + (next->store ? " store" : "")));
    }
    return rows;
  }
  /// Of all rows.
  [[nodiscard]] std::string stages(const StreamOptions& options) const {
    const WarpStream made = stream(options);
    std::string text;
    for (std::size_t i = 0; i < made.work.size(); ++i) {
      text += (i == 0 ? "" : " ") + stages_of(made.work[i], i + 1 < made.work.size());
    }
    return text;
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
};

TEST_F(WorkByHand, RowByRow) {
  StreamOptions options;
  options.payload_bytes = 8;
  EXPECT_EQ(rows(options), (std::vector<std::string>{
                               "shader-record",
                               // The trace calls of ray generation: one call for all lanes.
                               "run 1000+10000, payload store",
                               "follows, payload store",
                               "begin 3, node",
                               "test 3/3/0, instance",
                               "test 2/0/2, node",
                               "test 2/2/0, index",
                               "vertex",
                               "follows, vertex",
                               "follows, vertex",
                               "test 2/0/2 end 3, shader-record",
                               "follows, payload",
                               "follows, payload",
                               // Closest hit and miss, one after the other.
                               "run 5015+50150, payload store",
                               "follows, payload store",
                               // The callable, which lane 2 alone calls, and its hit shader's trace call.
                               "shader-record",
                               "run 8009+80090, payload store",
                               "follows, payload store",
                               "begin 1, node",
                               "test 1/1/0, instance",
                               "test 1/0/1, node",
                               "test 1/1/0, index",
                               "vertex",
                               "follows, vertex",
                               "follows, vertex",
                               "test 1/0/1 end 1, shader-record",
                               "follows, payload",
                               "follows, payload",
                               "run 3008+30080, payload store",
                               "follows, payload store",
                               // The pixels of all lanes.
                               "frame-buffer store",
                               "end",
                           }));
}

/// Without accesses between them, the end of a traversal, shaders and the next traversal share a row.
TEST_F(WorkByHand, RowsWithoutAccessesBetweenThemAreOne) {
  StreamOptions options;
  options.payload_bytes = 0;
  options.record_bytes = 0;
  options.pixel_bytes = 0;
  options.load_bytes = 32;  // instances, of 64 bytes, are two loads; records of this layout are one or two
  const std::vector<std::string> made = rows(options);
  EXPECT_EQ(made.front(), "run 1000+10000 begin 3, node");
  EXPECT_EQ(std::ranges::count(made, "follows, instance"), 2);
  EXPECT_EQ(std::ranges::count(made, "test 2/0/2 end 3 run 13024+130240 begin 1, node"), 1);
  EXPECT_EQ(made.back(), "test 1/0/1 end 1 run 3008+30080, end");
}

/// The rows of the two tests above.
TEST_F(WorkByHand, StagesOfRows) {
  StreamOptions options;
  options.payload_bytes = 8;
  // The callable and the trace call share a row; the callable takes longer.
  EXPECT_EQ(stages(options),
            "g gg g t t t t t t t "  // the hit costs more than the miss of the same round
            "c c c cc c l lg g t t t t t t t c c c cc c g -");
  options.payload_bytes = options.record_bytes = options.pixel_bytes = 0;
  EXPECT_EQ(stages(options), "gt t t t t t t ct t t t t t t c-") << "the round of the hit is the row's longest part";
}

/// Three trace calls together; two closest hits together, and a miss; then thread 2 alone: a callable, its second trace
/// call, the closest hit of that.
TEST_F(WorkByHand, CallsAndTheirLanes) {
  EXPECT_EQ(stream({}).calls, (WarpCalls{1 + 2 + 3, 3 + 3 + 3}));
}

TEST_F(WorkByHand, CostsOfOtherTracesAreErrors) {
  StreamOptions options;
  options.warp_size = 4;
  options.work = true;
  options.call_work.resize(trace::kEventKinds);
  error_of(ErrorKind::Internal,
           [&] { return make_launch_source(trace_, trace_.launches[0], structure_, {}, options); });
}

struct Case {
  const char* trace;
  const char* layout;
  scheduler::CutAt cut;
  StreamOptions options;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.trace << " " << value.layout << " " << value.options.warp_traversal;
}

struct Sums {
  std::uint64_t visits = 0, boxes = 0, triangles = 0, rays_begin = 0, rays_end = 0, issue = 0, latency = 0;
  WarpCalls calls{};

  bool operator==(const Sums&) const = default;
};

void PrintTo(const Sums& sums, std::ostream* out) {
  *out << sums.visits << " visits, " << sums.boxes << " boxes, " << sums.triangles << " triangles, " << sums.rays_begin
       << " and " << sums.rays_end << " rays, " << sums.issue << " + " << sums.latency << " of shaders, "
       << sums.calls.calls << " calls of " << sums.calls.lanes << " lanes";
}

class WorkOfLaunches : public testing::TestWithParam<Case> {
 protected:
  WorkOfLaunches()
      : trace_(std::string(GetParam().trace) == "built-in" ? traced(3) : captured(GetParam().trace)),
        structure_(bvh::build_bvh(trace_.scene, launch().tlas, "test", {.layout = GetParam().layout})),
        options_(with_work(trace_, GetParam().options)),
        thread_at_(some_places(launch(), options_.warp_size)),
        segments_(scheduler::cut_paths(launch(), {.at = GetParam().cut})) {
    place_segments();
    loads_state_.assign(segments_.size(), 1);
  }
  [[nodiscard]] const trace::Launch& launch() const {
    return trace_.launches[0];
  }
  /// The n-th segments of all threads side by side, n by n: their warps mix those of different homes.
  void place_segments() {
    for (std::uint32_t n = 0; n < segments_.most_of_a_thread; ++n) {
      for (std::size_t thread = 0; thread < launch().data.threads(); ++thread) {
        if (segments_.first[thread] + n < segments_.first[thread + 1]) {
          segment_at_.push_back(segments_.first[thread] + n);
        }
      }
      segment_at_.resize((segment_at_.size() + options_.warp_size - 1) / options_.warp_size * options_.warp_size,
                         kNoSegment);
    }
  }
  [[nodiscard]] std::unique_ptr<memory::LaunchSource> source(const StreamOptions& options) const {
    return memory::make_segment_source(trace_, launch(), structure_,
                                       {.segments = &segments_,
                                        .segment_at = segment_at_,
                                        .thread_at = thread_at_,
                                        .loads_state = loads_state_,
                                        .state_bytes = 16},
                                       options);
  }

  trace::Trace trace_;
  bvh::Bvh structure_;
  StreamOptions options_;
  std::vector<std::uint32_t> thread_at_;
  scheduler::Segments segments_;
  std::vector<std::uint32_t> segment_at_;
  std::vector<std::uint8_t> loads_state_;
};

TEST_P(WorkOfLaunches, LeavesTheTransactionsAsTheyAre) {
  StreamOptions without = options_;
  without.work = false;
  const std::vector<WarpStream> plain = all_streams(*source(without));
  std::vector<WarpStream> streams = all_streams(*source(options_));
  ASSERT_EQ(streams.size(), plain.size());
  for (std::size_t item = 0; item < streams.size(); ++item) {
    ASSERT_EQ(streams[item].work.size(), streams[item].raw.rows.size() + 1);
    ASSERT_EQ(streams[item].work.capacity(), streams[item].work.size());
    streams[item].work.clear();
    streams[item].calls = {};
    ASSERT_EQ(streams[item], plain[item]) << item;
  }
}

/// The events of a segment: of its own rays by number from 1 on, of others by 0; and its trace calls by number.
struct Calls {
  std::map<std::uint64_t, std::vector<std::uint32_t>> others;
  std::map<std::uint64_t, std::uint32_t> trace_call;
};

Calls calls_of(const trace::ThreadData& data, const scheduler::Segments& segments, std::uint32_t segment) {
  const auto thread = static_cast<std::size_t>(std::upper_bound(segments.first.begin(), segments.first.end(), segment) -
                                               segments.first.begin() - 1);
  Calls calls;
  std::uint64_t begun = 0;
  std::uint64_t before = 0;
  for (std::uint64_t event = data.event_offset[thread]; event < segments.event_offset[segment + 1]; ++event) {
    const EventKind kind = data.events.kind[event];
    const std::uint32_t call =
        data.events.shader[event] * static_cast<std::uint32_t>(trace::kEventKinds) + static_cast<std::uint32_t>(kind);
    const bool inside = event >= segments.event_offset[segment];
    if (trace::begins_ray(kind)) {
      ++begun;
      before += inside ? 0 : 1;
      if (inside) {
        calls.trace_call[begun - before] = call;
      }
    } else if (trace::is_warp_event(kind) && inside) {
      const std::uint64_t ray = data.events.ray.empty() ? begun : data.events.ray[event] + 1;
      const bool own = begun > 0 && ray > before && ray <= begun;
      calls.others[own ? ray - before : 0].push_back(call);
    }
  }
  return calls;
}

TEST_P(WorkOfLaunches, IsThatOfTheEventsAndOfTheTraversal) {
  const auto made_by = source(options_);
  const std::vector<WarpStream> streams = all_streams(*made_by);
  const auto model = traversal::WarpTraversals::create(options_.warp_traversal).model;
  std::uint64_t rays = 0;
  for (std::size_t item = 0; item < streams.size(); ++item) {
    Sums made;
    for (const WarpWork& row : streams[item].work) {
      made.visits += row.visits;
      made.boxes += row.boxes;
      made.triangles += row.triangles;
      made.rays_begin += row.rays_begin;
      made.rays_end += row.rays_end;
      made.issue += row.issue;
      made.latency += row.latency;
    }
    made.calls = streams[item].calls;
    Sums expected;
    std::map<std::uint64_t, std::vector<std::set<std::uint32_t>>> others;                 // by number, then position
    std::map<std::uint64_t, std::set<std::uint32_t>> trace_calls;                         // by number
    std::map<std::uint64_t, std::vector<std::pair<std::uint32_t, std::uint64_t>>> group;  // threads and their rays
    for (std::uint32_t lane = 0; lane < options_.warp_size; ++lane) {
      const std::uint32_t segment = segment_at_[item * options_.warp_size + lane];
      if (segment == kNoSegment) {
        continue;
      }
      const Calls calls = calls_of(launch().data, segments_, segment);
      const auto thread = static_cast<std::uint32_t>(
          std::upper_bound(segments_.first.begin(), segments_.first.end(), segment) - segments_.first.begin() - 1);
      std::uint64_t before = 0;
      for (std::uint64_t event = launch().data.event_offset[thread]; event < segments_.event_offset[segment]; ++event) {
        before += trace::begins_ray(launch().data.events.kind[event]) ? 1U : 0U;
      }
      for (const auto& [number, list] : calls.others) {
        others[number].resize(std::max(others[number].size(), list.size()));
        for (std::size_t j = 0; j < list.size(); ++j) {
          others[number][j].insert(list[j]);
        }
        expected.calls.lanes += list.size();
      }
      for (const auto& [number, call] : calls.trace_call) {
        trace_calls[number].insert(call);
        ++expected.calls.lanes;
        group[number].emplace_back(thread, before + number - 1);
      }
    }
    const auto run = [&](const std::set<std::uint32_t>& calls) {
      expected.calls.calls += calls.size();
      for (const std::uint32_t call : calls) {
        expected.issue += options_.call_work[call].issue;
        expected.latency += options_.call_work[call].latency;
      }
    };
    for (const auto& [number, calls] : trace_calls) {
      run(calls);
    }
    for (const auto& [number, list] : others) {
      std::ranges::for_each(list, run);
    }
    for (const auto& [number, list] : group) {
      std::vector<std::uint32_t> threads;
      for (const auto& [thread, ray] : list) {
        threads.push_back(thread);
      }
      std::ranges::sort(threads);
      const traversal::Observed observed = traversal::observe(launch(), threads);
      std::vector<traversal::Ray> of_group;
      std::vector<std::uint64_t> places;
      for (const auto& [thread, ray] : list) {
        std::uint64_t place = ray;
        for (const std::uint32_t other : threads) {
          place += other < thread ? launch().data.ray_offset[other + 1] - launch().data.ray_offset[other] : 0;
        }
        places.push_back(place);
        of_group.push_back(observed.rays[place]);
      }
      const traversal::ObservedShaders shaders(observed, places);
      const std::vector<std::uint64_t> first_ray{0, of_group.size()};
      const traversal::WarpTraceResult traced =
          model->trace(structure_, of_group, first_ray, {.warp_size = options_.warp_size, .shaders = &shaders});
      for (const traversal::RayCounters& ray : traced.counters) {
        expected.visits += ray.nodes + ray.leaves;
        expected.boxes += ray.boxes;
      }
      expected.rays_begin += of_group.size() - traced.ignored_rays;
      rays += of_group.size() - traced.ignored_rays;
    }
    expected.rays_end = expected.rays_begin;
    for (const Instruction& row : streams[item].raw.rows) {
      if (row.kind == DataKind::Instance || row.kind == DataKind::Index || row.kind == DataKind::Box) {
        const std::uint32_t whole = row.kind == DataKind::Instance ? 64 : row.kind == DataKind::Index ? 12 : 24;
        expected.triangles += static_cast<std::uint64_t>(std::popcount(row.mask)) * row.bytes * 48 / whole;
      }
    }
    expected.triangles /= 48;  // pieces of an access are shares of one
    ASSERT_EQ(made, expected) << item;
  }
  EXPECT_EQ(rays, made_by->tally().rays - made_by->tally().ignored_rays);
}

/// Rays are in the unit exactly while their warp traverses, and rows that follow do nothing else.
TEST_P(WorkOfLaunches, ComesInItsOrder) {
  using Pair = std::pair<DataKind, DataKind>;
  const std::set<Pair> may_follow = {{DataKind::Node, DataKind::Node},
                                     {DataKind::Node, DataKind::Instance},
                                     {DataKind::Instance, DataKind::Instance},
                                     {DataKind::Instance, DataKind::Index},
                                     {DataKind::Instance, DataKind::Box},
                                     {DataKind::Index, DataKind::Index},
                                     {DataKind::Index, DataKind::Box},
                                     {DataKind::Vertex, DataKind::Vertex},
                                     {DataKind::Vertex, DataKind::Box},
                                     {DataKind::Box, DataKind::Box},
                                     {DataKind::Node, DataKind::Stack},
                                     {DataKind::Instance, DataKind::Stack},
                                     {DataKind::Vertex, DataKind::Stack},
                                     {DataKind::Box, DataKind::Stack},
                                     {DataKind::Stack, DataKind::Stack},
                                     {DataKind::ShaderRecord, DataKind::ShaderRecord},
                                     {DataKind::ShaderRecord, DataKind::Payload},
                                     {DataKind::Payload, DataKind::Payload},
                                     {DataKind::FrameBuffer, DataKind::FrameBuffer},
                                     {DataKind::State, DataKind::State}};
  const auto traverses = [](DataKind kind) {
    return kind == DataKind::Node || kind == DataKind::Instance || kind == DataKind::Index ||
           kind == DataKind::Vertex || kind == DataKind::Box || kind == DataKind::Stack;
  };
  std::uint64_t following = 0;
  for (const WarpStream& stream : all_streams(*source(options_))) {
    std::uint32_t inside = 0;
    for (std::size_t i = 0; i < stream.work.size(); ++i) {
      const WarpWork& row = stream.work[i];
      ASSERT_GE(inside, row.rays_end);
      ASSERT_TRUE(row.visits == 0 || inside > 0) << "tests outside of a traversal";
      inside -= row.rays_end;
      ASSERT_TRUE(inside == 0 || (row.issue == 0 && row.rays_begin == 0)) << "shaders within a traversal";
      inside += row.rays_begin;
      if (i + 1 == stream.work.size()) {
        ASSERT_EQ(inside, 0U);
        ASSERT_FALSE(row.follows);
        break;
      }
      const Instruction& next = stream.raw.rows[i];
      ASSERT_EQ(traverses(next.kind), inside > 0) << to_string(next.kind);
      ASSERT_EQ(traverses(next.kind), row.stages.access() == WorkStage::Traversal) << to_string(next.kind);
      ASSERT_EQ(next.kind == DataKind::State, row.stages.access() == WorkStage::Exchange) << to_string(next.kind);
      ASSERT_TRUE(next.kind != DataKind::FrameBuffer || row.stages.access() == WorkStage::RayGeneration);
      ASSERT_TRUE(row.stages.shader() != WorkStage::Traversal && row.stages.shader() != WorkStage::Exchange);
      if (row.follows) {
        ASSERT_GT(i, 0U);
        ASSERT_EQ(
            row, (WarpWork{.follows = true, .stages = {WorkStage::RayGeneration, stream.work[i - 1].stages.access()}}));
        const Instruction& before = stream.raw.rows[i - 1];
        ASSERT_TRUE(may_follow.contains({before.kind, next.kind}))
            << to_string(next.kind) << " after " << to_string(before.kind);
        ASSERT_TRUE(before.store == next.store || next.kind == DataKind::Stack) << to_string(next.kind);
        ++following;
      }
    }
  }
  EXPECT_GT(following, 0U);
}

StreamOptions with(const char* warp_traversal, std::uint32_t warp_size = 32, std::uint32_t load_bytes = 0) {
  StreamOptions options;
  options.warp_traversal = warp_traversal;
  options.warp_size = warp_size;
  options.load_bytes = load_bytes;
  return options;
}

StreamOptions spilling(std::uint32_t stack_entries, const char* warp_traversal) {
  StreamOptions options = with(warp_traversal);
  options.stack_entries = stack_entries;
  return options;
}

StreamOptions bare(const char* warp_traversal) {
  StreamOptions options = with(warp_traversal);
  options.payload_bytes = 0;
  options.record_bytes = 0;
  options.pixel_bytes = 0;
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Traces, WorkOfLaunches,
    testing::Values(Case{"built-in", "wide-8", scheduler::CutAt::Nothing, with("while-while")},
                    Case{"built-in", "half-4", scheduler::CutAt::PendingCall, with("speculative-while-while", 64, 16)},
                    Case{"built-in", "quantised-6", scheduler::CutAt::EveryCall, with("persistent-while-while", 5)},
                    Case{"built-in", "wide-4", scheduler::CutAt::PendingCall,
                         with("persistent-while-while:threshold=20,speculative=true,queue=share,warps=3")},
                    Case{"built-in", "compressed-wide-8", scheduler::CutAt::Nothing, bare("while-while")},
                    Case{"built-in", "binary", scheduler::CutAt::PendingCall, spilling(1, "if-if")},
                    Case{"bunny", "wide-8", scheduler::CutAt::Nothing, with("if-if")},
                    Case{"one-weekend-ser", "compressed-wide-8", scheduler::CutAt::PendingCall, with("while-while")},
                    Case{"teapot-alpha", "binary", scheduler::CutAt::EveryCall,
                         spilling(2, "speculative-while-while")}),
    [](const auto& chosen) {
      std::string name =
          std::string(chosen.param.trace) + "_" + chosen.param.layout + "_" + std::to_string(chosen.index);
      std::ranges::replace(name, '-', '_');
      return name;
    });

}  // namespace
}  // namespace rayreplay::test
