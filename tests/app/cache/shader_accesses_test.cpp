// Captured accesses of shaders in `cache`, `whatif` and `run`: all that the trace has are there, and nothing else
// changes.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/run_command.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

/// All threads, rays and accesses of a frame (tests/data/lavapipe/README.md).
const std::string kMemory = RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-memory.rrt";
/// Ray generation of its 256 threads loads and stores a word of a buffer, which is the picture.
const std::string kStored = RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/stored-pixels.rrt";
const std::string kWithout = RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-paths.rrt";

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json answer(const Words& words) {
  const Outcome outcome = run_command(joined(words, {"--format", "json"}));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  return outcome.code == 0 ? json::parse(outcome.output) : json();
}

json cache(const Words& more, const std::string& trace = kMemory) {
  return answer(joined({"cache", trace, "--machine", "rtx4060-laptop", "--sms", "2", "--no-distances"}, more));
}

/// By kind of data: the accesses of the L1, loads and stores.
std::map<std::string, std::uint64_t> of_kinds(const json& result, const char* column = "accesses") {
  std::map<std::string, std::uint64_t> found;
  for (const json& row : result["rows"]) {
    if (row["level"] == "L1" && row["kind"] != "all") {
      found[row["kind"]] = row[column];
    }
  }
  return found;
}

/// What the trace itself says, by kind of access.
struct Recorded {
  std::uint64_t all = 0, lines = 0, loads = 0;
};
std::map<std::string, Recorded> recorded(std::uint64_t line_bytes) {
  const trace::Trace trace = trace::load(kMemory);
  const trace::ThreadData& data = trace.launches.at(0).data;
  std::map<std::string, Recorded> found;
  for (std::size_t thread = 0; thread < data.threads(); ++thread) {
    EXPECT_LT(data.event_offset[thread], data.event_offset[thread + 1]) << "every thread traces";
    for (std::uint64_t row = data.accesses.offset[thread]; row < data.accesses.offset[thread + 1]; ++row) {
      const std::uint32_t site = data.accesses.site[row];
      if (trace.access_sites.space[site] == trace::AccessSpace::ShaderRecord) {
        continue;
      }
      const std::uint64_t address = data.accesses.address[row];
      Recorded& kind = found[std::string("shader-") + trace::to_string(trace.access_sites.kind[site])];
      ++kind.all;
      kind.lines += (address + trace.access_sites.bytes[site] - 1) / line_bytes - address / line_bytes + 1;
    }
  }
  return found;
}

std::map<std::string, std::uint64_t> without_shaders(std::map<std::string, std::uint64_t> kinds) {
  for (const char* kind : {"shader-load", "shader-store", "shader-atomic"}) {
    kinds.erase(kind);
  }
  return kinds;
}

TEST(ShaderAccessesCommand, CacheHasEachRecordedAccessOnce) {
  const json on = cache({"--per-lane"});
  const json off = cache({"--per-lane", "--shader-accesses", "off"});
  std::uint64_t all = 0;
  const auto kinds = of_kinds(on);
  for (const auto& [kind, expected] : recorded(128)) {
    all += expected.all;
    ASSERT_TRUE(kinds.contains(kind));
    EXPECT_EQ(kinds.at(kind), expected.lines) << "a lane by itself has a transaction for each line";
  }
  EXPECT_GT(all, 1000U);
  EXPECT_EQ(on["summary"]["shader_accesses"], all);
  EXPECT_EQ(off["summary"]["shader_accesses"], 0);
  EXPECT_EQ(kinds.size(), of_kinds(off).size() + recorded(128).size());
  EXPECT_EQ(without_shaders(kinds), of_kinds(off)) << "all else as without them";
  EXPECT_EQ(on["configuration"]["stream.shader_accesses"], "auto");
  EXPECT_EQ(cache({"--per-lane", "--shader-accesses", "on"})["rows"], on["rows"]);
}

TEST(ShaderAccessesCommand, LanesThatReadOneLineShareATransaction) {
  const auto together = of_kinds(cache({}));
  const auto alone = of_kinds(cache({"--per-lane"}));
  EXPECT_LT(together.at("shader-load"), alone.at("shader-load"));
  EXPECT_GT(together.at("shader-load"), alone.at("shader-load") / 32);
}

TEST(ShaderAccessesCommand, APictureInAnImageStaysOne) {
  const json on = cache({});
  EXPECT_EQ(on["summary"]["stored_pixels"], 0) << "ray generation writes an image, and stores to no buffer";
  EXPECT_EQ(of_kinds(on).at("frame-buffer"), of_kinds(cache({"--pixel-bytes", "16"})).at("frame-buffer"));
  const json none = cache({"--pixel-bytes", "0"});
  EXPECT_FALSE(of_kinds(none).contains("frame-buffer"));
}

TEST(ShaderAccessesCommand, APictureInABufferIsWrittenOnce) {
  using Kinds = std::map<std::string, std::uint64_t>;
  const json on = cache({"--per-lane"}, kStored);
  EXPECT_EQ(on["summary"]["stored_pixels"], 256);
  EXPECT_EQ(on["summary"]["shader_accesses"], 512);
  EXPECT_EQ(of_kinds(on).at("shader-load"), 256);
  EXPECT_EQ(of_kinds(on).at("shader-store"), 256);
  EXPECT_EQ(of_kinds(on, "stores").at("shader-store"), 256);
  EXPECT_EQ(of_kinds(on, "stores").at("shader-load"), 0);
  EXPECT_FALSE(of_kinds(on).contains("frame-buffer"));
  const Kinds off = of_kinds(cache({"--per-lane", "--shader-accesses", "off"}, kStored));
  EXPECT_EQ(off.at("frame-buffer"), 256);
  EXPECT_FALSE(off.contains("shader-store"));
  // A number given by hand is that of every thread.
  const json given = cache({"--per-lane", "--pixel-bytes", "16"}, kStored);
  EXPECT_EQ(of_kinds(given).at("frame-buffer"), 256);
  EXPECT_EQ(of_kinds(given).at("shader-store"), 256);
  EXPECT_EQ(given["summary"]["stored_pixels"], 0);
}

TEST(ShaderAccessesCommand, NumbersGivenByHandAreNamed) {
  const auto notes = [](const Words& more) { return cache(more)["configuration"]["shader_notes"].dump(); };
  EXPECT_EQ(notes({}), "[]");
  EXPECT_THAT(notes({"--pixel-bytes", "8"}), HasSubstr("stream.pixel_bytes = 8 is given"));
  EXPECT_EQ(notes({"--pixel-bytes", "8", "--shader-accesses", "off"}), "[]");
  EXPECT_THAT(notes({"--time", "memory"}), HasSubstr("scheduler.cycles_per_instruction = 4 in memory time"));
  EXPECT_THAT(notes({"--time", "memory", "--cycles-per-instruction", "6"}),
              HasSubstr("scheduler.cycles_per_instruction = 6 contains waits"));
  EXPECT_EQ(notes({"--time", "memory", "--cycles-per-instruction", "4"}), "[]");
  EXPECT_THAT(notes({"--time", "memory", "--shader-cost", "closest-hit=100:700"}),
              HasSubstr("latencies of shader_costs are given"));
}

TEST(ShaderAccessesCommand, CyclesOfAnInstructionLeaveTheirWaitsOut) {
  const auto time = [](const Words& more) {
    const json answer = cache(joined({"--time", "memory"}, more));
    return std::pair(answer["summary"]["cycles"], answer["configuration"]["scheduler.cycles_per_instruction"]);
  };
  const auto usual = time({});
  EXPECT_EQ(usual.second, 4);
  EXPECT_EQ(usual, time({"--cycles-per-instruction", "4"}));
  EXPECT_GT(time({"--cycles-per-instruction", "6"}).first, usual.first);
  EXPECT_EQ(time({"--shader-accesses", "off"}), time({"--shader-accesses", "off", "--cycles-per-instruction", "6"}));
}

TEST(ShaderAccessesCommand, ANoteIsGivenOnce) {
  const Outcome outcome =
      run_command({"cache", kMemory, "--sms", "2", "--no-distances", "--pixel-bytes", "8", "--format", "json"});
  const auto first = outcome.errors.find("stream.pixel_bytes = 8 is given");
  ASSERT_NE(first, std::string::npos) << outcome.errors;
  EXPECT_EQ(outcome.errors.find("stream.pixel_bytes = 8 is given", first + 1), std::string::npos) << outcome.errors;
}

TEST(ShaderAccessesCommand, MemoryTimeWaitsForThem) {
  const Words words = {"whatif",    kMemory,      "--models",        "plain,ser",
                       "--outputs", "cache,time", "--machine",       "rtx4060-laptop",
                       "--sms",     "2",          "--no-break-even", "--cycles-per-instruction",
                       "6"};
  const json on = answer(words);
  const json off = answer(joined(words, {"--shader-accesses", "off"}));
  ASSERT_EQ(on["rows"].size(), 2U);
  for (std::size_t row = 0; row < 2; ++row) {
    SCOPED_TRACE(on["rows"][row]["model"]);
    EXPECT_GT(on["rows"][row]["cycles"], off["rows"][row]["cycles"]);
    EXPECT_EQ(on["rows"][row]["time_efficiency"], off["rows"][row]["time_efficiency"]) << "the warps are the same";
    EXPECT_GT(on["rows"][row]["traffic_shader_load_bytes"], 0);
    EXPECT_TRUE(on["rows"][row]["traffic_shader_store_bytes"].is_null()) << "there are none";
    EXPECT_TRUE(off["rows"][row]["traffic_shader_load_bytes"].is_null());
    EXPECT_EQ(on["rows"][row]["traffic_node_bytes"], off["rows"][row]["traffic_node_bytes"]);
  }
  EXPECT_THAT(on["configuration"]["shader_notes"].dump(), HasSubstr("scheduler.cycles_per_instruction"));
  EXPECT_EQ(off["configuration"]["shader_notes"], json::array());
}

/// A recording that lost accesses is left out, with a note, until it is asked for.
TEST(ShaderAccessesCommand, LostOnesAreNotTakenUnasked) {
  const Scratch scratch;
  trace::Trace trace = trace::load(kMemory);
  json configuration = json::parse(trace.header.configuration);
  configuration["capture"]["missing_accesses"] = {{{"launch", 0}, {"accesses", 1234}, {"lost_words", 0}}};
  trace.header.configuration = configuration.dump();
  const std::string path = scratch / "lost.rrt";
  trace::write(trace, path);
  const json left_out = cache({}, path);
  EXPECT_EQ(left_out["summary"]["shader_accesses"], 0);
  EXPECT_EQ(of_kinds(left_out), of_kinds(cache({"--shader-accesses", "off"})));
  EXPECT_THAT(left_out["configuration"]["shader_notes"].dump(),
              AllOf(HasSubstr("the capture lost 1,234 of"), HasSubstr("stream.shader_accesses=on takes")));
  const json taken = cache({"--shader-accesses", "on"}, path);
  EXPECT_EQ(taken["summary"]["shader_accesses"], cache({})["summary"]["shader_accesses"]);
  EXPECT_THAT(taken["configuration"]["shader_notes"].dump(),
              AllOf(HasSubstr("the capture lost 1,234 of"), HasSubstr("taken as they are")));
  const Outcome text = run_command({"cache", path, "--sms", "2", "--no-distances"});
  EXPECT_THAT(text.errors + text.output, HasSubstr("the capture lost 1,234 of"));
}

TEST(ShaderAccessesCommand, AskedForWhereThereAreNone) {
  const Outcome outcome = run_command({"cache", kWithout, "--shader-accesses", "on"});
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("the launch has no recorded accesses of shaders"));
  EXPECT_THAT(outcome.errors, HasSubstr("--profile memory"));
  EXPECT_THAT(outcome.errors, HasSubstr("--shader-accesses"));
  EXPECT_EQ(run_command({"cache", kWithout, "--shader-accesses", "auto", "--no-distances"}).code, 0);
}

}  // namespace
}  // namespace rayreplay::test
