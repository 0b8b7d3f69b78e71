// Machines from TOML: what is read, and what is said about files that are wrong.
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/toml.hpp"
#include "sim/machine/machine.hpp"
#include "sim/machine/toml_quote.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::Said;
using test::said;

Said parse_error(const std::string& toml) {
  return said([&] { (void)parse_machine(toml, "my.toml"); });
}

void expect_usage(const std::string& toml, const std::vector<std::string>& parts) {
  const Said error = parse_error(toml);
  EXPECT_EQ(error.kind, ErrorKind::Usage) << toml;
  for (const std::string& part : parts) {
    EXPECT_NE(error.text.find(part), std::string::npos) << part << " is not in: " << error.text;
  }
}

TEST(TomlQuote, InvisibleCharactersAreEscapedAndReadBack) {
  const std::string text = "a\x1b\u009b\u202eb\U000E0001\U0001D173 \u00e9\U0001F600\"\\";
  const std::string shown = quoted(text);
  EXPECT_EQ(shown, "\"a\\u001B\\u009B\\u202Eb\\U000E0001\\U0001D173 \u00e9\U0001F600\\\"\\\\\"");
  EXPECT_EQ(parse_toml("x = " + shown, "my.toml", "test")["x"].value<std::string>(), text);
}

TEST(Machine, ReadsEveryKindOfValue) {
  const Machine machine = parse_machine(
      "name = \"a \\\"b\\\"\"\nsms = 7\nissue_per_cycle = 2\nclock_mhz = 1234.5\nl2_bytes = 5000000000\n"
      "reorders = true\nwithheld_sms = 6\n",
      "my.toml");
  EXPECT_EQ(machine.name, "a \"b\"");
  EXPECT_EQ(machine.sms, 7U);
  EXPECT_EQ(machine.issue_per_cycle, 2);
  EXPECT_EQ(machine.clock_mhz, 1234.5);
  EXPECT_EQ(machine.l2_bytes, 5'000'000'000U);
  EXPECT_TRUE(machine.reorders);
  EXPECT_EQ(machine.resident_warps, Machine().resident_warps);
  EXPECT_EQ(to_toml(parse_machine(to_toml(machine), "again")), to_toml(machine));
}

TEST(Machine, NamesTheNearestKeyAndTheLine) {
  expect_usage("sms = 4\nresidant_warps = 3\n", {"my.toml:2", "'residant_warps'", "did you mean 'resident_warps'"});
}

TEST(Machine, RefusesWhatNoMachineIs) {
  expect_usage("sms = 0", {"my.toml:1", "'sms'", "0", "1 to 4096"});
  expect_usage("\nclock_mhz = 0", {"my.toml:2", "'clock_mhz'"});
  expect_usage("clock_mhz = nan", {"'clock_mhz'", "nan"});
  expect_usage("dram_bytes_per_second = inf", {"'dram_bytes_per_second'"});
  expect_usage("issue_per_cycle = -1.0", {"'issue_per_cycle'", "-1"});
  expect_usage("warp_size = 65", {"'warp_size'", "1 to 64"});
  expect_usage("sms = 2.5", {"'sms'", "whole number"});
  expect_usage("sms = \"two\"", {"'sms'", "two"});
  expect_usage("sms = [2]", {"'sms'", "a table or list"});
  expect_usage("reorders = 1", {"'reorders'", "true or false"});
  expect_usage("name = 3", {"'name'", "a string"});
  expect_usage("software_traversal = true\nrt_rays = 8",
               {"my.toml:2", "without a ray-tracing unit", "software_traversal = true and rt_rays = 8",
                "rt_rays = 0, or software_traversal = false"});
  expect_usage("software_traversal = true\nrt_boxes_per_cycle = 2\nrt_triangles_per_cycle = 1",
               {"my.toml:2", "rt_boxes_per_cycle = 2"});
  expect_usage("withheld_sms = 2", {"my.toml:1", "does not reorder", "reorders = false and withheld_sms = 2",
                                    "set withheld_sms to 0, or reorders to true"});
  EXPECT_EQ(parse_machine("reorder_cycles = 70", "").reorder_cycles, 70) << "what if it reordered?";
  EXPECT_NO_THROW(static_cast<void>(parse_machine("software_traversal = true\nrt_rays = 0\nwithheld_sms = 0", "")));
  expect_usage("sms = 4\nwithheld_sms = 4", {"my.toml:2", "withholds all", "less than sms = 4"});
  expect_usage("sms = 4\nrt_boxes_per_cycle = 1", {"my.toml:2", "only rt_boxes_per_cycle", "or none of them"});
  expect_usage("rt_triangles_per_cycle = 1", {"my.toml:1", "only rt_triangles_per_cycle"});
  expect_usage("issue_partitions = 65", {"'issue_partitions'", "1 to 64"});
  expect_usage("l1_latency_cycles = 300\nl2_latency_cycles = 299",
               {"my.toml:2", "data from farther away comes sooner", "l1_latency_cycles = 300, l2_latency_cycles = 299",
                "l1_latency_cycles of at most l2_latency_cycles", "raise l2_latency_cycles"});
  expect_usage("l1_latency_cycles = 201", {"my.toml:1", "l2_latency_cycles = 200"});
  expect_usage("dram_latency_cycles = 199", {"my.toml:1", "l2_latency_cycles = 200, dram_latency_cycles = 199"});
  expect_usage("l1_latency_cycles = 501\nl2_bytes = 0", {"l1_latency_cycles = 501, dram_latency_cycles = 500"});
  expect_usage("sms = = 4", {"my.toml:1", "not TOML"});
  expect_usage("[machine]\nsms = 4", {"unknown key", "'machine'"});
}

/// In files alone: a machine of an experiment is checked with the keys that replace the file's.
TEST(Machine, RefusesCachesThatCannotBe) {
  const std::string path = testing::TempDir() + "/caches.toml";
  const auto refused = [&](const std::string& text, const std::vector<std::string>& parts) {
    std::ofstream(path) << text;
    const Said error = said([&] { (void)load_machine(path); });
    EXPECT_EQ(error.kind, ErrorKind::Usage) << text;
    for (const std::string& part : parts) {
      EXPECT_NE(error.text.find(part), std::string::npos) << part << " is not in: " << error.text;
    }
  };
  refused("l1_line_bytes = 96\n", {"caches.toml, l1_*", "96 bytes", "a power of two"});
  refused("l1_ways = 3\n", {"caches.toml, l1_*", "3 ways", "a divisor of the number of lines"});
  refused("l2_line_bytes = 16\n", {"caches.toml, l2_*", "32 bytes, lines of 16", "a power of two, 4 to 16"});
  std::ofstream(path) << "l1_bytes = 0\nl1_ways = 3\n";
  EXPECT_EQ(load_machine(path).l1_ways, 3U) << "no cache";
}

TEST(Machine, LatenciesOfLevelsThatAreNotThereHaveNoOrder) {
  EXPECT_EQ(parse_machine("l1_bytes = 0\nl1_latency_cycles = 999", "m.toml").l1_latency_cycles, 999U);
  EXPECT_EQ(parse_machine("l2_bytes = 0\nl2_latency_cycles = 999", "m.toml").l2_latency_cycles, 999U);
  EXPECT_EQ(parse_machine("l2_latency_cycles = 32\ndram_latency_cycles = 32", "m.toml").dram_latency_cycles, 32U)
      << "equal ones do not contradict each other";
}

TEST(Machine, KnowsTheOriginOfEachFigure) {
  const Machine machine = parse_machine(
      "sms = 7\nclock_mhz = 1234\nl1_ways = 8\nreorders = false\n[origins]\npublished = [\"sms\", "
      "\"reorders\"]\nfitted = "
      "[\"l1_ways\"]\n",
      "my.toml");
  EXPECT_EQ(machine.origin("sms"), Origin::Published);
  EXPECT_EQ(machine.origin("reorders"), Origin::Published) << "of a key that the file sets to its default too";
  EXPECT_EQ(machine.origin("l1_ways"), Origin::Fitted);
  EXPECT_EQ(machine.origin("clock_mhz"), Origin::Given) << "in the file, without an origin";
  EXPECT_EQ(machine.origin("registers"), Origin::Assumed) << "not in the file";
  const std::string written = to_toml_with_origins(machine);
  const Machine again = parse_machine(written, "again.toml");
  EXPECT_EQ(to_toml_with_origins(again), written);
  EXPECT_EQ(again.origin("clock_mhz"), Origin::Given);
  EXPECT_EQ(again.origin("registers"), Origin::Assumed);
}

TEST(Machine, RefusesOriginsOfNothing) {
  expect_usage("rt_step_latency_cycles = 40\n", {"my.toml:1", "did you mean 'rt_test_latency_cycles'"});
  expect_usage("[origins]\npublishd = [\"sms\"]\n", {"my.toml:2", "'publishd'", "did you mean 'published'"});
  expect_usage("[origins]\npublished = [\"smss\"]\n", {"my.toml:2", "'smss'", "did you mean 'sms'"});
  expect_usage("[origins]\npublished = [\"name\"]\n", {"unknown key", "'name'"});
  expect_usage("l1_ways = 8\n[origins]\nmeasured = [\n  \"l1_ways\",\n  \"l2_ways\"]\n",
               {"my.toml:5", "a key that the file does not set", "'l2_ways'", "one of l1_ways",
                "did you mean 'l1_ways'", "set l2_ways"});
  expect_usage("sms = 8\n[origins]\nmeasured = [\"clock_mhz\"]\n",
               {"my.toml:3", "'clock_mhz'", "one of sms", "set clock_mhz, or remove its origin"});
  expect_usage("name = \"mine\"\n[origins]\nmeasured = [\"sms\"]\n", {"it sets none", "set sms"});
  expect_usage("[origins]\npublished = \"sms\"\n", {"my.toml:2", "a list of keys"});
  expect_usage("[origins]\npublished = [3]\n", {"my.toml:2", "a list of keys"});
  expect_usage("origins = 3\n", {"my.toml:1", "a table of lists of keys"});
  expect_usage("sms = 8\n[origins]\npublished = [\"sms\"]\nderived = [\"sms\"]\n",
               {"my.toml:4", "two origins", "published already"});
  expect_usage("sms = 8\n[origins]\npublished = [\"sms\", \"sms\"]\n", {"two origins"});
}

TEST(Machine, LoadsByNameAndByPath) {
  const std::string path = testing::TempDir() + "/machine.toml";
  std::ofstream(path) << "name = \"mine\"\nsms = 3\n";
  EXPECT_EQ(load_machine(path).sms, 3U);
  EXPECT_EQ(load_machine("generic").name, "generic");
  const Said unknown = said([] { (void)load_machine("genric"); });
  EXPECT_EQ(unknown.kind, ErrorKind::Usage);
  EXPECT_NE(unknown.text.find("did you mean 'generic'"), std::string::npos) << unknown.text;
  const Said absent = said([] { (void)load_machine("no/such.toml"); });
  EXPECT_EQ(absent.kind, ErrorKind::Input);
  EXPECT_NE(absent.text.find("no/such.toml"), std::string::npos);
  EXPECT_EQ(said([] { (void)load_machine("."); }).kind, ErrorKind::Usage);
  EXPECT_EQ(said([] { (void)load_machine("/"); }).kind, ErrorKind::Input);
}

TEST(Machine, MinusZeroIsZero) {
  const std::string written = to_toml(parse_machine("rt_test_latency_cycles = -0.0\n", "m.toml"));
  EXPECT_EQ(to_toml(parse_machine(written, "again.toml")), written);
}

TEST(Machine, TextsAreCompiledInByteByByte) {
  for (const std::string& name : shipped_machines()) {
    std::ifstream file(RAYREPLAY_SOURCE_DIR "/machines/" + name + ".toml", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(text.empty()) << name;
    EXPECT_EQ(shipped_machine_text(name), text) << name;
  }
}

TEST(Machine, OccupancyFollowsFromRegisters) {
  Machine machine;
  machine.registers = 65536;
  machine.resident_warps = 48;
  EXPECT_EQ(resident_warps(machine, 32, 32), 48U);
  EXPECT_EQ(resident_warps(machine, 32, 64), 32U);
  EXPECT_EQ(resident_warps(machine, 32, 255), 8U);
  EXPECT_EQ(resident_warps(machine, 32, 1'000'000), 1U);
  EXPECT_EQ(resident_warps(machine, 32, 0), 48U);
}

TEST(Machine, FactsAreForOneSm) {
  const Machine machine = parse_machine(
      "sms = 10\nclock_mhz = 1000\ndram_bytes_per_second = 4e11\nreorders = true\nwithheld_sms = 2\nreorder_cycles = 7",
      "my.toml");
  const scheduler::MachineFacts known = facts(machine, 12);
  EXPECT_EQ(known.sms, 10U);
  EXPECT_EQ(known.resident_warps, 12U);
  EXPECT_TRUE(known.reorders);
  EXPECT_EQ(known.withheld_sms, 2U);
  EXPECT_EQ(known.reorder_cycles, 7);
  EXPECT_EQ(known.exchange_bytes_per_cycle, 40);
}

}  // namespace
}  // namespace rayreplay::machine
