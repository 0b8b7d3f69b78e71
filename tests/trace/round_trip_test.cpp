// What was written is what is read, and the bytes of the file depend on the data alone.
#include <thread>

#include <tbb/global_control.h>

#include "capture/trace/rules/rules.hpp"
#include "capture/trace/validate.hpp"
#include "tests/support/counting_progress.hpp"
#include "tests/trace/sound_trace.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::Random;
using test::random_trace;
using test::RandomTraceOptions;

std::vector<RandomTraceOptions> varied_options() {
  std::vector<RandomTraceOptions> list;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    RandomTraceOptions options;
    options.seed = seed;
    options.size = {1 + static_cast<std::uint32_t>(seed * 5 % 23), 1 + static_cast<std::uint32_t>(seed % 7),
                    1 + static_cast<std::uint32_t>(seed % 2)};
    options.launches = static_cast<std::uint32_t>(seed % 3);
    options.geometry = (seed & 1U) != 0;
    options.ray = (seed & 2U) != 0;
    options.group = (seed & 4U) != 0;
    options.warps = (seed & 8U) != 0;
    options.scene = (seed & 16U) == 0;
    options.capture = (seed & 32U) != 0;
    list.push_back(options);
  }
  return list;
}

/// The threads [first, last) of a launch as a batch of their own.
ThreadData slice(const ThreadData& data, std::size_t first, std::size_t last) {
  ThreadData batch;
  const auto cut = [](const auto& from, auto& to, std::uint64_t begin, std::uint64_t end) {
    if (!from.empty()) {
      to.assign(from.begin() + static_cast<std::ptrdiff_t>(begin), from.begin() + static_cast<std::ptrdiff_t>(end));
    }
  };
  for (std::size_t i = first; i <= last; ++i) {
    batch.ray_offset.push_back(data.ray_offset[i] - data.ray_offset[first]);
    batch.event_offset.push_back(data.event_offset[i] - data.event_offset[first]);
  }
  const auto r = [&](const auto& from, auto& to) { cut(from, to, data.ray_offset[first], data.ray_offset[last]); };
  const auto e = [&](const auto& from, auto& to) { cut(from, to, data.event_offset[first], data.event_offset[last]); };
  r(data.rays.origin_x, batch.rays.origin_x), r(data.rays.origin_y, batch.rays.origin_y);
  r(data.rays.origin_z, batch.rays.origin_z), r(data.rays.direction_x, batch.rays.direction_x);
  r(data.rays.direction_y, batch.rays.direction_y), r(data.rays.direction_z, batch.rays.direction_z);
  r(data.rays.t_min, batch.rays.t_min), r(data.rays.t_max, batch.rays.t_max);
  r(data.rays.flags, batch.rays.flags), r(data.rays.cull_mask, batch.rays.cull_mask);
  r(data.rays.sbt_offset, batch.rays.sbt_offset), r(data.rays.sbt_stride, batch.rays.sbt_stride);
  r(data.rays.miss_index, batch.rays.miss_index), r(data.rays.site, batch.rays.site);
  r(data.rays.hint, batch.rays.hint), r(data.rays.hint_bits, batch.rays.hint_bits);
  e(data.events.kind, batch.events.kind), e(data.events.shader, batch.events.shader);
  e(data.events.t, batch.events.t), e(data.events.instance, batch.events.instance);
  e(data.events.primitive, batch.events.primitive), e(data.events.hit_kind, batch.events.hit_kind);
  e(data.events.accepted, batch.events.accepted), e(data.events.geometry, batch.events.geometry);
  e(data.events.ray, batch.events.ray), e(data.events.group, batch.events.group);
  return batch;
}

class RoundTripTest : public TraceFileTest {};

TEST_F(RoundTripTest, RandomTraces) {
  for (const RandomTraceOptions& options : varied_options()) {
    const Trace trace = random_trace(options);
    for (const std::uint32_t chunk_rows : {1U << 18, 64U, 7U}) {
      const std::string hash = write(trace, file(), {.overwrite = true, .chunk_rows = chunk_rows});
      const Trace loaded = load(file());
      EXPECT_EQ(difference(trace, loaded), "") << "seed " << options.seed << ", chunks of " << chunk_rows;
      EXPECT_EQ(loaded.hash, hash);
      EXPECT_EQ(hash.size(), 32U);
    }
  }
}

TEST_F(RoundTripTest, BlockCounts) {
  Trace trace = random_trace({.seed = 4, .size = {3, 2, 1}});
  trace.block_counts = {{0, 0, 5}, {0, 0, 1}, {0, 3, 0}, {1, 0, 7}, {std::uint64_t{1} << 40, 0, 3}, {}};
  write(trace, file());
  EXPECT_EQ(difference(trace, load(file())), "");
  EXPECT_EQ(read_info(file()).block_counts, 3U);
  trace.block_counts.groups = {std::uint64_t{1} << 39, 0, 3};
  write(trace, file(), {.overwrite = true});
  EXPECT_EQ(difference(trace, load(file())), "");
  const Profile profile = load_profile(file());
  EXPECT_EQ(bytes_of_column(profile.block_counts.groups), bytes_of_column(trace.block_counts.groups));
  EXPECT_EQ(profile.shaders.size(), trace.shaders.size());
  EXPECT_EQ(profile.header.warp_size, trace.header.warp_size);
}

TEST_F(RoundTripTest, Accesses) {
  using enum AccessKind;
  using enum AccessSpace;
  for (const std::uint32_t chunk_rows : {1U << 18U, 2U}) {
    Trace trace = sound_trace();
    trace.access_sites = {{kRayGen, kHit},      {0, 1}, {2, 0}, {9, 3}, {Store, Atomic},
                          {Descriptor, Device}, {7, 0}, {8, 0}, {9, 0}, {4, 16}};
    trace.launches[0].data.accesses = {
        {0, 3, 4}, {0, 0, 9, 2}, {0, 1, 1, 1}, {8, ~std::uint64_t{0}, 0, 16}, {0, 1, 2, 1}};
    write(trace, file(), {.overwrite = true, .chunk_rows = chunk_rows});
    EXPECT_EQ(difference(trace, load(file())), "");
    EXPECT_EQ(read_info(file()).access_sites, 2U);
    EXPECT_EQ(read_info(file()).launches.at(0).accesses, 4U);
    EXPECT_EQ(bytes_of_column(load_profile(file()).access_sites.bytes), bytes_of_column(trace.access_sites.bytes));
  }
}

/// A merged profile: sums of accesses and calls of paths without launches.
TEST_F(RoundTripTest, SumsWithoutLaunches) {
  using enum AccessKind;
  using enum AccessSpace;
  Trace trace = sound_trace();
  trace.launches.clear();
  trace.paths = {{kHit, kHit}, {3, 4}, {1, 2}, {kHit}, {0}, {0}};
  trace.access_sites = {{kRayGen, kHit}, {0, 1}, {2, 0}, {9, 3},  {Store, Atomic}, {Descriptor, Device},
                        {7, 0},          {8, 0}, {9, 0}, {4, 16}, {9, 8},          {3, 8},
                        {5, 6},          {2, 3}, {6, 8}, {3, 8}};
  write(trace, file(), {.overwrite = true});
  EXPECT_EQ(difference(trace, load(file())), "");
  EXPECT_EQ(bytes_of_column(load_profile(file()).access_sites.group_lines),
            bytes_of_column(trace.access_sites.group_lines));
  const auto fault = [&](const auto& change) {
    Trace changed = trace;
    change(changed.access_sites);
    FaultList faults(1, "t");
    check_access_sites(changed.access_sites, changed.shaders.size(), faults);
    return faults.list().empty() ? std::string() : faults.list().front().where + ": " + faults.list().front().what;
  };
  const std::string contradiction = "a site's sums contradict each other";
  EXPECT_THAT(fault([](AccessSites& s) { s.groups[1] = 9; }), testing::HasSubstr("groups[1]: " + contradiction));
  EXPECT_THAT(fault([](AccessSites& s) { s.sectors[0] = 7; }), testing::HasSubstr("sectors[0]: " + contradiction));
  EXPECT_THAT(fault([](AccessSites& s) { s.lines[0] = 4; }), testing::HasSubstr("lines[0]: " + contradiction));
  EXPECT_THAT(fault([](AccessSites& s) { s.group_lines[0] = 7; }),
              testing::HasSubstr("group_lines[0]: " + contradiction));
  EXPECT_THAT(fault([](AccessSites& s) { s.lines.clear(); }), testing::HasSubstr("lines: the column has another"));
  EXPECT_THAT(fault([](AccessSites& s) { s.lanes.clear(); }), testing::HasSubstr("lanes: the column has another"));
  EXPECT_EQ(fault([](AccessSites&) {}), "");
}

TEST_F(RoundTripTest, PipelineFacts) {
  Trace trace = sound_trace();
  write(trace, file());
  EXPECT_EQ(read_info(file()).pipeline_facts.size(), 0U);
  for (const ColumnInfo& column : read_info(file()).columns) {
    EXPECT_THAT(column.dataset, testing::Not(testing::StartsWith("/pipelines")));
  }
  for (const std::uint32_t chunk_rows : {1U << 18U, 2U}) {
    trace.pipeline_facts = sound_pipeline_facts();
    write(trace, file(), {.overwrite = true, .chunk_rows = chunk_rows});
    EXPECT_EQ(difference(trace, load(file())), "");
    Trace others = trace;
    others.pipeline_facts = load_profile(file()).pipeline_facts;
    EXPECT_EQ(difference(trace, others), "");
    others.pipeline_facts = read_info(file()).pipeline_facts;
    EXPECT_EQ(difference(trace, others), "");
    others.pipeline_facts[0].executables[0].statistics[3].value = 0;
    EXPECT_EQ(difference(trace, others), "pipelines/statistics row");
  }
}

TEST_F(RoundTripTest, Paths) {
  Trace trace = sound_trace();
  Launch& launch = trace.launches[0];
  trace.paths = {{kRayGen, kHit, kHit}, {2, 0, 1}, {1, 1, 0, 1, 0xFFFF'FFFF},
                 {kRayGen, kHit, kHit}, {0, 0, 7}, {3, 0, 1}};
  launch.data.events.path.assign(14, 0);
  launch.data.events.path[5] = 3;
  launch.thread_path = {1, 1};
  write(trace, file());
  EXPECT_EQ(difference(trace, load(file())), "");
  EXPECT_EQ(read_info(file()).paths, 3U);
  const Profile profile = load_profile(file());
  EXPECT_EQ(bytes_of_column(profile.paths.counts), bytes_of_column(trace.paths.counts));
  EXPECT_EQ(bytes_of_column(profile.paths.block), bytes_of_column(trace.paths.block));
  for (const ColumnInfo& column : read_info(file()).columns) {
    if (column.dataset == "/launch/0/events/path" || column.dataset == "/launch/0/threads/path") {
      EXPECT_EQ(column.type, "u8");  // no wider than the paths need
    }
  }
}

TEST_F(RoundTripTest, BranchAndLoadCounts) {
  Trace trace = random_trace({.seed = 5, .size = {3, 2, 1}});
  trace.branch_counts = {{0, 0}, {0, 1}, {0, 3}, {1, 0}, {9, 4}, {4, 0}, {2, 0}, {1, 0}, {}};
  write(trace, file());
  EXPECT_EQ(difference(trace, load(file())), "");
  trace.load_counts = {{0, 7}, {1, 1}, {0, 3}, {1, 0}, {9, 4}, {4, 3}, {2, 3}, {1, kNotCompared}, {kNotCompared, 3}};
  write(trace, file(), {.overwrite = true});
  EXPECT_EQ(difference(trace, load(file())), "");
  EXPECT_EQ(read_info(file()).branch_counts, 2U);
  EXPECT_EQ(read_info(file()).load_counts, 2U);
  const Profile profile = load_profile(file());
  EXPECT_EQ(bytes_of_column(profile.branch_counts.uniform), bytes_of_column(trace.branch_counts.uniform));
  EXPECT_EQ(bytes_of_column(profile.load_counts.uniform_address), bytes_of_column(trace.load_counts.uniform_address));
}

TEST_F(RoundTripTest, ValueCounts) {
  Trace trace = random_trace({.seed = 6, .size = {3, 2, 1}});
  trace.value_counts = {{0, 7}, {1, 1}, {0, 3},          {1, 0}, {9, 4}, {3, 0}, {4, 3},
                        {2, 3}, {0, 1}, {0xFFFFFFFF, 0}, {3, 3}, {1, 3}, {4, 3}};
  write(trace, file());
  EXPECT_EQ(difference(trace, load(file())), "");
  EXPECT_EQ(read_info(file()).value_places, 2U);
  EXPECT_EQ(bytes_of_column(load_profile(file()).value_counts.value), bytes_of_column(trace.value_counts.value));
  // Loads that never ran have no values.
  trace.value_counts = {{0}, {1}, {0}, {1}, {9}, {3}, {0}, {0}, {}, {}, {}, {}, {}};
  write(trace, file(), {.overwrite = true});
  EXPECT_EQ(difference(trace, load(file())), "");
}

TEST_F(RoundTripTest, TraceWithoutAnything) {
  write({}, file());
  const Trace loaded = load(file());
  EXPECT_EQ(difference({}, loaded), "");
}

TEST_F(RoundTripTest, LongTextsAndManyLaunches) {
  Trace trace = random_trace({.seed = 3, .size = {2, 1, 1}, .launches = 70});
  trace.header.configuration.assign(200'000, 'x');
  trace.header.not_captured.assign(500, std::string(300, 'y'));
  trace.shaders[0].name = "\xE2\x88\x9E";
  write(trace, file());
  EXPECT_EQ(difference(trace, load(file())), "");
}

TEST_F(RoundTripTest, ColumnsAcrossFullSizedChunks) {
  // More than one chunk of 2^18 rows: noisy, constant, and constant but for one row far behind.
  const std::uint32_t threads = 600'000;
  Trace trace = random_trace({.seed = 5, .size = {1, 1, 1}, .rays_per_thread = 0});
  Launch& launch = trace.launches[0];
  launch = {};
  launch.size = {threads, 1, 1};
  Random random(9);
  auto& data = launch.data;
  data.ray_offset.assign(threads + 1, 0);
  for (std::uint32_t i = 0; i <= threads; ++i) {
    data.event_offset.push_back(i);
  }
  const auto callable = static_cast<std::uint16_t>(trace.shaders.size() - 1);
  data.events.kind.assign(threads, EventKind::Callable);
  data.events.shader.assign(threads, callable);
  data.events.t.assign(threads, 0.0F);
  data.events.t[550'000] = -0.0F;  // equal to the fill value as a number, but not as bits
  data.events.instance.assign(threads, 0);
  data.events.primitive.assign(threads, 0);
  data.events.hit_kind.assign(threads, 0);
  data.events.accepted.assign(threads, 0);
  for (std::uint32_t i = 0; i < threads; ++i) {
    launch.thread_warp.push_back(i / 64);
    launch.thread_lane.push_back(static_cast<std::uint8_t>(i % 64));
    launch.groups.warp.push_back(random.below(threads / 64));
    launch.groups.sm.push_back(static_cast<std::uint16_t>(random.bits()));
    launch.groups.lane_mask.push_back(random.bits() | 1U);
    launch.groups.clock.push_back(i < 300'000 ? 5 : random.bits());
  }
  trace.header.warp_size = 64;
  write(trace, file());
  EXPECT_EQ(difference(trace, load(file())), "");
  for (const ColumnInfo& column : read_info(file()).columns) {
    if (column.dataset == "/launch/0/events/instance") {
      EXPECT_EQ(column.stored_bytes, 0U);
    }
    if (column.dataset == "/launch/0/events/t") {
      EXPECT_GT(column.stored_bytes, 0U);
      EXPECT_LT(column.stored_bytes, 5'000U);
    }
  }
}

TEST_F(RoundTripTest, SameBytesHoweverAppendsAreCut) {
  for (const RandomTraceOptions& options : varied_options()) {
    const Trace trace = random_trace(options);
    write(trace, file("whole.rrt"), {.overwrite = true, .chunk_rows = 16});
    const std::string whole = read_bytes(file("whole.rrt"));
    Random random(options.seed);
    for (const std::uint32_t greatest : {1U, 3U, 40U}) {
      Writer writer(file("cut.rrt"), trace.header, trace.shaders, trace.scene, {.overwrite = true, .chunk_rows = 16});
      for (const Launch& launch : trace.launches) {
        writer.begin_launch(
            launch.size, {options.geometry, options.ray, options.group, options.capture, options.capture, launch.tlas});
        for (std::size_t first = 0; first < launch.data.threads();) {
          const std::size_t last = std::min<std::size_t>(first + random.below(greatest + 1), launch.data.threads());
          writer.append(slice(launch.data, first, last));
          first = last;
        }
        writer.end_launch(launch.groups, launch.thread_warp, launch.thread_lane,
                          {launch.frame,
                           launch.duration_ns,
                           launch.dropped_events,
                           launch.shader_table,
                           {},
                           launch.pipeline,
                           launch.images});
      }
      writer.finish();
      EXPECT_TRUE(read_bytes(file("cut.rrt")) == whole) << "seed " << options.seed << ", up to " << greatest;
    }
  }
}

TEST_F(RoundTripTest, SameBytesWhateverTheNumberOfWorkers) {
  const Trace trace =
      random_trace({.seed = 11, .size = {50, 40, 1}, .geometry = true, .ray = true, .group = true, .warps = true});
  write(trace, file("many.rrt"), {.overwrite = false, .chunk_rows = 100});
  {
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    write(trace, file("one.rrt"), {.overwrite = false, .chunk_rows = 100});
  }
  EXPECT_TRUE(read_bytes(file("many.rrt")) == read_bytes(file("one.rrt")));
}

TEST_F(RoundTripTest, SameBytesAtAnotherTime) {
  const Trace trace = random_trace({.seed = 12});
  write(trace, file("a.rrt"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // libhdf5 would store seconds
  write(trace, file("b.rrt"));
  EXPECT_TRUE(read_bytes(file("a.rrt")) == read_bytes(file("b.rrt")));
}

TEST_F(RoundTripTest, InfoSaysWhatTheTraceHolds) {
  const Trace trace =
      random_trace({.seed = 13, .size = {9, 3, 1}, .launches = 2, .geometry = true, .group = true, .warps = true});
  const std::string hash = write(trace, file());
  const FileInfo info = read_info(file());
  EXPECT_EQ(info.hash, hash);
  EXPECT_EQ(info.file_bytes, fs::file_size(file()));
  EXPECT_EQ(info.format_version, kFormatVersion);
  EXPECT_EQ(info.header.configuration, trace.header.configuration);
  EXPECT_EQ(info.shaders.size(), trace.shaders.size());
  EXPECT_EQ(info.geometries, trace.scene.geometries.size());
  EXPECT_EQ(info.blases, trace.scene.blases.size());
  EXPECT_EQ(info.instances, trace.scene.instances.size());
  std::uint64_t primitives = 0;
  for (const Geometry& geometry : trace.scene.geometries) {
    primitives += geometry.primitives();
  }
  EXPECT_EQ(info.primitives, primitives);
  ASSERT_EQ(info.launches.size(), 2U);
  EXPECT_EQ(info.launches[1].size, trace.launches[1].size);
  EXPECT_EQ(info.launches[1].rays, trace.launches[1].data.rays.size());
  EXPECT_EQ(info.launches[1].events, trace.launches[1].data.events.size());
  EXPECT_EQ(info.launches[1].groups, trace.launches[1].groups.size());
  EXPECT_TRUE(info.launches[1].has_warps);
  const auto kind = std::find_if(info.columns.begin(), info.columns.end(),
                                 [](const ColumnInfo& c) { return c.dataset == "/launch/1/events/kind"; });
  ASSERT_NE(kind, info.columns.end());
  EXPECT_EQ(kind->type, "u8");
  EXPECT_EQ(kind->rows, trace.launches[1].data.events.size());
}

TEST_F(RoundTripTest, ProgressReachesItsTotal) {
  test::CountingProgress progress;
  write(random_trace({.seed = 14}), file(), {.overwrite = false, .chunk_rows = 10});
  static_cast<void>(load(file(), {.max_bytes = 0, .progress = &progress}));
  EXPECT_GT(progress.total, 0U);
  EXPECT_EQ(progress.done, progress.total);
  EXPECT_TRUE(progress.finished);
}

}  // namespace
}  // namespace rayreplay::trace
