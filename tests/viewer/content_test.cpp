// The viewer's data against the trace itself, the slow replayer, and the command's own answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "sim/launch/resolve.hpp"
#include "sim/launch/warps.hpp"
#include "sim/simt/reference/replay_reference.hpp"
#include "tests/viewer/trace_of_tracer.hpp"
#include "viewer/content/content.hpp"
#include "viewer/content/slice.hpp"

namespace rayreplay::viewer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// A slice, read back by the form that its header states.
struct ReadSlice {
  json facts;
  std::map<std::string, std::vector<float>> floats;
  std::map<std::string, std::vector<std::uint32_t>> wholes;
};

ReadSlice read(const std::string& bytes) {
  ReadSlice slice;
  EXPECT_EQ(bytes.substr(0, 4), "RRS1");
  std::uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 4, 4);
  slice.facts = json::parse(bytes.substr(8, length));
  const std::size_t start = (8 + length + 7) / 8 * 8;
  for (const json& column : slice.facts["columns"]) {
    const char* from = bytes.data() + start + column["offset"].get<std::size_t>();
    const auto count = column["count"].get<std::size_t>();
    EXPECT_LE(start + column["offset"].get<std::size_t>() + count * 4, bytes.size());
    if (column["type"] == "f32") {
      slice.floats[column["name"]].resize(count);
      std::memcpy(slice.floats[column["name"]].data(), from, count * 4);
    } else {
      EXPECT_EQ(column["type"], "u32");
      slice.wholes[column["name"]].resize(count);
      std::memcpy(slice.wholes[column["name"]].data(), from, count * 4);
    }
  }
  return slice;
}

class ViewerContent : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = std::make_unique<test::Scratch>();
    path_ = test::small_view(*made_);
    auto data = std::make_shared<experiment::InputData>();
    data->trace = trace::load(path_);
    data_ = data;
    content_ = std::make_unique<Content>(ContentOptions{.trace_file = path_, .asked = {}}, data_, nullptr);
  }
  static void TearDownTestSuite() {
    content_.reset();
    data_.reset();
    made_.reset();
  }
  static Answer ask(const std::string& path, std::vector<std::pair<std::string, std::string>> parameters = {}) {
    return content_->answer({path, std::move(parameters)});
  }
  static json document(const std::string& path, std::vector<std::pair<std::string, std::string>> parameters = {}) {
    const Answer answer = ask(path, std::move(parameters));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body);
  }
  static const trace::Trace& trace() {
    return data_->trace;
  }
  static const trace::Launch& launch() {
    return data_->trace.launches.at(0);
  }
  static inline std::string path_;

 private:
  static inline std::unique_ptr<test::Scratch> made_;
  static inline std::shared_ptr<const experiment::InputData> data_;
  static inline std::unique_ptr<Content> content_;
};

TEST_F(ViewerContent, FactsAreTheTraces) {
  const json facts = document("trace");
  EXPECT_EQ(facts["hash"], trace().hash);
  EXPECT_EQ(facts["launches"][0]["rays"], launch().data.rays.size());
  EXPECT_EQ(facts["shaders"].size(), trace().shaders.size());
  EXPECT_EQ(facts["scene"]["instances"].size(), trace().scene.instances.size());
  EXPECT_EQ(facts["colors"]["viridis"].get<std::string>().size(), 256U * 6);
  EXPECT_EQ(facts["colors"]["viridis"].get<std::string>().substr(0, 6), "440154");  // the table's first entry
  EXPECT_EQ(facts["colors"]["nothing"], "808080");
  // The built-in tracer has no groups, so no map of SMs or clocks.
  for (const json& map : facts["launches"][0]["maps"]) {
    EXPECT_NE(map["name"], "sm");
    EXPECT_NE(map["name"], "clocks");
  }
}

TEST_F(ViewerContent, MapsOfCountsAreSumsOfTheEvents) {
  const std::map<std::string, std::vector<trace::EventKind>> kinds{
      {"rays", {trace::EventKind::Begin, trace::EventKind::OcclusionBegin}},
      {"intersections", {trace::EventKind::Intersection}},
      {"any-hits", {trace::EventKind::AnyHit}}};
  for (const auto& [map, counted] : kinds) {
    const ReadSlice slice = read(ask("launch/0/pixels", {{"map", map}}).body);
    const std::vector<float>& values = slice.floats.at("values");
    ASSERT_EQ(values.size(), 40U * 24);
    for (std::size_t thread = 0; thread < values.size(); ++thread) {
      float count = 0;
      for (std::uint64_t row = launch().data.event_offset[thread]; row < launch().data.event_offset[thread + 1];
           ++row) {
        count +=
            std::find(counted.begin(), counted.end(), launch().data.events.kind[row]) != counted.end() ? 1.0F : 0.0F;
      }
      ASSERT_EQ(values[thread], count) << map << ' ' << thread;
    }
    EXPECT_EQ(slice.facts["most"], *std::max_element(values.begin(), values.end()));
  }
}

TEST_F(ViewerContent, FacesCountTheHitsOfEachPrimitive) {
  const ReadSlice slice = read(ask("launch/0/faces", {{"metric", "closest-hits"}}).body);
  std::map<std::pair<std::uint32_t, std::uint32_t>, float> hits;
  float all = 0;
  const trace::Events& events = launch().data.events;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (events.kind[row] == trace::EventKind::ClosestHit) {
      hits[{events.instance[row], events.primitive[row]}] += 1;
      ++all;
    }
  }
  ASSERT_GT(hits.size(), 3U);
  float sum = 0;
  for (const float value : slice.floats.at("values")) {
    sum += value;
  }
  EXPECT_EQ(sum, all);
  for (const auto& [place, count] : hits) {
    EXPECT_EQ(slice.floats.at("values")[slice.wholes.at("first")[place.first] + place.second], count);
  }
}

TEST_F(ViewerContent, GeometryIsTheScenes) {
  const ReadSlice slice = read(ask("geometry/0").body);
  const trace::Geometry& geometry = trace().scene.geometries[0];
  ASSERT_EQ(geometry.type, trace::GeometryType::Boxes);
  EXPECT_EQ(slice.floats.at("boxes"), std::vector<float>(geometry.boxes.begin(), geometry.boxes.end()));
}

/// Masks, lanes and efficiency of every warp, from the slow replayer.
TEST_F(ViewerContent, WarpsAreTheSlowReplayers) {
  for (const std::string packing : {"identity", "numrays", "random"}) {
    experiment::Configuration configuration;
    configuration.packings = {packing};
    const experiment::Resolved resolved = experiment::resolve(configuration, trace());
    const scheduler::WarpAssignment packed = experiment::pack(
        launch(), experiment::in_order(launch(), resolved.order, resolved.warp_size), resolved.packings.back());
    for (std::size_t warp = 0; warp < packed.warps(); ++warp) {
      std::uint32_t thread = scheduler::kNoThread;
      for (std::size_t lane = 0; lane < packed.warp_size && thread == scheduler::kNoThread; ++lane) {
        thread = packed.thread_at[warp * packed.warp_size + lane];
      }
      const json found = document("launch/0/warp", {{"thread", std::to_string(thread)}, {"packing", packing}});
      EXPECT_EQ(found["warp"], warp);
      EXPECT_EQ(found["start"], packed.start_rank[warp]);
      const auto expected =
          simt::replay_warp_reference(launch(), trace().shaders, packed, warp, simt::Policy::StageMajority);
      ASSERT_EQ(found["events"].size(), expected.size());
      std::uint64_t active = 0;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const json& event = found["events"][i];
        EXPECT_EQ(event[0], static_cast<int>(expected[i].kind));
        EXPECT_EQ(event[1], expected[i].shader);
        EXPECT_EQ(event[2].get<std::uint64_t>() | event[3].get<std::uint64_t>() << 32U, expected[i].mask);
        active += static_cast<std::uint64_t>(__builtin_popcountll(expected[i].mask));
      }
      if (!expected.empty()) {
        EXPECT_DOUBLE_EQ(found["efficiency"].get<double>(),
                         static_cast<double>(active) / static_cast<double>(expected.size() * packed.warp_size));
      }
      for (std::uint32_t lane = 0; lane < packed.warp_size; ++lane) {
        const std::uint32_t one = packed.thread_at[warp * packed.warp_size + lane];
        const json& said = found["lanes"][lane];
        EXPECT_EQ(said.is_null(), one == scheduler::kNoThread);
        if (!said.is_null()) {
          EXPECT_EQ(said["thread"], one);
          EXPECT_EQ(said["pixel"][0], one % 40);
          EXPECT_EQ(said["pixel"][1], one / 40);
        }
      }
    }
  }
}

TEST_F(ViewerContent, ThreadsHaveTheirRaysAndEvents) {
  for (const std::uint64_t thread : {0U, 517U, 959U}) {
    const json found = document("launch/0/thread/" + std::to_string(thread));
    const trace::ThreadData& data = launch().data;
    const std::uint64_t first = data.event_offset[thread];
    ASSERT_EQ(found["event_count"], data.event_offset[thread + 1] - first);
    ASSERT_EQ(found["rays"].size(), data.ray_offset[thread + 1] - data.ray_offset[thread]);
    std::uint64_t ray = 0;
    for (std::uint64_t i = 0; i < found["events"].size(); ++i) {
      const json& event = found["events"][i];
      EXPECT_EQ(event["kind"], static_cast<int>(data.events.kind[first + i]));
      ray += trace::begins_ray(data.events.kind[first + i]) ? 1U : 0U;
      EXPECT_EQ(event["ray"], ray - 1);
      if (trace::carries_hit(data.events.kind[first + i])) {
        EXPECT_EQ(event["t"].get<float>(), data.events.t[first + i]);
        EXPECT_EQ(event["primitive"], data.events.primitive[first + i]);
      }
    }
    for (std::size_t i = 0; i < found["rays"].size(); ++i) {
      EXPECT_EQ(found["rays"][i]["origin"][2].get<float>(), data.rays.origin_z[data.ray_offset[thread] + i]);
    }
  }
}

TEST_F(ViewerContent, WhatIfIsTheCommandsAnswer) {
  const json found = document("launch/0/whatif", {{"packing", "numrays"}, {"policy", "oldest-lane"}});
  const test::Outcome outcome =
      test::run_command({"whatif", path_, "--packing", "numrays", "--policy", "oldest-lane", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(found["rows"], json::parse(outcome.output)["rows"]);
  EXPECT_EQ(found["command"], "rayreplay whatif " + path_ + " --packing numrays --policy oldest-lane");
}

/// Idle lanes of every warp from the slow replayer.
TEST_F(ViewerContent, RankingsAreTheIdleLanesOfTheWarps) {
  const json found = document("launch/0/ranking");
  experiment::Configuration configuration;
  configuration.packings = {"identity"};
  const experiment::Resolved resolved = experiment::resolve(configuration, trace());
  const scheduler::WarpAssignment packed = experiment::in_order(launch(), resolved.order, resolved.warp_size);
  std::vector<std::pair<std::uint64_t, std::size_t>> idle;
  std::map<std::pair<int, int>, std::uint64_t> by_call;
  std::uint64_t all = 0;
  for (std::size_t warp = 0; warp < packed.warps(); ++warp) {
    std::uint64_t lost = 0;
    for (const simt::WarpEvent& event :
         simt::replay_warp_reference(launch(), trace().shaders, packed, warp, simt::Policy::StageMajority)) {
      const auto free = packed.warp_size - static_cast<std::uint64_t>(__builtin_popcountll(event.mask));
      lost += free;
      by_call[{static_cast<int>(event.kind), event.shader}] += free;
    }
    idle.emplace_back(lost, warp);
    all += lost;
  }
  std::sort(idle.begin(), idle.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  EXPECT_EQ(found["idle_lanes"], all);
  ASSERT_EQ(found["warps"].size(), 25U);
  for (std::size_t i = 0; i < 25; ++i) {
    EXPECT_EQ(found["warps"][i]["warp"], idle[i].second);
    EXPECT_EQ(found["warps"][i]["idle_lanes"], idle[i].first);
    EXPECT_EQ(document("launch/0/warp", {{"thread", found["warps"][i]["thread"].dump()}})["warp"], idle[i].second);
  }
  ASSERT_EQ(found["calls"].size(), by_call.size());
  std::uint64_t before = ~std::uint64_t{0};
  for (const json& call : found["calls"]) {
    const auto lost = call["idle_lanes"].get<std::uint64_t>();
    EXPECT_EQ(lost, (by_call[{call["kind"].get<int>(), call["shader"].get<int>()}]));
    EXPECT_LE(lost, before);
    before = lost;
  }
}

/// A capture of an H200: each of its groups of one warp is listed once, in order, with its lanes.
TEST(ViewerCaptured, WarpsAreTheCapturedGroups) {
  auto data = std::make_shared<experiment::InputData>();
  data->trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/h200/teapot-alpha.rrt");
  const trace::Launch& launch = data->trace.launches.at(0);
  ASSERT_FALSE(launch.thread_warp.empty());
  ASSERT_FALSE(launch.data.events.group.empty());
  Content content({.trace_file = "t.rrt", .asked = {}}, data, nullptr);
  // Groups of calls, by warp; a group of a report or an ignore is none.
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint16_t>> groups;
  const trace::Events& events = launch.data.events;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (trace::is_warp_event(events.kind[row])) {
      groups[launch.groups.warp[events.group[row]]][events.group[row]] = events.shader[row];
    }
  }
  std::size_t looked_at = 0;
  for (std::uint32_t thread = 0; thread < launch.thread_warp.size() && looked_at < 20; thread += 97) {
    const std::uint32_t warp = launch.thread_warp[thread];
    const json found = json::parse(content.answer({"launch/0/captured", {{"thread", std::to_string(thread)}}}).body);
    ASSERT_TRUE(found.contains("warp")) << found.dump();
    EXPECT_EQ(found["warp"], warp);
    const auto& expected = groups[warp];
    ASSERT_EQ(found["events"].size(), expected.size());
    std::size_t i = 0;
    for (const auto& [group, shader] : expected) {
      const json& event = found["events"][i++];
      EXPECT_EQ(event[1], shader);
      EXPECT_EQ(event[2].get<std::uint64_t>() | event[3].get<std::uint64_t>() << 32U, launch.groups.lane_mask[group]);
    }
    EXPECT_EQ(found["lanes"][launch.thread_lane[thread]]["thread"], thread);
    ++looked_at;
  }
  EXPECT_GE(looked_at, 5U);
}

TEST_F(ViewerContent, SettingsChangeTheMapThatDependsOnThem) {
  const ReadSlice one = read(ask("launch/0/pixels", {{"map", "efficiency"}}).body);
  const ReadSlice two = read(ask("launch/0/pixels", {{"map", "efficiency"}, {"packing", "random"}}).body);
  EXPECT_NE(one.floats.at("values"), two.floats.at("values"));
}

TEST_F(ViewerContent, BadAddressesAreExplained) {
  const auto refused = [](const std::string& path, std::vector<std::pair<std::string, std::string>> parameters,
                          int status, const std::string& text) {
    const Answer answer = ask(path, std::move(parameters));
    EXPECT_EQ(answer.status, status) << path;
    EXPECT_THAT(json::parse(answer.body)["error"].get<std::string>(), HasSubstr(text)) << path;
  };
  refused("", {}, 404, "no such address");
  refused("launch", {}, 404, "no such address");
  refused("launch/0", {}, 404, "no such address");
  refused("launch/0/nothing", {}, 404, "no such address");
  refused("launch/-1/camera", {}, 404, "no such address");
  refused("launch/1/camera", {}, 400, "no launch of this number");
  refused("launch/18446744073709551615/camera", {}, 400, "no launch of this number");
  refused("launch/99999999999999999999999/camera", {}, 404, "no such address");
  refused("launch/0/thread/960", {}, 400, "no such thread");
  refused("launch/0/thread/../0", {}, 404, "no such address");
  refused("geometry/1000000", {}, 400, "no such geometry");
  refused("launch/0/pixels", {}, 400, "a parameter is missing");
  refused("launch/0/pixels", {{"map", "efficency"}}, 400, "did you mean 'efficiency'?");
  refused("launch/0/pixels", {{"map", "sm"}}, 400, "unknown map");
  refused("launch/0/faces", {{"metric", "closest"}}, 400, "unknown metric");
  refused("launch/0/warp", {{"thread", "x"}}, 400, "not a whole number");
  refused("launch/0/warp", {{"thread", "0"}, {"packing", "numray"}}, 400, "numrays");
  refused("launch/0/captured", {{"thread", "0"}}, 400, "no warps or groups");
  refused("launch/0/whatif", {{"machine", "/etc/passwd"}}, 400, "unknown parameter");
  refused("launch/0/whatif", {{"launch", "0"}}, 400, "does not set this key");
  refused("launch/0/pixels", {{"map", "rays"}, {"colour", "red"}}, 400, "unknown parameter");
  refused("trace", {{"x", "1"}}, 404, "no such address");
}

TEST(ViewerNames, OfATraceAreTextAlone) {
  auto data = std::make_shared<experiment::InputData>();
  data->trace.shaders.push_back(
      {trace::ShaderStage::RayGeneration, "main", "</script><img src=x onerror=alert(1)>", {}});
  data->trace.header.application = std::string("bad\xff\n\x1b[31m", 10);
  trace::Launch launch;
  launch.size = {1, 1, 1};
  launch.data.event_offset = {0, 0};
  launch.data.ray_offset = {0, 0};
  data->trace.launches.push_back(launch);
  Content content({.trace_file = "t.rrt", .asked = {}}, data, nullptr);
  const Answer answer = content.answer({"trace", {}});
  ASSERT_EQ(answer.status, 200);
  const json facts = json::parse(answer.body);  // valid UTF-8, whatever the trace holds
  EXPECT_EQ(facts["shaders"][0]["name"], "</script><img src=x onerror=alert(1)>");
  EXPECT_EQ(answer.body.find('\x1b'), std::string::npos);
  EXPECT_TRUE(json::parse(content.answer({"launch/0/camera", {}}).body)["corners"].is_null());
  EXPECT_EQ(json::parse(content.answer({"launch/0/warp", {{"thread", "0"}}}).body)["event_count"], 0);
}

TEST(ViewerSlice, ColumnsAreAlignedAndNamed) {
  Slice slice;
  slice.facts["x"] = "ü";
  slice.add("a", std::vector<float>{1, 2, 3});
  slice.add("b", std::vector<std::uint32_t>{7});
  const ReadSlice found = read(slice.bytes());
  EXPECT_EQ(found.facts["x"], "ü");
  EXPECT_EQ(found.floats.at("a"), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(found.wholes.at("b"), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(found.facts["columns"][1]["offset"], 16);
}

}  // namespace
}  // namespace rayreplay::viewer
