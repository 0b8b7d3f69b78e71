// rayreplay instrument, run as a user runs it.
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "capture/instrument/ser/insert.hpp"
#include "tests/app/run_command.hpp"
#include "tests/instrument/support/corpus.hpp"

namespace rayreplay {
namespace {

using test::Outcome;
using test::run_command;
using testing::HasSubstr;

class InstrumentCommand : public testing::Test {
 protected:
  [[nodiscard]] std::string save(const std::string& name, const test::Words& words) const {
    const std::string path = scratch_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
    return path;
  }
  [[nodiscard]] static test::Words load(const std::string& path) {
    const std::string bytes = test::read_bytes(path);
    test::Words words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), words.size() * 4);
    return words;
  }

  test::Scratch scratch_;
};

TEST_F(InstrumentCommand, WritesWhatTheLibraryMakes) {
  const test::Words& words = test::corpus_module("many_calls.rgen").words;
  const std::string in = save("in.spv", words);
  const std::string out = scratch_ / "out.spv";
  const Outcome outcome = run_command({"instrument",
                                       in,
                                       "-o",
                                       out,
                                       "--events",
                                       "0x123456780",
                                       "--events-words",
                                       "1048576",
                                       "--control",
                                       "0x200000000",
                                       "--first-shader",
                                       "5",
                                       "--every",
                                       "7",
                                       "--window",
                                       "1,2,3,4",
                                       "--observe-all",
                                       "--opacity",
                                       "0x300000000",
                                       "--ray-flags",
                                       "0x500000000",
                                       "--ray-flags-threads",
                                       "2048",
                                       "--swizzle",
                                       "0x400000000",
                                       "--swizzle-size",
                                       "64x32",
                                       "--clock",
                                       "--sm",
                                       "--wide",
                                       "--gate"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.errors, HasSubstr("shader 5: ray_generation 'main'"));
  EXPECT_THAT(outcome.errors, HasSubstr("set 0, binding 2"));
  instrument::Options options = test::plain_options();
  options.every = 7;
  options.window = instrument::Window{1, 2, 3, 4};
  options.observe_all = options.clock = options.sm = options.wide_subgroups = options.gate = true;
  options.opacity_address = 0x3'0000'0000;
  options.ray_flags_address = 0x5'0000'0000;
  options.ray_flags_threads = 2048;
  options.swizzle = instrument::SwizzleTable{0x4'0000'0000, 64, 32, 1};
  EXPECT_EQ(load(out), instrument::instrument(words, options).spirv);
}

TEST_F(InstrumentCommand, PrintsNotes) {
  const std::string in = save("in.spv", test::corpus_module("trace.rgen").words);
  const Outcome outcome =
      run_command({"instrument", in, "-o", scratch_ / "out.spv", "--observe-all", "--opacity", "0x300000000"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("note: observe_all: no memory for ray flags"));
}

TEST_F(InstrumentCommand, PrintsJson) {
  const std::string in = save("in.spv", test::corpus_module("shared_functions").words);
  const Outcome outcome = run_command({"instrument", in, "-o", scratch_ / "out.spv", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json["schema"], "rayreplay.instrument/1");
  EXPECT_EQ(json["instrumented"], true);
  EXPECT_EQ(json["entry_points"].size(), 4U);
  EXPECT_EQ(json["trace_sites"][1]["shader"], 1);
  EXPECT_EQ(json["trace_sites"][1]["binding"], 7);
}

TEST_F(InstrumentCommand, PutsReorderCallsIn) {
  const test::Words& words = test::corpus_module("insert_ser.rgen.vulkan1.2").words;
  const std::string in = save("in.spv", words);
  const std::string out = scratch_ / "out.spv";
  const Outcome plain = run_command({"instrument", in, "--no-record", "--insert-ser", "-o", out});
  ASSERT_EQ(plain.code, 0) << plain.errors;
  EXPECT_THAT(plain.errors, HasSubstr("threads are reordered behind 2 trace calls"));
  EXPECT_THAT(plain.errors, HasSubstr("1 trace call stays as it is"));
  EXPECT_EQ(load(out), instrument::insert_reordering(words, std::nullopt).spirv);
  const Outcome hinted =
      run_command({"instrument", in, "--insert-ser=3=y % 8", "--format", "json", "-o", scratch_ / "hinted.spv"});
  ASSERT_EQ(hinted.code, 0) << hinted.errors;
  EXPECT_EQ(nlohmann::json::parse(hinted.output)["reordering_trace_calls"], 2);
  EXPECT_EQ(test::validate(load(scratch_ / "hinted.spv"), "vulkan1.2"), "");
  EXPECT_EQ(run_command({"instrument", in, "--insert-ser=3=object", "-o", scratch_ / "none.spv"}).code, 2);
}

TEST_F(InstrumentCommand, LeavesOtherModulesAsTheyAre) {
  const test::Words& words = test::corpus_module("plain.comp").words;
  const std::string in = save("in.spv", words);
  const std::string out = scratch_ / "out.spv";
  const Outcome outcome = run_command({"instrument", in, "-o", out});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.errors, HasSubstr("unchanged"));
  EXPECT_EQ(load(out), words);
}

TEST_F(InstrumentCommand, ReplacesOutputsOnlyByForce) {
  const std::string in = save("in.spv", test::corpus_module("trace.rgen").words);
  const std::string out = save("out.spv", {1, 2, 3});
  EXPECT_EQ(run_command({"instrument", in, "-o", out}).code, 4);
  EXPECT_EQ(load(out), (test::Words{1, 2, 3}));
  EXPECT_EQ(run_command({"instrument", in, "-o", out, "--force"}).code, 0);
  EXPECT_NE(load(out), (test::Words{1, 2, 3}));
  EXPECT_EQ(run_command({"instrument", in, "-o", in, "--force"}).code, 2);
}

TEST_F(InstrumentCommand, SaysWhatIsWrong) {
  const std::string good = save("good.spv", test::corpus_module("trace.rgen").words);
  const std::string bad = save("bad.spv", {1, 2, 3});
  const std::string out = scratch_ / "out.spv";
  const auto expect = [&](std::vector<std::string> arguments, int code, const std::string& text) {
    arguments.insert(arguments.begin(), "instrument");
    arguments.insert(arguments.end(), {"-o", out});
    const Outcome outcome = run_command(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_THAT(outcome.errors, HasSubstr("rayreplay: error: "));
    EXPECT_THAT(outcome.errors, HasSubstr(text));
    EXPECT_EQ(outcome.output, "");
  };
  expect({bad}, 3, "SPIR-V header");
  expect({scratch_ / "none.spv"}, 3, "none.spv");
  expect({good, "--window", "1,2,3"}, 2, "--window");
  expect({good, "--window", "1,2,3,4,"}, 2, "--window");
  expect({good, "--events", "0x"}, 2, "--events");
  expect({good, "--events", "0x102"}, 2, "multiple of 4");
  expect({good, "--control", "128"}, 2, "multiple of 256");
  expect({good, "--swizzle", "256"}, 2, "--swizzle-size");
  expect({good, "--opacity", "256"}, 2, "--observe-all");
  expect({good, "--ray-flags", "256"}, 2, "--observe-all");
  expect({good, "--observe-all", "--ray-flags", "258"}, 2, "multiple of 4");
  expect({good, "--first-shader", "65536"}, 2, "--first-shader");
  expect({good, "--format", "csv"}, 2, "csv");
  EXPECT_EQ(run_command({"instrument", good, "-o", "-", "--format", "json"}).code, 2);
}

}  // namespace
}  // namespace rayreplay
