// Bad input, bad words, full disks, interruptions: one clear message, the documented exit code, nothing half-written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "capture/trace/writer.hpp"
#include "tests/app/small_trace.hpp"
#include "tests/support/launch_builder.hpp"

namespace rayreplay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class FailureTest : public SmallTrace {
 protected:
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static void expect(const Outcome& outcome, int code, const std::string& part) {
    EXPECT_EQ(outcome.code, code) << outcome.errors;
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, StartsWith("rayreplay: error: "));
    EXPECT_THAT(outcome.errors, HasSubstr(part));
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  }
};

TEST_F(FailureTest, UnknownWordsSuggestTheNearest) {
  expect(run_command({"whatfi", trace()}), 2, "'whatif'");
  expect(run_command({"whatif", trace(), "--packng", "numrays"}), 2, "'--packing'");
  expect(run_command({"whatif", trace(), "--treads", "2"}), 2, "'--threads'");
  expect(run_command({"whatif", trace(), "--packing", "numray"}), 2, "'numrays'");
  expect(run_command({"whatif", trace(), "--packing", "random:sed=3"}), 2, "'seed'");
  expect(run_command({"whatif", trace(), "--format", "jsn"}), 2, "'json'");
  expect(run_command({"whatif", trace(), "--policy", "min-shade"}), 2, "'min-shader'");
  expect(run_command({"whatif", trace(), "--order", "z-ordr"}), 2, "'z-order'");
  expect(run_command({"whatif", trace(), "--cost", "closest-hti=3"}), 2, "'closest-hit'");
  expect(run_command({"trace", "--scene", "one-weekand", "-o", scratch_ / "x"}), 2, "'one-weekend'");
  expect(run_command({"trace", "--scene", "cornell", "--integrator", "pth", "-o", scratch_ / "x"}), 2, "'path'");
  expect(run_command({"trace", "--scene", "cornell", "--hit-groups", "singel", "-o", scratch_ / "x"}), 2, "'single'");
  expect(run_command({"whatif", trace(), "--policy", "majority"}), 2, "'stage-majority'");
  expect(run_command({"whatif", trace(), "--cost", "closest=3"}), 2, "'closest-hit'");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, NumbersThatDoNotConvertSayWhatIsExpected) {
  const auto traced = [&](const std::string& option, const std::string& value) {
    return run_command({"trace", "--scene", "cornell", option, value, "-o", scratch_ / "x"});
  };
  for (const char* seed : {"-1", "18446744073709551616", "1.5", "one"}) {
    expect(traced("--seed", seed), 2, "expected a whole number from 0 to 18446744073709551615");
  }
  for (const char* option : {"--spp", "--depth"}) {
    expect(traced(option, "0"), 2, std::string(option) + ": the value is out of range (found 0; expected 1 to 65535)");
    expect(traced(option, "65536"), 2, "found 65536");
  }
  expect(traced("--depth", "-1"), 2, "--depth: the value is not a whole number (found '-1'; expected a whole number");
  expect(traced("--spp", "many"), 2, "--spp: the value is not a whole number (found 'many'; expected a whole number");
  expect(traced("--spp", "4294967296"), 2, "--spp: the value is too large (found '4294967296'; expected at most");
  expect(run_command({"whatif", trace(), "--launch", "-1"}), 2,
         "--launch: the value is out of range (found '-1'; expected 0 to 4294967295)");
  expect(run_command({"whatif", trace(), "--launch", "one"}), 2, "--launch: the value is not a whole number");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

// An empty value would count as an option that was left out.
TEST_F(FailureTest, EmptyValuesAreRefused) {
  for (const auto& [command, option] : {std::pair{"cache", "--schedule-file"},
                                        {"cache", "--histograms"},
                                        {"cache", "--report"},
                                        {"cache", "-o"},
                                        {"whatif", "--packing"},
                                        {"whatif", "--swizzle"},
                                        {"whatif", "--segments"},
                                        {"whatif", "--timeline-model"},
                                        {"whatif", "--set"},
                                        {"sweep", "-o"},
                                        {"sweep", "--memory"},
                                        {"results", "--where"}}) {
    const Outcome outcome = run_command({command, trace(), option, ""});
    expect(outcome, 2, "the value is empty (found ''; expected ");
    EXPECT_THAT(outcome.errors, HasSubstr(option));
    EXPECT_THAT(outcome.errors, HasSubstr("Fix: give a value, or leave the option out"));
  }
  expect(run_command({"cache", trace(), "--schedule-file="}), 2, "--schedule-file: the value is missing");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, LaunchesThatCannotFitAreCode5) {
  RunOptions limited;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they reserve terabytes of addresses
  limited.max_memory_bytes = std::size_t{4} << 30U;
#endif
  expect(run_command({"trace", "--scene", "cornell", "--size", "65535x65535", "-o", scratch_ / "x"}, limited), 5,
         "bytes available");
  expect(run_command({"order", "--size", "65535x65535", "-o", scratch_ / "x"}, limited), 5, "bytes available");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, UsageFaultsAreCode2) {
  expect(run_command({}), 2, "a command is needed");
  expect(run_command({"whatif"}), 2, "trace");
  expect(run_command({"whatif", trace(), "extra"}), 2, "unexpected argument");
  expect(run_command({"whatif", trace(), "--warp-size", "65"}), 2, "--warp-size");
  expect(run_command({"whatif", trace(), "--launch", "7"}), 2, "0 to 0");
  expect(run_command({"trace", "--scene", "cornell", "--size", "12", "-o", scratch_ / "x"}), 2, "1280x720");
  for (const char* size : {"0x5", "5x", "x5", "5x5x5x5", "5x5x2", "-5x5", "99999999999x1", "5 x5"}) {
    EXPECT_EQ(run_command({"trace", "--scene", "cornell", "--size", size, "-o", scratch_ / "x"}).code, 2) << size;
  }
}

TEST_F(FailureTest, MessagesNameTheOptionOrTheKey) {
  expect(run_command({"trace", "--scene", "cornel", "-o", scratch_ / "x"}), 2,
         "--scene: unknown scene (found 'cornel'");
  expect(run_command({"replay", trace(), "--launch", "7"}), 2,
         "launch: the trace has no launch of this number (found 7; expected 0 to 0). Fix: rayreplay info lists");
  expect(run_command({"whatif", trace(), "--colormap", "virdis"}), 2, "--colormap: unknown colour map");
  expect(run_command({"list", "keys", "--markdown", "--format", "json"}), 2, "--markdown and --format");
  expect(run_command({"instrument", scratch_ / ".", "-o", scratch_ / "x"}), 3, "found a folder; expected a file)");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, HelpAndVersionAreNoFailures) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"whatif", "--help"}, {"--version"}}) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.errors, "");
    EXPECT_THAT(outcome.output, HasSubstr("rayreplay"));
  }
  EXPECT_THAT(run_command({"whatif", "--help"}).output, HasSubstr("--packing"));
}

TEST_F(FailureTest, BadTracesAreCode3) {
  const std::string bytes = read_bytes(trace());
  write(scratch_ / "empty", "");
  write(scratch_ / "cut", bytes.substr(0, bytes.size() / 2));
  std::string flipped = bytes;
  flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x10);
  write(scratch_ / "flipped", flipped);
  for (const std::string name : {"missing", "empty", "cut", "flipped"}) {
    const Outcome refused = run_command({"whatif", scratch_ / name});
    expect(refused, 3, scratch_ / name);
    const Outcome no_info = run_command({"info", scratch_ / name});
    expect(no_info, 3, scratch_ / name);
    EXPECT_EQ(no_info.errors, refused.errors);
    const Outcome outcome = run_command({"validate", scratch_ / name});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.output, HasSubstr("1 fault")) << outcome.output;
  }
}

TEST_F(FailureTest, ValidateListsEveryFaultUpToTheLimit) {
  LaunchBuilder builder({3, 1, 1});
  builder.thread().begin(0).miss(1).miss(1);
  builder.thread().begin(0).miss(1);
  builder.thread().begin(0).miss(1).miss(1);
  trace::Trace faulty;
  faulty.shaders = {{trace::ShaderStage::RayGeneration, "main", "raygen", {}},
                    {trace::ShaderStage::Miss, "main", "sky", {}}};
  faulty.launches = {builder.build()};
  trace::write(faulty, scratch_ / "faulty.rrt");
  const Outcome outcome = run_command({"validate", scratch_ / "faulty.rrt", "--format", "json"});
  EXPECT_EQ(outcome.code, 3);
  const nlohmann::json answer = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(answer["sound"], false);
  EXPECT_EQ(answer["faults"].size(), 2U);
  EXPECT_THAT(run_command({"validate", scratch_ / "faulty.rrt", "--limit", "1"}).output, HasSubstr("1 or more"));
  EXPECT_EQ(run_command({"validate", trace()}).code, 0);
  expect(run_command({"whatif", scratch_ / "faulty.rrt"}), 3, "/launch/0/events");
}

TEST_F(FailureTest, BadSideFilesAreRefused) {
  write(scratch_ / "short.bin", std::string(12, '\0'));
  expect(run_command({"whatif", trace(), "--swizzle", scratch_ / "short.bin"}), 3, "short.bin");
  write(scratch_ / "twice.bin", std::string(64 * 36 * 4, '\0'));
  expect(run_command({"whatif", trace(), "--swizzle", scratch_ / "twice.bin"}), 3, "twice.bin");
  write(scratch_ / "c.toml", "warpsize = 3\n");
  expect(run_command({"whatif", trace(), "--config", scratch_ / "c.toml"}), 2, "'warp_size'");
  expect(run_command({"whatif", trace(), "--config", scratch_ / "none.toml"}), 3, "none.toml");
  write(scratch_ / "p.toml", "title = 3\n");
  expect(run_command({"whatif", trace(), "--compare", scratch_ / "p.toml"}), 3, "p.toml");
  expect(run_command({"whatif", trace(), "--report", scratch_ / "r", "--image", scratch_ / "c.toml"}), 3, "PNG");
}

TEST_F(FailureTest, OutputsAreNotReplacedUnlessForced) {
  const std::string file = scratch_ / "out.json";
  ASSERT_EQ(run_command({"whatif", trace(), "-o", file}).code, 0);
  const std::string before = read_bytes(file);
  expect(run_command({"whatif", trace(), "--format", "json", "-o", file}), 4, "--force");
  EXPECT_EQ(read_bytes(file), before);
  EXPECT_EQ(run_command({"whatif", trace(), "--format", "json", "-o", file, "--force"}).code, 0);
  EXPECT_NE(read_bytes(file), before);
  expect(run_command({"trace", "--scene", "cornell", "--size", "8x8", "-o", file}), 4, "--force");
  expect(run_command({"swizzle", trace(), "-o", file}), 4, "--force");
  expect(run_command({"order", trace(), "-o", file}), 4, "--force");
  expect(run_command({"whatif", trace(), "-o", scratch_ / "no/such/folder"}), 4, "mkdir");
  expect(run_command({"whatif", trace(), "-o", file + "/x"}), 4, "the output's folder is a file");
  for (const char* command : {"cache", "whatif"}) {
    expect(run_command({command, trace(), "-o", scratch_ / "."}), 4, "the output is a folder");
  }
  expect(run_command({"cache", trace(), "--elements", scratch_ / "."}), 4,
         "the output is a folder (expected the name of a file). Fix: name a file in it");
  EXPECT_THAT(scratch_.names(), ElementsAre("out.json"));
}

TEST_F(FailureTest, PicturesTooLargeToEncodeAreRefusedBeforeAnyWork) {
  // So many pixels that neither the memory nor the time of any work on them would be there.
  expect(run_command({"trace", "--scene", "cornell", "--size", "1000000x1000000", "-o", scratch_ / "t.rrt", "--image",
                      scratch_ / "t.png"}),
         5, "1073741824");
  expect(run_command({"order", "--size", "1000000x1000000", "-o", scratch_ / "o.png"}), 5, "--size");
  expect(run_command({"order", "--size", "4294967295x4294967295", "-o", scratch_ / "o.png"}), 5, "--size");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, OutputsAreNeitherInputsNorEachOther) {
  const std::string copy = scratch_ / "t.rrt";
  const std::string link = scratch_ / "link.rrt";
  const std::string config = scratch_ / "c.toml";
  const std::string fresh = scratch_ / "new";
  write(copy, read_bytes(trace()));
  std::filesystem::create_symlink(copy, link);
  write(config, "launch = 0\n");
  for (const std::string name : {"whatif", "replay", "swizzle", "order"}) {
    expect(run_command({name, copy, "-o", copy, "--force"}), 2, "also an input");
    expect(run_command({name, link, "-o", copy, "--force"}), 2, "also an input");
    expect(run_command({name, copy, "-o", scratch_ / "./t.rrt"}), 2, "--output and the trace");
    expect(run_command({name, copy, "--config", config, "-o", config, "--force"}), 2, "--output and --config");
  }
  expect(run_command({"whatif", copy, "--swizzle", config, "-o", config, "--force"}), 2, "--swizzle");
  expect(run_command({"whatif", copy, "--report", fresh, "-o", fresh}), 2, "two outputs");
  expect(run_command({"whatif", copy, "--report", fresh + "/", "-o", fresh}), 2, "two outputs");
  expect(run_command({"whatif", copy, "--report", fresh, "--image", image(), "-o", image(), "--force"}), 2, "--image");
  expect(run_command({"whatif", copy, "--report", scratch_ / ".", "--force"}), 2, "lies in the folder");
  expect(run_command({"trace", "--scene", "cornell", "--size", "8x8", "-o", fresh, "--image", fresh}), 2,
         "two outputs");
  write(scratch_ / "m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  expect(run_command({"trace", "--scene", scratch_ / "m.obj", "-o", scratch_ / "m.obj", "--force"}), 2,
         "also an input");
  EXPECT_TRUE(read_bytes(copy) == read_bytes(trace()));
  EXPECT_THAT(scratch_.names(), ElementsAre("c.toml", "link.rrt", "m.obj", "t.rrt"));
  EXPECT_EQ(run_command({"whatif", copy, "-o", "/dev/null"}).code, 0);
}

TEST_F(FailureTest, AFullDiskLeavesNothing) {
  // Large enough for the message on standard error, too small for the outputs.
  RunOptions full;
  full.max_file_bytes = 4096;
  const std::vector<std::pair<std::string, std::vector<std::string>>> writers = {
      {"t.rrt", {"trace", "--scene", "one-weekend", "--size", "64x36", "-o", scratch_ / "t.rrt"}},
      {"report", {"whatif", trace(), "--report", scratch_ / "report"}},
      {"w.json", {"whatif", trace(), "--format", "json", "-o", scratch_ / "w.json"}},
      {"s.bin", {"swizzle", trace(), "-o", scratch_ / "s.bin"}},
      {"o.png", {"order", trace(), "-o", scratch_ / "o.png"}},
      {"b.vtp", {"bvh", trace(), "--vtp", scratch_ / "b.vtp", "-o", "/dev/null"}},
      {"m.rrm", {"cache", trace(), "-o", "/dev/null", "--export", scratch_ / "m.rrm"}},
      {"maps", {"explain", trace(), "--hardware", "near-first", "--maps", scratch_ / "maps"}},
  };
  for (const auto& [name, words] : writers) {
    const Outcome outcome = run_command(words, full);
    expect(outcome, 4, name);
    EXPECT_THAT(outcome.errors, HasSubstr(". Fix: ")) << name;
  }
  // A full device.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"whatif", trace(), "-o", "/dev/full"},
        {"explain", trace(), "--hardware", "near-first", "--result", "/dev/full", "-o", "/dev/null"}}) {
    const Outcome outcome = run_command(words);
    expect(outcome, 4, "/dev/full");
    EXPECT_THAT(outcome.errors, HasSubstr(". Fix: "));
  }
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, AnInterruptionLeavesNothing) {
  RunOptions interrupted;
  // As soon as the output has been begun: long before so many samples are done.
  interrupted.interrupt_when = [this] { return !scratch_.names().empty(); };
  const Outcome outcome =
      run_command({"trace", "--scene", "one-weekend", "--size", "1280x720", "--spp", "5000", "-o", scratch_ / "t.rrt"},
                  interrupted);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.errors, "rayreplay: interrupted\n");
  EXPECT_THAT(scratch_.names(), IsEmpty());
}

TEST_F(FailureTest, AReaderThatHasGoneIsNoError) {
  RunOptions gone;
  gone.close_reader = true;
  const Outcome outcome = run_command({"list"}, gone);
  EXPECT_EQ(outcome.code, 141);
  EXPECT_EQ(outcome.errors, "");
}

}  // namespace
}  // namespace rayreplay::test
