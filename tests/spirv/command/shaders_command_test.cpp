// rayreplay shaders, run as a user runs it.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "Bounces.spv.hpp"
#include "Uniformity.spv.hpp"
#include "tests/app/json_keys.hpp"
#include "tests/app/run_command.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using nlohmann::json;
using test::Outcome;
using test::run_command;
using testing::HasSubstr;

class ShadersCommand : public testing::Test {
 protected:
  [[nodiscard]] std::string save(const std::string& name, std::span<const std::uint32_t> words) const {
    const std::string path = scratch_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
    return path;
  }
  [[nodiscard]] static json document(const std::string& path) {
    const Outcome outcome = run_command({"shaders", path, "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return json::parse(outcome.output);
  }

  test::Scratch scratch_;
};

const std::string kTraces = RAYREPLAY_SOURCE_DIR "/tests/data/h200/";

TEST_F(ShadersCommand, SaysWhatIsKnownOfAModule) {
  const json facts = document(save("bounces.spv", kBounces));
  EXPECT_EQ(facts["schema"], "rayreplay.shaders/1");
  EXPECT_EQ(facts["kind"], "module");
  const json& shader = facts["shaders"].at(0);
  EXPECT_EQ(shader["stage"], "ray-generation");
  EXPECT_EQ(shader["entry"], "main");
  EXPECT_EQ(shader["loops"], 1);
  EXPECT_EQ(shader["loop_depth"], 1);
  EXPECT_EQ(shader["calls"], 1);
  EXPECT_EQ(shader["most_live_bytes"], 40);
  EXPECT_EQ(shader["trace"], 1);
  EXPECT_EQ(shader["texture"], 1);
  EXPECT_EQ(shader["unreached_blocks"], 0);
  EXPECT_EQ(shader["unused_functions"], 0);
  std::uint64_t classes = 0;
  for (const char* of : {"arithmetic", "special", "load", "store", "texture", "control", "trace", "other"}) {
    classes += shader[of].get<std::uint64_t>();
  }
  EXPECT_EQ(shader["instructions"], classes);
  const json& call = facts["calls"].at(0);
  EXPECT_EQ(call["kind"], "trace");
  EXPECT_EQ(call["live_bytes"], 40);
  EXPECT_EQ(call["payload_bytes"], 16);
  EXPECT_TRUE(facts["notes"].empty());
}

TEST_F(ShadersCommand, TheManualNamesEveryKeyAndOption) {
  const auto manual = [](const std::string& name) {
    return test::read_bytes(std::string(RAYREPLAY_SOURCE_DIR) + "/docs/" + name);
  };
  const std::string surfaces = manual("surfaces.md");
  const json facts = document(save("uniformity.spv", kUniformity));
  test::expect_named(facts, surfaces);
  for (const char* list : {"shaders", "calls", "branches", "loads"}) {
    test::expect_named(facts[list].at(0), surfaces);
  }
  const std::string cli = manual("cli.md");
  const std::string section = cli.substr(cli.find("\n## shaders\n"));
  for (const char* option : {"--recompute", "--rows", "--disassemble", "--format", "--output", "--force"}) {
    EXPECT_THAT(run_command({"shaders", "--help"}).output, HasSubstr(option));
    EXPECT_THAT(section.substr(0, section.find("\n## ", 1)), HasSubstr(option));
  }
}

TEST_F(ShadersCommand, EveryCapturedShaderIsKnown) {
  std::size_t calls = 0;
  for (const char* name : {"one-weekend", "one-weekend-ser", "bunny", "teapot-alpha"}) {
    const json facts = document(kTraces + name + ".rrt");
    EXPECT_EQ(facts["kind"], "trace");
    EXPECT_TRUE(facts["notes"].empty()) << name << facts["notes"];
    for (const json& shader : facts["shaders"]) {
      EXPECT_GT(shader["instructions"], 0) << name;
      EXPECT_FALSE(shader["branches_uniform"].is_null()) << name;
    }
    calls += facts["calls"].size();
  }
  EXPECT_GE(calls, 9U);
  // The path's state: what is left of it while the hit object is reordered, and while it is shaded.
  const json facts = document(kTraces + "one-weekend-ser.rrt");
  EXPECT_EQ(facts["calls"].at(1)["kind"], "reorder");
  EXPECT_EQ(facts["calls"].at(1)["live_bytes"], 116);
  EXPECT_EQ(facts["calls"].at(1)["opaque"], 1);
  EXPECT_EQ(facts["calls"].at(2)["kind"], "execute");
  EXPECT_EQ(facts["calls"].at(2)["live_bytes"], 24);
  EXPECT_EQ(facts["calls"].at(2)["payload_bytes"], 92);
}

TEST_F(ShadersCommand, EveryShaderOfTheApplicationsIsKnown) {
  std::size_t modules = 0;
  for (const auto& file : std::filesystem::directory_iterator(RR_APPS)) {
    if (file.path().extension() == ".spv") {
      const json facts = document(file.path().string());
      EXPECT_TRUE(facts["notes"].empty()) << file.path() << facts["notes"];
      EXPECT_FALSE(facts["shaders"].at(0)["branches_uniform"].is_null()) << file.path();
      ++modules;
    }
  }
  EXPECT_GT(modules, 20U);
}

TEST_F(ShadersCommand, EveryModuleOfTheCorpusHasFacts) {
  for (const char* name : {"recurse.rchit", "hit_objects.rgen", "shared_functions", "plain.comp", "subgroups.rgen",
                           "nv_trace.rgen", "motion.rgen", "library_style"}) {
    const json facts = document(save("module.spv", test::corpus_module(name).words));
    EXPECT_GE(facts["shaders"].size(), 1U) << name;
    for (const json& shader : facts["shaders"]) {
      EXPECT_FALSE(shader["calls"].is_null()) << name << facts["notes"];
    }
  }
}

TEST_F(ShadersCommand, LinesOfTheSourceAreNamed) {
  const json facts = document(save("module.spv", test::corpus_module("call.rmiss.vulkan1.2.source").words));
  EXPECT_THAT(facts["calls"].at(0)["file"].get<std::string>(), HasSubstr("call.rmiss"));
  EXPECT_GT(facts["calls"].at(0)["line"], 0);
  const json newer = document(save("newer.spv", test::corpus_module("call.rmiss.vulkan1.3.nonsemantic").words));
  EXPECT_EQ(newer["calls"].at(0)["line"], facts["calls"].at(0)["line"]);
  EXPECT_EQ(newer["shaders"].at(0)["instructions"], facts["shaders"].at(0)["instructions"]);
}

TEST_F(ShadersCommand, RowsOfTheCsvAreChosen) {
  const std::string module = save("uniformity.spv", kUniformity);
  const auto rows = [&](const std::string& name) {
    const Outcome outcome = run_command({"shaders", module, "--format", "csv", "--rows", name});
    const std::string text = run_command({"shaders", module, "--rows", name}).output;
    EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(outcome.output, '\n') + 1) << name << "\n" << text;
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    return outcome.output;
  };
  EXPECT_THAT(rows("shaders"), HasSubstr("most_live_bytes"));
  EXPECT_THAT(rows("calls"), HasSubstr("payload_bytes"));
  const std::string branches = rows("branches");
  EXPECT_EQ(std::count(branches.begin(), branches.end(), '\n'), 13);
  EXPECT_THAT(branches, HasSubstr("may diverge"));
  EXPECT_THAT(rows("loads"), HasSubstr("address_level"));
  EXPECT_EQ(run_command({"shaders", module, "--rows", "blocks"}).code, 2);
}

TEST_F(ShadersCommand, ShowsAnnotatedInstructions) {
  const Outcome outcome = run_command({"shaders", save("bounces.spv", kBounces), "--disassemble", "main"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output, HasSubstr("loop depth 1"));
  EXPECT_THAT(outcome.output, HasSubstr("; trace: 40 bytes live"));
  EXPECT_THAT(outcome.output, HasSubstr("! OpBranchConditional"));
  EXPECT_THAT(outcome.output, HasSubstr("OpTraceRayKHR"));
}

TEST_F(ShadersCommand, SaysWhatIsWrong) {
  const auto error = [](const std::vector<std::string>& words, int code, const std::string& text) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr(text));
    EXPECT_EQ(outcome.output, "");
  };
  std::ofstream(scratch_ / "text") << "this is no module, but long enough";
  error({"shaders", scratch_ / "text"}, 3, "neither a SPIR-V module nor a trace");
  error({"shaders", scratch_ / "nothing"}, 3, "nothing");
  std::ofstream(scratch_ / "cut.spv", std::ios::binary) << "\x03\x02\x23\x07"
                                                        << "abc";
  error({"shaders", scratch_ / "cut.spv"}, 3, "no SPIR-V module");
  error({"shaders", save("short.spv", std::span(kBounces).first(40))}, 3, "no SPIR-V module");
  error({"shaders", save("swapped.spv", std::vector<std::uint32_t>{0x03022307, 0, 0, 0, 0})}, 3, "no SPIR-V module");
  error({"shaders", save("empty.spv", std::vector<std::uint32_t>{0x07230203, 0x10400, 0, 9, 0, 0x3000E, 0, 1})}, 3,
        "no shaders");
  const std::string module = save("bounces.spv", kBounces);
  error({"shaders", module, "--disassemble", "7"}, 2, "no such shader");
  error({"shaders", kTraces + "bunny.rrt", "--disassemble", "main"}, 2, "several shaders");
  error({"shaders", module, "--disassemble", "0", "--format", "json"}, 2, "the disassembly is text");
  error({"shaders", module, "-o", module, "--force"}, 2, "--output");
  const std::string plain = scratch_ / "plain.rrt";
  ASSERT_EQ(run_command({"trace", "--scene", "statue", "--size", "8x8", "--spp", "1", "-o", plain}).code, 0);
  error({"shaders", plain}, 3, "no SPIR-V modules");
}

}  // namespace
}  // namespace rayreplay
