// Hit objects: which trace call made them, and the EXT instructions, which the validator at hand does not know.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "capture/spirv/module.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/instrument/support/listing.hpp"

namespace rayreplay {
namespace {

using spirv::Instruction;
using spirv::number;
using spv::Op;

constexpr std::uint32_t kFusedTrace = spirv::kOpHitObjectTraceReorderExecuteEXT;

std::vector<std::uint32_t> opcodes_of(const test::Words& words) {
  std::vector<std::uint32_t> opcodes;
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
    opcodes.push_back(words[at] & 0xFFFF);
  }
  return opcodes;
}

std::size_t count(const test::Words& words, std::uint32_t opcode) {
  const auto opcodes = opcodes_of(words);
  return static_cast<std::size_t>(std::count(opcodes.begin(), opcodes.end(), opcode));
}

/// The NV module with EXT's numbers for the instructions that both have.
test::Words as_ext(test::Words words) {
  const std::map<std::uint32_t, std::uint32_t> numbers = {
      {number(Op::OpTypeHitObjectNV), spirv::kOpTypeHitObjectEXT},
      {number(Op::OpHitObjectTraceRayNV), spirv::kOpHitObjectTraceRayEXT},
      {number(Op::OpHitObjectRecordEmptyNV), spirv::kOpHitObjectRecordEmptyEXT},
      {number(Op::OpHitObjectExecuteShaderNV), spirv::kOpHitObjectExecuteShaderEXT},
      {number(Op::OpReorderThreadWithHitObjectNV), spirv::kOpReorderThreadWithHitObjectEXT},
      {number(Op::OpReorderThreadWithHintNV), spirv::kOpReorderThreadWithHintEXT}};
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if (const auto found = numbers.find(words[at] & 0xFFFF); found != numbers.end()) {
      words[at] = (words[at] & 0xFFFF0000) | found->second;
    }
  }
  return words;
}

/// And back, so that the result can be validated.
test::Words as_nv(test::Words words) {
  const std::map<std::uint32_t, std::uint32_t> numbers = {
      {spirv::kOpTypeHitObjectEXT, number(Op::OpTypeHitObjectNV)},
      {spirv::kOpHitObjectTraceRayEXT, number(Op::OpHitObjectTraceRayNV)},
      {spirv::kOpHitObjectRecordEmptyEXT, number(Op::OpHitObjectRecordEmptyNV)},
      {spirv::kOpHitObjectExecuteShaderEXT, number(Op::OpHitObjectExecuteShaderNV)},
      {spirv::kOpReorderThreadWithHitObjectEXT, number(Op::OpReorderThreadWithHitObjectNV)},
      {spirv::kOpReorderThreadWithHintEXT, number(Op::OpReorderThreadWithHintNV)}};
  for (std::size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if (const auto found = numbers.find(words[at] & 0xFFFF); found != numbers.end()) {
      words[at] = (words[at] & 0xFFFF0000) | found->second;
    }
  }
  return words;
}

const test::Words& module() {
  return test::corpus_module("hit_objects.rgen.vulkan1.2").words;
}

TEST(HitObjects, ExtIsRewrittenAsNvIs) {
  const auto nv = instrument::instrument(module(), test::plain_options());
  const auto ext = instrument::instrument(as_ext(module()), test::plain_options());
  ASSERT_EQ(nv.status, instrument::Status::Instrumented);
  ASSERT_EQ(ext.status, instrument::Status::Instrumented) << ext.reason;
  EXPECT_EQ(as_nv(ext.spirv), nv.spirv);
  EXPECT_TRUE(nv.notes.empty());
  EXPECT_EQ(nv.sites.size(), 3U);
}

// A fused instruction is taken apart into what it is defined as, and the parts are recorded.
TEST(HitObjects, FusedInstructionsAreTakenApart) {
  std::string reason;
  auto parsed = spirv::parse(as_ext(module()), reason);
  ASSERT_TRUE(parsed);
  // Each trace of a hit object becomes a fused one, with hint and bits on those of even number.
  std::size_t fused = 0;
  for (spirv::Function& function : parsed->functions) {
    for (Instruction& i : function.body) {
      if (i.op() == spirv::kOpHitObjectTraceRayEXT) {
        Instruction whole(kFusedTrace, i.operands());
        if (fused % 2 == 0) {
          whole.add(i[4]);
          whole.add(i[5]);
        }
        i = whole;
        ++fused;
      }
    }
  }
  ASSERT_EQ(fused, 2U);
  const test::Words words = parsed->serialise();
  const auto result = instrument::instrument(words, test::plain_options());
  ASSERT_EQ(result.status, instrument::Status::Instrumented) << result.reason;
  EXPECT_EQ(count(result.spirv, kFusedTrace), 0U);
  EXPECT_EQ(count(result.spirv, spirv::kOpHitObjectTraceRayEXT), fused);
  EXPECT_EQ(count(result.spirv, spirv::kOpReorderThreadWithHitObjectEXT),
            count(words, spirv::kOpReorderThreadWithHitObjectEXT) + fused);
  EXPECT_EQ(count(result.spirv, spirv::kOpHitObjectExecuteShaderEXT),
            count(words, spirv::kOpHitObjectExecuteShaderEXT) + fused);
  EXPECT_EQ(test::validate(as_nv(result.spirv), "vulkan1.2"), "");
}

// All trace calls of a shader call are counted, from 0.
TEST(HitObjects, TraceCallsAreCounted) {
  const test::Listing before = test::list(module());
  const test::Listing after = test::list(instrument::instrument(module(), test::plain_options()).spirv);
  std::size_t traces = 0;
  std::size_t counted = 0;
  for (const auto& [id, lines] : before.functions) {
    traces += test::count(lines, {"OpTraceRayKHR", "OpHitObjectTraceRayNV"});
    counted += test::count(after.functions.at(id), {"OpIAdd"}) - test::count(lines, {"OpIAdd"});
  }
  EXPECT_EQ(traces, 3U);
  EXPECT_EQ(counted, traces);
  std::size_t zeros = 0;
  for (const std::string& line : after.functions.at(after.entry_points.at(0).function)) {
    const std::vector<std::string> words = test::words_of(line);
    zeros += words[0] == "OpStore" && after.constants.at(words[2]) == 0 ? 1U : 0U;
  }
  EXPECT_EQ(zeros, 1U);
}

// The shader that an execute call runs may belong to another ray than that of the last trace call.
TEST(HitObjects, ExecuteKeepsItsRaysFlags) {
  instrument::Options options = test::plain_options();
  // Execute calls with a call of rr_keep_flags as the last one before them.
  const auto kept_before_execute = [&] {
    const test::Listing listing = test::list(instrument::instrument(module(), options).spirv);
    std::size_t kept = 0;
    for (const auto& [id, lines] : listing.functions) {
      bool keeps = false;
      for (const std::string& line : lines) {
        if (const std::string callee = test::callee_of(listing, line); !callee.empty()) {
          keeps = callee == "rr_keep_flags";
        }
        kept += keeps && line.find("OpHitObjectExecuteShaderNV") != std::string::npos ? 1U : 0U;
      }
    }
    return kept;
  };
  options.observe_all = true;
  EXPECT_EQ(kept_before_execute(), 0U);
  options.ray_flags_threads = 64;
  EXPECT_EQ(kept_before_execute(), 2U);
}

TEST(HitObjects, ExecuteTellsTheShadowOfItsObject) {
  const auto result = instrument::instrument(module(), test::plain_options());
  const test::Listing listing = test::list(result.spirv);
  std::size_t executes = 0;
  for (const auto& [id, lines] : listing.functions) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (test::callee_of(listing, lines[i]) != "rr_execute") {
        continue;
      }
      // The last argument is loaded from a variable, into which every trace of this object stores its number.
      const std::string ray = test::words_of(lines[i]).back();
      std::string shadow;
      for (const std::string& line : lines) {
        if (test::result_of(line) == ray && test::opcode_of(line) == "OpLoad") {
          shadow = test::words_of(line).back();
        }
      }
      ASSERT_NE(shadow, "");
      std::size_t stores = 0;
      for (const std::string& line : listing.lines) {
        const auto words = test::words_of(line);
        stores += words.size() == 3 && words[0] == "OpStore" && words[1] == shadow ? 1U : 0U;
      }
      EXPECT_EQ(stores, 2U);  // one trace, one record-miss or record-empty each
      ++executes;
    }
  }
  EXPECT_EQ(executes, 2U);
}

}  // namespace
}  // namespace rayreplay
