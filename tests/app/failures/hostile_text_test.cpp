// Hostile text in every command: no escape sequence, line break or byte that is not UTF-8 reaches text for people, JSON
// stays valid, and no command ends with an internal error.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sqlite3.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "capture/trace/file/envelope.hpp"
#include "capture/trace/file/file_descriptor.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/app/small_trace.hpp"

namespace rayreplay::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsSupersetOf;

/// Clears the screen, rings, overwrites the line, goes on as a message of its own, and turns what follows around.
const std::string kEvil =
    "evil\x1b[2J\x07\rover\nrayreplay: error: forged\n  forged\xC2\x9B"
    "31m\xE2\x80\xAE\xE2\x80\xA8";
/// The same with bytes that are not UTF-8: for paths and arguments.
const std::string kBytes = kEvil + "\xFF\x9B\xC3";

/// Visible characters and line ends alone, and no line that begins inside a name.
void expect_safe(const std::string& text, const std::string& what) {
  EXPECT_EQ(text, text::printable_lines(text)) << what;
  EXPECT_THAT("\n" + text, testing::Not(HasSubstr("\nrayreplay: error: forged"))) << what;
  EXPECT_THAT("\n" + text, testing::Not(HasSubstr("\n  forged"))) << what;
}

/// Neither an internal error nor a signal.
void expect_sound(const Outcome& outcome, const std::string& what) {
  EXPECT_NE(outcome.code, 70) << what << "\n" << outcome.errors;
  EXPECT_LT(outcome.code, 128) << what << "\n" << outcome.errors;
  expect_safe(outcome.errors, what + ": standard error");
}

void expect_format(const Outcome& outcome, const std::string& format, const std::string& what) {
  expect_sound(outcome, what);
  if (format == "table") {
    expect_safe(outcome.output, what);
  } else if (format == "json" && outcome.code == 0) {
    EXPECT_FALSE(json::parse(outcome.output, nullptr, false).is_discarded()) << what << "\n" << outcome.output;
    expect_safe(outcome.output, what);
  }
}

/// The commands as --help lists them.
std::set<std::string> commands() {
  const Outcome help = run_command({"--help"});
  EXPECT_EQ(help.code, 0) << help.errors;
  std::set<std::string> found;
  std::istringstream lines(help.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ") && line.size() > 2 && line[2] >= 'a' && line[2] <= 'z') {
      found.insert(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return found;
}

class HostileTextTest : public SmallTrace {
 protected:
  HostileTextTest() {
    fs::create_directory(folder());
    trace::Trace evil = trace::load(SmallTrace::trace());
    for (std::string* one : {&evil.header.tool, &evil.header.tool_version, &evil.header.application,
                             &evil.header.device, &evil.header.driver}) {
      *one = kEvil;
    }
    evil.header.configuration = json{{kEvil, kEvil}}.dump();
    evil.header.not_captured = {kEvil, kEvil};
    evil.header.warp_size = 32;  // so that missing parts are noted
    for (trace::Shader& shader : evil.shaders) {
      shader.name = shader.entry = kEvil;
    }
    for (trace::Geometry& geometry : evil.scene.geometries) {
      geometry.name = kEvil;
    }
    trace::write(evil, file("t.rrt"));
  }

  /// A folder with a name of any bytes; files in it have them in their paths.
  [[nodiscard]] std::string folder() const {
    std::string name = kBytes;
    std::replace(name.begin(), name.end(), '/', '_');
    return scratch_ / name;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return folder() + "/" + name;
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

  /// Edits the trace through libhdf5 and seals it unseen.
  static void edit(const std::string& path, const std::function<void(hid_t)>& change) {
    const hid_t opened = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(opened, 0);
    change(opened);
    ASSERT_GE(H5Fclose(opened), 0);
    trace::write_envelope(trace::FileDescriptor(path, trace::FileDescriptor::Mode::ReadWrite));
  }
};

TEST_F(HostileTextTest, EveryCommandTakesArgumentsOfAnyBytes) {
  const std::set<std::string> all = commands();
  ASSERT_THAT(all, IsSupersetOf({"capture", "info", "whatif", "sweep", "results", "devices", "describe"}));
  for (const std::string& command : all) {
    for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{kBytes},
                                                                                      {"--" + kBytes},
                                                                                      {"--format", kBytes},
                                                                                      {"--packing", kBytes},
                                                                                      {"--set", kBytes},
                                                                                      {"--set", "trace=" + kBytes},
                                                                                      {"-o", file(kBytes)},
                                                                                      {file("missing")},
                                                                                      {folder()}}) {
      if (command == "microbench" && more.front().starts_with("-") && more.front() != "--" + kBytes) {
        continue;  // would run all of them
      }
      std::vector<std::string> words = {command};
      words.insert(words.end(), more.begin(), more.end());
      const Outcome outcome = run_command(words);
      expect_sound(outcome, command + " " + text::printable(more.front()));
      expect_safe(outcome.output, command);
    }
  }
}

/// Files whose names, and traces whose texts, are hostile, in every command that reads a trace, in every format.
TEST_F(HostileTextTest, EveryCommandOfATraceInEveryFormat) {
  const std::map<std::string, std::vector<std::string>> given = {
      {"info", {}},
      {"validate", {}},
      {"bvh", {}},
      {"whatif", {"--packing", "numrays", "--cost", kEvil + "=3"}},
      {"advise", {"--candidates", "0", "--hint", "x:1=miss"}},
      {"replay", {"--packing", "numrays"}},
      {"traverse", {"--traversal", "near-first"}},
      {"cache", {"--machine", "rtx3080"}},
      {"explain", {}},
  };
  for (const auto& [command, more] : given) {
    for (const std::string format : {"table", "json", "csv"}) {
      std::vector<std::string> words = {command, file("t.rrt"), "--format", format};
      words.insert(words.end(), more.begin(), more.end());
      const Outcome outcome = run_command(words);
      EXPECT_TRUE(outcome.code == 0) << command << "\n" << outcome.errors;
      expect_format(outcome, format, command + " " + format);
    }
  }
  const std::vector<std::string> models = {"whatif", file("t.rrt"), "--models", "plain,ser", "--machine", "rtx3080"};
  for (const std::string format : {"table", "json", "csv"}) {
    std::vector<std::string> words = models;
    words.insert(words.end(), {"--format", format});
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    expect_format(outcome, format, "whatif --models " + format);
  }
  EXPECT_THAT(run_command({"info", file("t.rrt")}).output,
              HasSubstr("application   evil\\x1b[2J\\x07\\x0dover\\x0arayreplay: error: forged\\x0a  forged\\u{9b}31m"
                        "\\u{202e}\\u{2028}\n"));
  const json info = json::parse(run_command({"info", file("t.rrt"), "--format", "json"}).output);
  EXPECT_EQ(info["header"]["application"], kEvil) << "JSON holds the text itself";
  EXPECT_THAT(info["file"].get<std::string>(), HasSubstr("\\xff\\x9b\\xc3")) << "of a path the bytes";
}

TEST_F(HostileTextTest, ReportsAndFilesAreWritten) {
  const auto written = [&](std::vector<std::string> words) {
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.code, 0) << words.front() << "\n" << outcome.errors;
    expect_sound(outcome, words.front());
    expect_safe(outcome.output, words.front());
  };
  written({"whatif", file("t.rrt"), "--packing", "numrays", "--report", file("whatif")});
  written({"whatif", file("t.rrt"), "--models", "plain,ser", "--machine", "rtx3080", "--report", file("models"),
           "--timeline", file("t.pftrace")});
  written({"cache", file("t.rrt"), "--machine", "rtx3080", "--report", file("cache"), "--elements", file("e.h5")});
  written({"explain", file("t.rrt"), "--maps", file("maps"), "--result", file("x.h5")});
  written({"bvh", file("t.rrt"), "--vtp", file("b.vtp")});
  written({"traverse", file("t.rrt"), "--traversal", "near-first", "--accesses", file("a.h5")});
  written({"order", file("t.rrt"), "-o", file("o.png")});
  written({"swizzle", file("t.rrt"), "--packing", "numrays", "-o", file("s.npy")});
  written({"whatif", file("t.rrt"), "--swizzle", file("s.npy"), "--print-config"});
  written({"seal", file("t.rrt")});
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    const std::string extension = entry.path().extension();
    std::string text = extension == ".html" || extension == ".json" || extension == ".toml" || extension == ".vtp"
                           ? read_bytes(entry.path())
                           : std::string();
    if (extension == ".vtp") {  // the arrays behind the text are bytes
      const auto end = text.find("<AppendedData");
      ASSERT_NE(end, std::string::npos);
      text.resize(end);
    }
    // Line feeds of a name stay in a page, where they show as blanks (docs/text.md).
    EXPECT_EQ(text, text::printable_lines(text)) << entry.path().filename();
    if (extension != ".html") {
      expect_safe(text, entry.path().filename());
    }
    if (extension == ".json") {
      EXPECT_FALSE(json::parse(text, nullptr, false).is_discarded()) << entry.path().filename();
    }
  }
}

/// A trace whose text is not UTF-8 is refused wherever it comes in, with the place of the byte.
TEST_F(HostileTextTest, ATraceWithoutUtf8IsRefused) {
  const std::string path = file("t.rrt");
  edit(path, [](hid_t root) {
    const hid_t attribute = H5Aopen(root, "application", H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute);
    std::string bytes(H5Tget_size(type), '\0');
    H5Aread(attribute, type, bytes.data());
    bytes[2] = '\xFF';
    EXPECT_GE(H5Awrite(attribute, type, bytes.data()), 0);
    H5Tclose(type);
    H5Aclose(attribute);
  });
  for (const std::string command : {"info", "validate", "seal", "whatif", "replay", "bvh", "explain"}) {
    const Outcome outcome = run_command({command, path});
    EXPECT_EQ(outcome.code, 3) << command;
    expect_sound(outcome, command);
    // The faults that `validate` finds are its results.
    EXPECT_THAT(command == "validate" ? outcome.output : outcome.errors,
                AllOf(HasSubstr("attribute 'application'"), HasSubstr("not UTF-8"), HasSubstr("0xff at byte 2")))
        << command;
  }
}

TEST_F(HostileTextTest, DeeplyNestedConfigurationsStayText) {
  trace::Trace evil = trace::load(SmallTrace::trace());
  // An attribute holds 64 KiB.
  evil.header.configuration = std::string(30'000, '[') + std::string(30'000, ']');
  trace::write(evil, file("nested.rrt"));
  const Outcome outcome = run_command({"info", file("nested.rrt"), "--format", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_TRUE(json::parse(outcome.output)["header"]["configuration"].is_string());
  EXPECT_EQ(run_command({"replay", file("nested.rrt")}).code, 0);
  EXPECT_EQ(run_command({"whatif", file("nested.rrt"), "--packing", "numrays"}).code, 0);
}

/// Every option and command that reads TOML, with texts nested too deeply for any stack.
TEST_F(HostileTextTest, NestedTomlIsRefusedWhereverItComesIn) {
  std::string dots = "a";
  for (int i = 0; i < 50'000; ++i) {
    dots += ".a";
  }
  for (const std::string& text : {dots + " = 1\n", "[" + dots + "]\n", "a = " + std::string(50'000, '[')}) {
    const std::string path = write("deep.toml", text);
    // A setting is UTF-8: the name of a machine's file, too.
    const std::string plain = testing::TempDir() + "rayreplay-deep.toml";
    std::ofstream(plain, std::ios::trunc) << text;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"run", path},
             {"sweep", path, "-o", file("deep.db")},
             {"whatif", file("t.rrt"), "--config", path},
             {"explain", file("t.rrt"), "--config", path},
             {"whatif", file("t.rrt"), "--compare", path},
             {"whatif", file("t.rrt"), "--models", "ser", "--machine", plain},
             {"whatif", file("t.rrt"), "--models", "ser", "--machine", "rtx3080", "--config", path},
             {"cache", file("t.rrt"), "--machine", plain}}) {
      const Outcome outcome = run_command(words);
      const std::string what = words.front() + " " + words.back().substr(0, 20);
      EXPECT_TRUE(outcome.code == 2 || outcome.code == 3) << what << ": " << outcome.code;
      expect_sound(outcome, what);
      EXPECT_THAT(outcome.errors,
                  AllOf(HasSubstr("deep.toml:1"), HasSubstr("too deeply"), HasSubstr("at most 64"), HasSubstr("Fix")))
          << what;
    }
    std::filesystem::remove(plain);
  }
  std::string terms = "true";
  for (int i = 0; i < 100'000; ++i) {
    terms += "&&true";
  }
  const std::string sweep = write("where.toml", "where = \"" + terms +
                                                    "\"\n[experiment]\nworkload = \"divergence:degree=2\"\n"
                                                    "[axes]\npolicy = [\"stage-majority\", \"min-shader\"]\n");
  const Outcome outcome = run_command({"sweep", sweep, "--dry-run"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("the condition is too long"));
}

/// Databases: hostile names and values, and a sweep text too deep for any stack.
class HostileDatabaseTest : public HostileTextTest {
 protected:
  HostileDatabaseTest() {
    // In a folder whose name is UTF-8: paths of an experiment are.
    const std::string sweep = scratch_ / "s.toml";
    std::ofstream(sweep) << "[experiment]\noutputs = \"simt\"\n[axes]\n"
                            "trace = [\"missing\\u001b[2J\\u0007\\rover\\nrayreplay: error: forged\\u009b.rrt\", "
                            "\"other\\u202E.rrt\", \"sound.rrt\"]\n";
    // A sweep of which no configuration is possible does not start.
    fs::copy_file(SmallTrace::trace(), std::string(scratch_ / "sound.rrt"));
    const Outcome outcome = run_command({"sweep", sweep, "--set", "policy=min-shader", "-o", database()});
    made_ = outcome.code;
    errors_ = outcome.errors;
  }
  [[nodiscard]] std::string database() const {
    return scratch_ / "s.db";
  }
  [[nodiscard]] std::vector<std::vector<std::string>> questions() const {
    std::vector<std::vector<std::string>> all;
    for (const std::string format : {"table", "json", "csv", "jsonl"}) {
      for (const std::vector<std::string>& more :
           std::vector<std::vector<std::string>>{{},
                                                 {"--errors"},
                                                 {"--query", "SELECT * FROM about"},
                                                 {"--query", "SELECT error AS \"" + kEvil + "\" FROM runs"},
                                                 {"--columns", kEvil},
                                                 {"--where", kEvil},
                                                 {"best", kEvil},
                                                 {"compare", "0", "1"},
                                                 {"sensitivity"}}) {
        auto& words = all.emplace_back(std::vector<std::string>{"results", database(), "--format", format});
        words.insert(words.end(), more.begin(), more.end());
      }
    }
    return all;
  }
  void ask_all() const {
    for (const std::vector<std::string>& words : questions()) {
      const Outcome outcome = run_command(words);
      expect_format(outcome, words[3], "results " + words[3] + " " + (words.size() > 4 ? words[4] : ""));
    }
    for (const std::string format : {"json", "jsonl", "csv"}) {
      const std::string file = scratch_ / ("export." + format);
      const Outcome exported = run_command({"results", database(), "--force", "-o", file, "export", "--times"});
      expect_sound(exported, "results export " + format);
      if (exported.code == 0 && format == "json") {
        EXPECT_FALSE(json::parse(read_bytes(file), nullptr, false).is_discarded());
        expect_safe(read_bytes(file), "results export");
      }
    }
    const Outcome report = run_command({"results", database(), "--force", "-o", scratch_ / "p.html", "report"});
    expect_sound(report, "results report");
    if (report.code == 0) {
      expect_safe(read_bytes(scratch_ / "p.html"), "results report");
    }
  }
  void change(const std::string& sql) const {
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &opened), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(opened, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(opened);
    sqlite3_close(opened);
  }

  int made_ = 0;
  std::string errors_;
};

TEST_F(HostileDatabaseTest, ValuesAndErrorsAreShownSafely) {
  ASSERT_LT(made_, 70) << errors_;
  expect_safe(errors_, "sweep");
  ASSERT_TRUE(fs::exists(database())) << errors_;
  EXPECT_EQ(run_command({"results", database()}).code, 0);
  ask_all();
}

/// SQLite limits the texts that it parses; rayreplay shows its message.
TEST_F(HostileDatabaseTest, ConditionsOfThousandsOfTermsAreRefused) {
  std::string terms = "run = 0";
  for (int i = 0; i < 10'000; ++i) {
    terms += " OR run = 0";
  }
  for (const std::string& where : {terms, std::string(50'000, '(') + "1" + std::string(50'000, ')'),
                                   std::string(50'000, '-') + "1", "NOT " + std::string(50'000, '~') + "1"}) {
    const Outcome outcome = run_command({"results", database(), "--where", where});
    EXPECT_EQ(outcome.code, 2) << outcome.errors.substr(0, 200);
    expect_sound(outcome, "--where");
  }
}

/// A changed database is refused or shown, without harm.
TEST_F(HostileDatabaseTest, ChangedDatabasesAreSafe) {
  ASSERT_TRUE(fs::exists(database())) << errors_;
  std::string hex;
  for (const char c : kBytes) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  }
  change("UPDATE runs SET host = CAST(x'" + hex + "' AS TEXT), device = CAST(x'" + hex + "' AS TEXT), error = CAST(x'" +
         hex + "' AS TEXT)");
  ask_all();
  change("UPDATE columns SET text = CAST(x'" + hex + "' AS TEXT), unit = CAST(x'" + hex + "' AS TEXT)");
  ask_all();
}

TEST_F(HostileDatabaseTest, ASweepTextThatNoStackHoldsEndsNothing) {
  ASSERT_TRUE(fs::exists(database())) << errors_;
  std::string dots = "a";
  for (int i = 0; i < 50'000; ++i) {
    dots += ".a";
  }
  change("UPDATE about SET value = '" + dots + " = 1' WHERE name = 'sweep'");
  ask_all();
}

TEST_F(HostileTextTest, MemoryTracesNeedUtf8AndAreShownSafely) {
  const std::string head = "rayreplay-memory-trace 1\nsms 1\n";
  const std::string tail = "0 0 load 4 0x1 0x1000\nend 1\n";
  const Outcome bytes = run_command({"import", write("a.txt", head + "tool caf\xE9\n" + tail)});
  EXPECT_EQ(bytes.code, 3) << bytes.errors;
  EXPECT_THAT(bytes.errors, AllOf(HasSubstr("not UTF-8"), HasSubstr("0xe9 at byte 3")));
  const std::string name = "x\xC2\x9B\xE2\x80\xAEy";
  for (const std::string format : {"table", "json", "csv"}) {
    const Outcome outcome = run_command(
        {"import", write("b.txt", head + "application " + name + "\nallocation other 0x1000 4 4 " + name + "\n" + tail),
         "--format", format});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    expect_format(outcome, format, "import " + format);
  }
}

TEST_F(HostileTextTest, MeshFilesMayNameMaterialsInAnyEncoding) {
  write("m.mtl", "newmtl caf\xE9\x1b[2J\nKd 1 0 0\n");
  const std::string mesh =
      write("m.obj", "mtllib m.mtl\nusemtl caf\xE9\x1b[2J\no ob\xFFj\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const Outcome outcome = run_command({"trace", "--scene", mesh, "--size", "8x8", "--spp", "1", "-o", file("m.rrt")});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  expect_sound(outcome, "trace");
  EXPECT_EQ(run_command({"validate", file("m.rrt")}).code, 0);
  expect_format(run_command({"info", file("m.rrt"), "--format", "json"}), "json", "info");
}

/// Settings are TOML, which is UTF-8.
TEST_F(HostileTextTest, SettingsThatAreNotUtf8SayWhatToDo) {
  const Outcome outcome = run_command({"run", "--set", "trace=/tmp/caf\xE9.rrt"});
  EXPECT_EQ(outcome.code, 2) << outcome.errors;
  EXPECT_THAT(outcome.errors, AllOf(HasSubstr("not UTF-8"), HasSubstr("caf\\xe9"), HasSubstr("symbolic link")));
}

}  // namespace
}  // namespace rayreplay::test
