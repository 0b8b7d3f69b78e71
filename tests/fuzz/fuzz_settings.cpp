// Fuzzer of files of keys: experiments, sweeps and machines. A text must be refused as Usage or Input, or give settings
// that come back when they are written, and a plan that is the same each time.
//
// An input is a byte and TOML. The byte modulo 3: an experiment, a sweep (in a folder with an experiment e.toml), a
// machine.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <tbb/global_control.h>

#include "sim/machine/machine.hpp"
#include "sim/machine/shipped.hpp"
#include "sim/settings/settings.hpp"
#include "sim/sweep/plan/plan.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/support/fuzzing.hpp"

namespace rayreplay::fuzz {
namespace {

namespace fs = std::filesystem;

enum Kind : std::uint8_t { Experiment, Sweep, Machine, Kinds };
constexpr const char* kKinds[Kinds] = {"experiments", "sweeps", "machines"};
constexpr std::uint64_t kMaxRuns = 512;  ///< that are planned; more take their time

constexpr const char* kWords[] = {"[axes]",
                                  "[experiment]",
                                  "[stop]",
                                  "[[zip]]",
                                  "[costs]",
                                  "[machine]",
                                  "[cache.l1]",
                                  "[cache.l2]",
                                  "base = \"e.toml\"",
                                  "where",
                                  "exclude",
                                  "objective = \"more simt_efficiency\"",
                                  "sampler = \"random:count=3\"",
                                  "sampler = \"latin:count=4\"",
                                  "sampler = \"grid\"",
                                  "from",
                                  "to",
                                  "step",
                                  "count",
                                  "scale = \"log\"",
                                  "powers_of_two = [1, 64]",
                                  "{ from = 1, to = 9, count = 3 }",
                                  "{ from = 1, to = 9 }",
                                  "[1, 2, 3]",
                                  "[\"a\", \"b\"]",
                                  "true",
                                  "false",
                                  "1979-05-27T07:32:00Z",
                                  "07:32:00",
                                  "0x1F",
                                  "0b11",
                                  "1_000",
                                  "+inf",
                                  "'''",
                                  "\"\"\"",
                                  "\\u0000",
                                  "\"64KiB\"",
                                  "\"4MiB\"",
                                  "\"auto\"",
                                  "trace",
                                  "machine.sms",
                                  "machine.name",
                                  "warp_size",
                                  "order",
                                  "\"z-order\"",
                                  "packing",
                                  "scheduler.model",
                                  "\"ser\"",
                                  "\"ser:pool_warps=16\"",
                                  "scheduler.model:pool_warps",
                                  "cache.l1.bytes",
                                  "cache.l2.bytes",
                                  "cache.l1.model",
                                  "structure.layout",
                                  "structure.builder",
                                  "outputs",
                                  "runs = 3",
                                  "seconds = 1.5",
                                  "issue",
                                  "latency",
                                  "blocks",
                                  "instructions",
                                  "executions",
                                  "calls",
                                  "\"machine.sms > 4\"",
                                  "\"rtx4060-laptop\"",
                                  "\"hint:formula=distance\"",
                                  "#",
                                  "="};

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const auto add = [&](Kind kind, const std::string& text) { result.push_back(static_cast<char>(kind) + text); };
  experiment::Settings settings;
  settings.set_text("trace=t.rrt", "seed");
  add(Experiment, experiment::to_toml(experiment::complete(settings), false));
  for (const char* assignment : {"scheduler.model=ser:pool_warps=16", "cache.l1.bytes=64KiB", "costs.raygen=20",
                                 "machine.name=rtx4060-laptop", "order=z-order", "warp_size=32"}) {
    experiment::Settings one;
    one.set_text(assignment, "seed");
    const std::string key(assignment, std::string_view(assignment).find('='));
    add(Experiment, key + " = \"" + std::string(assignment).substr(key.size() + 1) + "\"\n");
  }
  add(Experiment,
      "[costs]\nraygen = 20\nmetal = { issue = 30, latency = 200 }\n"
      "miss = { blocks = [{ instructions = 5, executions = 10 }], calls = 10 }\n");
  for (const auto& entry : fs::directory_iterator(fs::path(RAYREPLAY_SOURCE_DIR) / "examples" / "sweeps")) {
    add(Sweep, test::read_bytes(entry.path()));
  }
  add(Sweep,
      "base = \"e.toml\"\nsampler = \"random:count=8,seed=3\"\nwhere = [\"machine.sms > 4\"]\n"
      "[axes]\n\"machine.sms\" = { from = 1, to = 64 }\nwarp_size = [8, 16, 32]\n[stop]\nruns = 3\nseconds = 1.5\n");
  add(Sweep,
      "exclude = [{ warp_size = 8, \"machine.sms\" = 4 }]\nobjective = \"more simt_efficiency\"\n"
      "[experiment]\nscheduler.model = \"ser\"\n[[zip]]\nwarp_size = [8, 16]\nmachine.sms = [4, 8]\n"
      "[axes]\nscheduler.model:pool_warps = { powers_of_two = [4, 64] }\n"
      "cache.l1.bytes = { from = 1024, to = 65536, count = 4, scale = \"log\" }\n");
  for (const std::string& name : machine::shipped_machines()) {
    add(Machine, machine::shipped_machine_text(name));
  }
  add(Machine, machine::to_toml({}));
  return result;
}

void mutate(std::string& input, Random& random) {
  std::string text = input.substr(std::min<std::size_t>(1, input.size()));
  change_text(text, random, kWords);
  input = (input.empty() ? '\0' : input[0]) + text;
}

/// "L instead of K", of the first lines that differ.
std::string difference(std::string_view expected, std::string_view found) {
  while (!expected.empty() || !found.empty()) {
    const std::string_view one = expected.substr(0, expected.find('\n'));
    const std::string_view other = found.substr(0, found.find('\n'));
    if (one != other) {
      return "'" + std::string(other) + "' instead of '" + std::string(one) + "'";
    }
    expected.remove_prefix(std::min(one.size() + 1, expected.size()));
    found.remove_prefix(std::min(other.size() + 1, found.size()));
  }
  return "nothing";
}

void use_experiment(const std::string& text, const std::string& folder) {
  experiment::Settings settings = experiment::parse_experiment(text, "e.toml", folder);
  if (!settings.has("trace") && !settings.has("workload")) {
    settings.set_text("trace=/t.rrt", "fuzz");  // absolute: written and read in any folder
  }
  const experiment::Settings complete = experiment::complete(settings);
  const std::string written = experiment::to_toml(complete, false);
  taken({}, [&] {
    const experiment::Settings again = experiment::parse_experiment(written, "written.toml", folder);
    const std::string twice = experiment::to_toml(experiment::complete(again), false);
    if (twice != written) {
      finding("settings that were written are others when they are read: " + difference(written, twice));
    }
    static_cast<void>(experiment::parse_experiment(experiment::to_toml(complete, true), "commented.toml", folder));
  });
}

void use_sweep(const std::string& text, const std::string& folder) {
  sweep::Definition definition = sweep::parse_sweep(text, "s.toml", folder);
  if (sweep::definition_hash(definition) != sweep::definition_hash(sweep::parse_sweep(text, "s.toml", folder))) {
    finding("the sweep has another hash the second time");
  }
  if (sweep::count_runs(definition) > kMaxRuns) {
    return;
  }
  const sweep::Plan plan(std::move(definition));
  std::uint64_t in_units = 0;
  for (const sweep::Unit& unit : plan.units()) {
    in_units += unit.runs.size();
  }
  if (in_units != plan.runs()) {
    finding("not every run is in exactly one unit");
  }
  for (std::uint64_t run = 0; run < plan.runs(); run += 1 + plan.runs() / 4) {
    taken({ErrorKind::Usage, ErrorKind::Input}, [&] { static_cast<void>(experiment::complete(plan.settings(run))); });
  }
}

void use_machine(const std::string& text) {
  const std::string written = machine::to_toml(machine::parse_machine(text, "m.toml"));
  taken({}, [&] {
    const std::string twice = machine::to_toml(machine::parse_machine(written, "written.toml"));
    if (twice != written) {
      finding("a machine that was written is another when it is read: " + difference(written, twice));
    }
  });
}

Verdict run(std::string_view input) {
  static const tbb::global_control kOneWorker(tbb::global_control::max_allowed_parallelism, 1);
  static const std::string kFolder = [] {
    test::write_bytes(scratch() / "e.toml", "trace = \"t.rrt\"\nwarp_size = 16\n[machine]\nsms = 8\n");
    return scratch().path().string();
  }();
  const auto kind = static_cast<Kind>((input.empty() ? 0U : static_cast<unsigned char>(input.front())) % Kinds);
  const std::string text(input.substr(std::min<std::size_t>(1, input.size())));
  const bool read = taken({ErrorKind::Usage, ErrorKind::Input}, [&] {
    switch (kind) {
      case Experiment:
        return use_experiment(text, kFolder);
      case Sweep:
        return use_sweep(text, kFolder);
      default:
        return use_machine(text);
    }
  });
  return {kind, read};
}

}  // namespace

const Fuzzer kFuzzer{"settings", kKinds, &seeds, &run, &mutate, 12000};

}  // namespace rayreplay::fuzz
