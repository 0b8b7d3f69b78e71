// Through the file: what was written passes every check on load and is what was recorded.
#include "capture/reference/trace_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/validate.hpp"
#include "tests/reference/support.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

class TraceFile : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(TraceFile, HoldsWhatWasRecordedAndPassesTheChecks) {
  const auto scene = mixed_scene(41);
  auto options = small_options();
  options.next_event = true;
  options.hit_groups = reference::HitGroups::PerMaterial;
  reference::trace_to_file(scene, options, folder_ / "t.rrt", false);
  const trace::Trace loaded = trace::load(folder_ / "t.rrt");
  const auto findings = trace::find_faults(loaded, "t.rrt", 10);
  for (const auto& fault : findings.faults) {
    ADD_FAILURE() << format_error(fault);
  }
  MemorySink sink;
  reference::trace_scene(scene, options, &sink);
  ASSERT_EQ(loaded.launches.size(), 1U);
  EXPECT_EQ(loaded.launches[0].size, sink.size);
  EXPECT_TRUE(same(loaded.launches[0].data, sink.data));
  const auto description = reference::describe_capture(scene, options);
  EXPECT_EQ(loaded.header.configuration, description.header.configuration);
  EXPECT_EQ(loaded.shaders.size(), description.shaders.size());
  EXPECT_EQ(loaded.scene.instances.size(), scene.instances.size());
}

TEST_F(TraceFile, BuiltInScenesPassTheChecks) {
  for (const std::string spec : {"one-weekend", "cornell:glass_sphere=true"}) {
    auto options = small_options();
    options.next_event = true;
    const auto scene = reference::make_scene(spec, &options.scene_spec);
    const auto path = folder_ / (scene.name + ".rrt");
    const auto result = reference::trace_to_file(scene, options, path, false);
    const trace::Trace loaded = trace::load(path);
    const auto findings = trace::find_faults(loaded, "t.rrt", 10);
    for (const auto& fault : findings.faults) {
      ADD_FAILURE() << format_error(fault);
    }
    EXPECT_EQ(loaded.hash, result.hash);
    EXPECT_EQ(loaded.launches.at(0).data.rays.size(), result.tracer.rays);
  }
}

TEST_F(TraceFile, SameBytesWhateverTheWorkers) {
  const auto scene = mixed_scene(42);
  auto options = small_options();
  options.workers = 1;
  const auto one = reference::trace_to_file(scene, options, folder_ / "one.rrt", false);
  options.workers = 2;
  options.batch_threads = 13;
  const auto two = reference::trace_to_file(scene, options, folder_ / "two.rrt", false);
  EXPECT_EQ(one.hash, two.hash);
  EXPECT_EQ(read_bytes(folder_ / "one.rrt"), read_bytes(folder_ / "two.rrt"));
}

TEST_F(TraceFile, NothingIsLeftOfAFailedRun) {
  auto options = small_options();
  options.samples = 0;
  EXPECT_THROW(reference::trace_to_file(sphere_cloud(3, 1), options, folder_ / "t.rrt", false), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

}  // namespace
}  // namespace rayreplay::test
