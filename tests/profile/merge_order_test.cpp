// Merged profiles of random runs with all kinds of counts: any order and any grouping gives the same bytes, sums are
// those of a slow sum over all runs' rows, and counts that not all runs have, or accesses of other threads, are left
// out by name.
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "capture/profile/access_profile.hpp"
#include "capture/profile/merge.hpp"
#include "capture/trace/access_sample.hpp"
#include "capture/trace/validate.hpp"
#include "capture/trace/writer.hpp"
#include "tests/profile/profile_maker.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::profile {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t kWarp = 8;

const std::string kSampled = R"({"capture":{"options":{"profile_memory_sample":"3"}}})";
const std::string kLost = R"({"capture":{"missing_accesses":[{"launch":0,"accesses":7,"lost_words":0}]}})";

/// Profiles of one application, as random as the rules allow.
class RandomRuns {
 public:
  explicit RandomRuns(std::uint32_t seed) : random_(seed), sampled_(seed % 4 == 0) {}

  profile::Run run(const std::string& hash, bool whole) {
    profile::Run made{hash + ".rrt", {}};
    trace::Profile& profile = made.profile;
    profile.hash = hash;
    profile.header.application = one_of(2) == 0 ? "app" : "app -x";
    profile.header.device = "made up";
    const bool other_sample = !whole && one_of(8) == 0;
    profile.header.configuration = sampled_ != other_sample ? kSampled : "{}";
    if (!whole && one_of(12) == 0) {
      profile.header.configuration = kLost;
    }
    profile.header.warp_size = kWarp;
    if (one_of(3) == 0) {
      profile.header.not_captured = {"something of " + hash};
    }
    // Shaders in any order, the first two alike.
    std::vector<std::uint32_t> words = {1, 1, 2, 3};
    std::shuffle(words.begin(), words.end(), random_);
    for (const std::uint32_t word : words) {
      const std::string name = "s" + std::to_string(word) + (one_of(2) == 0 ? "" : "'");
      profile.shaders.push_back({trace::ShaderStage::Miss, "main", name, test::branching_shader(word)});
    }
    // Pipelines: a word's first shader each, in some runs one pipeline less.
    std::uint32_t number = one_of(5);
    for (const std::vector<std::uint32_t>& members :
         std::vector<std::vector<std::uint32_t>>{{1, 2}, {2, 3}, {1, 2, 3}}) {
      if (!whole && members.size() == 2 && members[0] == 2 && one_of(2) == 0) {
        continue;
      }
      std::vector<std::uint16_t> shaders;
      for (const std::uint32_t member : members) {
        shaders.push_back(static_cast<std::uint16_t>(std::ranges::find(words, member) - words.begin()));
      }
      std::ranges::sort(shaders);
      for (const std::uint16_t shader : shaders) {
        add_shader(profile, number, shader, whole);
      }
      if (one_of(3) != 0) {
        add_facts(profile, number, shaders);
      }
      number += 1 + one_of(3);
    }
    for (std::uint16_t shader = 0; shader < profile.shaders.size(); ++shader) {
      add_paths(profile.paths, shader, words[shader]);
      add_site(profile.access_sites, shader);
    }
    if (!whole && one_of(4) == 0) {
      profile.branch_counts = {};
    }
    if (!whole && one_of(4) == 0) {
      profile.block_counts.groups.clear();
    }
    if (!whole && one_of(6) == 0) {
      profile.paths = {};
    }
    return made;
  }

 private:
  std::uint32_t one_of(std::uint32_t number) {
    return static_cast<std::uint32_t>(random_() % number);
  }

  void add_shader(trace::Profile& profile, std::uint32_t pipeline, std::uint16_t shader, bool whole) {
    for (std::uint32_t function = 0; function < 2; ++function) {
      if (!whole && function == 1 && one_of(6) == 0) {
        continue;  // a function that this run does not count
      }
      for (std::uint32_t block = 0; block < 3; ++block) {
        const std::uint64_t groups = one_of(100);
        test::add_row(profile.block_counts, {pipeline, shader, function, block, groups * (1 + one_of(kWarp)), groups});
      }
    }
    for (trace::InstructionCounts* counts : {&profile.branch_counts, &profile.load_counts}) {
      for (std::uint32_t instruction = 4; instruction < 7; ++instruction) {
        if (!whole && instruction == 6 && one_of(6) == 0) {
          continue;
        }
        const std::uint64_t groups = one_of(50);
        counts->pipeline.push_back(pipeline);
        counts->shader.push_back(shader);
        counts->function.push_back(0);
        counts->block.push_back(1);
        counts->instruction.push_back(instruction);
        counts->lanes.push_back(groups * kWarp);
        counts->groups.push_back(groups);
        const auto uniform = [&] {
          return !whole && one_of(5) == 0 ? trace::kNotCompared : one_of(static_cast<std::uint32_t>(groups) + 1);
        };
        counts->uniform.push_back(uniform());
        if (counts == &profile.load_counts) {
          counts->uniform_address.push_back(uniform());
        }
      }
    }
    trace::ValueCounts& values = profile.value_counts;
    if (!whole && one_of(8) == 0) {
      return;
    }
    const auto row = static_cast<std::uint32_t>(values.size());
    values.pipeline.push_back(pipeline);
    values.shader.push_back(shader);
    values.function.push_back(0);
    values.block.push_back(1);
    values.instruction.push_back(5);
    values.component.push_back(0);
    std::uint64_t lanes = one_of(3) * 8;
    for (std::uint32_t value = 0; value < 4; ++value) {
      if (one_of(2) == 0) {
        const std::uint64_t of_value = 1 + one_of(20);
        values.place.push_back(row);
        values.value.push_back(value);
        values.value_lanes.push_back(of_value);
        values.uniform_groups.push_back(one_of(static_cast<std::uint32_t>((of_value / kWarp) + 1)));
        values.most_lanes.push_back(of_value);
        lanes += of_value;
      }
    }
    values.lanes.push_back(lanes);
    values.groups.push_back(lanes);
  }

  void add_facts(trace::Profile& profile, std::uint32_t pipeline, const std::vector<std::uint16_t>& shaders) {
    trace::PipelineFacts& facts = profile.pipeline_facts.emplace_back();
    facts.pipeline = pipeline;
    facts.recursion_depth = 1;
    facts.dynamic_stack = true;
    facts.set_stack = one_of(1000);
    trace::GroupStack& group = facts.groups.emplace_back();
    group.general = shaders[0];
    group.general_bytes = profile.shaders[shaders[0]].spirv[2];
    facts.executables = {
        {"main", "", 1, 32, {{"Register Count", "", trace::StatisticFormat::Uint64, one_of(8) == 0 ? 64U : 32U}}}};
  }

  void add_paths(trace::Paths& paths, std::uint16_t shader, std::uint32_t word) {
    for (std::uint32_t block = 0; block < word; ++block) {
      paths.block_shader.push_back(shader);
      paths.function.push_back(0);
      paths.block.push_back(block);
    }
    for (std::uint32_t path = 0; path < 5; ++path) {
      if (one_of(2) == 0) {
        paths.shader.push_back(shader);
        paths.calls.push_back(one_of(9));
        for (std::uint32_t block = 0; block < word; ++block) {
          paths.counts.push_back(block == 0 ? path : one_of(2));
        }
      }
    }
  }

  void add_site(trace::AccessSites& sites, std::uint16_t shader) {
    if (one_of(5) == 0) {
      return;
    }
    sites.shader.push_back(shader);
    sites.function.push_back(0);
    sites.block.push_back(1);
    sites.instruction.push_back(5);
    sites.kind.push_back(trace::AccessKind::Load);
    sites.space.push_back(trace::AccessSpace::Descriptor);
    sites.set.push_back(0);
    sites.binding.push_back(3);
    sites.element.push_back(0);
    sites.bytes.push_back(16);
    const std::uint64_t lines = one_of(10), extra = one_of(10);
    sites.lanes.push_back(100);
    sites.groups.push_back(one_of(100));
    sites.lines.push_back(lines);
    sites.sectors.push_back(lines + extra);
    sites.group_lines.push_back(2 * lines);
    sites.group_sectors.push_back(2 * (lines + extra));
  }

  std::mt19937 random_;
  bool sampled_;  ///< accesses of most runs
};

profile::Run as_run(const Merged& merged, const std::string& hash) {
  const trace::Trace& trace = merged.trace;
  return {hash + ".rrt",
          {trace.header, trace.shaders, trace.block_counts, trace.branch_counts, trace.load_counts, hash, trace.paths,
           trace.access_sites, trace.pipeline_facts, trace.value_counts}};
}

std::string bytes_of(const Merged& merged) {
  trace::check(merged.trace, "merged");
  const std::string path = testing::TempDir() + "merged_bytes.rrt";
  trace::write(merged.trace, path, {.overwrite = true});
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_same(const Merged& one, const Merged& other, std::uint32_t seed) {
  // Before all bytes, for a message that can be read.
  EXPECT_EQ(one.trace.header.not_captured, other.trace.header.not_captured) << seed;
  EXPECT_EQ(one.trace.header.configuration, other.trace.header.configuration) << seed;
  EXPECT_TRUE(bytes_of(one) == bytes_of(other)) << "the bytes differ with seed " << seed;
}

TEST(MergedRandomProfiles, AreTheSameBytesInAnyOrderAndGrouping) {
  std::size_t kept = 0, left_out = 0, kept_samples = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    RandomRuns make(seed);
    const profile::Run a = make.run("aa", false), b = make.run("bb", false), c = make.run("cc", false),
                       d = make.run("dd", false);
    const Merged all = merge({a, b, c, d});
    expect_same(merge({d, b, a, c}), all, seed);
    expect_same(merge({a, as_run(merge({b, as_run(merge({c, d}), "cd")}), "bcd")}), all, seed);
    expect_same(merge({as_run(merge({as_run(merge({a, b}), "ab"), c}), "zabc"), d}), all, seed);
    expect_same(merge({as_run(merge({d, b}), "0"), as_run(merge({c, a}), "1")}), all, seed);
    bool same_threads = true;
    for (const profile::Run* run : {&a, &b, &c, &d}) {
      const trace::Profile& profile = run->profile;
      same_threads = same_threads && profile.access_sites.size() != 0 && profile.header.configuration != kLost &&
                     profile.header.configuration == a.profile.header.configuration;
    }
    EXPECT_EQ(all.trace.access_sites.size() != 0, same_threads) << seed;
    EXPECT_EQ(trace::access_sample(all.trace.header),
              same_threads && a.profile.header.configuration == kSampled ? 3 : 1)
        << seed;
    kept += same_threads ? 1U : 0U;
    left_out += same_threads ? 0U : 1U;
    kept_samples += trace::access_sample(all.trace.header) == 3 ? 1U : 0U;
  }
  EXPECT_GT(kept, 5U);
  EXPECT_GT(left_out, 5U);
  EXPECT_GT(kept_samples, 1U);
}

/// A slow sum: of all rows of all runs, by the words of the shader and a key.
template <class Rows>
std::map<std::tuple<std::uint32_t, std::uint64_t>, std::uint64_t> sums(const std::vector<profile::Run>& runs,
                                                                       const Rows& rows) {
  std::map<std::tuple<std::uint32_t, std::uint64_t>, std::uint64_t> result;
  for (const profile::Run& run : runs) {
    rows(run.profile, [&](std::uint16_t shader, std::uint64_t key, std::uint64_t count) {
      result[{run.profile.shaders[shader].spirv[2], key}] += count;
    });
  }
  return result;
}

TEST(MergedRandomProfiles, ConserveSums) {
  for (std::uint32_t seed = 100; seed < 130; ++seed) {
    RandomRuns make(seed);
    const std::vector<profile::Run> runs = {make.run("aa", true), make.run("bb", true), make.run("cc", true)};
    const Merged merged = merge(runs);
    const auto same = [&](const char* what, const auto& rows) {
      EXPECT_EQ(sums({as_run(merged, "m")}, rows), sums(runs, rows)) << what << " of seed " << seed;
    };
    same("blocks", [](const trace::Profile& p, const auto& take) {
      for (std::size_t i = 0; i < p.block_counts.size(); ++i) {
        take(p.block_counts.shader[i], 2 * p.block_counts.block[i], p.block_counts.lanes[i]);
        take(p.block_counts.shader[i], 2 * p.block_counts.block[i] + 1, p.block_counts.groups[i]);
      }
    });
    for (const auto counts : {&trace::Profile::branch_counts, &trace::Profile::load_counts}) {
      same("instructions", [&](const trace::Profile& p, const auto& take) {
        const trace::InstructionCounts& rows = p.*counts;
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const std::uint64_t key = 4 * std::uint64_t{rows.instruction[i]};
          take(rows.shader[i], key, rows.lanes[i]);
          take(rows.shader[i], key + 1, rows.groups[i]);
          take(rows.shader[i], key + 2, rows.uniform[i]);
          take(rows.shader[i], key + 3, rows.uniform_address.empty() ? 0 : rows.uniform_address[i]);
        }
      });
    }
    same("values", [](const trace::Profile& p, const auto& take) {
      for (std::size_t i = 0; i < p.value_counts.place.size(); ++i) {
        take(p.value_counts.shader[p.value_counts.place[i]], p.value_counts.value[i], p.value_counts.value_lanes[i]);
      }
    });
    same("calls", [](const trace::Profile& p, const auto& take) {
      for (std::size_t i = 0; i < p.paths.size(); ++i) {
        take(p.paths.shader[i], 0, p.paths.calls[i]);
      }
    });
    same("accesses", [](const trace::Profile& p, const auto& take) {
      for (std::size_t i = 0; i < p.access_sites.size(); ++i) {
        take(p.access_sites.shader[i], 0, p.access_sites.lanes[i]);
        take(p.access_sites.shader[i], 1, p.access_sites.group_sectors[i]);
        take(p.access_sites.shader[i], 2, p.access_sites.lines[i]);
      }
    });
    EXPECT_THAT(merged.remarks, Not(Contains(HasSubstr("counts of"))));
  }
}

TEST(MergedRandomProfiles, AreShownAsTheyAreStored) {
  RandomRuns make(7);
  const Merged merged = merge({make.run("aa", true), make.run("bb", true)});
  const std::string path = testing::TempDir() + "merged_accesses.rrt";
  trace::write(merged.trace, path, {.overwrite = true});
  const trace::Trace read = trace::load(path);
  const std::vector<SiteAccesses> accesses = access_profile(read);
  ASSERT_EQ(accesses.size(), merged.trace.access_sites.size());
  for (std::size_t site = 0; site < accesses.size(); ++site) {
    EXPECT_EQ(accesses[site].lanes, merged.trace.access_sites.lanes[site]);
    EXPECT_EQ(accesses[site].group_lines, merged.trace.access_sites.group_lines[site]);
  }
  EXPECT_EQ(load_run(path).profile.access_sites.sectors, merged.trace.access_sites.sectors);
}

/// Two whole runs, of which the second is changed.
template <class Change>
Merged merged_with(const Change& change) {
  RandomRuns make(3);
  profile::Run a = make.run("aa", true), b = make.run("bb", true);
  change(b.profile);
  return merge({a, b});
}

TEST(MergedProfilesOfAllKinds, NameWhatIsLeftOut) {
  EXPECT_THAT(merged_with([](trace::Profile& p) { p.branch_counts = {}; }).remarks,
              Contains("counts of branches are left out: not counted in bb"));
  EXPECT_THAT(merged_with([](trace::Profile& p) { p.paths = {}; }).remarks,
              Contains("paths of calls are left out: not counted in bb"));
  EXPECT_THAT(merged_with([](trace::Profile& p) { p.access_sites = {}; }).remarks,
              Contains("accesses to memory are left out: not counted in bb"));
  const Merged load = merged_with([](trace::Profile& p) { p.load_counts.instruction[2] = 9; });
  EXPECT_THAT(load.remarks, Contains(testing::AllOf(HasSubstr("2 loads of shader "),
                                                    HasSubstr("are left out: not counted in all runs"))));
  const Merged compared = merged_with([](trace::Profile& p) { p.load_counts.uniform[0] = trace::kNotCompared; });
  EXPECT_THAT(compared.remarks, Contains(HasSubstr("the value of 1 load of shader ")));
  EXPECT_THAT(compared.trace.load_counts.uniform, Contains(trace::kNotCompared));
  const Merged paths = merged_with([](trace::Profile& p) { p.paths.block.back() += 1; });
  EXPECT_THAT(paths.remarks, Contains(HasSubstr("are left out: their blocks differ between the runs")));
}

TEST(MergedProfilesOfAllKinds, AddAccessesOfTheSameThreadsAlone) {
  const Merged samples = merged_with([](trace::Profile& p) { p.header.configuration = kSampled; });
  const std::string of_samples = "accesses to memory are left out: of all threads in aa, of one thread in 3 in bb";
  EXPECT_THAT(samples.remarks, Contains(of_samples));
  EXPECT_THAT(samples.trace.header.not_captured, Contains(of_samples));
  EXPECT_EQ(samples.trace.access_sites.size(), 0U);
  EXPECT_EQ(trace::access_sample(samples.trace.header), 1U);
  EXPECT_GT(samples.trace.paths.size(), 0U) << "the other kinds are there";
  const Merged lost = merged_with([](trace::Profile& p) { p.header.configuration = kLost; });
  const std::string of_lost = "accesses to memory are left out: some were lost by the capture of bb";
  EXPECT_THAT(lost.remarks, Contains(of_lost));
  EXPECT_THAT(lost.trace.header.not_captured, Contains(of_lost));
  EXPECT_EQ(lost.trace.access_sites.size(), 0U);
  // Runs that all lost some are of no set of threads either.
  RandomRuns make(3);
  profile::Run a = make.run("aa", true), b = make.run("bb", true), c = make.run("cc", true);
  a.profile.header.configuration = b.profile.header.configuration = kLost;
  EXPECT_THAT(merge({a, b}).remarks,
              Contains("accesses to memory are left out: some were lost by the capture of aa, bb"));
  // One sample in all: the sum is of that sample, also in a merge of merged ones.
  for (profile::Run* run : {&a, &b, &c}) {
    run->profile.header.configuration = kSampled;
  }
  const Merged sampled = merge({as_run(merge({a, b}), "ab"), c});
  EXPECT_THAT(sampled.remarks, Not(Contains(HasSubstr("accesses"))));
  EXPECT_GT(sampled.trace.access_sites.size(), 0U);
  EXPECT_EQ(trace::access_sample(sampled.trace.header), 3U);
}

/// Without other counts nothing is left of them, and the error says why.
TEST(MergedProfilesOfAllKinds, OfAccessesOfOtherThreadsAreRefused) {
  RandomRuns make(3);
  profile::Run a = make.run("aa", true), b = make.run("bb", true);
  for (profile::Run* run : {&a, &b}) {
    trace::Profile& p = run->profile;
    trace::Profile only{p.header, p.shaders, {}, {}, {}, p.hash};
    only.access_sites = p.access_sites;
    p = only;
  }
  EXPECT_EQ(merge({a, b}).pipelines, 0U);
  b.profile.header.configuration = kSampled;
  EXPECT_THAT(test::message_of(ErrorKind::Input,
                               [&] {
                                 return merge({a, b});
                               }),
              testing::AllOf(HasSubstr("no kind of counts is in all runs"),
                             HasSubstr("of all threads in aa, of one thread in 3 in bb")));
}

TEST(MergedProfilesOfAllKinds, RefuseContradictions) {
  const auto fault = [](const auto& change) {
    return test::message_of(ErrorKind::Input, [&] { return merged_with(change); });
  };
  EXPECT_THAT(fault([](trace::Profile& p) { p.load_counts.block[0] = 2; }),
              HasSubstr("bb.rrt:/profile/loads/block[0]"));
  EXPECT_THAT(fault([](trace::Profile& p) { p.value_counts.block[0] = 2; }),
              HasSubstr("bb.rrt:/profile/values/block[0]"));
  EXPECT_THAT(fault([](trace::Profile& p) { p.access_sites.bytes.assign(p.access_sites.size(), 4); }),
              HasSubstr("two runs disagree on what an instruction of one module accesses"));
  EXPECT_THAT(fault([](trace::Profile& p) { p.load_counts.lanes.back() = ~std::uint64_t{0}; }),
              HasSubstr("bb.rrt:/profile/loads/lanes["));
  EXPECT_THAT(fault([](trace::Profile& p) { p.access_sites.lanes[0] = ~std::uint64_t{0}; }),
              HasSubstr("bb.rrt:/profile/access_sites/lanes[0]"));
  EXPECT_THAT(fault([](trace::Profile& p) {
                p = trace::Profile{p.header, p.shaders, {}, {}, {}, p.hash, p.paths, {}, {}, {}};
                p.paths.calls.assign(p.paths.size(), ~std::uint64_t{0});
              }),
              HasSubstr("bb.rrt:/profile/paths/calls["));
  EXPECT_THAT(fault([](trace::Profile& p) { p = trace::Profile{p.header, p.shaders, {}, {}, {}, p.hash}; }),
              HasSubstr("the trace has no counts to merge"));
}

TEST(MergedProfilesOfAllKinds, OfOneKindEachHaveNothingInCommon) {
  RandomRuns make(3);
  profile::Run a = make.run("aa", true), b = make.run("bb", true);
  const auto only = [](profile::Run& run, const auto& keep) {
    trace::Profile p{run.profile.header, run.profile.shaders, {}, {}, {}, run.profile.hash};
    keep(p, run.profile);
    run.profile = p;
  };
  only(a, [](trace::Profile& p, const trace::Profile& all) { p.paths = all.paths; });
  only(b, [](trace::Profile& p, const trace::Profile& all) { p.load_counts = all.load_counts; });
  EXPECT_THAT(test::message_of(ErrorKind::Input,
                               [&] {
                                 return merge({a, b});
                               }),
              HasSubstr("no kind of counts is in all runs"));
  // Paths alone need no pipelines.
  profile::Run c = make.run("cc", true);
  only(c, [](trace::Profile& p, const trace::Profile& all) { p.paths = all.paths; });
  EXPECT_GT(merge({a, c}).trace.paths.size(), 0U);
  EXPECT_EQ(merge({a, c}).pipelines, 0U);
}

TEST(MergedProfilesOfAllKinds, RefuseARecordThatTheyDidNotWrite) {
  RandomRuns make(5);
  const profile::Run merged = as_run(merge({make.run("aa", false), make.run("bb", false)}), "ab");
  const profile::Run other = make.run("cc", true);
  const std::string text = merged.profile.header.configuration;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    profile::Run changed = merged;
    std::string& configuration = changed.profile.header.configuration;
    const std::size_t at = configuration.find(from);
    EXPECT_NE(at, std::string::npos) << from << " in " << configuration;
    configuration.replace(at, from.size(), to);
    return test::message_of(ErrorKind::Input, [&] { return merge({changed, other}); });
  };
  EXPECT_THAT(replaced(R"("merged":{)", R"("merged":[],"x":{)"), HasSubstr("ab.rrt:/configuration"));
  EXPECT_THAT(replaced(R"("runs":[)", R"("runs":{},"x":[)"), HasSubstr("'runs' is missing"));
  EXPECT_THAT(replaced(R"("hash":"bb")", R"("hash":"aa")"), HasSubstr("a run is there twice"));
  EXPECT_THAT(replaced(R"("hash":"bb")", R"("hash":"bb","access_every":0)"),
              HasSubstr("'access_every' is less than 1"));
  EXPECT_THAT(replaced(R"("hash":"bb")", R"("hash":"bb","lost_words":"1")"), HasSubstr("'lost_words' is missing, or"));
  EXPECT_THAT(replaced(R"("pipelines":[)", R"("pipelines":[7,)"), HasSubstr("a pipeline has no runs"));
  EXPECT_THAT(replaced(R"("pipelines":[)", R"("pipelines":[[7,5],)"), HasSubstr("a number of 0 to 1 is none"));
  EXPECT_THAT(replaced(R"("pipelines":[)", R"("pipelines":[],"x":[)"), HasSubstr("a counted pipeline has no runs"));
  EXPECT_THAT(replaced(R"("left_out":[)", R"("left_out":[["load",0,99,0,0,0],)"), HasSubstr("not there"));
  EXPECT_THAT(replaced(R"("left_out":[)", R"("left_out":[["none",0,0,0,0,0],)"), HasSubstr("there is no such name"));
}

}  // namespace
}  // namespace rayreplay::profile
