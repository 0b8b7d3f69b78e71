// What the rewriter may and must do, checked on disassemblies: everything of the application is still there in its
// order, and each instruction that makes an event has its probe call next to it, no more and no fewer.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "capture/instrument/instrument.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/instrument/support/listing.hpp"

namespace rayreplay {
namespace {

using test::Listing;
using Lines = std::vector<std::string>;

const std::vector<std::string> kTraces = {"OpTraceRayKHR",         "OpTraceNV",       "OpTraceRayMotionNV",
                                          "OpHitObjectTraceRayNV", "OpTraceMotionNV", "OpHitObjectTraceRayMotionNV"};
const std::vector<std::string> kReorders = {"OpReorderThreadWithHitObjectNV", "OpReorderThreadWithHintNV"};

struct Pair {
  const test::CorpusModule* module;
  Listing before, after;
};

/// The corpus with records only: nothing of the application changes.
std::vector<Pair> recorded_corpus() {
  std::vector<Pair> pairs;
  for (const test::CorpusModule& module : test::corpus()) {
    const instrument::Result result = instrument::instrument(module.words, test::plain_options());
    if (result.status == instrument::Status::Instrumented) {
      pairs.push_back({&module, test::list(module.words), test::list(result.spirv)});
    }
  }
  return pairs;
}

/// Lines of `after` that are not in `before`, if the latter is a subsequence of the former; else one line that says so.
Lines added_lines(const Lines& before, const Lines& after) {
  Lines added;
  std::size_t at = 0;
  for (const std::string& line : after) {
    if (at < before.size() && line == before[at]) {
      ++at;
    } else {
      added.push_back(line);
    }
  }
  return at == before.size() ? added : Lines{"lost: " + before[at]};
}

TEST(Structure, NothingOfTheApplicationIsLost) {
  for (const Pair& pair : recorded_corpus()) {
    for (const auto& [id, lines] : pair.before.functions) {
      const auto after = pair.after.functions.find(id);
      ASSERT_NE(after, pair.after.functions.end()) << pair.module->name << " " << id;
      for (const std::string& line : added_lines(lines, after->second)) {
        EXPECT_FALSE(line.starts_with("lost")) << pair.module->name << ": " << line;
        const std::string result = test::result_of(line);
        EXPECT_TRUE(result.empty() || std::stoul(result.substr(1)) >= pair.before.bound) << pair.module->name << line;
        // Only straight-line code: no block of the application is split.
        const std::string opcode = test::opcode_of(line);
        EXPECT_TRUE(opcode == "OpLoad" || opcode == "OpStore" || opcode == "OpFunctionCall" || opcode == "OpBitcast" ||
                    opcode == "OpIAdd" || opcode == "OpVariable")
            << pair.module->name << ": " << line;
      }
    }
  }
}

TEST(Structure, GlobalsNamesAndDecorationsStay) {
  for (const Pair& pair : recorded_corpus()) {
    Lines after = pair.after.lines;
    std::sort(after.begin(), after.end());
    for (const std::string& line : pair.before.lines) {
      const std::string opcode = test::opcode_of(line);
      const bool global = opcode.starts_with("OpType") || opcode.starts_with("OpConstant") ||
                          opcode.starts_with("OpSpecConstant") || opcode.starts_with("OpDecorate") ||
                          opcode.starts_with("OpMemberDecorate") || opcode.starts_with("OpName") ||
                          opcode.starts_with("OpMemberName") || opcode == "OpVariable" || opcode == "OpExtInst" ||
                          opcode == "OpCapability" || opcode == "OpExtension" || opcode == "OpString";
      if (global) {
        EXPECT_TRUE(std::binary_search(after.begin(), after.end(), line)) << pair.module->name << ": " << line;
      }
    }
  }
}

TEST(Structure, EveryEventHasItsProbe) {
  std::size_t traces = 0;
  std::size_t ends = 0;
  for (const Pair& pair : recorded_corpus()) {
    for (const auto& [id, before] : pair.before.functions) {
      const Lines& after = pair.after.functions.at(id);
      const auto expect = [&](const std::vector<std::string>& opcodes, const std::string& probe) {
        EXPECT_EQ(test::count(before, opcodes), test::count_calls(pair.after, after, probe))
            << pair.module->name << " " << id << " " << probe;
      };
      expect(kTraces, "rr_trace");
      expect({"OpReportIntersectionKHR"}, "rr_report");
      expect({"OpReportIntersectionKHR"}, "rr_report_result");
      expect({"OpIgnoreIntersectionKHR", "OpIgnoreIntersectionNV"}, "rr_ignore");
      expect({"OpTerminateRayKHR", "OpTerminateRayNV"}, "rr_terminate");
      expect(kReorders, "rr_reorder");
      expect({"OpHitObjectExecuteShaderNV"}, "rr_execute");
      traces += test::count(before, kTraces);
      ends += test::count(before, {"OpIgnoreIntersectionKHR", "OpTerminateRayKHR"});
    }
  }
  EXPECT_GT(traces, 50U);
  EXPECT_GT(ends, 10U);
}

/// The call before (step −1) or behind (+1) a line, over the instructions that prepare its arguments.
std::string neighbour_call(const Listing& listing, const Lines& lines, std::size_t at, int step) {
  for (std::size_t i = at + static_cast<std::size_t>(step); i < lines.size(); i += static_cast<std::size_t>(step)) {
    const std::string opcode = test::opcode_of(lines[i]);
    if (opcode == "OpFunctionCall") {
      return test::callee_of(listing, lines[i]);
    }
    if (opcode != "OpLoad" && opcode != "OpBitcast" && opcode != "OpIAdd" && opcode != "OpStore") {
      return {};
    }
  }
  return {};
}

TEST(Structure, ProbesStandNextToTheirInstructions) {
  for (const Pair& pair : recorded_corpus()) {
    for (const auto& [id, lines] : pair.after.functions) {
      for (std::size_t i = 0; i < lines.size(); ++i) {
        const std::string opcode = test::opcode_of(lines[i]);
        if (std::find(kTraces.begin(), kTraces.end(), opcode) != kTraces.end()) {
          EXPECT_EQ(neighbour_call(pair.after, lines, i, -1), "rr_trace") << pair.module->name;
        } else if (opcode == "OpReportIntersectionKHR") {
          EXPECT_EQ(neighbour_call(pair.after, lines, i, -1), "rr_report") << pair.module->name;
          EXPECT_EQ(neighbour_call(pair.after, lines, i, 1), "rr_report_result") << pair.module->name;
        } else if (opcode == "OpIgnoreIntersectionKHR") {
          EXPECT_EQ(neighbour_call(pair.after, lines, i, -1), "rr_ignore") << pair.module->name;
        } else if (opcode == "OpTerminateRayKHR") {
          EXPECT_EQ(neighbour_call(pair.after, lines, i, -1), "rr_terminate") << pair.module->name;
        }
      }
    }
  }
}

std::string probe_of(const std::string& model) {
  const std::string stage = model.substr(0, model.find_last_not_of("KHRNV") + 1);
  return stage == "RayGeneration"  ? "rr_ray_generation"
         : stage == "Intersection" ? "rr_intersection"
         : stage == "AnyHit"       ? "rr_any_hit"
         : stage == "ClosestHit"   ? "rr_closest_hit"
         : stage == "Miss"         ? "rr_miss"
         : stage == "Callable"     ? "rr_callable"
                                   : "";
}

TEST(Structure, EntryPointsRecordThemselvesThenRunTheApplication) {
  for (const Pair& pair : recorded_corpus()) {
    ASSERT_EQ(pair.before.entry_points.size(), pair.after.entry_points.size());
    std::uint32_t shader = test::plain_options().first_shader_id;
    for (std::size_t i = 0; i < pair.before.entry_points.size(); ++i) {
      const test::ListedEntryPoint& before = pair.before.entry_points[i];
      const test::ListedEntryPoint& after = pair.after.entry_points[i];
      EXPECT_EQ(before.name, after.name);
      EXPECT_EQ(before.model, after.model);
      const std::string probe = probe_of(before.model);
      if (probe.empty()) {
        EXPECT_EQ(before.function, after.function);
        continue;
      }
      Lines calls;
      for (const std::string& line : pair.after.functions.at(after.function)) {
        if (test::opcode_of(line) == "OpFunctionCall") {
          calls.push_back(line);
        }
      }
      ASSERT_EQ(calls.size(), 2U) << pair.module->name;
      EXPECT_EQ(test::callee_of(pair.after, calls[0]), probe) << pair.module->name;
      EXPECT_EQ(pair.after.constants.at(test::words_of(calls[0])[5]), shader) << pair.module->name;
      EXPECT_EQ(test::words_of(calls[1])[4], before.function) << pair.module->name;
      ++shader;
    }
  }
}

TEST(Structure, OnlyWhatIsNeededIsLinked) {
  const auto text = [](const instrument::Options& options, const char* name = "call.rmiss.vulkan1.2") {
    std::string all;
    for (const std::string& line :
         test::list(instrument::instrument(test::corpus_module(name).words, options).spirv).lines) {
      all += line + "\n";
    }
    return all;
  };
  instrument::Options options = test::plain_options();
  const std::string plain = text(options);
  EXPECT_EQ(plain.find("ShaderClockKHR"), std::string::npos);
  EXPECT_EQ(plain.find("ShaderSMBuiltinsNV"), std::string::npos);
  EXPECT_EQ(plain.find("rr_trace"), std::string::npos);
  EXPECT_EQ(plain.find("SpecId"), std::string::npos);
  options.clock = true;
  options.sm = true;
  const std::string more = text(options);
  EXPECT_NE(more.find("OpCapability ShaderClockKHR"), std::string::npos);
  EXPECT_NE(more.find("OpCapability ShaderSMBuiltinsNV"), std::string::npos);
  EXPECT_NE(more.find("BuiltIn SMIDNV"), std::string::npos);
  options = test::plain_options();
  options.record = false;
  options.swizzle = instrument::SwizzleTable{0x100, 8, 8, 1};
  const std::string swizzled = text(options, "trace.rgen.vulkan1.2");
  EXPECT_NE(swizzled.find("rr_swizzle"), std::string::npos);
  EXPECT_EQ(swizzled.find("Atomic"), std::string::npos);
}

// spirv-val 2023.1 does not ask for it, Vulkan does: what changes while an intersection shader runs is volatile.
TEST(Structure, TheRaysEndIsReadAsVolatile) {
  const auto lines_with_volatile = [](const char* name) {
    std::size_t n = 0;
    for (const std::string& line :
         test::list(instrument::instrument(test::corpus_module(name).words, test::plain_options()).spirv).lines) {
      n += line.ends_with(" Volatile") ? 1U : 0U;
    }
    return n;
  };
  EXPECT_EQ(lines_with_volatile("report.rint"), 1U);               // the variable's decoration
  EXPECT_EQ(lines_with_volatile("vulkan_memory_model.rint"), 1U);  // the load's operand
  EXPECT_EQ(lines_with_volatile("decide.rahit"), 0U);
}

TEST(Structure, SitesAreDistinctAndKnowTheirBinding) {
  const instrument::Result result =
      instrument::instrument(test::corpus_module("many_calls.rgen").words, test::plain_options());
  ASSERT_EQ(result.sites.size(), 2U);
  std::set<std::uint32_t> sites;
  std::size_t bound = 0;
  for (const instrument::TraceSite& site : result.sites) {
    EXPECT_EQ(site.shader, 5);
    sites.insert(site.site);
    if (site.bound) {
      EXPECT_EQ(site.set, 0U);
      EXPECT_EQ(site.binding, 2U);
      ++bound;
    }
  }
  EXPECT_EQ(sites.size(), 2U);
  EXPECT_EQ(bound, 1U);  // the other one is made from an address
}

TEST(Structure, SitesAreFoundThroughParameters) {
  const instrument::Result result =
      instrument::instrument(test::corpus_module("parameters.rgen").words, test::plain_options());
  ASSERT_EQ(result.sites.size(), 2U);
  // One function is always given the same structure, the other one of two.
  EXPECT_NE(result.sites[0].bound, result.sites[1].bound);
  const instrument::TraceSite& known = result.sites[result.sites[0].bound ? 0 : 1];
  EXPECT_EQ(known.set, 1U);
  EXPECT_EQ(known.binding, 4U);
}

TEST(Structure, SharedFunctionsTellTheirShaderByAVariable) {
  const instrument::Result result =
      instrument::instrument(test::corpus_module("shared_functions").words, test::plain_options());
  const Listing listing = test::list(result.spirv);
  // Four entry points, each with a constant id; one function that two of them share, with a loaded one.
  std::size_t loaded = 0;
  for (const auto& [id, lines] : listing.functions) {
    for (const std::string& line : lines) {
      if (test::callee_of(listing, line) == "rr_trace") {
        EXPECT_FALSE(listing.constants.contains(test::words_of(line)[5]));
        ++loaded;
      }
    }
  }
  EXPECT_EQ(loaded, 1U);
  ASSERT_EQ(result.sites.size(), 2U);
  EXPECT_EQ(result.sites[0].shader, 5);
  EXPECT_EQ(result.sites[1].shader, 6);
  EXPECT_EQ(result.sites[0].set, 2U);
  EXPECT_EQ(result.sites[0].binding, 7U);
}

}  // namespace
}  // namespace rayreplay
