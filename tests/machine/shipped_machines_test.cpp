// Do the shipped machines parse, are their figures those of real GPUs, and does every figure say where it comes from?
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/machine/cache_geometry.hpp"
#include "sim/machine/machine.hpp"

namespace rayreplay::machine {
namespace {

std::vector<std::string> products() {
  std::vector<std::string> names = shipped_machines();
  std::erase(names, "generic");
  return names;
}

double tera_flops(const Machine& machine) {
  return 2e-6 * machine.sms * machine.issue_per_cycle * machine.warp_size * machine.clock_mhz;
}

TEST(ShippedMachines, ListsTheGpusOfTheDocumentation) {
  const std::vector<std::string> expected = {
      "arc-a770", "generic",        "h200",    "rtx2080-ti", "rtx2080-ti-published",
      "rtx3080",  "rtx4060-laptop", "rtx4090", "rtx5080",    "rx7900-xtx"};
  EXPECT_EQ(shipped_machines(), expected);
}

TEST(ShippedMachines, AreNamedAfterTheirFiles) {
  for (const std::string& name : shipped_machines()) {
    EXPECT_EQ(load_machine(name).name, name);
  }
  for (const std::string& name : products()) {
    EXPECT_FALSE(load_machine(name).vendor.empty()) << name;
    EXPECT_FALSE(load_machine(name).architecture.empty()) << name;
  }
}

TEST(ShippedMachines, GenericIsTheMachineWithoutKeys) {
  Machine plain = parse_machine("", "test");
  EXPECT_EQ(to_toml(load_machine("generic")), to_toml(plain));
}

TEST(ShippedMachines, SurviveBeingWrittenAndRead) {
  for (const std::string& name : shipped_machines()) {
    const std::string text = to_toml(load_machine(name));
    EXPECT_EQ(to_toml(parse_machine(text, name)), text);
  }
}

// Limits are the smallest and largest GPU of the last eight years, with room.
TEST(ShippedMachines, HaveFiguresThatRealGpusHave) {
  for (const std::string& name : shipped_machines()) {
    SCOPED_TRACE(name);
    const Machine machine = load_machine(name);
    EXPECT_GE(machine.sms, 8U);
    EXPECT_LE(machine.sms, 256U);
    EXPECT_GE(machine.resident_warps * machine.warp_size, 1024U) << "threads of an SM";
    EXPECT_LE(machine.resident_warps * machine.warp_size, 2048U) << "threads of an SM";
    const double registers = static_cast<double>(machine.registers) / (machine.resident_warps * machine.warp_size);
    EXPECT_GE(registers, 32) << "of a thread when the SM is full";
    EXPECT_LE(registers, 128) << "of a thread when the SM is full";
    EXPECT_GE(machine.clock_mhz, 1000);
    EXPECT_LE(machine.clock_mhz, 3500);
    EXPECT_GT(tera_flops(machine), 8);
    EXPECT_LT(tera_flops(machine), 120);
    EXPECT_GE(machine.dram_bytes_per_second, 200e9);
    EXPECT_LE(machine.dram_bytes_per_second, 6000e9);
    EXPECT_GT(machine.l2_bytes_per_second, 1.5 * machine.dram_bytes_per_second);
    EXPECT_LT(machine.l2_bytes_per_second, 20 * machine.dram_bytes_per_second);
    EXPECT_GE(machine.l1_bytes, 32U << 10);
    EXPECT_LE(machine.l1_bytes, 256U << 10);
    EXPECT_GE(machine.l2_bytes, 4U << 20);
    EXPECT_LE(machine.l2_bytes, 128U << 20);
    EXPECT_GT(machine.rt_steps_per_cycle, 0.01);
    EXPECT_LE(machine.rt_steps_per_cycle, 8);
    EXPECT_GE(visit_latency_cycles(machine), 20);
    EXPECT_LE(visit_latency_cycles(machine), 1000);
    EXPECT_LT(machine.withheld_sms, machine.sms);
    EXPECT_GE(machine.l1_latency_cycles, 20U);
    EXPECT_LE(machine.l1_latency_cycles, 150U);
    EXPECT_GE(machine.l2_latency_cycles, 3 * machine.l1_latency_cycles);
    EXPECT_LE(machine.l2_latency_cycles, 500U);
    EXPECT_GE(machine.dram_latency_cycles, machine.l2_latency_cycles + 100);
    EXPECT_LE(machine.dram_latency_cycles, 1200U);
    EXPECT_GE(machine.outstanding_misses, 64U);
    EXPECT_LE(machine.outstanding_misses, 1024U);
  }
}

TEST(ShippedMachines, HaveCachesThatCacheModelsTake) {
  for (const std::string& name : shipped_machines()) {
    SCOPED_TRACE(name);
    const Machine machine = load_machine(name);
    EXPECT_NO_THROW(static_cast<void>(l1_geometry(machine)));
    EXPECT_NO_THROW(static_cast<void>(l2_geometry(machine)));
    EXPECT_GE(machine.l2_line_bytes, machine.l1_sector_bytes) << "the interleaving and the analysis ask for it";
  }
}

// Every key that the interleaving reads is said, none left to its default.
TEST(ShippedMachines, SayEveryFigureOfTheirCachesAndUnits) {
  for (const std::string& name : shipped_machines()) {
    const std::string text = shipped_machine_text(name);
    for (const char* key : {"l1_bytes", "l1_line_bytes", "l1_sector_bytes", "l1_ways", "l2_bytes", "l2_line_bytes",
                            "l2_sector_bytes", "l2_ways", "l1_latency_cycles", "l2_latency_cycles",
                            "dram_latency_cycles", "outstanding_misses", "issue_partitions"}) {
      EXPECT_NE(text.find("\n" + std::string(key) + " = "), std::string::npos) << name << ": " << key;
    }
  }
}

// All that the published cache study says of its machine; whatever it does not say is the card's.
TEST(ShippedMachines, ThePublishedStudysCaches) {
  Machine machine = load_machine("rtx2080-ti-published");
  EXPECT_EQ(machine.sms, 68U);
  EXPECT_EQ(memory::to_string(l1_geometry(machine)), "32KiB:line=128,ways=64,sector=32");
  EXPECT_EQ(memory::to_string(l2_geometry(machine)), "6MiB:line=32,ways=16,sector=32");
  const Machine card = load_machine("rtx2080-ti");
  machine.name = card.name;
  machine.l1_bytes = card.l1_bytes;
  machine.l1_ways = card.l1_ways;
  machine.l2_bytes = card.l2_bytes;
  machine.l2_line_bytes = card.l2_line_bytes;
  EXPECT_EQ(to_toml(machine), to_toml(card));
}

// Published peaks in TFLOPS (fused multiply-adds of 32 bits). Turing issues two integer instructions for two of floats,
// so its peak by issue is twice the published one; RDNA 3's published one counts dual issue, ours does not.
TEST(ShippedMachines, ReachThePublishedPeaks) {
  EXPECT_NEAR(tera_flops(load_machine("rtx2080-ti")), 2 * 13.45, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("rtx2080-ti-published")), 2 * 13.45, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("rtx3080")), 29.77, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("rtx4060-laptop")), 11.61, 0.2);
  EXPECT_NEAR(tera_flops(load_machine("rtx4090")), 82.6, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("rtx5080")), 56.3, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("h200")), 66.9, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("arc-a770")), 17.2, 0.3);
  EXPECT_NEAR(tera_flops(load_machine("rx7900-xtx")), 56.5 / 2, 0.3);
}

TEST(ShippedMachines, OnlyThoseWithTheHardwareReorder) {
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    const bool has_it = machine.architecture == "Ada Lovelace" || machine.architecture == "Blackwell";
    EXPECT_EQ(machine.reorders, has_it) << name;
    EXPECT_EQ(machine.withheld_sms > 0, has_it) << name;
  }
}

TEST(ShippedMachines, TheStudiedLaptopIsAsObserved) {
  const Machine machine = load_machine("rtx4060-laptop");
  EXPECT_EQ(machine.sms, 24U);
  EXPECT_EQ(machine.withheld_sms, 2U);
}

TEST(ShippedMachines, EveryFigureHasAnOrigin) {
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name);
    EXPECT_EQ(machine.origins.size(), 30U) << name;
    for (const auto& [key, origin] : machine.origins) {
      EXPECT_NE(origin, Origin::Given) << name << ": " << key;
      EXPECT_TRUE(name != "generic" || origin == Origin::Assumed) << key;
    }
    const std::string written = to_toml_with_origins(machine);
    EXPECT_EQ(to_toml_with_origins(parse_machine(written, name)), written);
  }
  EXPECT_EQ(load_machine("rtx4060-laptop").origin("withheld_sms"), Origin::Measured);
  EXPECT_EQ(load_machine("rtx4060-laptop").origin("reorder_cycles"), Origin::Fitted);
  EXPECT_EQ(load_machine("rtx4090").origin("rt_steps_per_cycle"), Origin::Derived);
}

// A comment behind the figure, or in the lines just above it.
TEST(ShippedMachines, EveryFigureSaysWhereItComesFrom) {
  for (const std::string& name : products()) {
    const Machine machine = load_machine(name);
    std::istringstream lines(shipped_machine_text(name));
    bool comment_above = false;
    std::string line;
    while (std::getline(lines, line)) {
      const std::size_t equals = line.find('=');
      const std::size_t hash = line.find('#');
      if (hash == 0 || equals == std::string::npos || line.find('"') != std::string::npos) {
        comment_above = hash == 0;
        continue;
      }
      const bool about_reorders =  // 0 where nothing reorders needs no source
          !machine.reorders && (line.starts_with("withheld_sms") || line.starts_with("reorder_cycles"));
      EXPECT_TRUE(about_reorders || comment_above || hash != std::string::npos) << name << ": " << line;
      comment_above = false;
    }
  }
}

}  // namespace
}  // namespace rayreplay::machine
