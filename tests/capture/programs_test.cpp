// The programs of capture/apps under the layer: the picture stays what it was, and the trace's books balance.
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "capture/block_counts/invocation_ends.hpp"
#include "capture/profile/value_profile.hpp"
#include "capture/spirv/uniformity.hpp"
#include "tests/capture/captured.hpp"

namespace rayreplay::test {
namespace {

struct Case {
  std::string name;
  std::string program;
  std::vector<std::string> arguments;
  std::size_t launches = 1;
};

void PrintTo(const Case& value, std::ostream* out) {
  *out << value.name;
}

class CapturedProgram : public testing::TestWithParam<Case> {};

std::vector<std::string> arguments_of(const Case& test) {
  std::vector<std::string> arguments{"--size", "21x13", "--spp", "1", "--depth", "5"};
  arguments.insert(arguments.end(), test.arguments.begin(), test.arguments.end());
  return arguments;
}

/// Every ray ends once: a closest hit or a miss, and for a shadow ray a miss or nothing, when something is in the way.
void expect_conservation(const trace::Launch& launch) {
  std::size_t wrong = 0;
  for (const RayStory& story : tell_rays(launch)) {
    const std::uint32_t ends = story.closest_hits + story.misses;
    wrong += (story.occlusion ? story.closest_hits == 0 && ends <= 1 : ends == 1) ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U) << "rays that do not end once";
}

/// Groups partition the events that warps execute, and each has as many events as lanes.
void expect_whole_groups(const trace::Launch& launch, std::uint32_t warp_size) {
  const trace::Events& events = launch.data.events;
  ASSERT_EQ(events.group.size(), events.size());
  std::vector<std::uint32_t> lanes(launch.groups.size());
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (trace::is_warp_event(events.kind[row])) {
      ASSERT_LT(events.group[row], lanes.size());
      ++lanes[events.group[row]];
    }
  }
  std::size_t wrong = 0;
  for (std::size_t group = 0; group < lanes.size(); ++group) {
    const auto active = static_cast<std::uint32_t>(std::popcount(launch.groups.lane_mask[group]));
    EXPECT_LE(active, warp_size);
    // Groups of events that are no calls of their own, such as reports, are counted with their calls.
    wrong += lanes[group] == active || lanes[group] == 0 ? 0U : 1U;
  }
  EXPECT_EQ(wrong, 0U) << "groups that do not have as many events as lanes";
}

/// The counts of lanes of the minimal counters are those of all, and both fit the events: every entry of a shader is an
/// event of the trace.
TEST_P(CapturedProgram, MinimalCountersGiveTheCountsOfAll) {
  const Case& test = GetParam();
  const auto with = [&](const char* counters) {
    return capture(test.program, arguments_of(test),
                   {{"RAYREPLAY_CAPTURE_PROFILE", "blocks"}, {"RAYREPLAY_CAPTURE_BLOCK_COUNTERS", counters}});
  };
  const Captured all = with("all");
  const Captured minimal = with("minimal");
  EXPECT_EQ(all.picture, render(test.program, arguments_of(test)));
  EXPECT_EQ(minimal.picture, all.picture);
  EXPECT_TRUE(all.trace.header.not_captured.empty()) << all.trace.header.not_captured.front();
  EXPECT_TRUE(minimal.trace.header.not_captured.empty());
  const trace::BlockCounts& counts = all.trace.block_counts;
  const trace::BlockCounts& fewer = minimal.trace.block_counts;
  ASSERT_GT(counts.size(), 10U);
  EXPECT_EQ(counts.groups.size(), counts.size());
  EXPECT_TRUE(fewer.groups.empty());
  ASSERT_EQ(counts.size(), fewer.size());
  const auto key = [](const trace::BlockCounts& of, std::size_t row) {
    return std::tuple(of.pipeline[row], of.shader[row], of.function[row], of.block[row], of.lanes[row]);
  };
  for (std::size_t row = 0; row < counts.size(); ++row) {
    EXPECT_EQ(key(counts, row), key(fewer, row)) << "row " << row;
  }
  std::map<std::uint16_t, std::uint64_t> entered, recorded;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (counts.function[row] == 0 && counts.block[row] == 0) {  // glslang puts main first
      entered[counts.shader[row]] += counts.lanes[row];
    }
  }
  for (const trace::Launch& launch : all.trace.launches) {
    const trace::Events& events = launch.data.events;
    for (std::size_t row = 0; row < events.size(); ++row) {
      if (trace::is_warp_event(events.kind[row]) && !trace::begins_ray(events.kind[row])) {
        ++recorded[events.shader[row]];
      }
    }
  }
  for (const auto& [shader, entries] : entered) {
    if (all.trace.shaders[shader].stage == trace::ShaderStage::RayGeneration) {
      EXPECT_EQ(entries, 21U * 13U * test.launches);
    } else {
      EXPECT_EQ(entries, recorded[shader]) << "shader " << shader;
    }
  }
}

/// Every call has a path, and all of them together are the counts of blocks of the same launches.
TEST_P(CapturedProgram, PathsAreTheCountsOfBlocks) {
  const Case& test = GetParam();
  const Captured captured = capture(test.program, arguments_of(test), {{"RAYREPLAY_CAPTURE_PROFILE", "blocks,paths"}});
  EXPECT_EQ(captured.picture, render(test.program, arguments_of(test)));
  EXPECT_TRUE(captured.trace.header.not_captured.empty()) << captured.trace.header.not_captured.front();
  const trace::Paths& paths = captured.trace.paths;
  ASSERT_GT(paths.size(), 5U);
  using Place = std::tuple<std::uint16_t, std::uint32_t, std::uint32_t>;
  std::map<Place, std::uint64_t> of_paths, of_blocks;
  std::size_t count = 0;
  for (std::size_t path = 0; path < paths.size(); ++path) {
    for (std::size_t row = 0; row < paths.block_shader.size(); ++row) {
      if (paths.block_shader[row] == paths.shader[path]) {
        of_paths[{paths.block_shader[row], paths.function[row], paths.block[row]}] +=
            paths.calls[path] * paths.counts[count++];
      }
    }
  }
  const trace::BlockCounts& counts = captured.trace.block_counts;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    of_blocks[{counts.shader[row], counts.function[row], counts.block[row]}] += counts.lanes[row];
  }
  // Shaders of the pipeline that no call reached have no path.
  std::erase_if(of_blocks, [](const auto& block) { return block.second == 0; });
  std::erase_if(of_paths, [](const auto& block) { return block.second == 0; });
  EXPECT_EQ(of_paths, of_blocks);
  for (const trace::Launch& launch : captured.trace.launches) {
    const trace::Events& events = launch.data.events;
    ASSERT_EQ(events.path.size(), events.size());
    for (std::size_t row = 0; row < events.size(); ++row) {
      EXPECT_EQ(events.path[row] != 0, trace::enters_shader(events.kind[row])) << "event " << row;
    }
    for (const std::uint32_t path : launch.thread_path) {
      EXPECT_NE(path, 0U);
    }
  }
}

/// Every executed load of a buffer is recorded: as often as the counters of loads count it.
TEST_P(CapturedProgram, AccessesAreTheCountsOfLoads) {
  const Case& test = GetParam();
  const Captured captured = capture(test.program, arguments_of(test), {{"RAYREPLAY_CAPTURE_PROFILE", "loads,memory"}});
  EXPECT_EQ(captured.picture, render(test.program, arguments_of(test)));
  for (const std::string& line : captured.trace.header.not_captured) {
    EXPECT_EQ(line.find("not recorded"), std::string::npos) << line;
  }
  const trace::AccessSites& sites = captured.trace.access_sites;
  ASSERT_GT(sites.size(), 1U);
  using Place = std::tuple<std::uint16_t, std::uint32_t, std::uint32_t>;
  std::map<Place, std::uint64_t> accessed, counted;
  std::uint64_t last = 0;  // the farthest byte by descriptor
  for (const trace::Launch& launch : captured.trace.launches) {
    const trace::Accesses& accesses = launch.data.accesses;
    ASSERT_EQ(accesses.offset.size(), launch.size.threads() + 1);
    for (std::size_t row = 0; row < accesses.size(); ++row) {
      const std::uint32_t site = accesses.site[row];
      if (sites.kind[site] == trace::AccessKind::Load) {
        ++accessed[{sites.shader[site], sites.function[site], sites.instruction[site]}];
      }
      if (sites.space[site] == trace::AccessSpace::Descriptor) {
        last = std::max(last, accesses.address[row] + sites.bytes[site]);
      }
    }
  }
  const trace::InstructionCounts& loads = captured.trace.load_counts;
  for (std::size_t row = 0; row < loads.size(); ++row) {
    counted[{loads.shader[row], loads.function[row], loads.instruction[row]}] += loads.lanes[row];
  }
  std::uint64_t all = 0;
  for (std::size_t site = 0; site < sites.size(); ++site) {
    const Place place(sites.shader[site], sites.function[site], sites.instruction[site]);
    if (sites.kind[site] == trace::AccessKind::Load) {
      ASSERT_TRUE(counted.contains(place)) << "shader " << sites.shader[site];
      EXPECT_EQ(accessed[place], counted[place]) << "shader " << sites.shader[site];
      all += accessed[place];
    }
  }
  EXPECT_GT(all, 100U);
  EXPECT_LT(last, 64U << 20U) << "no buffer of these programs is that large";
}

/// A trace's counts beside the facts of its shaders without a run.
class Agreement {
 public:
  explicit Agreement(const trace::Trace& trace) : trace_(trace) {
    const trace::BlockCounts& counts = trace.block_counts;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      blocks_[{counts.pipeline[row], counts.shader[row], counts.function[row], counts.block[row]}] = {
          counts.lanes[row], counts.groups[row]};
    }
  }

  /// Nothing that is proven to be uniform differs, and instructions run as often as their blocks. Returns the rows that
  /// are proven.
  std::size_t check(const trace::InstructionCounts& counts, bool branches) {
    std::size_t proven = 0;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      Code& code = code_of(counts.shader[row]);
      const spirv::Function& function = code.module.functions.at(counts.function[row]);
      const auto block =
          blocks_.at({counts.pipeline[row], counts.shader[row], counts.function[row], counts.block[row]});
      EXPECT_LE(counts.lanes[row], block.first);
      if (!code.may_end.at(counts.function[row]).at(counts.block[row])) {
        EXPECT_EQ(std::pair(counts.lanes[row], counts.groups[row]), block) << "row " << row;
      }
      const spirv::Word op = function.body.at(counts.instruction[row]).op();
      EXPECT_EQ(branches, op == 250 || op == 251) << "row " << row;
      const auto known = code.levels.find({counts.function[row], counts.instruction[row]});
      if (known == code.levels.end()) {
        EXPECT_EQ(counts.lanes[row], 0U) << "the analysis reaches what runs";
        continue;
      }
      if (known->second.level != spirv::Level::Divergent && counts.uniform[row] != trace::kNotCompared) {
        EXPECT_EQ(counts.uniform[row], counts.groups[row]) << "shader " << counts.shader[row] << ", row " << row;
        ++proven;
      }
      if (!branches && known->second.address != spirv::Level::Divergent &&
          counts.uniform_address[row] != trace::kNotCompared) {
        EXPECT_EQ(counts.uniform_address[row], counts.groups[row])
            << "shader " << counts.shader[row] << ", row " << row;
        ++proven;
      }
    }
    return proven;
  }

 private:
  struct Code {
    spirv::Module module;
    std::map<spirv::Place, spirv::UniformityFacts> levels;
    std::vector<std::vector<bool>> may_end;  ///< by function and block
  };

  Code& code_of(std::uint16_t shader) {
    const auto [known, fresh] = codes_.try_emplace(shader);
    Code& code = known->second;
    if (!fresh) {
      return code;
    }
    std::string reason;
    code.module = spirv::parse(trace_.shaders.at(shader).spirv, reason).value();
    const spirv::Analysed analysed(code.module);
    const block_counts::InvocationEnds ends(code.module);
    for (std::size_t f = 0; f < code.module.functions.size(); ++f) {
      code.may_end.push_back(ends.blocks_of(code.module.functions[f], analysed.flows.at(f).value()));
    }
    for (const spirv::Instruction& entry : code.module.entry_points) {
      if (entry.string(3) != trace_.shaders.at(shader).entry) {
        continue;
      }
      const auto levels = spirv::uniformity(analysed, analysed.calls.function_of.at(entry[2]), reason);
      EXPECT_TRUE(levels) << reason;
      for (const auto* list : {&levels->branches, &levels->results}) {
        for (const spirv::UniformityFacts& facts : *list) {
          code.levels[facts.place] = facts;
        }
      }
    }
    return code;
  }

  const trace::Trace& trace_;
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t, std::uint32_t>,
           std::pair<std::uint64_t, std::uint64_t>>
      blocks_;
  std::map<std::uint16_t, Code> codes_;
};

/// Branches and loads are counted without a change of the picture; what is proven to be uniform is, with counters of
/// its own too; the proofs change no count.
TEST_P(CapturedProgram, CountsOfBranchesAndLoadsAgreeWithBlocksAndProofs) {
  const Case& test = GetParam();
  const auto with = [&](const char* proven) {
    return capture(test.program, arguments_of(test),
                   {{"RAYREPLAY_CAPTURE_PROFILE", "all"}, {"RAYREPLAY_CAPTURE_PROFILE_PROVEN", proven}});
  };
  const Captured trusting = with("off");
  const Captured all = with("on");
  EXPECT_EQ(trusting.picture, render(test.program, arguments_of(test)));
  EXPECT_EQ(all.picture, trusting.picture);
  ASSERT_GT(all.trace.branch_counts.size(), 5U);
  ASSERT_GT(all.trace.load_counts.size(), 5U);
  for (const std::string& line : all.trace.header.not_captured) {
    EXPECT_NE(line.find("addresses of some loads are not compared"), std::string::npos) << line;
  }
  Agreement agreement(all.trace);
  EXPECT_GT(agreement.check(all.trace.branch_counts, true), 0U);
  EXPECT_GT(agreement.check(all.trace.load_counts, false), 0U);
  const auto rows = [](const trace::InstructionCounts& of) {
    std::vector<std::tuple<std::uint16_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t>>
        result;
    for (std::size_t row = 0; row < of.size(); ++row) {
      result.emplace_back(of.shader[row], of.function[row], of.instruction[row], of.lanes[row], of.groups[row],
                          of.uniform[row]);
    }
    return result;
  };
  EXPECT_EQ(rows(trusting.trace.branch_counts), rows(all.trace.branch_counts));
  EXPECT_EQ(rows(trusting.trace.load_counts), rows(all.trace.load_counts));
}

/// The values of each loaded number add up to its executions, and the launch's parameters have their known values.
TEST_P(CapturedProgram, ValuesOfLoadsAreWhatTheProgramGives) {
  const Case& test = GetParam();
  const Captured captured =
      capture(test.program, arguments_of(test),
              {{"RAYREPLAY_CAPTURE_PROFILE", "loads,values"}, {"RAYREPLAY_CAPTURE_PROFILE_VALUE_SLOTS", "1024"}});
  EXPECT_EQ(captured.picture, render(test.program, arguments_of(test)));
  const trace::Trace& trace = captured.trace;
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t, std::uint32_t>, std::size_t> loads;
  for (std::size_t row = 0; row < trace.load_counts.size(); ++row) {
    loads[{trace.load_counts.pipeline[row], trace.load_counts.shader[row], trace.load_counts.function[row],
           trace.load_counts.instruction[row]}] = row;
  }
  trace::Profile profile{trace.header, trace.shaders, {}, {}, {}, ""};
  profile.value_counts = trace.value_counts;
  const std::map<std::string, std::string> known = {
      {"params.width", "21"}, {"params.height", "13"}, {"params.samples", "1"}, {"params.depth", "5"}};
  std::size_t met = 0, whole = 0;
  for (const profile::ValuePlace& place : profile::value_profile(profile, "the trace")) {
    const std::size_t load = loads.at({place.pipeline, place.shader, place.function, place.instruction});
    EXPECT_EQ(place.lanes, trace.load_counts.lanes[load]) << place.name;
    EXPECT_EQ(place.groups, trace.load_counts.groups[load]) << place.name;
    std::uint64_t lanes = place.untabled, uniform = 0;
    for (const profile::LoadedValue& value : place.values) {
      lanes += value.lanes;
      uniform += value.uniform_groups;
    }
    EXPECT_EQ(lanes, place.lanes) << place.name;
    whole += place.untabled == 0 ? 1U : 0U;
    // A vector's value is one in all lanes only where each number is.
    if (place.untabled == 0 && trace.load_counts.uniform[load] != trace::kNotCompared) {
      EXPECT_GE(uniform, trace.load_counts.uniform[load]) << place.name;
    }
    for (const auto& [name, value] : known) {
      if (place.name.ends_with(name) && place.lanes != 0) {
        ASSERT_EQ(place.values.size(), 1U) << place.name;
        EXPECT_EQ(profile::value_text(place.values[0].bits, place.number), value) << place.name;
        EXPECT_EQ(place.values[0].uniform_groups, place.groups) << place.name;
        ++met;
      }
    }
  }
  EXPECT_GE(met, 4U);
  EXPECT_GT(whole, 10U);
}

TEST_P(CapturedProgram, KeepsItsPictureAndBooksBalance) {
  const Case& test = GetParam();
  const Pixels plain = render(test.program, arguments_of(test));
  const Captured captured = capture(test.program, arguments_of(test));
  EXPECT_EQ(captured.picture, plain);
  ASSERT_EQ(captured.trace.launches.size(), test.launches);
  for (const trace::Launch& launch : captured.trace.launches) {
    EXPECT_EQ(launch.size, (trace::LaunchSize{21, 13, 1}));
    EXPECT_EQ(launch.dropped_events, 0U);
    // One sample: every thread traces a camera ray.
    for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
      EXPECT_LT(launch.data.ray_offset[thread], launch.data.ray_offset[thread + 1]) << "thread " << thread;
    }
    expect_conservation(launch);
    expect_whole_groups(launch, captured.trace.header.warp_size);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, CapturedProgram,
    testing::Values(Case{"one_weekend", kOneWeekend, {}, 1},
                    Case{"one_weekend_any_hit", kOneWeekend, {"--any-hit", "--hit-groups", "per-material"}, 1},
                    Case{"one_weekend_recursion", kOneWeekend, {"--recursion"}, 1},
                    Case{"one_weekend_launches", kOneWeekend, {"--frames", "2", "--launches-per-frame", "2"}, 4},
                    Case{"viewer_hall", kMeshViewer, {"--scene", "hall"}, 1},
                    Case{"viewer_hall_holes", kMeshViewer, {"--scene", "hall", "--alpha", "--index16"}, 1},
                    Case{"viewer_animate", kMeshViewer, {"--scene", "hall", "--animate", "--frames", "2"}, 2},
                    Case{"viewer_mixed", kMeshViewer, {"--scene", "cornell:glass_sphere=true", "--compact"}, 1},
                    Case{"viewer_recursion",
                         kMeshViewer,
                         {"--scene", "cornell:glass_sphere=true", "--recursion", "--hit-groups", "per-material",
                          "--any-hit"},
                         1}),
    [](const auto& test) { return test.param.name; });

/// Bounces from a loop and from hit shaders are the same rays.
TEST(CapturedProgram, RecursionTracesTheSameRays) {
  const std::vector<std::string> arguments{"--size", "21x13", "--spp", "1", "--depth", "5"};
  std::vector<std::string> recursive = arguments;
  recursive.emplace_back("--recursion");
  const Captured loop = capture(kOneWeekend, arguments);
  const Captured nested = capture(kOneWeekend, recursive);
  const trace::ThreadData& a = loop.trace.launches.at(0).data;
  const trace::ThreadData& b = nested.trace.launches.at(0).data;
  ASSERT_EQ(a.rays.size(), b.rays.size());
  ASSERT_GT(a.rays.size(), std::size_t{21 * 13});
  for (std::size_t thread = 0; thread <= a.threads(); ++thread) {
    ASSERT_EQ(a.ray_offset[thread], b.ray_offset[thread]);
  }
  for (std::size_t ray = 0; ray < a.rays.size(); ++ray) {
    EXPECT_EQ(a.rays.origin_x[ray], b.rays.origin_x[ray]);
    EXPECT_EQ(a.rays.origin_z[ray], b.rays.origin_z[ray]);
    EXPECT_EQ(a.rays.direction_y[ray], b.rays.direction_y[ray]);
  }
}

}  // namespace
}  // namespace rayreplay::test
