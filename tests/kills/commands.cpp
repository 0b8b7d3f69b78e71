#include "tests/kills/commands.hpp"

#include <fstream>
#include <stdexcept>

#include "tests/app/run_command.hpp"
#include "tests/app/sweep_files.hpp"
#include "tests/ingest/spool_generator.hpp"

namespace rayreplay::test {
namespace {

void must(const std::vector<std::string>& arguments) {
  const Outcome outcome = run_command(arguments);
  if (outcome.code != 0) {
    throw std::runtime_error("no input for the kills: " + outcome.errors);
  }
}

}  // namespace

void make_inputs(const std::filesystem::path& folder) {
  const auto in = [&](const char* name) { return (folder / name).string(); };
  must({"trace", "--scene", "one-weekend", "--size", "64x36", "--spp", "2", "-o", in("t.rrt")});
  must({"microbench", "stride", "-o", in("m.rrm")});
  synthesize({.seed = 4, .launches = 2}).write(folder / "ready.rrspool");
  write_text(in("m.csv"), "trace,metric,value\n\"divergence:warps=64\",model_milliseconds,0.01\n");
  write_text(in("s.toml"), sweep_with("warps=4000", "warps=1000"));
  must({"sweep", in("s.toml"), "--store", "none", "-o", in("whole.db")});
  must({"sweep", in("s.toml"), "--store", "none", "--shard", "1/2", "-o", in("1.db")});
  must({"sweep", in("s.toml"), "--store", "none", "--shard", "2/2", "-o", in("2.db")});
}

std::vector<WritingCommand> writing_commands() {
  using enum OutputKind;
  const std::string program = "cp @IN/ready.rrspool \"$RAYREPLAY_CAPTURE_SPOOL/1.rrspool\"; sleep 0.05";
  return {
      {"trace",
       {"trace", "--scene", "one-weekend", "--size", "64x36", "--spp", "2", "-o", "@OUT/t.rrt", "--image",
        "@OUT/t.png"},
       {{"t.rrt"}, {"t.png"}}},
      {"capture", {"capture", "-o", "@OUT/c.rrt", "--", "/bin/sh", "-c", program}, {{"c.rrt"}}, true, {"c.rrt.spool"}},
      {"ingest", {"ingest", "@IN/ready.rrspool", "-o", "@OUT/i.rrt"}, {{"i.rrt"}}},
      {"import", {"import", "@IN/m.rrm", "-o", "@OUT/m.rrm"}, {{"m.rrm"}}},
      {"whatif",
       {"whatif", "@IN/t.rrt", "--report", "@OUT/r", "-o", "@OUT/w.json", "--format", "json"},
       {{"r", Folder}, {"w.json"}}},
      {"models",
       {"whatif", "@IN/t.rrt", "--models", "plain,ser", "--report", "@OUT/r", "--segments", "@OUT/s.h5", "--timeline",
        "@OUT/t.pftrace", "-o", "@OUT/w.txt"},
       {{"r", Folder}, {"s.h5"}, {"t.pftrace"}, {"w.txt"}}},
      {"explain",
       {"explain", "@IN/t.rrt", "--hardware", "any-order:seed=3", "--result", "@OUT/e.h5", "--maps", "@OUT/maps", "-o",
        "@OUT/e.txt"},
       {{"e.h5"}, {"maps", Folder}, {"e.txt"}}},
      {"cache",
       {"cache", "@IN/t.rrt", "--elements", "@OUT/c.h5", "--report", "@OUT/r", "--export", "@OUT/x.rrm", "-o",
        "@OUT/c.txt"},
       {{"c.h5"}, {"r", Folder}, {"x.rrm"}, {"c.txt"}}},
      {"bvh", {"bvh", "@IN/t.rrt", "--vtp", "@OUT/b.vtp", "-o", "@OUT/b.txt"}, {{"b.vtp"}, {"b.txt"}}},
      {"traverse",
       {"traverse", "@IN/t.rrt", "--traversal", "near-first", "--accesses", "@OUT/a.h5", "-o", "@OUT/t.txt"},
       {{"a.h5"}, {"t.txt"}}},
      {"swizzle", {"swizzle", "@IN/t.rrt", "--packing", "random:seed=1", "-o", "@OUT/s.h5"}, {{"s.h5"}}},
      {"order", {"order", "@IN/t.rrt", "-o", "@OUT/o.png"}, {{"o.png"}}},
      {"run",
       {"run", "--set", "trace=@IN/t.rrt", "--store", "@OUT/store", "-o", "@OUT/r.txt"},
       {{"r.txt"}, {"store", Store}}},
      {"calibrate",
       {"calibrate", "@IN/m.csv", "--machine", "generic", "--fit", "clock_mhz", "--store", "none", "-o",
        "@OUT/fitted.toml"},
       {{"fitted.toml"}}},
      {"microbench", {"microbench", "stride", "-o", "@OUT/m.rrm"}, {{"m.rrm"}}},
      {"sweep",
       {"sweep", "@IN/s.toml", "--threads", "2", "--store", "none", "-o", "@OUT/s.db"},
       {{"s.db", Database}},
       false},
      {"sweep with a store",
       {"sweep", "@IN/s.toml", "--threads", "2", "--store", "@OUT/store", "-o", "@OUT/s.db"},
       {{"s.db", Database}, {"store", Store}},
       false},
      {"merge", {"merge", "@IN/1.db", "@IN/2.db", "-o", "@OUT/m.db"}, {{"m.db", Database}}, false},
      {"results export", {"results", "@IN/whole.db", "export", "-o", "@OUT/x.csv"}, {{"x.csv"}}},
      {"results report", {"results", "@IN/whole.db", "report", "-o", "@OUT/x.html"}, {{"x.html"}}},
  };
}

}  // namespace rayreplay::test
