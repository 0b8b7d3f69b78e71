// A layer that is loaded and records nothing: what it asks of the device beyond the application's own calls. And what
// becomes of a capture whose memory is missing when the first launch needs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/layer-faults/child.hpp"
#include "tests/layer-faults/commands.hpp"
#include "tests/layer-faults/counts.hpp"
#include "tests/layer-faults/plan.hpp"
#include "tests/layer/captured_run.hpp"
#include "tests/support/software_driver.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Environment = std::map<std::string, std::string>;

/// A run of a scenario, with a structure that its layers share with the test.
template <typename Shared>
class SharedRun {
 public:
  SharedRun() : path_((folder_ / "shared").string()) {
    std::ofstream(path_, std::ios::binary) << std::string(sizeof(Shared), '\0');
    auto* mapped = map_shared<Shared>(path_.c_str());
    if (mapped == nullptr) {
      throw std::runtime_error("the shared file cannot be mapped");
    }
    shared = new (mapped) Shared;
  }
  SharedRun(const SharedRun&) = delete;
  SharedRun& operator=(const SharedRun&) = delete;
  ~SharedRun() {
    munmap(shared, sizeof(Shared));
  }

  Ended start(const std::string& scenario, const char* variable, const std::string& layers, Environment environment) {
    environment["VK_INSTANCE_LAYERS"] = layers;
    environment["VK_ADD_LAYER_PATH"] = RAYREPLAY_FAULTS_FOLDER
        "/upper:" RAYREPLAY_LAYER_FOLDER ":" RAYREPLAY_FAULTS_FOLDER "/lower:" RAYREPLAY_FAULTS_FOLDER "/counts";
    environment["RAYREPLAY_CAPTURE_SPOOL"] = (folder_ / "spool").string();
    environment["RAYREPLAY_CAPTURE_LOG"] = "quiet";
    environment[variable] = path_;
    if (const auto driver = software_driver(); !driver.empty()) {
      environment["VK_DRIVER_FILES"] = driver;
    }
    return run_child({RAYREPLAY_SCENARIOS, scenario}, environment);
  }
  [[nodiscard]] SpoolContent spool() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "spool")) {
      return read_spool(entry.path());
    }
    throw std::runtime_error("no spool");
  }

  Shared* shared = nullptr;

 private:
  TemporaryFolder folder_;
  std::string path_;
};

using Counts = std::map<std::string, std::uint64_t>;

Counts counts_of(const std::string& scenario, bool captured, const Environment& environment) {
  SharedRun<Calls> run;
  const auto ended = run.start(
      scenario, kCountsVariable,
      captured ? "VK_LAYER_RAYREPLAY_capture:VK_LAYER_RAYREPLAY_test_counts" : "VK_LAYER_RAYREPLAY_test_counts",
      environment);
  EXPECT_EQ(ended.status, 0) << ended.how() << ended.errors;
  Counts counts;
  for (std::size_t i = 0; i < kCounted; ++i) {
    if (const auto count = run.shared->of.at(i).load(); count != 0) {
      counts[std::string(kCountedNames.at(i))] = count;
    }
  }
  return counts;
}

/// What differs, but for functions of which more calls are allowed.
std::string difference(const Counts& plain, const Counts& captured, const std::set<std::string>& more) {
  std::set<std::string> names;
  for (const auto* counts : {&plain, &captured}) {
    for (const auto& [name, count] : *counts) {
      names.insert(name);
    }
  }
  std::string text;
  for (const auto& name : names) {
    const auto before = plain.contains(name) ? plain.at(name) : 0;
    const auto after = captured.contains(name) ? captured.at(name) : 0;
    // The layer makes deferred pipelines at once: nothing is left for a driver that would have deferred them.
    const bool fewer = name == "DeferredOperationJoinKHR" || name == "GetDeferredOperationResultKHR";
    if ((after < before && !fewer) || (after > before && !more.contains(name))) {
      text += name + ": " + std::to_string(before) + " calls, under the layer " + std::to_string(after) + "\n";
    }
  }
  return text;
}

const Environment kIdle = {{"RAYREPLAY_CAPTURE_FRAMES", "1000000"}};

class IdleTest : public testing::TestWithParam<const char*> {};

TEST_P(IdleTest, MakesNothingOnTheDevice) {
  const auto plain = counts_of(GetParam(), false, {});
  auto environment = kIdle;
  environment["RAYREPLAY_CAPTURE_GEOMETRY"] = "off";
  // Queues are found, and the handles of a linked pipeline read while its libraries are there.
  std::set<std::string> more = {"GetDeviceQueue", "GetRayTracingShaderGroupHandlesKHR"};
  if (GetParam() == std::string("resubmitted")) {
    more.insert("QueueSubmit");  // A call that runs one command buffer twice is passed on in two parts.
  }
  EXPECT_EQ(difference(plain, counts_of(GetParam(), true, environment), more), "");
}

/// What acceleration structures are built of is copied out when they are built, for launches of any later time.
TEST_P(IdleTest, OnlyReadsBuilds) {
  const auto plain = counts_of(GetParam(), false, {});
  EXPECT_EQ(difference(plain, counts_of(GetParam(), true, kIdle),
                       {"GetDeviceQueue", "GetRayTracingShaderGroupHandlesKHR",
                        // Host memory that builds are copied to.
                        "CreateBuffer", "GetBufferMemoryRequirements", "AllocateMemory", "BindBufferMemory",
                        "MapMemory", "DestroyBuffer", "FreeMemory", "InvalidateMappedMemoryRanges",
                        // The copies.
                        "CmdCopyBuffer", "CmdPipelineBarrier",
                        // When they are done.
                        "CreateFence", "QueueSubmit", "WaitForFences", "ResetFences", "DestroyFence",
                        // Where the application's buffers and structures lie.
                        "GetBufferDeviceAddress", "GetAccelerationStructureDeviceAddressKHR"}),
            "");
}

INSTANTIATE_TEST_SUITE_P(Programs, IdleTest,
                         testing::Values("modules", "inline", "library", "deferred", "dynamic-stack", "compute-between",
                                         "indirect", "many-launches", "resubmitted", "submit2", "secondary", "threads",
                                         "devices", "frames"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// A layer that records does make something, and it is counted.
TEST(Idle, RecordingIsCounted) {
  const auto plain = counts_of("modules", false, {});
  auto recorded = counts_of("modules", true, {{"RAYREPLAY_CAPTURE_FRAMES", "0"}});
  for (const char* name : {"CreateBuffer", "AllocateMemory", "CreateRayTracingPipelinesKHR", "CreateComputePipelines",
                           "CreateShaderModule", "CreateQueryPool", "CreateCommandPool", "CmdFillBuffer"}) {
    EXPECT_GT(recorded[name], plain.contains(name) ? plain.at(name) : 0) << name;
  }
}

/// The first launch finds no memory: the program runs as it is, and the spool says what is missing.
TEST(Idle, MemoryThatIsMissingLaterIsNoted) {
  const auto plain = run_plain("frames");
  for (const auto command : {Command::CreateBuffer, Command::AllocateMemory, Command::BindBufferMemory}) {
    SharedRun<Plan> run;
    run.shared->own_call = 1;
    run.shared->command = static_cast<std::uint32_t>(command);
    const auto ended =
        run.start("frames", kPlanVariable,
                  "VK_LAYER_RAYREPLAY_test_upper:VK_LAYER_RAYREPLAY_capture:VK_LAYER_RAYREPLAY_test_lower",
                  {{"RAYREPLAY_CAPTURE_FRAMES", "1..2"}, {"RAYREPLAY_CAPTURE_GEOMETRY", "off"}});
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.output, plain.output);
    ASSERT_EQ(run.shared->failed.load(), 1U);
    const auto content = run.spool();
    EXPECT_TRUE(content.sound);
    EXPECT_TRUE(content.ended);
    EXPECT_THAT(content.launches, IsEmpty());
    EXPECT_THAT(content.shaders, IsEmpty());
    EXPECT_EQ(content.end.launches_seen, 12U);
    EXPECT_THAT(content.all_notes(), HasSubstr("has no memory for events: its launches are not captured"));
    std::set<std::uint32_t> missing;
    for (const auto& note : content.notes) {
      missing.insert(note.launch);
    }
    EXPECT_EQ(missing, (std::set<std::uint32_t>{2, 3, 4, 5, spool::kNone})) << content.all_notes();
    ASSERT_THAT(content.seen, SizeIs(1));
    EXPECT_EQ(content.seen[0].sight, spool::Sight::MissedLaunch);
  }
}

}  // namespace
}  // namespace rayreplay::test
