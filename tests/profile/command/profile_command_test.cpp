// rayreplay profile and rayreplay shaders on traces with counts, run as a user runs them.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/spirv/control_flow.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/html_fault.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/profile/command/trace_commands.hpp"
#include "tests/profile/profile_maker.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run_command;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ProfileCommand : public test::TraceCommands {
 protected:
  using TraceCommands::save;
  std::string save(const std::string& name, const profile::Run& run) const {
    return save(name, trace_of(run));
  }
  static trace::Trace trace_of(const profile::Run& run) {
    trace::Trace trace;
    trace.header = run.profile.header;
    trace.shaders = run.profile.shaders;
    trace.block_counts = run.profile.block_counts;
    return trace;
  }
  /// A shader of the corpus, each block of which ran with 20 lanes in 5 groups, but the first of 40 in 5.
  static trace::Trace of_corpus(const std::string& module, trace::ShaderStage stage, const std::string& name) {
    trace::Trace trace;
    trace.header.warp_size = 8;
    trace.header.configuration = "{}";
    trace.shaders = {{stage, "main", name, test::corpus_module(module).words}};
    std::string reason;
    const auto parsed = spirv::parse(trace.shaders[0].spirv, reason);
    const spirv::WideSelectors selectors(*parsed);
    for (std::uint32_t f = 0; f < parsed->functions.size(); ++f) {
      const auto flow = spirv::control_flow(parsed->functions[f], selectors, reason);
      for (std::uint32_t b = 0; b < flow->blocks.size(); ++b) {
        test::add_row(trace.block_counts, {0, 0, f, b, b == 0 ? 40U : 20U, 5});
      }
    }
    return trace;
  }
};

TEST_F(ProfileCommand, PathsOfCalls) {
  trace::Trace trace = trace_of(test::two_shaders("", 1));
  trace.block_counts = {};
  trace.paths = {{0, 0}, {3, 1}, {1, 0, 1, 1, 1, 1, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 2, 3}};
  const std::string file = save("paths.rrt", trace);
  for (const auto& words : {std::vector<std::string>{"profile", file, "--format", "csv"},
                            std::vector<std::string>{"profile", file, "--rows", "paths", "--format", "csv"}}) {
    EXPECT_THAT(printed(words), HasSubstr("shader,stage,name,calls,paths,most_taken_share,least_instructions,"
                                          "mean_instructions,most_instructions,instructions_share\r\n"));
    EXPECT_THAT(printed(words), HasSubstr(",4,2,0.75,4,4.75,7,1\r\n"));
  }
  const auto document = nlohmann::json::parse(printed({"profile", file, "--format", "json"}));
  EXPECT_EQ(document.at("paths").at(0).at("mean_instructions"), 4.75);
  EXPECT_THAT(printed({"info", file}), HasSubstr("2 paths of calls (rayreplay profile)"));
  refused({"profile", file, "--blocks"}, 3, "no counts of basic blocks");
  refused({"profile", file, "--launch", "0"}, 2, "--report DIR");
  trace.paths = {};
  test::add_branching(trace.block_counts, 0, 0, 1);
  refused({"profile", save("blocks.rrt", trace), "--rows", "paths"}, 3, "the trace has no counts of paths");
}

TEST_F(ProfileCommand, MapsShowTheInstructionsOfPixels) {
  trace::Trace trace = trace_of(test::two_shaders("", 1));
  trace.block_counts = {};
  trace.shaders.resize(1);
  trace.shaders.push_back({trace::ShaderStage::RayGeneration, "main", "camera", {}});
  test::LaunchBuilder builder({2, 2, 1});
  for (int thread = 0; thread < 4; ++thread) {
    builder.thread().begin(1).miss(0);
  }
  trace.launches.push_back(builder.build());
  trace::Launch& launch = trace.launches[0];
  launch.thread_path.assign(4, 0);
  for (std::size_t row = 0; row < launch.data.events.size(); ++row) {
    const bool misses = launch.data.events.kind[row] == trace::EventKind::Miss;
    launch.data.events.path.push_back(misses && row > 1 ? (row < 4 ? 1U : 2U) : 0U);
  }
  trace.paths = {{0, 0}, {1, 2}, {1, 0, 1, 1, 1, 1, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 2, 3}};
  const std::string file = save("maps.rrt", trace);
  const std::string folder = scratch_ / "maps";
  static_cast<void>(printed({"profile", file, "--report", folder}));
  for (const char* name : {"instructions.png", "instructions-0.png", "paths.csv", "index.html"}) {
    EXPECT_TRUE(std::filesystem::exists(folder + "/" + name)) << name;
  }
  EXPECT_THAT(test::read_bytes(folder + "/index.html"),
              AllOf(HasSubstr("instructions-0.png"), HasSubstr("in launch 0")));
  static_cast<void>(printed({"profile", file, "--report", folder, "--force", "--launch", "0"}));
  refused({"profile", file, "--report", folder, "--force", "--launch", "1"}, 2, "expected 0 to 0");
}

TEST_F(ProfileCommand, HistogramHasEachBlockOnce) {
  trace::Trace trace =
      of_corpus("blocks.rgen.vulkan1.2.source", trace::ShaderStage::RayGeneration, "camera");  // 40 threads enter it
  trace.block_counts.lanes[1] = trace.block_counts.groups[1] = 0;
  std::map<std::uint64_t, std::size_t> blocks;
  for (const std::uint64_t lanes : trace.block_counts.lanes) {
    ++blocks[lanes];
  }
  ASSERT_EQ(blocks.size(), 3U);
  const std::string folder = scratch_ / "histogram";
  static_cast<void>(printed({"profile", save("t.rrt", trace), "--report", folder}));
  const std::string csv = test::read_bytes(folder + "/histogram.csv");
  EXPECT_THAT(csv, HasSubstr("low,high,stage,blocks,"));
  EXPECT_THAT(csv, HasSubstr("\r\n0,0,ray-generation,1,"));
  EXPECT_THAT(csv, HasSubstr("\r\n0.1,1,ray-generation," + std::to_string(blocks[20]) + ","));
  EXPECT_THAT(csv, HasSubstr("\r\n1,10,ray-generation," + std::to_string(blocks[40]) + ","));
  EXPECT_THAT(test::read_bytes(folder + "/index.html"), HasSubstr("Basic blocks by executions"));
}

/// A launch of three threads with a load and a store, of both kinds of addresses.
void add_accesses(trace::Trace& trace) {
  using enum trace::AccessKind;
  using enum trace::AccessSpace;
  trace.access_sites = {{0, 0}, {0, 0}, {0, 1}, {2, 5}, {Load, Store}, {Descriptor, Device},
                        {1, 0}, {2, 0}, {3, 0}, {4, 8}};
  trace::Launch& launch = trace.launches.emplace_back();
  launch.size = {3, 1, 1};
  launch.data.ray_offset = launch.data.event_offset = {0, 0, 0, 0};
  launch.data.accesses = {{0, 2, 3, 4}, {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 0x1000, 32, 36}, {0, 1, 0, 2}};
}

TEST_F(ProfileCommand, AccessesToBuffers) {
  trace::Trace trace = trace_of(test::two_shaders("", 1));
  trace.block_counts = {};
  add_accesses(trace);
  const std::string file = save("memory.rrt", trace);
  for (const auto& words : {std::vector<std::string>{"profile", file, "--format", "csv"},
                            std::vector<std::string>{"profile", file, "--rows", "memory", "--format", "csv"}}) {
    EXPECT_THAT(printed(words),
                HasSubstr("shader,stage,name,function,function_name,block,label,instruction,kind,memory,subject,source,"
                          "set,binding,element,bytes,executions,warp_instructions,asked_bytes,sectors,lines,"
                          "transactions,sectors_per_instruction,lines_per_instruction,sectors_share,outside\r\n"));
    // The module has no loads or stores there: no names.
    EXPECT_THAT(printed(words), HasSubstr(",0,,0,,2,load,descriptor,,,1,2,3,4,3,2,12,2,1,3,1.5,1,0.75,\r\n"));
    EXPECT_THAT(printed(words), HasSubstr(",0,,1,,5,store,device address,,,,,,8,1,1,8,1,1,1,1,1,0.25,\r\n"));
  }
  const auto document = nlohmann::json::parse(printed({"profile", file, "--rows", "memory", "--format", "json"}));
  EXPECT_EQ(document.at("memory").at(0).at("sectors_per_instruction"), 1.5);
  EXPECT_THAT(printed({"profile", file}), HasSubstr("device address"));
  EXPECT_THAT(printed({"info", file}),
              HasSubstr("4 accesses to buffers and images at 2 places in the code (rayreplay profile)"));
  refused({"profile", file, "--blocks"}, 3, "no counts of basic blocks");
  trace.launches.clear();
  trace.access_sites = {};
  test::add_branching(trace.block_counts, 0, 0, 1);
  const std::string blocks = save("blocks.rrt", trace);
  refused({"profile", blocks, "--rows", "memory"}, 3, "the trace has no counts of accesses to memory");
  refused({"profile", blocks, "--rows", "memory", "--blocks"}, 2, "--blocks");
}

/// Accesses of a sample of threads, and those of which the capture lost some, are never shown without a word.
TEST_F(ProfileCommand, AccessesThatAreNotAllHaveANote) {
  const std::string memory = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/lavapipe/one-weekend-memory.rrt";
  const auto changed = [&](const std::string& name, const char* key, const json& value, const std::string& more = "") {
    trace::Trace trace = trace::load(memory);
    json configuration = json::parse(trace.header.configuration);
    configuration["capture"][json::json_pointer(key)] = value;
    trace.header.configuration = configuration.dump();
    trace.header.application += more;
    return save(name, trace);
  };
  const std::string sampled = changed("sampled.rrt", "/options/profile_memory_sample", "3");
  const std::string again = changed("again.rrt", "/options/profile_memory_sample", "3", " again");
  const std::string lost =
      changed("lost.rrt", "/missing_accesses", {{{"launch", 0}, {"accesses", 1234}, {"lost_words", 5}}});
  const std::string merged = scratch_ / "merged.rrt";
  const Outcome merge = run_command({"profile", "merge", sampled, again, "-o", merged});
  EXPECT_EQ(merge.code, 0) << merge.errors;
  EXPECT_THAT(merge.errors, AllOf(HasSubstr("merged.rrt: no pipelines"), Not(HasSubstr("0 of 0"))));
  const std::string of_sample = "the accesses of shaders are those of one thread in 3 alone";
  const std::string of_lost = "the capture lost 1,234 of ";
  for (const auto& [file, text] : {std::pair{sampled, of_sample}, std::pair{merged, of_sample}, {lost, of_lost}}) {
    const Outcome table = run_command({"profile", file, "--rows", "memory"});
    EXPECT_EQ(table.code, 0) << table.errors;
    EXPECT_THAT(table.errors, AllOf(HasSubstr("note: " + text), HasSubstr("nothing is scaled")));
    const Outcome csv = run_command({"profile", file, "--rows", "memory", "--format", "csv"});
    EXPECT_THAT(csv.errors, HasSubstr(text));
    EXPECT_THAT(csv.output, Not(HasSubstr(text)));
    const std::string folder = scratch_ / "noted";
    const Outcome document = run_command({"profile", file, "--format", "json", "--report", folder, "--force"});
    EXPECT_EQ(document.code, 0) << document.errors;
    EXPECT_THAT(json::parse(document.output).at("notes").dump(), HasSubstr(text));
    EXPECT_THAT(json::parse(test::read_bytes(folder + "/profile.json")).at("notes").dump(), HasSubstr(text));
    EXPECT_THAT(test::read_bytes(folder + "/index.html"), HasSubstr("Note: " + text));
    EXPECT_EQ(test::html_fault(test::read_bytes(folder + "/index.html")), "");
  }
  // The numbers are the recorded ones.
  EXPECT_EQ(printed({"profile", sampled, "--rows", "memory", "--format", "csv"}),
            printed({"profile", memory, "--rows", "memory", "--format", "csv"}));
  const Outcome all = run_command({"profile", memory, "--rows", "memory", "--report", scratch_ / "all"});
  EXPECT_EQ(all.code, 0) << all.errors;
  EXPECT_THAT(all.errors, Not(HasSubstr("note")));
  EXPECT_THAT(test::read_bytes(scratch_ / "all/index.html"), Not(HasSubstr("Note: ")));
  EXPECT_EQ(json::parse(printed({"profile", memory, "--format", "json"})).at("notes"), json::array());
  // Of other threads, nothing is added.
  refused({"profile", "merge", sampled, memory, "-o", scratch_ / "x.rrt"}, 3, "of one thread in 3 in ");
  refused({"profile", "merge", lost, memory, "-o", scratch_ / "x.rrt"}, 3, "some were lost by the capture of ");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "x.rrt"));
}

/// Runs with blocks too keep these, and the note of the merge names the accesses.
TEST_F(ProfileCommand, MergeLeavesOutAccessesOfOtherThreads) {
  const auto run = [&](const std::string& name, const char* configuration) {
    trace::Trace trace = trace_of(test::two_shaders("", 1));
    trace.header.configuration = configuration;
    add_accesses(trace);
    return save(name, trace);
  };
  const std::string whole = run("whole.rrt", "{}");
  const std::string sampled = run("sampled.rrt", R"({"capture":{"options":{"profile_memory_sample":"3"}}})");
  const std::string merged = scratch_ / "m.rrt";
  const Outcome outcome = run_command({"profile", "merge", whole, sampled, "-o", merged});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.errors, AllOf(HasSubstr("note: accesses to memory are left out: of all threads in "),
                                    HasSubstr(", of one thread in 3 in "), HasSubstr("1 of 1 pipeline in all")));
  EXPECT_THAT(printed({"info", merged}), HasSubstr("accesses to memory are left out: of all threads in "));
  refused({"profile", merged, "--rows", "memory"}, 3, "/profile/access_sites");
}

/// An error names the group that would have the counts.
TEST_F(ProfileCommand, NamesTheMissingGroup) {
  trace::Trace trace = trace_of(test::two_shaders("", 1));
  const std::string blocks = save("blocks.rrt", trace);
  for (const auto& [rows, group] :
       {std::pair{"memory", "/profile/access_sites"}, std::pair{"values", "/profile/values"},
        std::pair{"branches", "/profile/branches"}, std::pair{"loads", "/profile/loads"},
        std::pair{"paths", "/profile/paths"}, std::pair{"uniformity", "/profile/branches or /profile/loads"}}) {
    refused({"profile", blocks, "--rows", rows}, 3, group);
  }
}

TEST_F(ProfileCommand, DisassemblyShowsExecutions) {
  profile::Run run = test::two_shaders("a", 1);
  test::add_branching(run.profile.block_counts, 4, 0, 2);
  const std::string trace = save("t.rrt", run);
  const std::string sum = printed({"shaders", trace, "--disassemble", "sky"});
  EXPECT_THAT(sum,
              HasSubstr("executions of pipelines 0, 4: 300 entries by lanes; a block with fewer than 1 in 100,000"));
  // Instructions of the blocks: 2, 4, 1, 1; executed 600 + 720 + 120 + 300, and 96 in the other function.
  EXPECT_THAT(sum, HasSubstr("block %10 to %11 %12"));
  EXPECT_THAT(sum, HasSubstr("; 300 lanes in 75 groups (4.0 of 8 lanes), 32.7 % of the executed instructions\n"));
  EXPECT_THAT(sum, HasSubstr("; 180 lanes in 45 groups (4.0 of 8 lanes), 39.2 % of the executed instructions\n"));
  EXPECT_THAT(sum, Not(HasSubstr(", unused\n")));
  const std::string one = printed({"shaders", trace, "--disassemble", "0", "--pipeline", "4"});
  EXPECT_THAT(one, HasSubstr("executions of pipeline 4: 200 entries"));
  EXPECT_THAT(one, HasSubstr("; 120 lanes in 30 groups"));
  refused({"shaders", trace, "--disassemble", "ground", "--pipeline", "4"}, 2, "expected pipeline 0");
  refused({"shaders", trace, "--pipeline", "4"}, 2, "--disassemble");
}

TEST_F(ProfileCommand, DisassemblyMarksUnusedBlocksAndMissingCounts) {
  profile::Run run = test::two_shaders("a", 1'000'000);
  run.profile.block_counts.lanes[1] = 999;
  run.profile.block_counts.lanes[2] = 1000;
  run.profile.block_counts.groups.clear();
  std::string text = printed({"shaders", save("t.rrt", run), "--disassemble", "sky"});
  EXPECT_THAT(text, HasSubstr("; 999 lanes, 0.0 % of the executed instructions, unused\n"));
  EXPECT_THAT(text, HasSubstr("; 1,000 lanes, 0.0 % of the executed instructions\n"));
  // Without counts there are no executions.
  run.profile.block_counts = {};
  text = printed({"shaders", save("none.rrt", run), "--disassemble", "sky"});
  EXPECT_THAT(text, AllOf(HasSubstr("block %10 to %11 %12"), Not(HasSubstr("lanes")), Not(HasSubstr("unused"))));
}

TEST_F(ProfileCommand, DisassemblyShowsTheSource) {
  for (const char* module : {"call.rmiss.vulkan1.2.source", "call.rmiss.vulkan1.3.nonsemantic"}) {
    const std::string trace = save("t.rrt", of_corpus(module, trace::ShaderStage::Miss, "sky"));
    const std::string text = printed({"shaders", trace, "--disassemble", "0"});
    EXPECT_THAT(text, HasSubstr("call.rmiss:5: void main(){ executeCallableEXT(2, 0); p=d; }\n")) << module;
    EXPECT_THAT(text, HasSubstr("OpExecuteCallable")) << module;
    EXPECT_THAT(text, Not(HasSubstr("OpLine"))) << module;
  }
  const std::string plain = save("t.rrt", of_corpus("call.rmiss.vulkan1.2.stripped", trace::ShaderStage::Miss, "sky"));
  EXPECT_THAT(printed({"shaders", plain, "--disassemble", "0"}), Not(HasSubstr("call.rmiss")));
}

TEST_F(ProfileCommand, ReportHasPageAndData) {
  profile::Run run = test::two_shaders("a", 1);
  run.profile.block_counts.lanes[1] = 0;
  run.profile.block_counts.groups[1] = 0;
  const std::string trace = save("t.rrt", run);
  const std::string folder = scratch_ / "report";
  EXPECT_EQ(printed({"profile", trace, "--report", folder}), printed({"profile", trace}));
  const std::string html = test::read_bytes(folder + "/index.html");
  EXPECT_EQ(test::html_fault(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("http")), Not(HasSubstr("<script")), HasSubstr(trace::load(trace).hash)));
  for (const char* text :
       {"Unused code by shader", "Unused code by size of the shader", "Levels of branches and loads",
        "Executed branches by shader", "Executed instructions by shader and class", "shader 1: ground (miss)",
        "block %11 to %13", "0 lanes in 0 groups", ", unused\n", "9 instructions"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  const json data = json::parse(test::read_bytes(folder + "/profile.json"));
  const std::string surfaces = test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md");
  test::expect_named(data, surfaces);
  for (const char* list : {"shaders", "blocks", "classes", "levels"}) {
    test::expect_named(data[list].at(0), surfaces);
    const std::string csv = test::read_bytes(folder + "/" + list + ".csv");
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), data[list].size() + 1) << list;
  }
  // sky: 2·100 + 4·0 + 40 + 100 and 32 in the second function; of them arithmetic none, loads none that issue.
  EXPECT_EQ(data["classes"].at(0)["executed"], 372);
  EXPECT_EQ(data["classes"].at(1)["executed"], 10 * (372 + 4 * 60));
  double shares = 0;
  for (const char* of : {"arithmetic", "special", "load", "store", "texture", "control", "trace", "other"}) {
    shares += data["classes"].at(0)[of].get<double>();
  }
  EXPECT_DOUBLE_EQ(shares, 1);
  // Again, with --force alone; never over what is not a report.
  refused({"profile", trace, "--report", folder}, 4, "--force");
  EXPECT_EQ(run_command({"profile", trace, "--report", folder, "--force"}).code, 0);
  EXPECT_EQ(test::read_bytes(folder + "/index.html"), html);
  std::filesystem::copy_file(trace, folder + "/t.rrt");
  refused({"profile", folder + "/t.rrt", "--report", folder, "--force"}, 2, "an input lies in the folder");
  refused({"profile", trace, "--report", folder, "--force"}, 4, "'t.rrt'");
}

TEST_F(ProfileCommand, ReportWeighsLevelsByExecutions) {
  const std::string trace =
      save("t.rrt", of_corpus("blocks.rgen.vulkan1.2.source", trace::ShaderStage::RayGeneration, "blocks"));
  printed({"profile", trace, "--report", scratch_ / "report"});
  const json data = json::parse(test::read_bytes(scratch_ / "report/profile.json"));
  const json facts = json::parse(printed({"shaders", trace, "--format", "json"}));
  const json& branches = data["levels"].at(0);
  EXPECT_EQ(branches["subject"], "branches");
  const auto of_level = [&](const char* list, const char* key, const std::string& level) {
    return std::ranges::count_if(facts[list], [&](const json& row) { return row[key] == level; });
  };
  EXPECT_EQ(branches["launch"], of_level("branches", "level", "launch"));
  EXPECT_EQ(branches["may_diverge"], of_level("branches", "level", "may diverge"));
  EXPECT_GT(branches["may_diverge"], 0);
  EXPECT_EQ(data["levels"].at(2)["group"], of_level("loads", "address_level", "group"));
  // Each executed place counts 20 or 40.
  EXPECT_GE(branches["executed_may_diverge"], 20 * branches["may_diverge"].get<double>());
  EXPECT_LE(branches["executed_may_diverge"], 40 * branches["may_diverge"].get<double>());
}

TEST_F(ProfileCommand, ReportShowsMeasuredUniformity) {
  const std::string trace = std::string(RAYREPLAY_SOURCE_DIR) + "/tests/data/lavapipe/one-weekend-profile.rrt";
  const std::string folder = scratch_ / "report";
  printed({"profile", trace, "--report", folder});
  const std::string html = test::read_bytes(folder + "/index.html");
  EXPECT_EQ(test::html_fault(html), "");
  for (const char* text :
       {"Measured uniformity of branches and loads", "Measured uniformity by shader: branches",
        "Measured uniformity by shader: loaded values", "Measured uniformity by shader: load addresses",
        "observed uniform", "Unused code by shader"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  EXPECT_THAT(html, AllOf(HasSubstr("paths, values, memory (capture with --profile paths,values,memory)"),
                          Not(HasSubstr("blocks (capture"))));
  const json data = json::parse(test::read_bytes(folder + "/profile.json"));
  const std::string surfaces = test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/surfaces.md");
  for (const char* list : {"uniformity", "branches", "loads"}) {
    test::expect_named(data[list].at(0), surfaces);
    const std::string csv = test::read_bytes(folder + "/" + list + ".csv");
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), data[list].size() + 1) << list;
  }
  // The disassembly has each counted instruction of the shader once, as the rows have it.
  const std::string text = printed({"shaders", trace, "--disassemble", "0"});
  for (const char* list : {"branches", "loads"}) {
    for (const json& row : data[list]) {
      if (row["shader"] == 0 && row["groups"] != 0 && row["agreement"] == "divergent") {
        EXPECT_THAT(text, HasSubstr("divergent (uniform in ")) << row;
      }
    }
  }
  EXPECT_THAT(
      text, AllOf(HasSubstr(" groups: condition proven uniform\n"), HasSubstr(" groups: condition observed uniform\n"),
                  HasSubstr(" groups: value proven uniform, address proven uniform\n")));
}

TEST_F(ProfileCommand, ReportTakesWhatTheTraceCounts) {
  trace::Trace trace;
  trace.header.warp_size = 8;
  trace.header.configuration = "{}";
  trace.shaders = {{trace::ShaderStage::Miss, "main", "sky", test::branching_shader()}};
  trace.branch_counts = {{3, 4}, {0, 0}, {0, 0}, {0, 0}, {6, 6}, {80, 8}, {10, 1}, {4, 1}, {}};
  const std::string file = save("t.rrt", trace);
  const std::string folder = scratch_ / "report";
  printed({"profile", file, "--report", folder});
  const std::string html = test::read_bytes(folder + "/index.html");
  EXPECT_EQ(test::html_fault(html), "");
  EXPECT_THAT(
      html,
      AllOf(HasSubstr("blocks, loads, paths, values, memory (capture with --profile blocks,loads,paths,values,memory)"),
            Not(HasSubstr("Unused code by shader")), HasSubstr("shader 0: sky (miss)"),
            HasSubstr("11 groups: condition divergent (uniform in 45.5 %)")));
  EXPECT_FALSE(std::filesystem::exists(folder + "/blocks.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/loads.csv"));
  EXPECT_THAT(printed({"shaders", file, "--disassemble", "0", "--pipeline", "3"}),
              HasSubstr("10 groups: condition divergent (uniform in 40.0 %)"));
  refused({"shaders", file, "--disassemble", "0", "--pipeline", "5"}, 2, "expected pipelines 3, 4");
  trace.branch_counts = {};
  refused({"profile", save("none.rrt", trace), "--report", scratch_ / "r"}, 3, "no counts of basic blocks, branches");
}

TEST_F(ProfileCommand, OptionsWithoutEffectAreRefused) {
  const std::string trace = save("t.rrt", test::two_shaders("a", 1));
  refused({"profile", trace, "--force"}, 2, "--report");
  refused({"shaders", trace, "--disassemble", "0", "--rows", "calls"}, 2, "--rows");
  const std::string out = scratch_ / "c.rrt";
  refused({"capture", "--block-counters", "minimal", "-o", out, "--", "true"}, 2, "--profile blocks");
  refused({"capture", "--profile", "memory", "--profile-memory-sample", "0", "-o", out, "--", "true"}, 2,
          "a whole number of 1 or more");
  // Nothing could hold the counts.
  refused({"capture", "--profile", "paths", "--record", "off", "--", "true"}, 2,
          "paths and accesses belong to calls, which are events");
  refused({"capture", "--profile", "blocks", "--record", "off", "--", "true"}, 2, "add --memory 64KiB");
  refused({"capture", "--profile", "blocks", "--profile-proven", "-o", out, "--", "true"}, 2,
          "--profile branches,loads");
  ::setenv("RAYREPLAY_CAPTURE_PROFILE", "blockz", 1);
  refused({"capture", "-o", out, "--", "true"}, 2, "RAYREPLAY_CAPTURE_PROFILE");
  ::unsetenv("RAYREPLAY_CAPTURE_PROFILE");
}

TEST_F(ProfileCommand, HostileNamesAreEscaped) {
  trace::Trace trace = of_corpus("call.rmiss.vulkan1.2.source", trace::ShaderStage::Miss, "");
  trace.shaders[0].name = "<script>\x1b[31m" + std::string(5000, 'n') + "\u202e";
  trace.header.application = "</dl><img src=x>";
  trace.header.not_captured = {"<b>bold</b>"};
  // Names of the module: the longest possible, with markup.
  std::string reason;
  spirv::Module module = *spirv::parse(trace.shaders[0].spirv, reason);
  const std::string name = "<i>\x1b]0;" + std::string(60'000, 'm');
  for (spirv::Instruction& i : module.debug) {
    if (i.is(spv::Op::OpName) || i.is(spv::Op::OpString)) {
      spirv::Instruction changed(i.op(), {i[1]});
      for (const spirv::Word word : spirv::string_words(name)) {
        changed.add(word);
      }
      i = changed;
    }
  }
  trace.shaders[0].spirv = module.serialise();
  const std::string file = save("t.rrt", trace);
  printed({"profile", file, "--report", scratch_ / "report"});
  const std::string html = test::read_bytes(scratch_ / "report/index.html");
  EXPECT_EQ(test::html_fault(html), "");
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<i>")), Not(HasSubstr("<b>")),
                          Not(HasSubstr("<img")), Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
  EXPECT_LT(html.size(), 100'000U);
  const std::string text = printed({"shaders", file, "--disassemble", "0"});
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), HasSubstr("…"), HasSubstr(R"(<i>\x1b]0;mmm)")));
  EXPECT_LT(text.size(), 30'000U);
}

TEST_F(ProfileCommand, LongInstructionsAreCutWithANote) {
  trace::Trace trace = of_corpus("call.rmiss.vulkan1.2.stripped", trace::ShaderStage::Miss, "long");
  std::string reason;
  spirv::Module module = *spirv::parse(trace.shaders[0].spirv, reason);
  std::vector<spirv::Instruction>& body = module.functions.back().body;
  body.insert(body.end() - 2, 50'000, spirv::Instruction(spv::Op::OpNop, {}));
  trace.shaders[0].spirv = module.serialise();
  const std::string file = save("t.rrt", trace);
  printed({"profile", file, "--report", scratch_ / "report"});
  const std::string html = test::read_bytes(scratch_ / "report/index.html");
  EXPECT_THAT(html, HasSubstr("more lines\n"));
  EXPECT_LT(html.size(), 400'000U);
  const std::string text = printed({"shaders", file, "--disassemble", "0"});
  EXPECT_THAT(text, Not(HasSubstr("more line")));
  EXPECT_GT(text.size(), 500'000U);
}

TEST_F(ProfileCommand, NamesWhatDoesNotFit) {
  profile::Run run = test::two_shaders("a", 1);
  run.profile.block_counts.block[3] = 7;
  const std::string trace = save("t.rrt", run);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"profile", trace},
                                                {"profile", trace, "--report", scratch_ / "r"},
                                                {"shaders", trace, "--disassemble", "0"}}) {
    refused(words, 3, "t.rrt:/profile/blocks/block[3]: the function has no such block");
  }
  EXPECT_EQ(run_command({"shaders", trace}).code, 0);
  run = test::two_shaders("a", 1);
  run.profile.shaders[1].spirv.clear();
  refused({"shaders", save("t.rrt", run), "--disassemble", "0"}, 3,
          "/profile/blocks/shader[5]: the shader of a counted block is no SPIR-V module");
  // The module has the function, but not the entry point: counts without facts.
  run = test::two_shaders("a", 1);
  run.profile.shaders[1].entry = "elsewhere";
  printed({"profile", save("t.rrt", run), "--report", scratch_ / "r"});
  EXPECT_THAT(test::read_bytes(scratch_ / "r/index.html"), HasSubstr("shader 1: its module has no such entry point"));
  refused({"profile", scratch_ / "nothing.rrt", "--report", scratch_ / "s"}, 3, "nothing.rrt");
  refused({"profile"}, 2, "trace");
}

TEST_F(ProfileCommand, TheManualNamesOptions) {
  const std::string cli = test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/cli.md");
  const auto section = [&](const std::string& name) {
    const std::string from = cli.substr(cli.find("\n## " + name + "\n"));
    return from.substr(0, from.find("\n## ", 1));
  };
  for (const char* option : {"--blocks", "--report", "--format", "--force", "merge"}) {
    EXPECT_THAT(section("profile"), HasSubstr(option));
    EXPECT_THAT(printed({"profile", "--help"}), HasSubstr(option));
  }
  EXPECT_THAT(section("shaders"), HasSubstr("--pipeline"));
}

}  // namespace
}  // namespace rayreplay
