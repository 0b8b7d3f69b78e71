// The report of rayreplay profile: accesses to memory, distributions by pixel, registers and occupancy.
#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/trace/texel_address.hpp"
#include "tests/app/html_fault.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/profile/command/trace_commands.hpp"
#include "tests/profile/loading_shader.hpp"
#include "tests/profile/profile_maker.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ProfileReport : public test::TraceCommands {
 protected:
  /// Text of a file of the report.
  [[nodiscard]] std::string written(const std::string& file) const {
    return test::read_bytes(folder_ + "/" + file);
  }
  void report(const std::string& trace, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"profile", trace, "--report", folder_, "--force"};
    words.insert(words.end(), more.begin(), more.end());
    static_cast<void>(printed(words));
    EXPECT_EQ(test::html_fault(written("index.html")), "");
  }

  static trace::Trace one_shader(const std::string& name) {
    trace::Trace trace;
    trace.header.warp_size = 8;
    trace.header.configuration = "{}";
    trace.shaders = {{trace::ShaderStage::Miss, "main", name, test::loading_shader(true)}};
    return trace;
  }

  /// Loads of a buffer, of another one, and samples of an image of 8 × 8 texels of 4 bytes.
  static trace::Trace with_accesses(const std::string& name) {
    using enum trace::AccessKind;
    using enum trace::AccessSpace;
    trace::Trace trace = one_shader(name);
    trace.access_sites = {
        {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {3, 5, 8}, {Load, Load, Load}, {Descriptor, Descriptor, Image},
        {0, 0, 1}, {3, 3, 4}, {0, 0, 0}, {12, 4, 0}};
    trace::Launch& launch = trace.launches.emplace_back();
    launch.size = {4, 1, 1};
    launch.data.ray_offset = launch.data.event_offset = {0, 0, 0, 0, 0};
    const auto texel = [](std::uint32_t x, std::uint32_t y) { return trace::pack({.x = x, .y = y}); };
    // Threads 0 and 1 load colours 1,000 bytes apart in one group and read texels of one line; thread 2 is outside of
    // the image; thread 3 loads the scale.
    launch.data.accesses = {{0, 2, 4, 5, 6},
                            {0, 0, 0, 0, 0, 0},
                            {0, 2, 0, 2, 2, 1},
                            {0, texel(0, 0), 1000, texel(1, 0), texel(8, 0), 4},
                            {0, 1, 0, 1, 2, 3}};
    trace::Images& images = launch.images;
    images.set = {1};
    images.binding = {4};
    images.element = images.base_layer = images.base_level = {0};
    images.image = {0};
    images.width = images.height = {8};
    images.depth = images.layers = images.levels = images.block_width = images.block_height = {1};
    images.block_bytes = {4};
    images.filter = {trace::Filter::None};
    return trace;
  }

  static trace::Executable program(const std::string& name, std::uint32_t stages, std::uint64_t registers) {
    trace::Executable executable;
    executable.name = name;
    executable.stages = stages;
    executable.statistics = {{"Register Count", "", trace::StatisticFormat::Uint64, registers}};
    return executable;
  }

  std::string folder_ = scratch_ / "report";
};

TEST_F(ProfileReport, AccessesHaveNamesAndSectorsOfImages) {
  const std::string file = save("t.rrt", with_accesses("sky"));
  const json rows = json::parse(printed({"profile", file, "--format", "json"})).at("memory");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["function_name"], "%1");
  EXPECT_EQ(rows[0]["label"], "%30");
  EXPECT_EQ(rows[0]["subject"], "table.colours[]");
  EXPECT_EQ(rows[0]["source"], nullptr) << "there is no debug information";
  EXPECT_EQ(rows[0]["transactions"], 2) << "bytes 0 to 11 and 1000 to 1011";
  EXPECT_EQ(rows[0]["asked_bytes"], 24);
  EXPECT_EQ(rows[1]["subject"], "table.scale");
  EXPECT_EQ(rows[1]["outside"], nullptr);
  EXPECT_EQ(rows[2]["subject"], nullptr) << "the module has no access there";
  EXPECT_EQ(rows[2]["executions"], 3);
  EXPECT_EQ(rows[2]["warp_instructions"], 2);
  EXPECT_EQ(rows[2]["transactions"], 1);
  EXPECT_EQ(rows[2]["lines"], 1);
  EXPECT_EQ(rows[2]["asked_bytes"], 8);
  EXPECT_EQ(rows[2]["outside"], 1);
  EXPECT_EQ(rows[2]["sectors_per_instruction"], 0.5);
  EXPECT_EQ(rows[0]["sectors_share"], 0.5);
  report(file);
  const json data = json::parse(written("profile.json"));
  test::expect_named(data, test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md"));
  for (const char* list : {"memory", "lines", "images"}) {
    test::expect_named(data[list].at(0), test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md"));
    const std::string csv = written(std::string(list) + ".csv");
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), data[list].size() + 1) << list;
  }
  EXPECT_EQ(data["memory"], rows);
  EXPECT_THAT(written("lines.csv"),
              AllOf(HasSubstr("shader,function,block,instruction,kind,low,high,warp_instructions,"),
                    HasSubstr("\r\n0,0,0,3,load,2,2,1,"), HasSubstr("\r\n0,0,0,5,load,1,1,1,"),
                    HasSubstr("\r\n0,0,0,8,load,0,0,1,"), HasSubstr("\r\n0,0,0,8,load,1,1,1,")));
  EXPECT_THAT(written("images.csv"), HasSubstr("\r\n1,4,0,,0,8,8,1,1,1,0,0,1,1,4,no sampler,1,"));
  EXPECT_EQ(data["image_layout"], "block-linear");
  EXPECT_THAT(written("index.html"),
              AllOf(HasSubstr("Shader 0 sky, load of table.colours[], carries 50.0 % of 4 transactions"),
                    HasSubstr("the first 3 of 3 places, 100.0 %"), HasSubstr("Traffic of accesses"),
                    HasSubstr("Coalescing: lines of a warp instruction"), HasSubstr("“block-linear”")));
}

TEST_F(ProfileReport, AccessesThatTouchNothingHaveNoCharts) {
  trace::Trace trace = with_accesses("sky");
  trace.launches[0].data.accesses = {{0, 0, 0, 0, 0}, {}, {}, {}, {}};
  report(save("t.rrt", trace));
  EXPECT_THAT(written("index.html"),
              AllOf(HasSubstr("No recorded access touched memory."), Not(HasSubstr("Traffic of accesses"))));
  trace = one_shader("sky");
  test::add_row(trace.block_counts, {0, 0, 0, 0, 8, 1});
  report(save("t.rrt", trace));
  EXPECT_THAT(written("index.html"), Not(HasSubstr("Accesses to memory")));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/memory.csv"));
}

TEST_F(ProfileReport, PixelsOfEachLaunchAreInOneRange) {
  trace::Trace trace = one_shader("sky");
  trace.shaders = {{trace::ShaderStage::Miss, "main", "sky", test::branching_shader()}};
  trace.shaders.push_back({trace::ShaderStage::RayGeneration, "main", "camera", {}});
  // Paths of 4 and 7 instructions, of 3 and 3 blocks.
  trace.paths = {{0, 0}, {5, 1}, {1, 0, 1, 1, 1, 1, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 2, 3}};
  for (int number = 0; number < 2; ++number) {
    test::LaunchBuilder builder({4, 1, 1});
    for (int thread = 0; thread < 4; ++thread) {
      builder.thread().begin(1).miss(0);
    }
    trace::Launch& launch = trace.launches.emplace_back(builder.build());
    launch.thread_path.assign(4, 0);
    int miss = 0;
    for (const trace::EventKind kind : launch.data.events.kind) {
      // Launch 0: paths 1, 1, 1, 2. Launch 1: 1, 1, none, none.
      const bool misses = kind == trace::EventKind::Miss;
      launch.data.events.path.push_back(!misses ? 0U : number == 0 ? (miss == 3 ? 2U : 1U) : miss < 2 ? 1U : 0U);
      miss += misses ? 1 : 0;
    }
  }
  trace.launches[1].frame = 1;
  report(save("t.rrt", trace));
  const std::string csv = written("pixels.csv");
  EXPECT_THAT(csv, AllOf(HasSubstr("launch,frame,measure,low,high,threads,mean,most,"),
                         HasSubstr("\r\n0,0,instructions,4,8,4,4.75,7,"), HasSubstr("\r\n0,0,blocks,2,4,4,3,3,"),
                         HasSubstr("\r\n1,1,instructions,4,8,2,4,4,"), HasSubstr("\r\n1,1,instructions,,,2,4,4,"),
                         HasSubstr("\r\n1,1,blocks,2,4,2,3,3,")));
  EXPECT_THAT(written("index.html"),
              AllOf(HasSubstr("Executed instructions of a pixel, by frame"), HasSubstr("launch 0 (mean 4.8)"),
                    HasSubstr("Executed basic blocks of a pixel, by frame"), HasSubstr("4 to 7")));
  test::expect_named(json::parse(written("profile.json"))["pixels"].at(0),
                     test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md"));
  // Without the threads' paths, and without paths.
  trace.launches.clear();
  trace.paths.calls = {0, 0};
  report(save("t.rrt", trace));
  EXPECT_THAT(written("index.html"), HasSubstr("No launch of the trace has paths of its threads"));
  trace.paths = {};
  test::add_branching(trace.block_counts, 0, 0, 1);
  report(save("t.rrt", trace));
  EXPECT_THAT(written("index.html"), HasSubstr("Counts in this trace are sums over all threads and launches"));
}

TEST_F(ProfileReport, RegistersAndOccupancyOfPipelines) {
  trace::Trace trace = one_shader("sky");
  trace.shaders = {{trace::ShaderStage::Miss, "main", "sky", test::branching_shader(1)},
                   {trace::ShaderStage::RayGeneration, "main", "camera", test::branching_shader(2)}};
  test::add_branching(trace.block_counts, 0, 0, 1);
  test::add_branching(trace.block_counts, 4, 1, 3);
  const std::string file = save("none.rrt", trace);
  report(file);
  EXPECT_THAT(written("index.html"),
              AllOf(HasSubstr("capture with --pipeline-facts"), Not(HasSubstr("<h3>Registers"))));
  trace::GroupStack sky, camera;
  sky.general = 0;
  camera.general = 1;
  sky.general_bytes = camera.general_bytes = 0;
  trace.pipeline_facts.resize(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    trace.pipeline_facts[i].pipeline = 2 * i;
    trace.pipeline_facts[i].groups = {sky, camera};
  }
  trace.pipeline_facts[0].executables = {program("all", 0x900, 64)};
  trace.pipeline_facts[2].executables = {program("the miss", 0x800, 32), program("the camera", 0x100, 128),
                                         program("both", 0x900, 40)};
  const std::string known = save("known.rrt", trace);
  report(known);
  // 64 registers × 8 lanes: an SM of the default machine has 65,536 registers, and 48 warps at most.
  const std::string csv = written("registers.csv");
  EXPECT_THAT(
      csv, AllOf(HasSubstr("pipeline,executable,executable_name,shader,name,registers,statistic,"
                           "resident_warps,executed_share,"),
                 HasSubstr("\r\n0,,,,,64,Register Count,48,0.25,"), HasSubstr("\r\n4,,,,,128,Register Count,48,0.75,"),
                 HasSubstr("\r\n4,0,the miss,0,sky,32,Register Count,48,,"),
                 HasSubstr("\r\n4,1,the camera,1,camera,128,Register Count,48,0.75,"),
                 HasSubstr("\r\n4,2,both,,,40,Register Count,48,,")));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 6);
  const std::string html = written("index.html");
  EXPECT_THAT(html, AllOf(HasSubstr("<h3>Registers and occupancy"), HasSubstr("pipeline 0 (25.0 %)"),
                          HasSubstr("The driver names no registers of a thread for 1 of 3 pipelines."),
                          HasSubstr("It names no programs at all for 1."), HasSubstr("resident warps of an SM")));
  test::expect_named(json::parse(written("profile.json"))["registers"].at(0),
                     test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md"));
  // With warps of 32: 65,536 / (128 · 32) = 16, and 32 of 64.
  trace.header.warp_size = 32;
  report(save("wide.rrt", trace));
  EXPECT_THAT(written("registers.csv"),
              AllOf(HasSubstr("\r\n0,,,,,64,Register Count,32,"), HasSubstr("\r\n4,,,,,128,Register Count,16,")));
  report(known, {"--machine", "h200"});
  EXPECT_EQ(json::parse(written("profile.json"))["occupancy"]["machine"], "h200");
  refused({"profile", known, "--machine", "generic"}, 2, "--report DIR");
}

TEST_F(ProfileReport, HostileNamesAreText) {
  const std::string evil = "</svg><script>alert(1)</script>\"'&";
  trace::Trace trace = with_accesses(evil);
  trace.shaders[0].spirv = test::loading_shader(true);
  trace.pipeline_facts.resize(1);
  trace.pipeline_facts[0].pipeline = 0;
  trace.pipeline_facts[0].executables = {program(evil, 0x800, 32), program(evil, 0x900, 64)};
  test::add_row(trace.block_counts, {0, 0, 0, 0, 8, 1});
  report(save("t.rrt", trace));
  EXPECT_THAT(written("index.html"), AllOf(Not(HasSubstr("<script")), HasSubstr("&lt;script&gt;")));
}

}  // namespace
}  // namespace rayreplay
