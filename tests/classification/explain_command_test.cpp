// rayreplay explain as a user runs it: formats agree, files are whole, wrong options are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include <hdf5.h>

#include <nlohmann/json.hpp>

#include "capture/trace/file/hdf5_handle.hpp"
#include "capture/trace/reader.hpp"
#include "tests/app/run_command.hpp"
#include "traversal/classification/classify.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;
using trace::hdf5::Handle;

const std::string kCapture = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/h200/teapot-alpha.rrt";

json parse_output(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  return json::parse(outcome.output);
}

traversal::Classification expected(bool per_test = false) {
  const trace::Trace trace = trace::load(kCapture);
  traversal::ClassifyOptions options;
  options.per_test = per_test;
  options.per_ray = per_test;
  return traversal::classify(trace, 0, kCapture, options);
}

TEST(ExplainCommand, JsonAgreesWithTheLibrary) {
  const json answer = parse_output(run_command({"explain", kCapture, "--format", "json", "--worst", "3"}));
  const traversal::Classification result = expected();
  EXPECT_EQ(answer["schema"], "rayreplay.explain/2");
  ASSERT_EQ(answer["rows"].size(), traversal::kTestKinds + 1);
  for (std::size_t kind = 0; kind < traversal::kTestKinds; ++kind) {
    EXPECT_EQ(answer["rows"][kind]["tests"], result.total[kind]);
  }
  EXPECT_EQ(answer["rows"].back()["tests"], traversal::sum(result.total));
  EXPECT_EQ(answer["rows"][6]["kind"], "before t_min");
  EXPECT_TRUE(answer["objects"][0].contains("before_t_min"));
  EXPECT_EQ(answer["any_hit"]["beyond"], result.any_hits_beyond);
  EXPECT_EQ(answer["launch"]["assumed_tests"], result.assumed_tests);
  EXPECT_EQ(answer["launch"]["assumed_rays"], result.assumed_rays);
  EXPECT_GT(result.assumed_tests, 0U);
  ASSERT_EQ(answer["objects"].size(), 3U);
  ASSERT_EQ(answer["pixels"].size(), 3U);
  EXPECT_GE(answer["objects"][0]["unnecessary"], answer["objects"][1]["unnecessary"]);
  EXPECT_GE(answer["pixels"][1]["unnecessary"], answer["pixels"][2]["unnecessary"]);
}

TEST(ExplainCommand, TableAndCsv) {
  const Outcome table = run_command({"explain", kCapture});
  EXPECT_EQ(table.code, 0) << table.errors;
  EXPECT_THAT(table.output, HasSubstr("R2 or R3"));
  EXPECT_THAT(table.output, HasSubstr("ReRay's unnecessary tests"));
  EXPECT_THAT(table.output, HasSubstr("pixels with the most unnecessary tests"));
  const Outcome csv = run_command({"explain", kCapture, "--format", "csv"});
  EXPECT_EQ(csv.code, 0) << csv.errors;
  EXPECT_THAT(csv.output, StartsWith("kind,tests,share,per_ray,"));
}

TEST(ExplainCommand, TheSameWhateverTheNumberOfThreads) {
  const std::vector<std::string> words{"explain", kCapture, "--format", "json"};
  std::vector<std::string> single = words;
  single.insert(single.end(), {"--threads", "1"});
  EXPECT_EQ(run_command(words).output, run_command(single).output);
}

TEST(ExplainCommand, MapsAreAFolderOfItsOwn) {
  const Scratch scratch;
  const std::string folder = scratch / "maps";
  ASSERT_EQ(run_command({"explain", kCapture, "--maps", folder}).code, 0);
  for (const char* file : {"necessary.png", "box-miss.png", "overlap.png", "enlargement.png", "order.png",
                           "enlargement-or-order.png", "before-t-min.png", "unnecessary.png", "tests.png"}) {
    EXPECT_THAT(read_bytes(folder + "/" + file), StartsWith("\x89PNG")) << file;
  }
  EXPECT_EQ(json::parse(read_bytes(folder + "/explain.json"))["schema"], "rayreplay.explain/2");
  // Not replaced unless asked to, and then only what is its own.
  EXPECT_EQ(run_command({"explain", kCapture, "--maps", folder}).code, 4);
  EXPECT_EQ(run_command({"explain", kCapture, "--maps", folder, "--force"}).code, 0);
}

template <class T>
std::vector<T> column(hid_t file, const char* name, hid_t type) {
  const Handle dataset(H5Dopen2(file, name, H5P_DEFAULT));
  EXPECT_TRUE(dataset) << name;
  const Handle space(H5Dget_space(dataset.get()));
  std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  EXPECT_GE(H5Dread(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  return values;
}

TEST(ExplainCommand, TheResultFileHoldsTheColumns) {
  const Scratch scratch;
  const std::string path = scratch / "result.h5";
  ASSERT_EQ(run_command({"explain", kCapture, "--result", path}).code, 0);
  const traversal::Classification result = expected(true);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  ASSERT_TRUE(file);
  const auto events = column<std::uint64_t>(file.get(), "/tests/event", H5T_NATIVE_UINT64);
  const auto rays = column<std::uint64_t>(file.get(), "/tests/ray", H5T_NATIVE_UINT64);
  const auto kinds = column<std::uint8_t>(file.get(), "/tests/kind", H5T_NATIVE_UINT8);
  const auto t_star = column<float>(file.get(), "/rays/t_star", H5T_NATIVE_FLOAT);
  const auto by_ray = column<std::uint32_t>(file.get(), "/rays/counts", H5T_NATIVE_UINT32);
  const auto primitive = column<std::uint32_t>(file.get(), "/objects/primitive", H5T_NATIVE_UINT32);
  ASSERT_EQ(kinds.size(), result.tests.size());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    ASSERT_EQ(events[i], result.tests[i].event);
    ASSERT_EQ(rays[i], result.tests[i].ray);
    ASSERT_EQ(kinds[i], static_cast<std::uint8_t>(result.tests[i].kind));
  }
  ASSERT_EQ(t_star.size(), result.t_star.size());
  ASSERT_EQ(by_ray.size(), result.by_ray.size() * traversal::kTestKinds);
  EXPECT_EQ(by_ray[rays[0] * traversal::kTestKinds + kinds[0]], result.by_ray[rays[0]][kinds[0]]);
  ASSERT_EQ(primitive.size(), result.by_object.size());
  EXPECT_EQ(primitive.back(), result.by_object.back().primitive);
  // The same answer, the same bytes.
  ASSERT_EQ(run_command({"explain", kCapture, "--result", scratch / "again.h5", "--threads", "1"}).code, 0);
  EXPECT_TRUE(read_bytes(path) == read_bytes(scratch / "again.h5"));
}

TEST(ExplainCommand, SimulatedHardwareAndItsGroundTruth) {
  const json answer = parse_output(run_command({"explain", kCapture, "--hardware", "near-first", "--hardware-layout",
                                                "quantised-6", "--ground-truth", "--format", "json"}));
  EXPECT_EQ(answer["ground_truth"]["tests"], answer["rows"].back()["tests"]);
  EXPECT_EQ(answer["ground_truth"]["wrong"], answer["ground_truth"]["wrong_within_slack"]);
  EXPECT_EQ(answer["ground_truth"]["rows"].size(), 7U);
  EXPECT_EQ(answer["ground_truth"]["joint"], answer["ground_truth"]["rows"][6]["tests"]);
  EXPECT_EQ(answer["configuration"]["explain.blind"], false);
  const json scrambled =
      parse_output(run_command({"explain", kCapture, "--hardware", "any-order:seed=7", "--format", "json"}));
  EXPECT_EQ(scrambled["configuration"]["explain.hardware"], "any-order:seed=7");
  EXPECT_FALSE(scrambled.contains("ground_truth"));
}

TEST(ExplainCommand, TheReferenceNamesEveryOption) {
  const std::string reference = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/cli.md");
  const std::size_t begin = reference.find("\n## explain\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = reference.substr(begin, reference.find("\n## ", begin + 1) - begin);
  const std::string help = run_command({"explain", "--help"}).output;
  const std::regex option("--[a-z][a-z-]*");
  int options = 0;
  for (auto match = std::sregex_iterator(help.begin(), help.end(), option); match != std::sregex_iterator(); ++match) {
    if (match->str() != "--help") {
      EXPECT_THAT(section, HasSubstr(match->str()));
      ++options;
    }
  }
  EXPECT_GT(options, 15);
}

TEST(ExplainCommand, WrongOptionsAreRefusedBeforeTheTraceIsRead) {
  EXPECT_EQ(run_command({"explain", "no-such.rrt", "--ground-truth"}).code, 2);
  EXPECT_EQ(run_command({"explain", "no-such.rrt", "--any-hit-only"}).code, 2);
  EXPECT_EQ(run_command({"explain", "no-such.rrt", "--blind"}).code, 2);
  EXPECT_EQ(run_command({"explain", "no-such.rrt", "--enlarged-builder", "mediun"}).code, 2);
  EXPECT_EQ(run_command(
                {"explain", "no-such.rrt", "--hardware", "near-first", "--hardware-builder", "high", "--ground-truth"})
                .code,
            2);
  EXPECT_EQ(run_command({"explain", "no-such.rrt", "--slack", "-1"}).code, 2);
  const Outcome unknown = run_command({"explain", "no-such.rrt", "--enlarged-layout", "half-5"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("'half-4'"));
  EXPECT_EQ(run_command({"explain", "no-such.rrt"}).code, 3);
  EXPECT_EQ(run_command({"explain", kCapture, "--launch", "9"}).code, 2);
  EXPECT_EQ(run_command({"explain", kCapture, "--result", kCapture, "--force"}).code, 2);
}

}  // namespace
}  // namespace rayreplay::test
