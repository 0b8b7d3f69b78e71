// Lines of instructions, and texts of lines.
#include "capture/spirv/source_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/spirv/control_flow.hpp"
#include "tests/instrument/support/corpus.hpp"
#include "tests/spirv/known_module.hpp"
#include "tests/spirv/module_maker.hpp"

namespace rayreplay::spirv {
namespace {

using spv::Op;
using test::Known;
using test::ModuleMaker;

constexpr Id kFile = 50, kOther = 51, kText = 52, kMore = 53, kSet = 60, kSource = 61, kLine7 = 62, kLine8 = 63;

Instruction with_text(Op op, std::initializer_list<Word> operands, std::string_view text) {
  Instruction instruction(op, operands);
  for (const Word word : string_words(text)) {
    instruction.add(word);
  }
  return instruction;
}

std::vector<Word> numbers_of(const SourceLines& lines, const Module& module, std::uint32_t function) {
  std::vector<Word> numbers;
  for (std::uint32_t i = 0; i < module.functions[function].body.size(); ++i) {
    numbers.push_back(lines.at({function, i}).number);
  }
  return numbers;
}

TEST(SourceLines, EndWithTheirBlock) {
  ModuleMaker maker;
  maker.entry(10).global(Op::OpLine, {kFile, 3, 0});
  maker.function(10).label(11).add(Op::OpUndef, {2, 12}).add(Op::OpLine, {kFile, 5, 1});
  maker.add(Op::OpUndef, {2, 13}).add(Op::OpBranch, {14});
  maker.label(14).add(Op::OpUndef, {2, 15}).add(Op::OpLine, {kFile, 6, 0}).add(Op::OpUndef, {2, 16});
  maker.add(Op::OpNoLine, {}).add(Op::OpUndef, {2, 17}).end();
  maker.add(Op::OpLine, {kFile, 9, 0});
  maker.function(20).label(21).end();
  const Known known(maker.make());
  const SourceLines lines(known.analysed);
  EXPECT_THAT(numbers_of(lines, known.module, 0), testing::ElementsAre(3, 3, 3, 5, 5, 5, 0, 0, 6, 6, 0, 0, 0, 0, 9));
  EXPECT_THAT(numbers_of(lines, known.module, 1), testing::ElementsAre(9, 9, 9, 0));
}

/// A slow twin: a search backwards through all instructions before.
SourceLines::Line line_before(const Known& known, std::uint32_t function, std::uint32_t instruction) {
  std::vector<const Instruction*> before;
  for (const Instruction& i : known.module.globals) {
    before.push_back(&i);
  }
  for (std::uint32_t f = 0; f <= function; ++f) {
    const auto& body = known.module.functions[f].body;
    for (std::uint32_t i = 0; i < (f == function ? instruction + 1 : body.size()); ++i) {
      before.push_back(&body[i]);
    }
  }
  for (std::size_t at = before.size(); at-- > 0;) {
    const Instruction& i = *before[at];
    if ((at + 1 < before.size() && ending_of(i.op())) || i.is(Op::OpNoLine)) {
      return {};
    }
    if (i.is(Op::OpLine)) {
      return {i[1], i[2]};
    }
    const Instruction* set = nullptr;
    for (const Instruction& import : known.module.imports) {
      set = i.is(Op::OpExtInst) && import[1] == i[3] ? &import : set;
    }
    if (set == nullptr || set->string(2) != "NonSemantic.Shader.DebugInfo.100") {
      continue;
    }
    if (i[4] == 104) {
      return {};
    }
    if (i[4] == 103) {
      return {(*known.analysed.index.definition(i[5]))[5], *known.analysed.index.constant(i[6])};
    }
  }
  return {};
}

TEST(SourceLines, OfTheCorpusAreThoseOfASearchBackwards) {
  std::size_t found = 0;
  for (const test::CorpusModule& module : test::corpus()) {
    if (module.words.size() > 4000) {
      continue;
    }
    const auto known = test::known(module.words);
    const SourceLines lines(known->analysed);
    for (std::uint32_t f = 0; f < known->module.functions.size(); ++f) {
      for (std::uint32_t i = 0; i < known->module.functions[f].body.size(); ++i) {
        const SourceLines::Line line = lines.at({f, i});
        ASSERT_EQ(line, line_before(*known, f, i)) << module.name << " " << f << " " << i;
        found += line.number != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, 1000U);
}

/// A function with lines 1 to 12 of kFile and 1 to 3 of kOther.
Module with_lines() {
  ModuleMaker maker;
  maker.entry(10).function(10).label(11);
  for (Word line = 1; line <= 12; ++line) {
    maker.add(Op::OpLine, {kFile, line, 0}).add(Op::OpUndef, {2, 70 + line});
  }
  for (Word line = 1; line <= 3; ++line) {
    maker.add(Op::OpLine, {kOther, line, 0}).add(Op::OpUndef, {2, 90 + line});
  }
  Module module = maker.end().make();
  module.debug = {with_text(Op::OpString, {kFile}, "a.rgen"), with_text(Op::OpString, {kOther}, "b.glsl")};
  return module;
}

TEST(SourceLines, HaveTheTextThatTheModuleHolds) {
  Module module = with_lines();
  module.debug.push_back(with_text(Op::OpSource, {2, 460, kFile}, "one\r\n\ntwo and "));
  module.debug.push_back(with_text(Op::OpSourceContinued, {}, "a half\nfour"));
  module.debug.push_back(with_text(Op::OpSource, {2, 460, kFile}, "a second text"));
  const Known known(module);
  const SourceLines lines(known.analysed);
  EXPECT_EQ(lines.text({kFile, 1}), "one");
  EXPECT_EQ(lines.text({kFile, 2}), "");
  EXPECT_EQ(lines.text({kFile, 3}), "two and a half");
  EXPECT_EQ(lines.text({kFile, 4}), "four");
  EXPECT_EQ(lines.text({kFile, 5}), "");
  EXPECT_EQ(lines.text({kFile, 0xFFFFFFFF}), "");
  EXPECT_EQ(lines.text({kOther, 1}), "");
  EXPECT_EQ(lines.text({}), "");
  EXPECT_EQ(lines.file({kFile, 1}), "a.rgen");
  EXPECT_EQ(lines.file({}), "");
}

TEST(SourceLines, AreNumberedByDirectives) {
  Module module = with_lines();
  module.debug.push_back(with_text(Op::OpSource, {2, 460, kFile},
                                   "// preamble\n#line 1\nfirst\n # line 7 0 // own\nseventh\n#line 1 2\nelsewhere\n"
                                   "#line 10 \"b.glsl\"\nelsewhere\n#line 12\ntwelfth\n#line x\n"));
  const Known known(module);
  const SourceLines lines(known.analysed);
  EXPECT_EQ(lines.text({kFile, 1}), "first");
  EXPECT_EQ(lines.text({kFile, 7}), "seventh");
  EXPECT_EQ(lines.text({kFile, 10}), "");
  EXPECT_EQ(lines.text({kFile, 12}), "twelfth");
}

TEST(SourceLines, OfDebugInformation) {
  ModuleMaker maker;
  maker.entry(10).global(Op::OpConstant, {2, kLine7, 7}).global(Op::OpConstant, {2, kLine8, 8});
  maker.global(Op::OpExtInst, {1, kSource, kSet, 35, kFile, kText});
  maker.global(Op::OpExtInst, {1, 64, kSet, 102, kMore});
  maker.function(10).label(11);
  maker.add(Op::OpExtInst, {1, 65, kSet, 103, kSource, kLine7, kLine7, 8, 8}).add(Op::OpUndef, {2, 66});
  maker.add(Op::OpExtInst, {1, 67, kSet, 103, kSource, kLine8, kLine8, 8, 8}).add(Op::OpUndef, {2, 68});
  maker.add(Op::OpExtInst, {1, 69, kSet, 104}).add(Op::OpUndef, {2, 70});
  // Lines of ids that are no source, and no constant.
  maker.add(Op::OpExtInst, {1, 71, kSet, 103, kLine7, 99, 99, 8, 8}).end();
  Module module = maker.make();
  module.imports = {with_text(Op::OpExtInstImport, {kSet}, "NonSemantic.Shader.DebugInfo.100")};
  module.debug = {with_text(Op::OpString, {kFile}, "a.rgen"),
                  with_text(Op::OpString, {kText}, "1\n2\n3\n4\n5\n6\nseven\nei"),
                  with_text(Op::OpString, {kMore}, "ght")};
  const Known known(module);
  const SourceLines lines(known.analysed);
  EXPECT_THAT(numbers_of(lines, known.module, 0), testing::ElementsAre(0, 0, 7, 7, 8, 8, 0, 0, 0, 0, 0));
  EXPECT_EQ(lines.file(lines.at({0, 3})), "a.rgen");
  EXPECT_EQ(lines.text(lines.at({0, 3})), "seven");
  EXPECT_EQ(lines.text(lines.at({0, 5})), "eight");
}

TEST(SourceLines, ATextThatIsNamedVeryOftenCountsUpToTheLimit) {
  ModuleMaker maker;
  maker.entry(10).function(10).label(11);
  constexpr Id kFirst = 1000;
  constexpr Id kFiles = 600;
  const std::string text(200'000, 'x');
  Module module;
  for (Id file = kFirst; file < kFirst + kFiles; ++file) {
    maker.add(Op::OpLine, {file, 1, 0});
    maker.global(Op::OpExtInst, {1, file + kFiles, kSet, 35, file, kText});
  }
  module = maker.end().make();
  module.imports = {with_text(Op::OpExtInstImport, {kSet}, "NonSemantic.Shader.DebugInfo.100")};
  module.debug = {with_text(Op::OpString, {kText}, text)};
  const Known known(module);
  const SourceLines lines(known.analysed);
  const std::size_t most = kMostSourceBytes / text.size();
  ASSERT_LT(most, kFiles);
  EXPECT_EQ(lines.text({kFirst + static_cast<Id>(most) - 1, 1}).size(), text.size());
  EXPECT_EQ(lines.text({kFirst + static_cast<Id>(most), 1}), "");
}

TEST(SourceLines, ATextEndsBeforeItsFirstPartBeyondTheLimit) {
  ModuleMaker maker;
  maker.entry(10).function(10).label(11);
  maker.add(Op::OpLine, {kFile, 1, 0}).add(Op::OpLine, {kFile, 2, 0}).add(Op::OpLine, {kFile, 3, 0});
  Module module = maker.end().make();
  // A continued text of fewer bytes would have room again behind the part without.
  module.debug = {with_text(Op::OpSource, {2, 460, kFile}, "one\ntw")};
  Instruction large(Op::OpSourceContinued, {});
  for (std::size_t word = 0; word <= kMostSourceBytes / sizeof(Word); ++word) {
    large.add(0x78787878);
  }
  large.add(0);
  module.debug.push_back(std::move(large));
  module.debug.push_back(with_text(Op::OpSourceContinued, {}, "o\nthree"));
  const Known known(module);
  const SourceLines lines(known.analysed);
  EXPECT_EQ(lines.text({kFile, 1}), "one");
  EXPECT_EQ(lines.text({kFile, 2}), "") << "a line with a hole";
  EXPECT_EQ(lines.text({kFile, 3}), "");
}

}  // namespace
}  // namespace rayreplay::spirv
