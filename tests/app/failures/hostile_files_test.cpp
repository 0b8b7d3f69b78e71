// Paths that are not regular files, full disks, deleted folders: one clear message, at once.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/app/process.hpp"
#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class HostileFiles : public SmallTrace {
 protected:
  static void expect_one_line(const Outcome& outcome, int code, const std::string& part, const std::string& what) {
    EXPECT_EQ(outcome.code, code) << what << ": " << outcome.errors;
    EXPECT_EQ(outcome.output, "") << what;
    EXPECT_THAT(outcome.errors, StartsWith("rayreplay: error: ")) << what;
    EXPECT_THAT(outcome.errors, HasSubstr(part)) << what;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << what << ": " << outcome.errors;
  }
};

TEST_F(HostileFiles, PipesAndDevicesAsInputsAreRefusedAtOnce) {
  const std::string pipe = scratch_ / "pipe", machine = scratch_ / "machine.toml";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(machine.c_str(), 0600), 0);
  for (const std::string& file : {pipe, std::string("/dev/zero")}) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"run", file},
             {"sweep", file, "-o", scratch_ / "s.db"},
             {"whatif", trace(), "--config", file},
             {"cache", trace(), "--config", file},
             {"whatif", trace(), "--compare", file},
             {"results", file},
             {"merge", file, "-o", scratch_ / "m.db"},
             {"info", file},
             {"ingest", file, "-o", scratch_ / "i.rrt"},
             {"instrument", file, "-o", scratch_ / "i.spv"},
             {"shaders", file},
         }) {
      expect_one_line(run_command(words), 3, file, words[0] + " " + words[1]);
    }
  }
  expect_one_line(run_command({"whatif", trace(), "--models", "plain", "--machine", machine}), 3, "a pipe", "machine");
  EXPECT_EQ(scratch_.names(), (std::vector<std::string>{"machine.toml", "pipe"}));
}

TEST_F(HostileFiles, WaitingForThePipeOfAMemoryTraceIsSaid) {
  const std::string pipe = scratch_ / "pipe";
  const std::string errors = scratch_ / "errors";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string command : {"import", "cache"}) {
    Process reader({"/bin/sh", "-c",
                    std::string("exec ") + RAYREPLAY_COMMAND + " " + command + " '" + pipe + "' 2> '" + errors + "'"});
    const auto is_said = [&] {
      return fs::exists(errors) &&
             read_bytes(errors).find("rayreplay: waiting for a writer of " + pipe) != std::string::npos;
    };
    EXPECT_TRUE(reader.wait_until(is_said)) << command;
    std::ofstream(pipe) << "rayreplay-memory-trace 1\nsms 2\nallocation node 0x1000 4096 64 n\n0 0 load 4 3 0x1000 "
                           "0x1040\n";
    const Outcome outcome = reader.wait();
    EXPECT_EQ(outcome.code, 0) << command << ": " << read_bytes(errors);
    EXPECT_THAT(outcome.output, HasSubstr("node")) << command;
    fs::remove(errors);
  }
}

TEST_F(HostileFiles, ATraceOfRaysThroughAPipeIsRefused) {
  const std::string pipe = scratch_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string command : {"import", "cache"}) {
    Process both(
        {"/bin/sh", "-c",
         "cat '" + trace() + "' > '" + pipe + "' & exec " + RAYREPLAY_COMMAND + " " + command + " '" + pipe + "'"});
    const Outcome outcome = both.wait();
    EXPECT_EQ(outcome.code, 3) << command;
    EXPECT_THAT(outcome.errors, HasSubstr("this is not a memory trace")) << command;
    EXPECT_THAT(outcome.errors, HasSubstr("write it to a file first")) << command;
  }
}

TEST_F(HostileFiles, TooLargeATextIsRefused) {
  std::ofstream(scratch_ / "large.toml") << "a = 1\n";
  fs::resize_file(scratch_ / "large.toml", std::uintmax_t{3} << 30U);
  expect_one_line(run_command({"run", scratch_ / "large.toml"}), 3, "at most", "run");
  expect_one_line(run_command({"whatif", trace(), "--models", "plain", "--machine", scratch_ / "large.toml"}), 3,
                  "at most", "machine");
}

TEST_F(HostileFiles, AFullDiskIsOneLineForEveryFileOfHdf5) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> writers = {
      {"t.rrt", {"trace", "--scene", "one-weekend", "--size", "64x36", "--spp", "2", "-o", scratch_ / "t.rrt"}},
      {"e.h5",
       {"explain", trace(), "--hardware", "any-order:seed=3", "--result", scratch_ / "e.h5", "-o", "/dev/null"}},
      {"c.h5", {"cache", trace(), "--elements", scratch_ / "c.h5", "-o", "/dev/null"}},
      {"s.h5", {"whatif", trace(), "--models", "plain", "--segments", scratch_ / "s.h5", "-o", "/dev/null"}},
      {"a.h5", {"traverse", trace(), "--traversal", "near-first", "--accesses", scratch_ / "a.h5", "-o", "/dev/null"}},
      {"w.h5", {"swizzle", trace(), "--packing", "random:seed=1", "-o", scratch_ / "w.h5"}},
  };
  for (const auto& [name, words] : writers) {
    const Outcome whole = run_command(words);
    ASSERT_EQ(whole.code, 0) << name << ": " << whole.errors;
    const std::uintmax_t bytes = fs::file_size(scratch_ / name);
    fs::remove(scratch_ / name);
    for (const std::uintmax_t part : {0U, 1U, 3U, 5U, 7U}) {
      // Large enough for the message on standard error.
      constexpr std::uintmax_t kMessageBytes = 4096;
      RunOptions options;
      options.max_file_bytes = static_cast<std::size_t>(std::max(bytes * part / 8, kMessageBytes));
      ASSERT_LT(options.max_file_bytes, bytes) << name;
      const Outcome outcome = run_command(words, options);
      EXPECT_EQ(outcome.code, 4) << name << " " << part << ": " << outcome.errors;
      EXPECT_THAT(outcome.errors, HasSubstr(name));
      EXPECT_THAT(outcome.errors, HasSubstr(". Fix: ")) << name << " " << part;
      EXPECT_THAT(outcome.errors, testing::Not(HasSubstr("HDF5"))) << name << " " << part;
      EXPECT_THAT(outcome.errors, testing::Not(HasSubstr("#0"))) << name << " " << part;
      EXPECT_THAT(scratch_.names(), IsEmpty()) << name << " " << part;
    }
  }
}

TEST_F(HostileFiles, ADeletedWorkingFolderIsSaid) {
  const auto from_nowhere = [&](const std::string& words) {
    const std::string folder = scratch_ / "gone";
    Process process({"/bin/sh", "-c",
                     "mkdir '" + folder + "' && cd '" + folder + "' && rmdir '" + folder + "' && exec " +
                         RAYREPLAY_COMMAND + " " + words});
    return process.wait();
  };
  expect_one_line(from_nowhere("whatif t.rrt"), 3, "has been deleted", "whatif");
  expect_one_line(from_nowhere("run settings.toml"), 3, "has been deleted", "run");
  expect_one_line(from_nowhere("results s.db"), 3, "has been deleted", "results");
  expect_one_line(from_nowhere("swizzle '" + trace() + "' --packing identity -o s.h5"), 4, "has been deleted",
                  "swizzle");
  expect_one_line(from_nowhere("sweep s.toml -o s.db"), 3, "has been deleted", "sweep");
}

}  // namespace
}  // namespace rayreplay::test
