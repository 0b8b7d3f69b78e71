// Commands that write are killed at random points. Older files stay, an output is whole or absent, and the same
// command run again has the results of an undisturbed run and leaves nothing else behind.
//
// RAYREPLAY_KILLS: how many (12); RAYREPLAY_KILL_SEED: which (1). A failure names the command, the signal and the time.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/split_mix.hpp"
#include "base/temporary.hpp"
#include "tests/app/process.hpp"
#include "tests/app/sweep_files.hpp"
#include "tests/kills/commands.hpp"

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kOld = "what stood there before";

std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// The same numbers for the same seed, on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t count) {
    return split_mix(seed_, index_++) % count;
  }

 private:
  std::uint64_t seed_, index_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Of a file or a folder: relative names and bytes.
std::map<std::string, std::string> bytes_of(const fs::path& path) {
  std::map<std::string, std::string> all;
  if (fs::is_directory(path)) {
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) {
        all[fs::relative(entry.path(), path).string()] = read_bytes(entry.path());
      }
    }
  } else {
    all[""] = read_bytes(path);
  }
  return all;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

std::vector<std::string> leftovers_below(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (is_temporary_name(entry.path().filename().string())) {
      names.push_back(entry.path().string());
    }
  }
  return names;
}

class Kills : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    common_ = std::make_unique<Scratch>();
    fs::create_directories(*common_ / "in");
    make_inputs(*common_ / "in");
  }
  static void TearDownTestSuite() {
    common_.reset();
  }

  /// Output and duration of an undisturbed run.
  struct Reference {
    std::string folder;
    double seconds = 0;
    std::set<std::string> names;
  };

  static std::vector<std::string> arguments(const WritingCommand& command, const std::string& out, bool force) {
    std::vector<std::string> words = {RAYREPLAY_COMMAND};
    for (const std::string& word : command.arguments) {
      // Options of the command stand before the application's words.
      if (word == "--" && force) {
        words.emplace_back("--force");
      }
      words.push_back(replaced(replaced(word, "@IN", *common_ / "in"), "@OUT", out));
    }
    if (force && std::ranges::find(command.arguments, "--") == command.arguments.end()) {
      words.emplace_back("--force");
    }
    return words;
  }

  /// Always the same, as some outputs hold their own path.
  static fs::path fresh_folder() {
    const fs::path folder = *common_ / "out";
    fs::remove_all(folder);
    fs::create_directories(folder);
    return folder;
  }

  static const Reference& reference(const WritingCommand& command) {
    auto [place, is_new] = references_.try_emplace(command.name);
    Reference& reference = place->second;
    if (is_new) {
      reference.folder = *common_ / ("reference " + command.name);
      const auto start = Clock::now();
      Process process(arguments(command, fresh_folder().string(), false));
      const Outcome outcome = process.wait();
      reference.seconds = std::chrono::duration<double>(Clock::now() - start).count();
      EXPECT_EQ(outcome.code, 0) << command.name << ": " << outcome.errors;
      fs::rename(*common_ / "out", reference.folder);
      reference.names = names_in(reference.folder);
      for (const WrittenOutput& output : command.outputs) {
        EXPECT_TRUE(fs::exists(fs::path(reference.folder) / output.name)) << command.name << " " << output.name;
      }
    }
    return reference;
  }

  /// "" if it equals the output of an undisturbed run.
  static std::string difference(const Reference& reference, const WrittenOutput& output, const fs::path& out) {
    const fs::path wanted = fs::path(reference.folder) / output.name, found = out / output.name;
    switch (output.kind) {
      case OutputKind::File:
      case OutputKind::Folder:
        return bytes_of(wanted) == bytes_of(found) ? "" : "other bytes";
      case OutputKind::Database:
        return sweep_rows(wanted.string()) == sweep_rows(found.string()) ? "" : "other rows";
      case OutputKind::Store:
        return fs::is_directory(found) ? "" : "no folder";
    }
    return "";
  }

  /// After the kill.
  static void check_unfinished(const WritingCommand& command, const fs::path& out, bool stood_before) {
    const Reference& undisturbed = reference(command);
    for (const WrittenOutput& output : command.outputs) {
      const fs::path path = out / output.name;
      if (!fs::exists(path)) {
        EXPECT_FALSE(stood_before) << output.name << " is lost";
        continue;
      }
      if (output.kind == OutputKind::Database) {
        check_database(undisturbed.folder + "/" + output.name, path);
      } else if (!(stood_before && output.kind == OutputKind::File && read_bytes(path) == kOld)) {
        EXPECT_EQ(difference(undisturbed, output, out), "") << output.name << " is neither whole nor absent";
      }
    }
  }

  /// A sound file with some of the rows.
  static void check_database(const std::string& whole, const fs::path& path) {
    try {
      const auto rows = sweep_rows(path.string()), all = sweep_rows(whole);
      for (const auto& row : rows) {
        EXPECT_TRUE(std::ranges::find(all, row) != all.end()) << path << " has a row of its own";
      }
    } catch (const Error& error) {
      // Killed before the first commit; documented in docs/results.md.
      EXPECT_THAT(error.what(), testing::HasSubstr("an empty file"));
    }
  }

  static void kill_once(const WritingCommand& command, Draw& random) {
    const Reference& undisturbed = reference(command);
    const bool stood_before = command.replaces && random.below(2) == 0;
    const int signal = random.below(4) == 0 ? SIGTERM : SIGKILL;
    const double share = static_cast<double>(random.below(1100)) / 1000;
    SCOPED_TRACE(testing::Message() << command.name << ", signal " << signal << " after " << share << " of "
                                    << undisturbed.seconds << " s" << (stood_before ? ", over an old output" : ""));
    const fs::path out = fresh_folder();
    if (stood_before) {
      for (const WrittenOutput& output : command.outputs) {
        if (output.kind == OutputKind::File) {
          std::ofstream(out / output.name) << kOld;
        } else {
          fs::copy(fs::path(undisturbed.folder) / output.name, out / output.name, fs::copy_options::recursive);
        }
      }
    }
    {
      Process process(arguments(command, out.string(), stood_before));
      std::this_thread::sleep_for(std::chrono::duration<double>(share * undisturbed.seconds));
      process.signal(signal);
      static_cast<void>(process.wait());
    }
    check_unfinished(command, out, stood_before);
    if (signal == SIGTERM) {
      EXPECT_THAT(leftovers_below(out), testing::IsEmpty()) << "a command that is asked to end takes them along";
    }
    const bool in_the_way =
        std::ranges::any_of(command.outputs, [&](const WrittenOutput& o) { return fs::exists(out / o.name); }) ||
        std::ranges::any_of(command.kept, [&](const std::string& name) { return fs::exists(out / name); });
    Process again(arguments(command, out.string(), command.replaces && in_the_way));
    const Outcome outcome = again.wait();
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    for (const WrittenOutput& output : command.outputs) {
      ASSERT_TRUE(fs::exists(out / output.name)) << output.name;
      EXPECT_EQ(difference(undisturbed, output, out), "") << output.name;
    }
    EXPECT_EQ(names_in(out), undisturbed.names) << "leftovers";
    EXPECT_THAT(leftovers_below(out), testing::IsEmpty());
  }

 private:
  static inline std::unique_ptr<Scratch> common_;
  static inline std::map<std::string, Reference> references_;
};

TEST_F(Kills, LeaveOutputsWholeOrAbsentAndNothingElse) {
  const std::uint64_t kills = number_of("RAYREPLAY_KILLS", 12);
  Draw random(number_of("RAYREPLAY_KILL_SEED", 1));
  const std::vector<WritingCommand> commands = writing_commands();
  // Another start each time, so that a short sample is not always of the same commands.
  const std::uint64_t first = random.below(commands.size());
  for (std::uint64_t i = 0; i < kills && !HasFatalFailure(); ++i) {
    kill_once(commands[(first + i) % commands.size()], random);
  }
  RecordProperty("kills", std::to_string(kills));
}

}  // namespace
}  // namespace rayreplay::test
