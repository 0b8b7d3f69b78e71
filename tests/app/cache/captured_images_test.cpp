// Images from end to end: a program that loads, stores and samples images is captured, and its accesses reach caches,
// memory time and notes as they were recorded.
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "capture/trace/texel_address.hpp"
#include "tests/app/run_command.hpp"
#include "tests/support/software_driver.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::uint64_t kThreads = 256;  // of the scenario's launch, 16 x 16
constexpr std::int64_t kSampledSide = 64;

/// The trace of the scenario, captured once.
class CapturedImages : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    use_software_driver();
    made_ = std::make_unique<Scratch>();
    const Outcome outcome =
        run_command({"capture", "--profile", "memory", "-o", path(), "--", RAYREPLAY_SCENARIOS, "image-accesses"});
    ASSERT_EQ(outcome.code, 0) << outcome.errors;
    trace_ = trace::load(path());
  }
  static void TearDownTestSuite() {
    made_.reset();
    trace_ = {};
  }
  static std::string path() {
    return *made_ / "images.rrt";
  }
  static json answer(const Words& command, const Words& more = {}) {
    Words words = command;
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--format", "json"});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.code == 0 ? json::parse(outcome.output) : json();
  }
  static json cache(const Words& more = {}) {
    return answer({"cache", path(), "--machine", "rtx4060-laptop", "--sms", "2", "--no-distances"}, more);
  }
  /// Accesses of the L1 by kind, and the stores among them.
  static std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> of_images(const json& result) {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> found;
    for (const json& row : result["rows"]) {
      const std::string kind = row["kind"];
      if (row["level"] == "L1" && kind.starts_with("image-")) {
        found[kind] = {row["accesses"], row["stores"]};
      }
    }
    return found;
  }
  /// Addresses of the recorded accesses to images by kind.
  static std::map<std::string, std::vector<std::uint64_t>> recorded() {
    std::map<std::string, std::vector<std::uint64_t>> found;
    const trace::Accesses& accesses = trace_.launches.at(0).data.accesses;
    for (std::size_t row = 0; row < accesses.size(); ++row) {
      const std::uint32_t site = accesses.site[row];
      if (trace_.access_sites.space[site] == trace::AccessSpace::Image) {
        found[std::string("image-") + trace::to_string(trace_.access_sites.kind[site])].push_back(
            accesses.address[row]);
      }
    }
    return found;
  }

  static inline std::unique_ptr<Scratch> made_;
  static inline trace::Trace trace_;
};

/// The lines of 128 bytes that a linear sample of the image touches, whose rows of 256 bytes lie one behind another.
std::uint64_t lines_of_sample(std::uint64_t address) {
  const trace::Texel half = trace::unpack_texel(address);
  const auto pair = [](std::int64_t place) {
    const std::int64_t low = place == 0 ? kSampledSide - 1 : (place - 1) / 2;
    return std::vector<std::int64_t>{low, (low + 1) % kSampledSide};
  };
  std::set<std::int64_t> lines;
  for (const std::int64_t y : pair(half.y)) {
    for (const std::int64_t x : pair(half.x)) {
      lines.insert((y * 256 + x * 4) / 128);
    }
  }
  return lines.size();
}

TEST_F(CapturedImages, TheTraceHasThem) {
  const auto all = recorded();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all.at("image-load").size(), kThreads);
  EXPECT_EQ(all.at("image-store").size(), kThreads);
  EXPECT_EQ(all.at("image-load"), all.at("image-store")) << "thread by thread the same texels";
  std::uint64_t hits = 0;
  for (const trace::EventKind kind : trace_.launches.at(0).data.events.kind) {
    hits += kind == trace::EventKind::ClosestHit ? 1U : 0U;
  }
  EXPECT_EQ(all.at("image-sample").size(), hits) << "threads that hit sample";
  EXPECT_GT(hits, 0U);
  EXPECT_LT(hits, kThreads);
  EXPECT_EQ(trace_.launches.at(0).images.size(), 2U);
}

TEST_F(CapturedImages, CachesHaveEachOnce) {
  const json result = cache({"--per-lane", "--image-layout", "linear"});
  const auto kinds = of_images(result);
  const auto all = recorded();
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds.at("image-load"), std::pair(kThreads, std::uint64_t{0}));
  EXPECT_EQ(kinds.at("image-store"), std::pair(kThreads, kThreads));
  std::uint64_t lines = 0;
  for (const std::uint64_t address : all.at("image-sample")) {
    lines += lines_of_sample(address);
  }
  EXPECT_EQ(kinds.at("image-sample"), std::pair(lines, std::uint64_t{0}));
  const json& summary = result["summary"];
  EXPECT_EQ(summary["image_accesses"], 2 * kThreads + all.at("image-sample").size());
  EXPECT_EQ(summary["shader_accesses"], 4 * kThreads + all.at("image-sample").size()) << "and a word of the picture";
  EXPECT_EQ(summary["nowhere_accesses"], 0);
  EXPECT_EQ(summary["assumed_filters"], 0) << "the layer knows the sampler";
  EXPECT_EQ(summary["stored_pixels"], kThreads);
  // Threads of the lower half of x or y sample at negative coordinates.
  std::uint64_t outside = 0;
  const trace::Accesses& accesses = trace_.launches.at(0).data.accesses;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    for (std::uint64_t row = accesses.offset[thread]; row < accesses.offset[thread + 1]; ++row) {
      const bool sample = trace_.access_sites.kind[accesses.site[row]] == trace::AccessKind::Sample;
      outside += sample && (thread % 16 < 8 || thread / 16 < 8) ? 1U : 0U;
    }
  }
  EXPECT_EQ(summary["outside_samples"], outside);
  EXPECT_GT(outside, 0U);
  EXPECT_LT(outside, all.at("image-sample").size());
}

TEST_F(CapturedImages, LanesShareTransactions) {
  const auto together = of_images(cache({"--image-layout", "linear"}));
  // The captured warps are parts of a row of 16 texels of 4 bytes, which lies in one line.
  const std::uint64_t warps = kThreads / trace_.header.warp_size;
  ASSERT_LE(trace_.header.warp_size, 16U);
  EXPECT_EQ(together.at("image-load").first, warps);
  EXPECT_EQ(together.at("image-store").first, warps) << "also where some of the lanes sampled before";
  EXPECT_LT(together.at("image-sample").first,
            of_images(cache({"--image-layout", "linear", "--per-lane"})).at("image-sample").first);
}

TEST_F(CapturedImages, NotesAndTables) {
  const Outcome text = run_command({"cache", path(), "--sms", "2", "--no-distances"});
  EXPECT_EQ(text.code, 0);
  for (const char* part :
       {"image-load", "image-store", "image-sample", "block-linear", "taken as those of a sampler that repeats"}) {
    EXPECT_THAT(text.output, HasSubstr(part));
  }
  EXPECT_EQ(of_images(cache({"--shader-accesses", "off"})).size(), 0U);
  // The triangle is opaque, so there is no test to explain but those of simulated hardware: images do not get in the
  // way.
  EXPECT_EQ(run_command({"explain", path(), "--hardware", "any-order:seed=7"}).code, 0);
  EXPECT_EQ(run_command({"validate", path()}).code, 0);
  std::map<std::string, std::uint64_t> executions;
  const json profile = answer({"profile", path(), "--rows", "memory"});
  for (const json& row : profile["memory"]) {
    if (row["memory"] == "image") {
      executions["image-" + row["kind"].get<std::string>()] += row["executions"].get<std::uint64_t>();
    }
  }
  for (const auto& [kind, addresses] : recorded()) {
    EXPECT_EQ(executions[kind], addresses.size()) << kind;
  }
}

TEST_F(CapturedImages, MemoryTimeWaitsForThem) {
  const Words words = {"whatif",    path(),           "--models", "plain,ser", "--outputs",      "cache,time",
                       "--machine", "rtx4060-laptop", "--sms",    "2",         "--no-break-even"};
  const json on = answer(words);
  const json off = answer(words, {"--shader-accesses", "off"});
  ASSERT_EQ(on["rows"].size(), 2U);
  for (std::size_t row = 0; row < 2; ++row) {
    EXPECT_GT(on["rows"][row]["cycles"], off["rows"][row]["cycles"]);
    for (const char* kind : {"load", "store", "sample"}) {
      const std::string name = std::string("traffic_image_") + kind + "_bytes";
      EXPECT_GT(on["rows"][row][name], 0) << name;
      EXPECT_TRUE(off["rows"][row][name].is_null()) << name;
    }
  }
}

}  // namespace
}  // namespace rayreplay::test
