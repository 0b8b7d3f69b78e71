// The driver's facts of pipelines in `rayreplay shaders` and `info`: of traces with known facts, and of a captured
// program.
#include <cmath>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/report/shaders/pipeline_facts.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/trace/sound_trace.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run_command;
using testing::HasSubstr;
using testing::Not;

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return report::rank_correlation(a, b);
}

TEST(RankCorrelation, OfRanksAndNotOfValues) {
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3, 4}, {1, 10, 100, 1e9}).value(), 1);
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3, 4}, {4, 3, 2, -9}).value(), -1);
  // 1 - 6 Σd² / (n (n² - 1)) with d = 1, 1, 1, 1, 0
  EXPECT_DOUBLE_EQ(correlation({1, 2, 3, 4, 5}, {20, 10, 40, 30, 50}).value(), 1 - 6.0 * 4 / (5 * 24));
  // Ranks 0.5, 0.5, 2 and 0, 1, 2: covariance 1.5, variances 1.5 and 2.
  EXPECT_DOUBLE_EQ(correlation({7, 7, 8}, {1, 2, 3}).value(), 1.5 / std::sqrt(1.5 * 2));
}

TEST(RankCorrelation, IsNotKnownOfTooLittle) {
  EXPECT_EQ(correlation({1, 2}, {1, 2}), std::nullopt);
  EXPECT_EQ(correlation({}, {}), std::nullopt);
  EXPECT_EQ(correlation({1, 2, 3}, {5, 5, 5}), std::nullopt);
  EXPECT_EQ(correlation({1, 2, 3}, {1, 2}), std::nullopt);
}

TEST(DriverFacts, AreThoseOfAllGroupsOfAShader) {
  using namespace trace;
  std::vector<PipelineFacts> pipelines = sound_pipeline_facts();
  const std::vector<ShaderStage> stages = {ShaderStage::RayGeneration, ShaderStage::Intersection, ShaderStage::AnyHit,
                                           ShaderStage::ClosestHit,    ShaderStage::Miss,         ShaderStage::Callable,
                                           ShaderStage::ClosestHit};
  const auto facts = report::driver_facts(pipelines, stages);
  ASSERT_EQ(facts.size(), stages.size());
  EXPECT_EQ(facts[kRayGen].stack_bytes->least, 96U);
  EXPECT_EQ(facts[kRayGen].stack_bytes->most, 96U);
  EXPECT_EQ(facts[kHit].stack_bytes->least, 0U);
  EXPECT_EQ(facts[kHit].stack_bytes->most, 64U);
  EXPECT_EQ(facts[kAny].stack_bytes->most, 1ULL << 40U);
  EXPECT_EQ(facts[kRayGen].registers->most, 72U);
  EXPECT_EQ(facts[kHit].registers->most, 40U);
  EXPECT_EQ(facts[kAny].registers->most, 40U);
  EXPECT_FALSE(facts[kMiss].registers.has_value());
  // In no group: neither its stage's executables nor others are its.
  EXPECT_FALSE(facts[6].stack_bytes.has_value());
  EXPECT_FALSE(facts[6].registers.has_value());
}

TEST(DriverFacts, RegistersHaveNamesOfKnownMeaningAlone) {
  const auto counts = [](const char* name, trace::StatisticFormat format, std::uint64_t value = 8) {
    return trace::counts_registers({name, "", format, value});
  };
  using enum trace::StatisticFormat;
  EXPECT_TRUE(counts("Register Count", Uint64));
  EXPECT_TRUE(counts("VGPRs", Uint64));
  EXPECT_TRUE(counts("VGPRs", Int64));
  EXPECT_FALSE(counts("VGPRs", Int64, ~0ULL));
  EXPECT_FALSE(counts("VGPRs", Float64));
  EXPECT_FALSE(counts("SGPRs", Uint64));  // of a wave, not of a thread
  EXPECT_FALSE(counts("Spilled VGPRs", Uint64));
  EXPECT_FALSE(counts("register count", Uint64));
}

class DriverFactsCommand : public testing::Test {
 protected:
  /// A trace whose ray-generation and closest-hit shader have modules.
  [[nodiscard]] std::string save(bool with_facts) const {
    trace::Trace trace = trace::sound_trace();
    trace.shaders[trace::kRayGen].spirv = test::corpus_module("golden.rgen").words;
    trace.shaders[trace::kHit].spirv = test::corpus_module("recurse.rchit").words;
    if (with_facts) {
      trace.pipeline_facts = trace::sound_pipeline_facts();
    }
    const std::string path = scratch_ / (with_facts ? "facts.rrt" : "plain.rrt");
    trace::write(trace, path);
    return path;
  }
  [[nodiscard]] static Outcome run(const std::vector<std::string>& arguments) {
    Outcome outcome = run_command(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome;
  }
  test::Scratch scratch_;
};

TEST_F(DriverFactsCommand, StandBesideWhatIsKnownWithoutARun) {
  const std::string path = save(true);
  const json facts = json::parse(run({"shaders", path, "--format", "json"}).output);
  const json& hit = facts["shaders"].at(trace::kHit);
  EXPECT_EQ(hit["least_stack_bytes"], 0);
  EXPECT_EQ(hit["most_stack_bytes"], 64);
  EXPECT_EQ(hit["least_registers"], 40);
  EXPECT_EQ(hit["most_registers"], 40);
  EXPECT_TRUE(facts["shaders"].at(trace::kMiss)["most_registers"].is_null());
  EXPECT_EQ(facts["stack_agreement"]["shaders"], 2);
  EXPECT_TRUE(facts["stack_agreement"]["rank_correlation"].is_null());  // two shaders say nothing

  const json& pipeline = facts["pipelines"].at(0);
  EXPECT_EQ(pipeline["pipeline"], 2);
  EXPECT_EQ(pipeline["recursion_depth"], 3);
  EXPECT_EQ(pipeline["dynamic_stack"], false);
  EXPECT_EQ(pipeline["groups"].at(1)["any_hit"]["shader"], trace::kAny);
  EXPECT_EQ(pipeline["groups"].at(1)["any_hit"]["stack_bytes"], 1ULL << 40U);
  EXPECT_FALSE(pipeline["groups"].at(1).contains("general"));
  const json& executables = pipeline["executables"];
  EXPECT_EQ(executables.at(0)["stages"], json::array({"ray-generation"}));
  EXPECT_EQ(executables.at(2)["stages"], json::array({"any-hit", "closest-hit"}));
  EXPECT_EQ(executables.at(0)["subgroup_size"], 32);
  const json& statistics = executables.at(0)["statistics"];
  EXPECT_EQ(statistics.at(0)["name"], "Register Count");
  EXPECT_EQ(statistics.at(0)["value"], 72);
  EXPECT_EQ(statistics.at(1)["value"], true);
  EXPECT_EQ(statistics.at(2)["value"], -1);
  EXPECT_EQ(statistics.at(2)["type"], "i64");
  EXPECT_EQ(statistics.at(3)["value"], .25);
  EXPECT_EQ(facts["pipelines"].at(1)["set_stack"], 4096);
  EXPECT_EQ(json::parse(run({"info", path, "--format", "json"}).output)["pipelines"], facts["pipelines"]);

  const std::string text = run({"shaders", path}).output;
  EXPECT_THAT(text, HasSubstr("stack bytes, least"));
  EXPECT_THAT(text, HasSubstr("registers, least"));
  EXPECT_THAT(run({"shaders", path, "--format", "csv"}).output, HasSubstr("least_stack_bytes"));
  EXPECT_THAT(run({"info", path}).output, HasSubstr("stack sizes of 3 pipelines, 3 executables with statistics"));
  EXPECT_EQ(run_command({"validate", path}).code, 0);

  std::ifstream manual(RAYREPLAY_SOURCE_DIR "/docs/surfaces.md");
  std::stringstream surfaces;
  surfaces << manual.rdbuf();
  test::expect_named(facts, surfaces.str());
  test::expect_named(hit, surfaces.str());
  test::expect_named(pipeline, surfaces.str());
  test::expect_named(pipeline["groups"].at(1), surfaces.str());
  test::expect_named(pipeline["groups"].at(1)["any_hit"], surfaces.str());
  test::expect_named(executables.at(0), surfaces.str());
  test::expect_named(statistics.at(0), surfaces.str());
  test::expect_named(facts["stack_agreement"], surfaces.str());
  test::expect_named(facts["occupancy"], surfaces.str());
  test::expect_named(facts["occupancy"]["pipelines"].at(0), surfaces.str());
}

TEST_F(DriverFactsCommand, NothingIsSaidOfTracesWithoutThem) {
  const std::string path = save(false);
  const json facts = json::parse(run({"shaders", path, "--format", "json"}).output);
  EXPECT_FALSE(facts.contains("pipelines"));
  EXPECT_FALSE(facts.contains("stack_agreement"));
  EXPECT_FALSE(facts["shaders"].at(0).contains("least_stack_bytes"));
  EXPECT_THAT(run({"shaders", path}).output, Not(HasSubstr("stack")));
  EXPECT_FALSE(json::parse(run({"info", path, "--format", "json"}).output).contains("pipelines"));
  EXPECT_THAT(run({"info", path}).output, Not(HasSubstr("stack sizes")));
}

/// A real program on the software driver, which has no statistics.
TEST_F(DriverFactsCommand, OfACapturedProgram) {
  const std::string path = scratch_ / "t.rrt";
  const std::string app = RR_ONE_WEEKEND;
  for (const bool lazy : {false, true}) {
    std::vector<std::string> arguments = {"capture", "--force", "--pipeline-facts", "-o", path};
    if (lazy) {
      arguments.insert(arguments.end(), {"--frames", "0.."});
    }
    arguments.insert(arguments.end(), {"--", app, "--size", "16x8", "--spp", "1"});
    const Outcome captured = run(arguments);
    EXPECT_THAT(captured.output + captured.errors, HasSubstr("no VK_KHR_pipeline_executable_properties"));
    const json facts = json::parse(run({"shaders", path, "--format", "json"}).output);
    ASSERT_EQ(facts["pipelines"].size(), 1U);
    EXPECT_GE(facts["pipelines"].at(0)["recursion_depth"], 1);
    EXPECT_TRUE(facts["pipelines"].at(0)["executables"].empty());
    const json& occupancy = facts["occupancy"]["pipelines"].at(0);
    EXPECT_EQ(occupancy["pipeline"], facts["pipelines"].at(0)["pipeline"]);
    EXPECT_EQ(occupancy["launches"], json::array({0}));
    EXPECT_TRUE(occupancy["registers"].is_null());
    EXPECT_THAT(run({"shaders", path}).output,
                HasSubstr("the driver names no executables of some pipelines: their registers are not known"));
    std::size_t known = 0;
    for (const json& shader : facts["shaders"]) {
      known += shader["most_stack_bytes"].is_null() ? 0U : 1U;
    }
    EXPECT_GE(known, 4U);
    const json info = json::parse(run({"info", path, "--format", "json"}).output);
    EXPECT_EQ(info["launches"].at(0)["pipeline"], facts["pipelines"].at(0)["pipeline"]);
    EXPECT_THAT(info["header"]["not_captured"].dump(), HasSubstr("no VK_KHR_pipeline_executable_properties"));
    EXPECT_EQ(run_command({"validate", path}).code, 0);
  }
}

}  // namespace
}  // namespace rayreplay
