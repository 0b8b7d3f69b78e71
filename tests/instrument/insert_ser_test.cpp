// Reordering put into modules that have none: what is inserted, what is left alone, and that all else stays.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/instrument/ser/insert.hpp"
#include "capture/spirv/module.hpp"
#include "capture/spirv/trace_calls.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/instrument/support/listing.hpp"
#include "tests/instrument/support/undone_reordering.hpp"

namespace rayreplay {
namespace {

using instrument::HintProgram;
using instrument::insert_reordering;
using instrument::InsertResult;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

HintProgram program(std::string_view text) {
  std::string reason;
  const auto made = instrument::parse_hint_program(text, reason);
  if (!made) {
    throw std::runtime_error(reason);
  }
  return *made;
}

/// All fields and all operations.
HintProgram everything() {
  std::string text = "16: 0";
  for (const char* field : instrument::kHintFields) {
    text += std::string(" ") + field + " +";
  }
  for (const auto& operation : instrument::kHintOperations) {
    text += operation.takes > 1 ? " 2" : "";
    text += operation.takes > 2 ? " 3" : "";
    text += std::string(" ") + operation.name;
  }
  return program(text);
}

std::vector<std::optional<HintProgram>> hints() {
  return {std::nullopt, program("4: material 16 %"), program("3: bounce x + y +"), everything()};
}

std::size_t trace_calls(const test::Words& words) {
  std::string reason;
  const auto module = spirv::parse(words, reason);
  std::size_t calls = 0;
  for (const spirv::Function& function : module->functions) {
    calls += static_cast<std::size_t>(std::count_if(function.body.begin(), function.body.end(),
                                                    [](const auto& i) { return i.is(spv::Op::OpTraceRayKHR); }));
  }
  return calls;
}

std::size_t opcodes(const test::Words& words, spv::Op op) {
  std::size_t found = 0;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
    found += (words[at] & 0xFFFF) == spirv::number(op) ? 1U : 0U;
  }
  return found;
}

const test::Words& rays() {
  return test::corpus_module("insert_ser.rgen.vulkan1.2").words;
}

TEST(InsertSer, EveryModuleStaysValid) {
  std::size_t changed = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    for (const auto& hint : hints()) {
      const InsertResult result = insert_reordering(module.words, hint);
      EXPECT_EQ(result.spirv.empty(), result.inserted == 0) << module.name;
      if (result.inserted == 0) {
        continue;
      }
      ++changed;
      EXPECT_EQ(test::validate(result.spirv, module.environment), "") << module.name;
      EXPECT_EQ(insert_reordering(module.words, hint).spirv, result.spirv) << module.name;
      EXPECT_EQ(trace_calls(result.spirv) + result.inserted, trace_calls(module.words)) << module.name;
      EXPECT_EQ(opcodes(result.spirv, spv::Op::OpHitObjectTraceRayNV), result.inserted);
      EXPECT_EQ(opcodes(result.spirv, spv::Op::OpReorderThreadWithHitObjectNV), result.inserted);
      // What was inserted once is a module with hit objects of its own.
      EXPECT_TRUE(insert_reordering(result.spirv, hint).spirv.empty());
    }
  }
  EXPECT_GE(changed, 80U);
}

// Reordering first, recording second.
TEST(InsertSer, WhatIsInsertedCanBeInstrumented) {
  std::size_t instrumented = 0;
  for (const test::NamedOptions& set : test::option_sets()) {
    if (set.name != "plain" && set.name != "all" && set.name != "accesses_and_everything" &&
        set.name != "paths_and_everything" && set.name != "swizzle_without_records" && set.name != "count_minimal") {
      continue;
    }
    for (const test::CorpusModule& module : test::corpus()) {
      for (const auto& hint : {hints().front(), hints().back()}) {
        const InsertResult inserted = insert_reordering(module.words, hint);
        if (inserted.inserted == 0) {
          continue;
        }
        const instrument::Result result = instrument::instrument(inserted.spirv, set.options);
        if (result.status == instrument::Status::Unchanged) {
          EXPECT_FALSE(set.options.record);
          continue;
        }
        ASSERT_EQ(result.status, instrument::Status::Instrumented) << module.name << ": " << result.reason;
        EXPECT_EQ(test::validate(result.spirv, module.environment), "") << module.name << " " << set.name;
        ++instrumented;
      }
    }
  }
  EXPECT_GE(instrumented, 100U);
}

// Taken out again, the application's functions are as they were, word by word.
TEST(InsertSer, NothingElseChanges) {
  std::size_t compared = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    const InsertResult result = insert_reordering(module.words, std::nullopt);
    if (result.inserted == 0) {
      continue;
    }
    const test::Words undone = test::undone_reordering(result.spirv);
    EXPECT_EQ(test::validate(undone, module.environment), "") << module.name;
    std::string reason;
    const auto before = spirv::parse(module.words, reason);
    const auto after = spirv::parse(undone, reason);
    ASSERT_EQ(after->functions.size(), before->functions.size()) << module.name;
    for (std::size_t f = 0; f < before->functions.size(); ++f) {
      const auto& from = before->functions[f].body;
      const auto& to = after->functions[f].body;
      ASSERT_EQ(to.size(), from.size()) << module.name;
      for (std::size_t i = 0; i < from.size(); ++i) {
        EXPECT_TRUE(std::ranges::equal(to[i].operands(), from[i].operands()) && to[i].op() == from[i].op())
            << module.name << " " << f << " " << i;
      }
    }
    EXPECT_EQ(after->entry_points.size(), before->entry_points.size());
    for (std::size_t e = 0; e < before->entry_points.size(); ++e) {
      EXPECT_TRUE(std::ranges::equal(after->entry_points[e].operands(), before->entry_points[e].operands()));
    }
    ++compared;
  }
  EXPECT_GE(compared, 25U);
}

TEST(InsertSer, ExtIsInsertedAsNvIs) {
  std::size_t compared = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    for (const auto& hint : hints()) {
      const InsertResult nv = insert_reordering(module.words, hint);
      const InsertResult ext = insert_reordering(module.words, hint, instrument::HitObjectForm::EXT);
      EXPECT_EQ(ext.inserted, nv.inserted);
      EXPECT_EQ(ext.notes, nv.notes);
      if (nv.inserted == 0) {
        continue;
      }
      EXPECT_NE(ext.spirv, nv.spirv);
      EXPECT_EQ(test::with_nv_hit_objects(ext.spirv), nv.spirv) << module.name;
      EXPECT_TRUE(insert_reordering(ext.spirv, hint).spirv.empty());
      // Recording knows both forms.
      const auto recorded = instrument::instrument(ext.spirv, test::plain_options());
      ASSERT_EQ(recorded.status, instrument::Status::Instrumented) << recorded.reason;
      EXPECT_EQ(test::with_nv_hit_objects(recorded.spirv),
                instrument::instrument(nv.spirv, test::plain_options()).spirv)
          << module.name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 80U);
}

/// The application's calls of a function's rays, in order.
std::vector<std::string> ray_code(const test::Listing& listing, const std::vector<std::string>& lines) {
  std::vector<std::string> found;
  for (const std::string& line : lines) {
    const std::string opcode = test::opcode_of(line);
    const std::string callee = test::callee_of(listing, line);
    if (opcode == "OpTraceRayKHR" || opcode.find("HitObject") != std::string::npos) {
      found.push_back(opcode);
    } else if (callee.starts_with("rr_")) {
      found.push_back(callee);
    }
  }
  return found;
}

const std::vector<std::string>& function_named(const test::Listing& listing, const std::string& start) {
  for (const auto& [id, lines] : listing.functions) {
    const auto name = listing.names.find(id);
    if (name != listing.names.end() && name->second.starts_with(start)) {
      return lines;
    }
  }
  throw std::runtime_error("no function " + start);
}

TEST(InsertSer, EachTraceCallBecomesThree) {
  const InsertResult result = insert_reordering(rays(), program("5: distance 8 * y +"));
  EXPECT_EQ(result.inserted, 2U);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("insert-ser: 1 trace call stays as it is: the ray skips")));
  const test::Listing listing = test::list(result.spirv);
  // Known flags call the hit's shader outright; flags that only the run knows are asked first.
  EXPECT_THAT(ray_code(listing, function_named(listing, "main")),
              ElementsAre("OpHitObjectTraceRayNV", "rr_hint_of_hit", "OpReorderThreadWithHitObjectNV",
                          "OpHitObjectExecuteShaderNV", "OpTraceRayKHR"));
  EXPECT_THAT(ray_code(listing, function_named(listing, "lit")),
              ElementsAre("OpHitObjectTraceRayNV", "rr_hint_of_hit", "OpReorderThreadWithHitObjectNV",
                          "rr_execute_hit_object"));
  EXPECT_THAT(ray_code(listing, function_named(listing, "rr_execute_hit_object")),
              ElementsAre("OpHitObjectIsHitNV", "OpHitObjectExecuteShaderNV"));
  // A miss is not asked for what only a hit has.
  EXPECT_THAT(ray_code(listing, function_named(listing, "rr_hint_of_hit")),
              ElementsAre("OpHitObjectIsHitNV", "OpHitObjectGetRayTMaxNV", "rr_multiply", "rr_add", "rr_hint"));
  // The hint's bits.
  for (const std::string& line : function_named(listing, "main")) {
    if (test::opcode_of(line) == "OpReorderThreadWithHitObjectNV") {
      EXPECT_EQ(listing.constants.at(test::words_of(line).back()), 5U);
    }
  }
}

TEST(InsertSer, OnlyWhatTheHintNeedsIsThere) {
  const auto count = [](const char* text, spv::Op op) {
    return opcodes(insert_reordering(rays(), program(text)).spirv, op);
  };
  EXPECT_EQ(count("4: primitive", spv::Op::OpHitObjectGetPrimitiveIndexNV), 1U);
  EXPECT_EQ(count("4: primitive", spv::Op::OpHitObjectGetInstanceIdNV), 0U);
  EXPECT_EQ(count("4: primitive", spv::Op::OpHitObjectGetWorldRayOriginNV), 0U);
  EXPECT_EQ(count("4: px", spv::Op::OpHitObjectGetWorldRayOriginNV), 1U);
  EXPECT_EQ(count("4: px", spv::Op::OpHitObjectGetRayTMaxNV), 1U);
  const auto has = [](const std::optional<HintProgram>& hint, spv::Capability capability) {
    std::string reason;
    return spirv::parse(insert_reordering(rays(), hint).spirv, reason)->has(capability);
  };
  EXPECT_TRUE(has(program("4: x"), spv::Capability::Float64));
  EXPECT_FALSE(has(std::nullopt, spv::Capability::Float64));
  EXPECT_FALSE(has(std::nullopt, spv::Capability::Int64));
  EXPECT_TRUE(has(std::nullopt, spv::Capability::ShaderInvocationReorderNV));
}

TEST(InsertSer, WhatIsLeftAloneIsSaid) {
  const auto said = [](const char* name) {
    const InsertResult result = insert_reordering(test::corpus_module(name).words, std::nullopt);
    EXPECT_TRUE(result.spirv.empty()) << name;
    return result.notes.size() == 1 ? result.notes.front() : std::to_string(result.notes.size()) + " notes";
  };
  EXPECT_THAT(said("recurse.rchit"), HasSubstr("closest-hit shaders run this code, and only ray-generation"));
  EXPECT_THAT(said("shared_functions"), HasSubstr("closest-hit shaders run this code"));
  EXPECT_THAT(said("motion.rgen"), HasSubstr("motion blur"));
  EXPECT_THAT(said("hit_objects.rgen"), HasSubstr("uses hit objects of its own"));
  EXPECT_THAT(said("nv_trace.rgen"), HasSubstr("SPIR-V 1.4"));
}

TEST(InsertSer, ShadersWithoutTraceCallsAreNoNews) {
  for (const char* name : {"plain.comp", "decide.rahit", "report.rint", "builtins.rchit", "callee.rcall"}) {
    const InsertResult result = insert_reordering(test::corpus_module(name).words, everything());
    EXPECT_TRUE(result.spirv.empty()) << name;
    EXPECT_THAT(result.notes, IsEmpty()) << name;
  }
}

TEST(InsertSer, AnyWordsAreHarmless) {
  for (const test::CorpusModule& module : test::corpus()) {
    test::Words words = module.words;
    std::uint64_t state = words.size();
    for (int i = 0; i < 40; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      words[(state >> 33) % words.size()] ^= static_cast<std::uint32_t>(state >> 20);
      (void)insert_reordering(words, everything());
    }
    words.resize(words.size() / 2);
    (void)insert_reordering(words, std::nullopt);
  }
  EXPECT_EQ(insert_reordering({}, std::nullopt).inserted, 0U);
}

// The programs in capture/apps: what their ray generation traces is reordered, unless a hit shader runs it, too.
TEST(InsertSer, OurProgramsShaders) {
  const auto shader = [](const std::string& name) {
    std::ifstream file(RR_APP_SHADERS "/" + name + ".spv", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    test::Words words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    return words;
  };
  for (const char* name : {"OneWeekendRayGeneration", "OneWeekendRayGenerationRecursive", "MeshRayGeneration",
                           "MeshRayGenerationRecursive"}) {
    const test::Words words = shader(name);
    ASSERT_FALSE(words.empty()) << name;
    for (const auto& hint : hints()) {
      const InsertResult result = insert_reordering(words, hint);
      EXPECT_EQ(result.inserted, 1U) << name;
      EXPECT_EQ(test::validate(result.spirv, "vulkan1.2"), "") << name;
      const auto recorded = instrument::instrument(result.spirv, test::plain_options());
      EXPECT_EQ(test::validate(recorded.spirv, "vulkan1.2"), "") << name;
    }
  }
  EXPECT_TRUE(insert_reordering(shader("OneWeekendRayGenerationReorder"), std::nullopt).spirv.empty());
  EXPECT_TRUE(insert_reordering(shader("MeshClosestHitRecursive"), std::nullopt).spirv.empty());
}

// Why trace calls of other stages stay: the specifications allow reordering in ray generation alone.
TEST(InsertSer, NoOtherStageMayReorder) {
  std::ifstream file(RR_APP_SHADERS "/OneWeekendRayGeneration.spv", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  test::Words words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  const auto as = [](const test::Words& given, spv::ExecutionModel model) {
    std::string reason;
    auto module = spirv::parse(given, reason);
    EXPECT_TRUE(module) << reason;
    module->entry_points.front().set(1, static_cast<spirv::Word>(model));
    return test::validate(module->serialise(), "vulkan1.2");
  };
  const test::Words reordered = insert_reordering(words, std::nullopt).spirv;
  ASSERT_FALSE(reordered.empty());
  for (const auto model : {spv::ExecutionModel::ClosestHitKHR, spv::ExecutionModel::MissKHR}) {
    EXPECT_EQ(as(words, model), "") << "the shader by itself may be of this stage";
    EXPECT_THAT(as(reordered, model), testing::HasSubstr("requires RayGenerationKHR execution model"));
  }
  EXPECT_EQ(as(reordered, spv::ExecutionModel::RayGenerationKHR), "");
}

TEST(HintPrograms, AreReadAsWritten) {
  const HintProgram made = program("12:  instance\t-2.5e3 + neg ");
  EXPECT_EQ(made.bits, 12U);
  ASSERT_EQ(made.terms.size(), 4U);
  EXPECT_EQ(made.terms[0].field, instrument::HintField::Instance);
  EXPECT_EQ(made.terms[1].number, -2500.0);
  EXPECT_STREQ(instrument::kHintOperations.at(made.terms[2].operation).name, "+");
  EXPECT_STREQ(instrument::kHintOperations.at(made.terms[3].operation).name, "neg");
  EXPECT_TRUE(made.uses(instrument::HintField::Instance));
  EXPECT_FALSE(made.uses(instrument::HintField::X));
}

TEST(HintPrograms, FaultsAreNamed) {
  const auto why = [](std::string_view text) {
    std::string reason;
    EXPECT_FALSE(instrument::parse_hint_program(text, reason)) << text;
    return reason;
  };
  for (const char* text : {"", "x", "0: x", "33: x", "4 x", ": x", "4 4: x", "-1: x", "4x: x"}) {
    EXPECT_THAT(why(text), HasSubstr("1 to 32, and a colon")) << text;
  }
  EXPECT_THAT(why("4: object"), HasSubstr("'object' is no number, field or operation"));
  EXPECT_THAT(why("4: inf"), HasSubstr("'inf'"));
  EXPECT_THAT(why("4: nan"), HasSubstr("'nan'"));
  EXPECT_THAT(why("4: 1e999"), HasSubstr("'1e999'"));
  EXPECT_THAT(why("4:"), HasSubstr("leaves 0 values"));
  EXPECT_THAT(why("4: x y"), HasSubstr("leaves 2 values"));
  EXPECT_THAT(why("4: x +"), HasSubstr("'+' needs 2 values before it and finds 1"));
  EXPECT_THAT(why("4: x y if"), HasSubstr("'if' needs 3 values"));
  std::string many = "4: x";
  for (int i = 0; i < 5000; ++i) {
    many += " neg";
  }
  EXPECT_THAT(why(many), HasSubstr("more than 4096 terms"));
  std::string high = "4:";
  for (int i = 0; i < 1100; ++i) {
    high += " x";
  }
  EXPECT_THAT(why(high), HasSubstr("more than 1024 values at once"));
}

}  // namespace
}  // namespace rayreplay
