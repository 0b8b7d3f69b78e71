// Other tools read the file: h5py sees every column as it is in memory, and what it edits can be sealed again.
#include <cstdlib>

#include "capture/trace/file/storage.hpp"
#include "capture/trace/seal.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::trace {
namespace {

using test::random_trace;
using testing::HasSubstr;

class H5pyTest : public TraceFileTest {
 protected:
  /// python3-h5py is a requirement of the tests: without it they fail.
  [[nodiscard]] int python(const std::string& arguments) const {
    const std::string command =
        "/usr/bin/python3 '" + std::string(RAYREPLAY_SOURCE_DIR) + "/tests/trace/read_with_h5py.py' " + arguments;
    return std::system(command.c_str());  // NOLINT(concurrency-mt-unsafe, cert-env33-c): a test
  }
  template <class C>
  void expect_same(const std::string& dataset, const C& column) {
    std::string name = dataset;
    std::replace(name.begin(), name.end(), '/', '_');
    EXPECT_TRUE(read_bytes(file("out" + name)) == bytes_of_column(column)) << dataset;
  }
};

TEST_F(H5pyTest, EveryColumnIsThere) {
  const Trace trace = random_trace(
      {.seed = 51, .size = {60, 40, 1}, .geometry = true, .ray = true, .group = true, .warps = true, .capture = true});
  for (const std::uint32_t chunk_rows : {1U << 18, 700U}) {
    write(trace, file(), {.overwrite = true, .chunk_rows = chunk_rows});
    ASSERT_EQ(python("dump '" + file().string() + "' '" + file("out").string() + "'"), 0);
    const Launch& launch = trace.launches[0];
    expect_same("/launch/0/threads/ray_offset", launch.data.ray_offset);
    expect_same("/launch/0/threads/event_offset", launch.data.event_offset);
    expect_same("/launch/0/threads/warp", launch.thread_warp);
    expect_same("/launch/0/threads/lane", launch.thread_lane);
    const Rays& rays = launch.data.rays;
    expect_same("/launch/0/rays/origin_x", rays.origin_x);
    expect_same("/launch/0/rays/origin_y", rays.origin_y);
    expect_same("/launch/0/rays/origin_z", rays.origin_z);
    expect_same("/launch/0/rays/direction_x", rays.direction_x);
    expect_same("/launch/0/rays/direction_y", rays.direction_y);
    expect_same("/launch/0/rays/direction_z", rays.direction_z);
    expect_same("/launch/0/rays/t_min", rays.t_min);
    expect_same("/launch/0/rays/t_max", rays.t_max);
    expect_same("/launch/0/rays/flags", rays.flags);
    expect_same("/launch/0/rays/cull_mask", rays.cull_mask);
    expect_same("/launch/0/rays/sbt_offset", rays.sbt_offset);
    expect_same("/launch/0/rays/sbt_stride", rays.sbt_stride);
    expect_same("/launch/0/rays/miss_index", rays.miss_index);
    expect_same("/launch/0/rays/site", rays.site);
    expect_same("/launch/0/rays/hint", rays.hint);
    expect_same("/launch/0/rays/hint_bits", rays.hint_bits);
    Column<std::uint8_t> region, data;
    Column<std::uint32_t> index;
    Column<std::uint16_t> closest_hit;
    for (const ShaderRecord& record : launch.shader_table) {
      region.push_back(static_cast<std::uint8_t>(record.region));
      index.push_back(record.index);
      closest_hit.push_back(record.closest_hit);
      data.insert(data.end(), record.data.begin(), record.data.end());
    }
    expect_same("/launch/0/shader_table/region", region);
    expect_same("/launch/0/shader_table/index", index);
    expect_same("/launch/0/shader_table/closest_hit", closest_hit);
    expect_same("/launch/0/shader_table/data", data);
    expect_same("/scene/tlas/instance_count", Column<std::uint32_t>{3, 0, 4});
    const Events& events = launch.data.events;
    expect_same("/launch/0/events/kind", events.kind);
    expect_same("/launch/0/events/shader", events.shader);
    expect_same("/launch/0/events/t", events.t);
    expect_same("/launch/0/events/instance", events.instance);
    expect_same("/launch/0/events/primitive", events.primitive);
    expect_same("/launch/0/events/hit_kind", events.hit_kind);
    expect_same("/launch/0/events/accepted", events.accepted);
    expect_same("/launch/0/events/geometry", events.geometry);
    expect_same("/launch/0/events/ray", events.ray);
    expect_same("/launch/0/events/group", events.group);
    expect_same("/launch/0/groups/warp", launch.groups.warp);
    expect_same("/launch/0/groups/sm", launch.groups.sm);
    expect_same("/launch/0/groups/lane_mask", launch.groups.lane_mask);
    expect_same("/launch/0/groups/clock", launch.groups.clock);
    visit_images(launch.images, [&](const char* name, const auto& column) {
      EXPECT_FALSE(column.empty());
      expect_same(std::string("/launch/0/images/") + name, column);
    });
    Column<float> vertices;
    for (const Geometry& geometry : trace.scene.geometries) {
      vertices.insert(vertices.end(), geometry.vertices.begin(), geometry.vertices.end());
    }
    expect_same("/scene/geometries/vertices", vertices);
    EXPECT_EQ(read_bytes(file("out.header")), "random_trace|" + trace.header.not_captured[1] + "|" +
                                                  trace.shaders[0].name + "|" + trace.scene.geometries[4].name + "|" +
                                                  std::to_string(launch.tlas) + "|" + std::to_string(launch.frame) +
                                                  "|" + std::to_string(launch.duration_ns));
  }
}

TEST_F(H5pyTest, AnEditIsNoticedAndCanBeSealed) {
  Trace trace = random_trace({.seed = 52, .size = {20, 10, 1}});
  const std::string hash = write(trace, file(), {.overwrite = false, .chunk_rows = 100});
  ASSERT_EQ(python("edit '" + file().string() + "' rays/t_max 3 7.5"), 0);
  EXPECT_THROW(static_cast<void>(load(file())), Error);
  const std::string sealed = seal(file());
  EXPECT_NE(sealed, hash);
  const Trace loaded = load(file());
  EXPECT_EQ(loaded.hash, sealed);
  trace.launches[0].data.rays.t_max[3] = 7.5F;
  EXPECT_EQ(difference(trace, loaded), "");
}

TEST_F(H5pyTest, AnEditThatBreaksARuleIsNotSealed) {
  write(random_trace({.seed = 53, .size = {20, 10, 1}}), file());
  ASSERT_EQ(python("edit '" + file().string() + "' events/kind 5 77"), 0);
  const std::string before = read_bytes(file());
  const Error error = error_of([&] { seal(file()); });
  EXPECT_THAT(error.what(), HasSubstr("/launch/0/events/kind[5]: there is no such event kind (found 77"));
  EXPECT_TRUE(read_bytes(file()) == before);
}

}  // namespace
}  // namespace rayreplay::trace
