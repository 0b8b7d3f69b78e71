// The commands: a spool becomes a trace; what goes wrong with a capture is told apart by message and exit code.
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "capture/instrument/probes/record.h"
#include "capture/spool/writer.hpp"
#include "scheduler-models/swizzle_file.hpp"
#include "tests/ingest/support.hpp"
#include "tests/support/branching_shader.hpp"

namespace rayreplay::ingest {
namespace {

using test::synthesize;
using testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string output;  ///< both streams
};

class CaptureCommandTest : public IngestTest {
 protected:
  Outcome run(const std::string& arguments) {
    return run_line(std::string(RR_RAYREPLAY) + " " + arguments + " 2>&1");
  }
  /// A line of the shell.
  static Outcome run_line(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    Outcome outcome;
    char buffer[4096];
    while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) {
      outcome.output.append(buffer, count);
    }
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }
  [[nodiscard]] std::string quoted(const std::string& name) const {
    return "'" + file(name).string() + "'";
  }
};

TEST_F(CaptureCommandTest, IngestMakesATraceAndTellsOfIt) {
  test::SyntheticCapture capture = synthesize({.seed = 4, .launches = 2});
  capture.launches[0].launch.dropped.assign(RR_KINDS, 1);
  std::filesystem::create_directory(file("t.spool"));
  capture.write(file("t.spool") / "1.rrspool");
  const Outcome outcome = run("ingest " + quoted("t.spool") + " -o " + quoted("t.rrt"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("2 launches"));
  EXPECT_THAT(outcome.output, HasSubstr("not captured: launch 10: 10 events did not fit"));
  EXPECT_THAT(outcome.output, HasSubstr("observed SIMT"));
  EXPECT_EQ(run("validate " + quoted("t.rrt")).code, 0);
  EXPECT_EQ(run("ingest " + quoted("t.spool") + " -o " + quoted("t.rrt")).code, 4);
  const Outcome json = run("ingest --force --format json " + quoted("t.spool") + " -o " + quoted("t.rrt"));
  EXPECT_THAT(json.output, HasSubstr("\"schema\": \"rayreplay.ingest/1\""));
  EXPECT_THAT(run("replay " + quoted("t.rrt")).output, HasSubstr("observed on made up (warp size 8"));
  EXPECT_THAT(run("whatif --format json " + quoted("t.rrt")).output, HasSubstr("\"united_efficiency\""));
}

TEST_F(CaptureCommandTest, ProfileShowsShadersAndBlocks) {
  trace::Trace trace = test::random_trace({.seed = 2, .size = {2, 1, 1}});
  trace.header.warp_size = 8;
  trace.shaders[0] = {trace::ShaderStage::Miss, "main", "sky", test::branching_shader()};
  trace.launches.clear();
  trace::write(trace, file("none.rrt"));
  const Outcome none = run("profile " + quoted("none.rrt"));
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.output, HasSubstr("capture the application with --profile all"));
  trace.block_counts = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 2, 3}, {100, 60, 40, 100}, {25, 15, 10, 25}};
  trace::write(trace, file("t.rrt"));
  const Outcome table = run("profile " + quoted("t.rrt"));
  EXPECT_EQ(table.code, 0) << table.output;
  EXPECT_THAT(table.output, HasSubstr("SIMT by instruction"));
  EXPECT_THAT(table.output, HasSubstr("50.0 %"));
  EXPECT_THAT(run("profile --blocks --format csv " + quoted("t.rrt")).output,
              HasSubstr("0,0,sky,0,main,1,%11,0,4,60,15,0.5,false"));
  EXPECT_THAT(run("profile --format json " + quoted("t.rrt")).output, HasSubstr("\"schema\": \"rayreplay.profile/1\""));
  EXPECT_THAT(run("info " + quoted("t.rrt")).output, HasSubstr("4 counted blocks (rayreplay profile)"));
}

TEST_F(CaptureCommandTest, ProfileShowsAgreementOfBranchesAndLoads) {
  trace::Trace trace = test::random_trace({.seed = 2, .size = {2, 1, 1}});
  trace.header.warp_size = 8;
  trace.shaders[0] = {trace::ShaderStage::Miss, "main", "sky", test::branching_shader()};
  trace.launches.clear();
  trace.branch_counts = {{0}, {0}, {0}, {0}, {6}, {100}, {25}, {5}, {}};
  trace::write(trace, file("t.rrt"));
  const Outcome table = run("profile " + quoted("t.rrt"));
  EXPECT_EQ(table.code, 0) << table.output;
  EXPECT_THAT(table.output, HasSubstr("uniform executions"));
  EXPECT_THAT(table.output, HasSubstr("20.0 %"));
  EXPECT_THAT(run("profile --rows branches --format csv " + quoted("t.rrt")).output,
              HasSubstr("0,0,sky,0,main,0,%10,6,branch,,100,25,5,0.2,divergent"));
  EXPECT_THAT(run("profile --format csv " + quoted("t.rrt")).output,
              HasSubstr("0,0,miss,sky,branches,1,0,0,1,0,0,0,0,1,25,0,0,1,0.2"));
  EXPECT_THAT(run("profile --rows branches --format json " + quoted("t.rrt")).output,
              testing::AllOf(HasSubstr("\"uniformity\": ["), HasSubstr("\"branches\": [")));
  const Outcome loads = run("profile --rows loads " + quoted("t.rrt"));
  EXPECT_EQ(loads.code, 3);
  EXPECT_THAT(loads.output, HasSubstr("capture the application with --profile loads"));
  EXPECT_EQ(run("profile --blocks " + quoted("t.rrt")).code, 3);
  EXPECT_EQ(run("profile --blocks --rows branches " + quoted("t.rrt")).code, 2);
  trace.load_counts = {{0}, {0}, {0}, {1}, {8}, {9}, {2}, {2}, {1}};
  trace.block_counts = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 2, 3}, {100, 60, 40, 100}, {25, 15, 10, 25}};
  trace::write(trace, file("t.rrt"), {.overwrite = true});
  EXPECT_THAT(run("profile " + quoted("t.rrt")).output,
              testing::AllOf(HasSubstr("SIMT by instruction"), HasSubstr("load addresses")));
  EXPECT_THAT(run("profile --rows loads --format csv " + quoted("t.rrt")).output,
              HasSubstr("0,0,sky,0,main,1,%11,8,load,,9,2,2,1,proven,1,0.5,divergent"));
  EXPECT_THAT(run("info " + quoted("t.rrt")).output,
              HasSubstr("4 counted blocks, 1 counted branch, 1 counted load (rayreplay profile)"));
}

TEST_F(CaptureCommandTest, IngestOfNothing) {
  test::SyntheticCapture capture = synthesize({});
  capture.launches.clear();
  capture.write(file("s.rrspool"));
  const Outcome outcome = run("ingest " + quoted("s.rrspool") + " -o " + quoted("t.rrt"));
  EXPECT_EQ(outcome.code, 6);
  EXPECT_THAT(outcome.output, HasSubstr("traced no rays"));
  EXPECT_EQ(run("ingest " + quoted("missing") + " -o " + quoted("t.rrt")).code, 3);
}

TEST_F(CaptureCommandTest, IngestOfLaunchesThatAreAllLeftOutFails) {
  test::SyntheticCapture capture = synthesize({});
  capture.launches.resize(1);
  capture.launches[0].launch.width = 0;
  capture.write(file("s.rrspool"));
  const Outcome outcome = run("ingest " + quoted("s.rrspool") + " -o " + quoted("t.rrt"));
  EXPECT_EQ(outcome.code, 6) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("no launch could be kept"));
  EXPECT_THAT(outcome.output, HasSubstr("is left out: its size 0x"));
  EXPECT_FALSE(std::filesystem::exists(file("t.rrt"))) << "no trace without a launch";
  EXPECT_THAT(outcome.output, testing::Not(HasSubstr("observed SIMT"))) << "no head of a table";
}

TEST_F(CaptureCommandTest, AProgramThatRecordsNothing) {
  const Outcome outcome = run("capture -o " + quoted("t.rrt") + " -- sh -c 'exit 7'");
  EXPECT_EQ(outcome.code, 10) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the application ended with exit code 7 before it made a Vulkan device under"));
  EXPECT_FALSE(std::filesystem::exists(file("t.rrt.spool")));
}

/// A program that puts a made-up spool where the layer would put its own.
TEST_F(CaptureCommandTest, WhatTheLayerLeftIsIngested) {
  synthesize({.seed = 6}).write(file("ready"));
  const std::string program = "sh -c 'cp \"$0\" \"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool\"; exit $1' " + quoted("ready");
  Outcome outcome = run("capture -o " + quoted("t.rrt") + " -- " + program + " 0");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(file("t.rrt.spool")));
  EXPECT_EQ(run("validate " + quoted("t.rrt")).code, 0);
  // The application's own failure.
  outcome = run("capture --force --keep-spool -o " + quoted("t.rrt") + " -- " + program + " 3");
  EXPECT_EQ(outcome.code, 14) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("the application ended with exit code 3; the trace has its recording up to then"));
  EXPECT_TRUE(std::filesystem::exists(file("t.rrt.spool") / "1.rrspool"));
  // An earlier spool is not thrown away.
  outcome = run("capture -o " + quoted("u.rrt") + " -- true; mkdir " + quoted("v.rrt.spool") + "; " + RR_RAYREPLAY +
                " capture -o " + quoted("v.rrt") + " -- true");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.output, HasSubstr("a spool of an earlier capture is still there"));
}

TEST_F(CaptureCommandTest, AFullStandardOutputLeavesNoSpool) {
  test::SyntheticCapture capture = synthesize({.seed = 6});
  capture.launches[0].launch.begin_ns = 1'000'000;
  capture.launches[0].launch.end_ns = 3'500'000;
  capture.write(file("ready"));
  std::filesystem::create_directory(file("temporary"));
  const std::string program = " -- sh -c 'cp \"$0\" \"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool\"' " + quoted("ready");
  // Of standard output alone.
  const std::string full = " 3>&1 > /dev/full 2>&3 3>&-";
  const auto print_to_full = [&](const std::string& arguments) {
    return run_line("TMPDIR=" + quoted("temporary") + " " + RR_RAYREPLAY + " capture " + arguments + program + full);
  };
  Outcome outcome = print_to_full("-o " + quoted("t.rrt"));
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.output, HasSubstr("standard output: cannot write"));
  EXPECT_EQ(run("validate " + quoted("t.rrt")).code, 0);
  EXPECT_FALSE(std::filesystem::exists(file("t.rrt.spool")));
  outcome = print_to_full("--keep-spool -o " + quoted("u.rrt"));
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.output, HasSubstr("the spool is kept in "));
  EXPECT_TRUE(std::filesystem::exists(file("u.rrt.spool") / "1.rrspool"));
  outcome = print_to_full("--record off");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.output, HasSubstr("standard output: cannot write"));
  EXPECT_TRUE(std::filesystem::is_empty(file("temporary")));
}

TEST_F(CaptureCommandTest, NoDeviceAndNoRays) {
  test::SyntheticCapture capture = synthesize({});
  capture.launches.clear();
  capture.write(file("idle"));
  const auto with = [&](const std::string& ready) {
    return run("capture -o " + quoted("t.rrt") + " -- cp " + quoted(ready) + " " + quoted("t.rrt.spool") +
               "/1.rrspool");
  };
  EXPECT_EQ(with("idle").code, 12);
  spool::SpoolWriter writer;
  ASSERT_TRUE(writer.open(file("process").string()) && writer.append(capture.process));
  writer.close();
  EXPECT_EQ(with("process").code, 11);
}

TEST_F(CaptureCommandTest, WithoutRecordingTimesAreTold) {
  test::SyntheticCapture capture = synthesize({.seed = 6, .launches = 2});
  for (auto& launch : capture.launches) {
    launch.launch.begin_ns = 1'000'000;
    launch.launch.end_ns = 3'500'000;
  }
  capture.launches[1].launch.swizzled = 1;
  capture.write(file("ready"));
  const std::string program =
      " -- sh -c 'cp \"$0\" \"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool\"; exit $1' " + quoted("ready");
  Outcome outcome = run("capture --record off --format csv" + program + " 0");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("process,launch,frame,size,swizzled,device_ms\r\n"));
  EXPECT_THAT(outcome.output, HasSubstr(",false,2.5\r\n"));
  EXPECT_THAT(outcome.output, HasSubstr(",true,2.5\r\n"));
  outcome = run("capture --record off --format json" + program + " 0");
  EXPECT_THAT(outcome.output, HasSubstr("\"schema\": \"rayreplay.timing/1\""));
  EXPECT_EQ(run("capture --record off" + program + " 3").code, 14);
  EXPECT_EQ(run("capture --record off -- sh -c 'exit 0'").code, 10);
  // Without events there is no trace.
  outcome = run("capture --record off -o " + quoted("t.rrt") + program + " 0");
  EXPECT_EQ(outcome.code, 2) << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(file("t.rrt")));
}

TEST_F(CaptureCommandTest, TheLayerGetsASwizzleThatItCanRead) {
  const scheduler::Swizzle swizzle = {3, 2, 1, 0, 5, 4};
  scheduler::write_swizzle(file("s.h5"), swizzle, {3, 2, 1}, "made up", "", false);
  scheduler::write_swizzle(file("s.bin"), swizzle, {3, 2, 1}, "made up", "", false);
  const std::string program = " -- sh -c 'cp \"$RAYREPLAY_CAPTURE_SWIZZLE\" \"$0\"; echo for " +
                              std::string("$RAYREPLAY_CAPTURE_SWIZZLE_SIZE' ") + quoted("copy");
  // HDF5 knows its size; the layer gets the flat form.
  Outcome outcome = run("capture --record off --swizzle " + quoted("s.h5") + program);
  EXPECT_THAT(outcome.output, HasSubstr("for 3x2x1\n"));
  EXPECT_EQ(scheduler::read_swizzle(file("copy"), {3, 2, 1}), swizzle);
  EXPECT_EQ(std::filesystem::file_size(file("copy")), 24U);
  outcome = run("capture --record off --swizzle " + quoted("s.bin") + " --swizzle-size 3x2" + program);
  EXPECT_THAT(outcome.output, HasSubstr("for 3x2x1\n"));
  // What cannot be is told before the program runs.
  std::filesystem::remove(file("copy"));
  EXPECT_EQ(run("capture --record off --swizzle " + quoted("s.bin") + program).code, 2);
  outcome = run("capture --record off --swizzle " + quoted("s.bin") + " --swizzle-size 4x2" + program);
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("32 bytes: 4 for each thread of 4x2x1"));
  EXPECT_EQ(run("capture --record off --swizzle " + quoted("s.h5") + " --swizzle-size 4x2" + program).code, 3);
  EXPECT_EQ(run("capture --record off --swizzle " + quoted("missing") + " --swizzle-size 4x2" + program).code, 3);
  EXPECT_FALSE(std::filesystem::exists(file("copy")));
}

TEST_F(CaptureCommandTest, WrongUse) {
  EXPECT_EQ(run("capture -- true").code, 2);
  EXPECT_EQ(run("capture -o " + quoted("t.rrt") + " -- /no/such/program").code, 3);
  EXPECT_EQ(run("capture --window 1,2 -o " + quoted("t.rrt") + " -- true").code, 2);
  EXPECT_EQ(run("capture -o " + quoted("t.rrt")).code, 2);
}

TEST_F(CaptureCommandTest, ASpoolThatCouldNotBeWrittenToItsEndIsAFailure) {
  synthesize({.seed = 6}).write(file("ready"));
  const auto program = [&](const std::string& mark) {
    return " -- sh -c 'cp \"$0\" \"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool\"; " + mark +
           " \"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool.failed\"' " + quoted("ready");
  };
  Outcome outcome = run("capture -o " + quoted("t.rrt") + program("echo no room left >"));
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the spool could not be written completely"));
  EXPECT_THAT(outcome.output, HasSubstr("no room left"));
  EXPECT_EQ(run("validate " + quoted("t.rrt")).code, 0);
  EXPECT_TRUE(std::filesystem::exists(file("t.rrt.spool") / "1.rrspool"));
  for (const std::string spool : {"", "/1.rrspool"}) {
    outcome = run("ingest --force -o " + quoted("t.rrt") + " " + quoted("t.rrt.spool" + spool));
    EXPECT_EQ(outcome.code, 4) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("no room left"));
    EXPECT_THAT(outcome.output, HasSubstr("observed SIMT"));
  }
  // Without a reason; then nothing is left of either.
  outcome = run("capture --force -o " + quoted("t.rrt") + program(": >"));
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("no reason is known"));
  EXPECT_EQ(run("capture --record off" + program(": >")).code, 4);
  EXPECT_EQ(run("capture --force -o " + quoted("t.rrt") + program("true")).code, 0);
  EXPECT_FALSE(std::filesystem::exists(file("t.rrt.spool")));
}

TEST_F(CaptureCommandTest, WhatIsMissingIsSaidBesideItsFigures) {
  test::SyntheticCapture capture = synthesize({.seed = 4, .window = true});
  capture.write(file("s.rrspool"));
  ASSERT_EQ(run("ingest " + quoted("s.rrspool") + " -o " + quoted("t.rrt")).code, 0);
  for (const std::string command : {"replay ", "whatif "}) {
    EXPECT_THAT(run(command + quoted("t.rrt")).output,
                testing::AllOf(HasSubstr("note: not captured: launch "), HasSubstr("biased: not all threads")));
    EXPECT_THAT(run(command + "--format json " + quoted("t.rrt")).output,
                testing::AllOf(HasSubstr("\"not_captured\": ["), HasSubstr("\"threads_missing\": true")));
  }
  capture = synthesize({.seed = 4});
  capture.process.options = "window=\nevery=1";
  capture.write(file("whole.rrspool"));
  ASSERT_EQ(run("ingest --force " + quoted("whole.rrspool") + " -o " + quoted("t.rrt")).code, 0);
  EXPECT_THAT(run("replay --format json " + quoted("t.rrt")).output, HasSubstr("\"threads_missing\": false"));
  EXPECT_THAT(run("replay " + quoted("t.rrt")).output, testing::Not(HasSubstr("biased")));
}

/// A launch is biased by its own threads alone, not by those of other launches, nor by options that left none out.
TEST_F(CaptureCommandTest, MissingThreadsAreSaidByLaunch) {
  synthesize({.seed = 4, .launches = 2, .window = true, .first_whole = true}).write(file("s.rrspool"));
  const Outcome ingested = run("ingest --format json " + quoted("s.rrspool") + " -o " + quoted("t.rrt"));
  ASSERT_EQ(ingested.code, 0) << ingested.output;
  const auto first = ingested.output.find("\"threads_missing\": false");
  ASSERT_NE(first, std::string::npos) << ingested.output;
  EXPECT_NE(ingested.output.find("\"threads_missing\": true", first), std::string::npos) << ingested.output;
  for (const std::string command : {"replay ", "whatif "}) {
    const std::string whole = command + "--launch 0 ";
    const std::string part = command + "--launch 1 ";
    EXPECT_THAT(run(whole + "--format json " + quoted("t.rrt")).output, HasSubstr("\"threads_missing\": false"));
    EXPECT_THAT(run(whole + quoted("t.rrt")).output, testing::Not(HasSubstr("biased: ")));
    EXPECT_THAT(run(part + "--format json " + quoted("t.rrt")).output, HasSubstr("\"threads_missing\": true"));
    EXPECT_THAT(run(part + quoted("t.rrt")).output, HasSubstr("biased: not all threads"));
  }
}

TEST_F(CaptureCommandTest, AnOutputThatIsAnInputIsRefused) {
  synthesize({.seed = 6}).write(file("s.rrspool"));
  std::filesystem::copy_file("/bin/true", file("program"));
  scheduler::write_swizzle(file("s.h5"), {0, 1}, {2, 1, 1}, "made up", "", false);
  const auto refused = [&](const std::string& command, const std::string& kept) {
    const auto bytes = std::filesystem::file_size(file(kept));
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 2) << command << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("the output is also an input"));
    EXPECT_EQ(std::filesystem::file_size(file(kept)), bytes);
  };
  refused("capture --force -o " + quoted("program") + " -- " + quoted("program"), "program");
  refused("capture --force -o " + quoted("s.h5") + " --swizzle " + quoted("s.h5") + " -- true", "s.h5");
  refused("capture --force -o " + quoted("s.h5") + " --trigger-file " + quoted("s.h5") + " -- true", "s.h5");
  refused("capture --force -o " + quoted("s.h5") + " -- true " + quoted("s.h5"), "s.h5");
  refused("ingest --force -o " + quoted("s.rrspool") + " " + quoted("s.rrspool"), "s.rrspool");
  ASSERT_EQ(setenv("PATH", (file().parent_path().string() + ":" + getenv("PATH")).c_str(), 1), 0);
  refused("capture --force -o " + quoted("program") + " -- program", "program");
  // What lies in the spool's folder would be lost with it.
  std::filesystem::create_directory(file("t.rrt.spool"));
  std::filesystem::rename(file("s.h5"), file("t.rrt.spool") / "s.h5");
  EXPECT_EQ(run("capture --force -o " + quoted("t.rrt") + " --swizzle " + quoted("t.rrt.spool") + "/s.h5 -- true").code,
            2);
}

TEST_F(CaptureCommandTest, TheTriggerFileIsThatOfTheCallersFolder) {
  const Outcome outcome = run("capture --record off --trigger-file go -- sh -c 'cd /; echo \"=$" +
                              std::string("RAYREPLAY_CAPTURE_TRIGGER_FILE=\"'"));
  EXPECT_THAT(outcome.output, HasSubstr("=" + (std::filesystem::current_path() / "go").string() + "="));
}

TEST_F(CaptureCommandTest, ProcessesLeftBehindAreWaitedFor) {
  synthesize({.seed = 6}).write(file("ready"));
  const Outcome outcome = run("capture -o " + quoted("t.rrt") + " -- sh -c '(sleep 0.5; cp \"$0\" " +
                              "\"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool\") & exit 0' " + quoted("ready"));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("left processes behind"));
}

}  // namespace
}  // namespace rayreplay::ingest
