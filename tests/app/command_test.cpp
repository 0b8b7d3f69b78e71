// What does the command answer, in every format, and does it agree with the libraries?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "capture/trace/reader.hpp"
#include "scheduler-models/packing.hpp"
#include "sim/engine/stages/simt.hpp"
#include "tests/app/small_trace.hpp"
#include "tests/support/opened.hpp"

namespace rayreplay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class CommandTest : public SmallTrace {};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    lines.push_back(line);
  }
  return lines;
}

json parse_output(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  return json::parse(outcome.output);
}

TEST_F(CommandTest, WhatIfJsonAgreesWithTheLibraries) {
  const json answer = parse_output(run_command({"whatif", trace(), "--format", "json", "--cost", "closest-hit=9"}));
  const trace::Trace loaded = trace::load(trace());
  Opened opened(loaded, {"costs.closest-hit=9"});
  const experiment::WhatIfResult expected = experiment::what_if(opened.bench, opened.experiment, {});
  EXPECT_EQ(answer["schema"], "rayreplay.whatif/1");
  EXPECT_EQ(answer["device"], "CPU");
  EXPECT_EQ(answer["trace"]["hash"], loaded.hash);
  EXPECT_EQ(answer["configuration"]["order"], expected.configuration.order);
  EXPECT_EQ(answer["configuration"]["packings"], json(expected.configuration.packings));
  EXPECT_EQ(answer["launch"]["threads"], 64 * 36);
  EXPECT_EQ(answer["bound"]["warp_events"], expected.bound.warp_events);
  ASSERT_EQ(answer["rows"].size(), expected.rows.size());
  for (std::size_t i = 0; i < expected.rows.size(); ++i) {
    const json& row = answer["rows"][i];
    EXPECT_EQ(row["packing"], expected.rows[i].packing);
    EXPECT_EQ(row["efficiency"], expected.rows[i].efficiency);
    EXPECT_EQ(row["change"], expected.rows[i].change);
    EXPECT_EQ(row["warp_events"], expected.rows[i].replay.total.warp_events);
    EXPECT_EQ(row["weighted_efficiency"], expected.rows[i].weighted_efficiency);
    EXPECT_EQ(row["begin_warp_events"], expected.rows[i].replay.by_kind[0].warp_events);
    EXPECT_EQ(row["closest_hit_active_lanes"], expected.rows[i].replay.by_kind[8].active_lanes);
  }
}

TEST_F(CommandTest, WhatIfTableHasEveryPackingAndTheBound) {
  const Outcome outcome = run_command({"whatif", trace()});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  for (const std::string& name : scheduler::Packings::names()) {
    EXPECT_THAT(outcome.output, HasSubstr("\n" + name)) << name;
  }
  EXPECT_THAT(lines_of(outcome.output).back(), StartsWith("bound"));
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr("weighted")));
}

TEST_F(CommandTest, WhatIfCsvRowsSayHowTheyCameAbout) {
  const Outcome outcome = run_command({"whatif", trace(), "--packing", "numrays", "--format", "csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::vector<std::string> lines = lines_of(outcome.output);
  ASSERT_EQ(lines.size(), 4U);  // header, identity, numrays, bound
  EXPECT_THAT(lines[0], StartsWith("packing,efficiency,change,warp_events,"));
  EXPECT_THAT(lines[0], HasSubstr(",trace_hash,tool_version,device,devices,launch,warp_size,order,policy,costs"));
  EXPECT_THAT(lines[2], StartsWith("numrays,"));
  EXPECT_THAT(lines[2], HasSubstr(trace::load(trace()).hash));
  EXPECT_THAT(lines[3], StartsWith("bound,"));
}

TEST_F(CommandTest, ResultsDoNotDependOnThreads) {
  const Outcome one = run_command({"--threads", "1", "whatif", trace(), "--format", "json"});
  const Outcome many = run_command({"whatif", trace(), "--format", "json", "--threads", "4"});
  ASSERT_EQ(one.code, 0) << one.errors;
  EXPECT_EQ(one.output, many.output);
}

TEST_F(CommandTest, PrintedConfigurationGivesTheSameAnswer) {
  const Outcome printed = run_command({"whatif", trace(), "--packing", "random:seed=4", "--policy", "min-shader",
                                       "--warp-size", "8", "--cost", "miss=3", "--print-config", "-o", scratch_ / "c"});
  ASSERT_EQ(printed.code, 0) << printed.errors;
  const Outcome direct = run_command({"whatif", trace(), "--packing", "random:seed=4", "--policy", "min-shader",
                                      "--warp-size", "8", "--cost", "miss=3", "--format", "json"});
  const Outcome again = run_command({"whatif", trace(), "--config", scratch_ / "c", "--format", "json"});
  ASSERT_EQ(direct.code, 0) << direct.errors;
  EXPECT_EQ(again.output, direct.output);
  // The command line wins over the file.
  const json other = parse_output(
      run_command({"whatif", trace(), "--config", scratch_ / "c", "--warp-size", "16", "--format", "json"}));
  EXPECT_EQ(other["configuration"]["warp_size"], 16);
  EXPECT_EQ(other["configuration"]["policy"], "min-shader");
}

TEST_F(CommandTest, AnExportedSwizzleIsThePackingItCameFrom) {
  for (const std::string name : {"s.bin", "s.h5"}) {
    const Outcome written = run_command({"swizzle", trace(), "--packing", "numrays", "-o", scratch_ / name});
    ASSERT_EQ(written.code, 0) << written.errors;
    const json answer = parse_output(
        run_command({"whatif", trace(), "--packing", "numrays", "--swizzle", scratch_ / name, "--format", "json"}));
    ASSERT_EQ(answer["rows"].size(), 3U);
    EXPECT_EQ(answer["rows"][2]["packing"], "file:" + scratch_ / name);
    EXPECT_EQ(answer["rows"][2]["warp_events"], answer["rows"][1]["warp_events"]);
  }
  EXPECT_EQ(std::filesystem::file_size(scratch_ / "s.bin"), 64U * 36U * 4U);
}

TEST_F(CommandTest, PublishedFiguresStandBesideOurs) {
  const std::string file = std::string(RAYREPLAY_SOURCE_DIR) + "/validation/published/one-weekend.toml";
  const json answer = parse_output(run_command({"whatif", trace(), "--compare", file, "--format", "json"}));
  const json& rows = answer["published"]["rows"];
  const auto row = std::find_if(rows.begin(), rows.end(), [](const json& r) { return r["packing"] == "numrays"; });
  ASSERT_NE(row, rows.end());
  EXPECT_EQ((*row)["synthetic_change"], 0.4);
  EXPECT_EQ((*row)["measured_change"], 0.2);
  const std::vector<std::string> differs = {"height: 36, published 720", "samples: 2, published 6",
                                            "width: 64, published 1280"};
  EXPECT_EQ(answer["published"]["differs"].get<std::vector<std::string>>(), differs);
  const Outcome table = run_command({"whatif", trace(), "--compare", file});
  EXPECT_THAT(table.output, HasSubstr("\nwarning: the published figures are of another workload: height: 36"));
  EXPECT_THAT(table.errors, HasSubstr("rayreplay: warning: the published figures are of another workload"));
  EXPECT_NEAR((*row)["difference_points"].get<double>(), ((*row)["ours"].get<double>() - 0.4) * 100, 1e-9);
}

TEST_F(CommandTest, ReplayDetailAddsUp) {
  const json answer = parse_output(run_command({"replay", trace(), "--packing", "objects", "--format", "json"}));
  EXPECT_EQ(answer["packing"], "objects");
  std::uint64_t stages = 0, shaders = 0;
  for (const json& row : answer["rows"]) {
    stages += row["scope"] == "stage" ? row["warp_events"].get<std::uint64_t>() : 0;
    shaders += row["scope"] == "shader" ? row["warp_events"].get<std::uint64_t>() : 0;
  }
  EXPECT_EQ(answer["rows"][0]["warp_events"], stages);
  EXPECT_EQ(answer["rows"][0]["warp_events"], shaders);
  std::uint64_t warps = answer["warp_histogram"]["warps_without_events"].get<std::uint64_t>();
  for (const json& bin : answer["warp_histogram"]["bins"]) {
    warps += bin["warps"].get<std::uint64_t>();
  }
  EXPECT_EQ(warps, 64U * 36U / 32U);
  EXPECT_THAT(run_command({"replay", trace()}).output, HasSubstr("packing  identity"));
}

TEST_F(CommandTest, TraverseAgreesWithTheTrace) {
  const json answer = parse_output(run_command({"traverse", trace(), "--traversal", "near-first", "--traversal",
                                                "ordered", "--warp-traversal", "while-while", "--format", "json"}));
  EXPECT_EQ(answer["schema"], "rayreplay.traverse/1");
  ASSERT_EQ(answer["rows"].size(), 4U);
  EXPECT_EQ(answer["rows"][0]["traversal"], "observed");
  EXPECT_TRUE(answer["rows"][0]["nodes"].is_null());
  for (std::size_t row = 1; row < 4; ++row) {
    EXPECT_EQ(answer["rows"][row]["rays"], answer["launch"]["rays"]);
    EXPECT_EQ(answer["rows"][row]["hits"], answer["rows"][0]["hits"]);
    EXPECT_EQ(answer["rows"][row]["agreement"], 1.0);
  }
  EXPECT_EQ(answer["rows"][3]["nodes"], answer["rows"][1]["nodes"]);
  EXPECT_GT(answer["rows"][3]["node_efficiency"], 0.1);
  const Outcome table = run_command({"traverse", trace(), "--traversal", "near-first"});
  EXPECT_THAT(table.output, HasSubstr("near-first"));
  EXPECT_THAT(table.errors, HasSubstr("Mrays/s"));
  const Outcome log = run_command({"traverse", trace(), "--traversal", "near-first", "--warp-traversal", "if-if",
                                   "--accesses", scratch_ / "a.h5", "-o", scratch_ / "t.txt"});
  EXPECT_EQ(log.code, 0) << log.errors;
  EXPECT_EQ(read_bytes(scratch_ / "a.h5").substr(1, 3), "HDF");
  EXPECT_EQ(run_command({"traverse", trace(), "--traversal", "near-first", "--accesses", scratch_ / "a.h5"}).code, 4);
  const Outcome unknown = run_command({"traverse", trace(), "--traversal", "near-frist"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean 'near-first'?"));
}

TEST_F(CommandTest, InfoAgreesWithTheTrace) {
  const json answer = parse_output(run_command({"info", trace(), "--format", "json"}));
  const trace::Trace loaded = trace::load(trace());
  EXPECT_EQ(answer["hash"], loaded.hash);
  EXPECT_EQ(answer["launches"][0]["events"], loaded.launches[0].data.events.size());
  EXPECT_EQ(answer["shaders"].size(), loaded.shaders.size());
  EXPECT_EQ(answer["header"]["configuration"]["width"], 64);
  EXPECT_EQ(answer["file_bytes"], std::filesystem::file_size(trace()));
  EXPECT_THAT(run_command({"info", trace()}).output, HasSubstr(loaded.hash));
}

TEST_F(CommandTest, DefaultsLieInTheirRanges) {
  std::size_t checked = 0;
  for (const json& model : parse_output(run_command({"describe", "--all", "--format", "json"}))) {
    for (const json& parameter : model["parameters"]) {
      const std::string range = parameter["range"];
      const auto to = range.find(" to ");
      if (to == std::string::npos || parameter["type"] == "text") {
        continue;
      }
      const std::string what = model["name"].get<std::string>() + ":" + parameter["name"].get<std::string>();
      const double value = std::stod(parameter["default"].get<std::string>());
      EXPECT_GE(value, std::stod(range)) << what;
      EXPECT_LE(value, std::stod(range.substr(to + 4))) << what;
      ++checked;
    }
  }
  EXPECT_GT(checked, 50U);
}

TEST(Manual, EveryFolderOfMoreThanThreeFilesHasASentence) {
  namespace fs = std::filesystem;
  const fs::path root(RAYREPLAY_SOURCE_DIR);
  const std::string manual = read_bytes((root / "docs/architecture.md").string());
  int folders = 0;
  for (const char* room :
       {"app", "base", "bvh", "capture", "cmake", "kernels", "scheduler-models", "sim", "traversal"}) {
    std::vector<fs::path> found = {root / room};
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / room)) {
      if (entry.is_directory()) {
        found.push_back(entry.path());
      }
    }
    for (const fs::path& folder : found) {
      const auto files = std::ranges::count_if(fs::directory_iterator(folder),
                                               [](const auto& entry) { return entry.is_regular_file(); });
      folders += files > 3 ? 1 : 0;
      EXPECT_TRUE(files <= 3 ||
                  manual.find("\n| `" + folder.lexically_relative(root).string() + "/` | ") != std::string::npos)
          << folder << ": docs/architecture.md needs a row";
    }
  }
  EXPECT_GT(folders, 50);
}

TEST_F(CommandTest, ListAndDescribeKnowTheModels) {
  const json list = parse_output(run_command({"list", "packing", "--format", "json"}));
  EXPECT_EQ(list.size(), scheduler::Packings::names().size());
  const json described = parse_output(run_command({"describe", "launch-order/z-order", "--format", "json"}));
  EXPECT_EQ(described[0]["kind"], "launch-order");
  std::ifstream reference(RAYREPLAY_SOURCE_DIR "/docs/reference.md");
  const std::string written((std::istreambuf_iterator<char>(reference)), {});
  EXPECT_THAT(
      run_command({"describe", "cache.l1.ways"}).errors,
      testing::AllOf(testing::HasSubstr("this is a key, not a model"), testing::HasSubstr("rayreplay list keys")));
  EXPECT_THAT(run_command({"describe", "traffic_queue_bytes"}).errors,
              testing::HasSubstr("this is a metric, not a model"));
  EXPECT_EQ(run_command({"describe", "--all", "--markdown"}).output, written)
      << "make it anew: rayreplay describe --all --markdown > docs/reference.md";
  EXPECT_EQ(run_command({"list", "keys", "--markdown"}).output, read_bytes(RAYREPLAY_SOURCE_DIR "/docs/keys.md"))
      << "make it anew: rayreplay list keys --markdown > docs/keys.md";
  EXPECT_THAT(run_command({"list", "packing", "--markdown"}).errors, HasSubstr("describe --all --markdown"));
  EXPECT_THAT(run_command({"describe", "random"}).output, HasSubstr("seed"));
  const Outcome unknown = run_command({"describe", "numray"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("'numrays'"));
  EXPECT_THAT(run_command({"list", "packng"}).errors, HasSubstr("'packing'"));
}

// The completion script's offers at the end of the line; the script's end calls it with the line.
std::string completed(const std::string& shell, const std::string& script, const std::string& line) {
  const std::string command = shell + " '" + script + "' '" + line + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int letter = std::fgetc(pipe.get()); letter != EOF; letter = std::fgetc(pipe.get())) {
    text += static_cast<char>(letter);
  }
  return text;
}

TEST_F(CommandTest, CompletionKnowsCommandsOptionsKeysAndModels) {
  const Outcome outcome = run_command({"completion", "bash"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::string script = scratch_ / "completion.bash";
  std::ofstream(script) << outcome.output << "COMP_LINE=$1; COMP_POINT=${#1}; _rayreplay; echo \"${COMPREPLY[*]}\"\n";
  EXPECT_EQ(completed("bash", script, "rayreplay micr"), "microbench\n");
  EXPECT_EQ(completed("bash", script, "rayreplay results b"), "best\n");
  EXPECT_EQ(completed("bash", script, "rayreplay calibrate m.csv --fit machine.rt_steps"),
            "machine.rt_steps_per_cycle\n");
  EXPECT_EQ(completed("bash", script, "rayreplay calibrate m.csv --residual d"), "difference\n");
  EXPECT_EQ(completed("bash", script, "rayreplay whatif t.rrt --pack"), "--packing\n");
  EXPECT_EQ(completed("bash", script, "rayreplay whatif t.rrt --packing numr"), "numrays\n");
  EXPECT_EQ(completed("bash", script, "rayreplay run --set cache.l1.by"), "cache.l1.bytes=\n");
  EXPECT_EQ(completed("bash", script, "rayreplay run --set packing=numr"), "numrays\n");  // bash keeps "packing="
  EXPECT_EQ(completed("bash", script, "rayreplay run --threads 4 --machine rtx40"),
            completed("bash", script, "rayreplay x --machine rtx40"));
  EXPECT_THAT(completed("bash", script, "rayreplay run --machine rtx40"), HasSubstr("rtx4090"));
  EXPECT_EQ(completed("bash", script, "rayreplay whatif some/"), "\n");  // files are bash's own
  EXPECT_EQ(run_command({"completion", "zsh"}).output, outcome.output);
  EXPECT_EQ(run_command({"completion", "tcsh"}).code, 2);
}

TEST_F(CommandTest, CompletionOfFishKnowsTheSame) {
  const Outcome outcome = run_command({"completion", "fish"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  // Every word of the other script.
  const std::string bash = run_command({"completion", "bash"}).output;
  const std::regex line(R"(  \['([^']*)'\]='([^']*)')");
  std::size_t words = 0;
  for (std::sregex_iterator it(bash.begin(), bash.end(), line); it != std::sregex_iterator(); ++it) {
    EXPECT_THAT(outcome.output, HasSubstr("case '" + (*it)[1].str() + "'\n"));
    std::istringstream list((*it)[2].str());
    for (std::string word; list >> word; ++words) {
      EXPECT_THAT(outcome.output, HasSubstr("'" + word + "'"));
    }
  }
  EXPECT_GT(words, 500U);
  ASSERT_EQ(std::system("command -v fish > /dev/null"), 0) << "./rr setup installs fish for this test";
  const std::string script = scratch_ / "completion.fish";
  std::ofstream(script) << outcome.output << "complete -C \"$argv[1]\"\n";
  const auto offered = [&script](const std::string& text) { return completed("fish --no-config", script, text); };
  EXPECT_EQ(offered("rayreplay micr"), "microbench\n");
  EXPECT_EQ(offered("rayreplay results b"), "best\n");
  EXPECT_EQ(offered("rayreplay whatif t.rrt --pack"), "--packing\n");
  EXPECT_EQ(offered("rayreplay whatif t.rrt --packing numr"), "numrays\n");
  EXPECT_EQ(offered("rayreplay run --set cache.l1.by"), "cache.l1.bytes=\n");
  EXPECT_EQ(offered("rayreplay run --set packing=numr"), "packing=numrays\n");
  EXPECT_EQ(offered("rayreplay run --threads 4 --machine rtx40"), offered("rayreplay x --machine rtx40"));
  EXPECT_THAT(offered("rayreplay run --machine rtx40"), HasSubstr("rtx4090"));
  EXPECT_EQ(offered("rayreplay info " + (scratch_ / "completion.fi")), (scratch_ / "completion.fish") + "\n");
}

TEST_F(CommandTest, WhatIsWrongWithTheCommandLineIsASentence) {
  const auto refused = [](const std::vector<std::string>& words, const std::string& message) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.errors, StartsWith("rayreplay: error: " + message));
  };
  refused({"info"}, "info: an argument is missing (expected trace: Trace file");
  refused({"merge", "a.db"}, "merge: an option is missing (expected --output: ");
  refused({"trace", "--size"}, "--size: the value is missing (expected --size WxH)");
  refused({"cache", "t.rrt", "--launch", "1", "--launch", "2"},
          "--launch: there are too many values (found 2 values; expected one). Fix: give it once");
  refused({"whatif", "t.rrt", "--report", "a", "--report", "b"}, "--report: there are too many values");
  refused({"info", "t.rrt", "--threads", "9999"},
          "--threads: the value is out of range (found 9999; expected 0 to 1024)");
  refused({"bvh", "t.rrt", "--lcv-rays", "-1"},
          "--lcv-rays: the value is out of range (found -1; expected at least 0)");
  refused({"bvh", "t.rrt", "--vtp-depth", "2"},
          "--vtp-depth: the option has nothing to act on (expected --vtp beside it). Fix: add --vtp");
  refused({"run", "--print-config", "--dry-run"},
          "--print-config and --dry-run: two options do not go together (expected one of the two)");
  refused({"completion", "bsh"}, "the argument shell: the value is not allowed (found 'bsh'; expected one of ");
  refused(
      {"sweep", "s.toml", "--mpi-workers", "rnk"},
      "--mpi-workers: the value is not allowed (found 'rnk'; expected one of node, rank). Fix: did you mean 'rank'?");
  refused({"info", "t.rrt", "--threads", "x"}, "--threads: the value is not a number (found 'x'; expected 0 to 1024)");
  refused({}, "a command is needed. Fix: see rayreplay --help");
}

TEST_F(CommandTest, OrderDrawsAPictureWithOrWithoutATrace) {
  EXPECT_EQ(run_command({"order", trace(), "-o", scratch_ / "a.png"}).code, 0);
  EXPECT_EQ(run_command({"order", "--size", "1024x500", "--order", "z-order", "-o", scratch_ / "b.png"}).code, 0);
  EXPECT_THAT(read_bytes(scratch_ / "b.png"), StartsWith("\x89PNG"));
  EXPECT_EQ(run_command({"order", "-o", scratch_ / "c.png"}).code, 2);
}

TEST_F(CommandTest, TheReferenceNamesEveryCommandAndOption) {
  const std::string reference = read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/cli.md");
  const std::regex option("--[a-z][a-z-]*");
  for (const char* command : {"trace", "info", "validate", "seal", "whatif", "replay", "run", "traverse", "order",
                              "swizzle", "list", "devices", "describe", "completion", "calibrate", "shaders"}) {
    const std::size_t begin = reference.find(std::string("\n## ") + command + "\n");
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string section = reference.substr(begin, reference.find("\n## ", begin + 1) - begin);
    const std::string help = run_command({command, "--help"}).output;
    EXPECT_THAT(help, HasSubstr(std::string("Usage: rayreplay ") + command));
    for (auto match = std::sregex_iterator(help.begin(), help.end(), option); match != std::sregex_iterator();
         ++match) {
      EXPECT_TRUE(match->str() == "--help" || section.find(match->str()) != std::string::npos)
          << command << " " << match->str();
    }
  }
}

TEST_F(CommandTest, TheSameSeedGivesTheSameTrace) {
  const std::vector<std::string> words = {
      "trace", "--scene", "one-weekend",         "--size", "64x36", "--spp", "2", "--threads",
      "1",     "-o",      scratch_ / "again.rrt"};
  ASSERT_EQ(run_command(words).code, 0);
  EXPECT_TRUE(read_bytes(trace()) == read_bytes(scratch_ / "again.rrt"));
}

}  // namespace
}  // namespace rayreplay::test
