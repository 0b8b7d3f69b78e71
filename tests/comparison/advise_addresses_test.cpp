// The hint advisor by addresses: effects of hints on the lines that shaders touch, and the better one of two answers.
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <oneapi/tbb/global_control.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/texel_address.hpp"
#include "scheduler-models/launch_order.hpp"
#include "sim/comparison/address_features.hpp"
#include "sim/comparison/advise.hpp"
#include "sim/comparison/path_features.hpp"
#include "sim/machine/costs.hpp"
#include "tests/comparison/branching_trace.hpp"
#include "tests/comparison/slow_addresses.hpp"
#include "tests/memory/shader_accesses.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/launch_builder.hpp"
#include "tests/support/second_path.hpp"

namespace rayreplay::experiment::advise_addresses {
namespace {

using test::error_of;

constexpr std::uint32_t kLine = 128;
constexpr std::uint32_t kMaterials = 61;  ///< no remainder of an instance's number is one of its material's

/// By thread: the material that its hit selects.
std::vector<std::uint32_t> materials_of(const trace::Trace& trace) {
  const trace::Launch& launch = trace.launches[0];
  std::vector<std::uint32_t> materials;
  for (std::size_t thread = 0; thread < launch.data.threads(); ++thread) {
    const std::uint64_t hit = launch.data.event_offset[thread] + 1;
    materials.push_back(trace.scene.instances[launch.data.events.instance[hit]].hit_group_offset);
  }
  return materials;
}

/// A shader that branches on material % 4, and loads `loads` times from tables with a line for each material / 8.
trace::Trace branches_and_loads(std::uint32_t loads, bool branches = true) {
  trace::Trace trace = test::branching_on(kMaterials, {64, 64, 1}, [branches](std::uint32_t material) {
    return branches ? material % test::kBranches : 0;
  });
  std::vector<std::uint32_t> sites;
  for (std::uint32_t table = 0; table < loads; ++table) {
    sites.push_back(test::add_site(trace, {.shader = 1, .binding = table}));
  }
  std::vector<std::vector<test::Access>> accesses;
  for (const std::uint32_t material : materials_of(trace)) {
    auto& of_thread = accesses.emplace_back();
    for (const std::uint32_t site : sites) {
      of_thread.push_back({2, site, material / 8 * kLine});
    }
  }
  test::set_accesses(trace.launches[0], accesses);
  return trace;
}

AdviseOptions with_addresses(std::uint32_t bits, double transaction_cycles = 1) {
  AdviseOptions options;
  options.bits = bits;
  options.addresses.emplace();
  options.addresses->transaction_cycles = transaction_cycles;
  return options;
}

AdviseResult advised(const trace::Trace& trace, const AdviseOptions& options, const Configuration& configuration = {}) {
  return test::advise_by_hand(trace, resolve(configuration, trace), options);
}

TEST(AdviseByAddresses, PutsTheBranchFirstWhereBranchesDominate) {
  const AdviseResult result = advised(branches_and_loads(1), with_addresses(2));
  ASSERT_NE(result.best(), nullptr);
  EXPECT_EQ(result.best()->formula, "material % 4");
  EXPECT_EQ(result.rests_on(*result.best()), RestsOn::Instructions);
  EXPECT_EQ(result.weights(), "paths, addresses");
}

TEST(AdviseByAddresses, PutsTheAddressFirstWhereLoadsDominate) {
  for (const bool branches : {true, false}) {
    const AdviseResult result = advised(branches_and_loads(16, branches), with_addresses(3));
    ASSERT_NE(result.best(), nullptr);
    const Advice& best = *result.best();
    EXPECT_EQ(best.formula, "material >> 3");
    EXPECT_EQ(best.bits, 3U);
    EXPECT_EQ(result.rests_on(best), RestsOn::Transactions);
    // 128 warps in 8 classes: at most 7 warps see two of them. Without the hint each of 32 lanes meets one of 8 lines.
    EXPECT_EQ(best.addresses.instructions, 128 * 16U);
    EXPECT_LE(best.addresses.transactions, (128 + 7) * 16U);
    EXPECT_GE(best.addresses.transactions, 128 * 16U);
    EXPECT_GT(result.baseline.addresses.transactions, 128 * 16 * 7.5);
    EXPECT_LE(result.baseline.addresses.transactions, 128 * 16 * 8U);
    EXPECT_EQ(best.addresses.sectors, best.addresses.transactions);
    EXPECT_EQ(best.gain, result.baseline.cycles() / best.cycles() - 1);
  }
}

TEST(AdviseByAddresses, TheCostOfATransactionDecides) {
  const trace::Trace trace = branches_and_loads(4);
  EXPECT_EQ(advised(trace, with_addresses(3, 0)).best()->formula, "material % 4");
  EXPECT_EQ(advised(trace, with_addresses(3, 20)).best()->formula, "material >> 3");
}

TEST(AdviseByAddresses, TakesBothWhereThereIsRoom) {
  const AdviseResult result = advised(branches_and_loads(4), with_addresses(8));
  ASSERT_NE(result.best(), nullptr);
  const Advice& best = *result.best();
  for (const std::uint32_t bits : {2U, 3U}) {
    EXPECT_GT(best.gain, advised(branches_and_loads(4), with_addresses(bits)).best()->gain);
  }
  EXPECT_LT(best.issue_cycles, 0.9 * result.baseline.issue_cycles);
  EXPECT_LT(best.transaction_cycles, 0.3 * result.baseline.transaction_cycles);
}

TEST(AdviseByAddresses, FindsLinesOfPrimitives) {
  // Records of 40 bytes by primitive: 3.2 to a line, which no power of two fits. Materials tell nothing.
  trace::Trace trace = test::branching_on(8, {64, 64, 1}, [](std::uint32_t) { return 0U; });
  test::Random random(5);
  std::vector<std::uint32_t> sites;
  for (std::uint32_t word = 0; word < 8; ++word) {
    sites.push_back(test::add_site(trace, {.shader = 1}));
  }
  std::vector<std::vector<test::Access>> accesses(64 * 64);
  for (std::size_t thread = 0; thread < accesses.size(); ++thread) {
    const std::uint32_t primitive = random.below(200);
    trace.launches[0].data.events.primitive[trace.launches[0].data.event_offset[thread] + 1] = primitive;
    for (const std::uint32_t site : sites) {
      accesses[thread].push_back({2, site, primitive * 40 + 4 * site});
    }
  }
  test::set_accesses(trace.launches[0], accesses);
  const AdviseResult result = advised(trace, with_addresses(8));
  ASSERT_NE(result.best(), nullptr);
  EXPECT_EQ(result.best()->formula.substr(0, 9), "primitive");
  EXPECT_EQ(result.rests_on(*result.best()), RestsOn::Transactions);
  // With 4 bits only the high ones help.
  const AdviseResult coarse = advised(trace, with_addresses(4));
  ASSERT_NE(coarse.best(), nullptr);
  EXPECT_TRUE(coarse.best()->formula.starts_with("primitive >> ") || coarse.best()->formula.starts_with("primitive / "))
      << coarse.best()->formula;
}

TEST(AdviseByAddresses, SaysThatNothingHelps) {
  test::Random random(9);
  trace::Trace trace = test::branching_on(64, {64, 64, 1}, [](std::uint32_t) { return 0U; });
  const std::uint32_t site = test::add_site(trace, {.shader = 1});
  std::vector<std::vector<test::Access>> accesses(64 * 64);
  for (auto& of_thread : accesses) {
    of_thread.push_back({2, site, 4 * random.below(1 << 20)});
  }
  test::set_accesses(trace.launches[0], accesses);
  const AdviseResult result = advised(trace, with_addresses(8));
  EXPECT_TRUE(result.by_address);
  EXPECT_EQ(result.best(), nullptr);
  ASSERT_FALSE(result.ranking.empty());
  EXPECT_LT(result.ranking.front().gain, kLeastGain);
}

TEST(AdviseByAddresses, CostsOfTheUserCountAsIssueSlots) {
  Configuration configuration;
  configuration.costs = {{"closest-hit", 50}};
  const AdviseResult result = advised(branches_and_loads(2), with_addresses(3), configuration);
  EXPECT_EQ(result.weights(), "costs, addresses");
  EXPECT_EQ(result.cost_sources, std::vector<std::string>{"costs"});
  // 128 trace calls of 1 and 128 hits of 50, whatever the hint.
  EXPECT_EQ(result.baseline.issue_cycles, 128 * 51 / 4.);
  EXPECT_EQ(result.best()->issue_cycles, 128 * 51 / 4.);
  EXPECT_EQ(result.best()->formula, "material >> 3");
}

TEST(AdviseByAddresses, WithoutPathsCallsCostTheirInstructions) {
  trace::Trace trace = branches_and_loads(2);
  trace.paths = {};
  trace.launches[0].data.events.path.clear();
  const AdviseResult result = advised(trace, with_addresses(3));
  EXPECT_EQ(result.weights(), "calls, addresses");
  const machine::Costs costs = machine::make_costs(trace, trace.launches[0], {});
  double issue = 0;
  for (const std::size_t call :
       {std::size_t{0}, trace::kEventKinds + static_cast<std::size_t>(trace::EventKind::ClosestHit)}) {
    issue += 128 * costs.calls[call].issue;
  }
  EXPECT_NEAR(result.baseline.issue_cycles, issue / 4, 128. / 16);
  EXPECT_EQ(result.best()->formula, "material >> 3");
}

TEST(AdviseByAddresses, WithoutAccessesNothingChanges) {
  trace::Trace trace = branches_and_loads(1);
  const AdviseResult without = advised(trace, {});
  EXPECT_EQ(without.weights(), "paths");
  trace.launches[0].data.accesses = {};
  const AdviseResult result = advised(trace, with_addresses(8));
  EXPECT_FALSE(result.by_address);
  ASSERT_EQ(result.ranking.size(), without.ranking.size());
  for (std::size_t i = 0; i < result.ranking.size(); ++i) {
    EXPECT_EQ(result.ranking[i].formula, without.ranking[i].formula);
    EXPECT_EQ(result.ranking[i].gain, without.ranking[i].gain);
    EXPECT_EQ(result.ranking[i].addresses, AddressCounts{});
  }
}

TEST(AdviseByAddresses, RefusesCostsAndSizesThatCannotBe) {
  const trace::Trace trace = branches_and_loads(1);
  for (const double cycles : {-1., 2e6, std::nan("")}) {
    EXPECT_EQ(error_of(ErrorKind::Usage, [&] { return advised(trace, with_addresses(2, cycles)); }).where,
              "--transaction-cycles");
  }
  AdviseOptions options = with_addresses(2);
  options.addresses->units.line_bytes = 96;
  EXPECT_NE(error_of(ErrorKind::Usage, [&] { return advised(trace, options); }).where.find("machine.l1_line_bytes"),
            std::string::npos);
  options = with_addresses(2);
  options.addresses->units.image_layout = "nonsense";
  error_of(ErrorKind::Usage, [&] { return advised(trace, options); });
}

TEST(AdviseByAddresses, IsTheSameWhateverTheWorkers) {
  const trace::Trace trace = branches_and_loads(4);
  std::vector<std::vector<std::tuple<std::string, std::uint64_t, double>>> rankings;
  for (const std::size_t workers : {1U, 4U}) {
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, workers);
    auto& ranking = rankings.emplace_back();
    for (const Advice& advice : advised(trace, with_addresses(8)).ranking) {
      ranking.emplace_back(advice.formula, advice.addresses.transactions, advice.gain);
    }
  }
  EXPECT_EQ(rankings[0], rankings[1]);
}

/// The advisor's counts are those of the slow twin, for schedules made by hand.
TEST(AdviseByAddresses, RowsCanBeHadByHand) {
  const trace::Trace trace = trace::load(RAYREPLAY_SOURCE_DIR "/tests/data/lavapipe/one-weekend-memory.rrt");
  const trace::Launch& launch = trace.launches[0];
  AdviseOptions options = with_addresses(6);
  options.candidates = 12;
  const Resolved chosen = resolve({}, trace);
  const AdviseResult result = test::advise_by_hand(trace, chosen, options);
  ASSERT_TRUE(result.by_address);
  const auto order = scheduler::LaunchOrders::create(chosen.order).model->assign(launch, chosen.warp_size);
  const auto by_hand = [&](const std::string& spec, const scheduler::HintSources& hints) {
    const auto model = scheduler::SchedulerModels::create(spec).model;
    const scheduler::Segments segments = scheduler::cut_paths(launch, model->cut());
    const auto schedule = model->schedule({trace, launch, order, segments, {}, hints});
    return test::SlowAddresses(trace, launch, segments, {})
        .count(schedule.segment_at, schedule.warp_size, simt::Policy::StageMajority);
  };
  EXPECT_GT(result.plain.addresses.transactions, 0U);
  EXPECT_EQ(result.plain.addresses, by_hand("plain", {}));
  EXPECT_EQ(result.baseline.addresses, by_hand("ser:hint=none", {}));
  ASSERT_GT(result.ranking.size(), 5U);
  double last = 0;
  for (const Advice& advice : result.ranking) {
    EXPECT_EQ(advice.addresses,
              by_hand("ser:hint=x", {{"x", {scheduler::HintOrigin::Expression, advice.bits, advice.formula, nullptr}}}))
        << advice.formula;
    EXPECT_GE(advice.cycles(), last);
    last = advice.cycles();
  }
}

TEST(AddressScore, IsThatOfTheSlowTwin) {
  std::size_t of_entries = 0, of_ends = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    test::Random random(seed);
    trace::Trace trace = test::random_trace({.seed = seed, .size = {16, 5, 1}, .ray = seed % 2 == 0, .warps = true});
    test::add_random_accesses(trace, seed);
    const trace::Launch& launch = trace.launches[0];
    scheduler::Cut cut;
    cut.at = static_cast<scheduler::CutAt>(seed % 3);
    const scheduler::Segments segments = scheduler::cut_paths(launch, cut);
    AddressUnits units;
    units.line_bytes = seed % 4 == 0 ? 64 : 128;
    units.sector_bytes = seed % 5 == 0 ? 64 : 32;
    const AccessPlaces places(trace, launch, units);
    const CallAddresses addresses(trace, launch, segments, places);
    // Any segments in any lanes, with gaps; each once.
    const std::uint32_t warp_size = seed % 2 == 0 ? 8 : 32;
    std::vector<std::uint32_t> segment_at(segments.size() + 2 * warp_size - segments.size() % warp_size,
                                          scheduler::kNoSegment);
    for (std::uint32_t s = 0; s < segments.size(); ++s) {
      segment_at[s] = s;
    }
    for (std::size_t i = segment_at.size(); i > 1; --i) {
      std::swap(segment_at[i - 1], segment_at[random.below(i)]);
    }
    for (const simt::Policy policy : {simt::Policy::StageMajority, simt::Policy::OldestLane}) {
      const AddressCounts fast = AddressScore(trace, launch, segments, addresses, policy).count(segment_at, warp_size);
      EXPECT_EQ(fast, test::SlowAddresses(trace, launch, segments, units).count(segment_at, warp_size, policy)) << seed;
      EXPECT_GT(fast.transactions, 0U);
    }
    for (std::uint32_t s = 0; s < segments.size(); ++s) {
      of_entries += addresses.at_entry(s).size();
      of_ends += addresses.at_end(s).size();
    }
  }
  EXPECT_GT(of_entries, 0U);
  EXPECT_GT(of_ends, 0U);
}

/// Of whole threads in their order, equal by both ways.
AddressCounts counts_of(const trace::Trace& trace, std::uint32_t warp_size) {
  const trace::Launch& launch = trace.launches[0];
  const scheduler::Segments threads = scheduler::cut_paths(launch, {});
  std::vector<std::uint32_t> segment_at((threads.size() + warp_size - 1) / warp_size * warp_size,
                                        scheduler::kNoSegment);
  std::iota(segment_at.begin(), segment_at.begin() + static_cast<std::ptrdiff_t>(threads.size()), 0U);
  const AccessPlaces places(trace, launch, {});
  const CallAddresses addresses(trace, launch, threads, places);
  const simt::Policy policy = simt::Policy::StageMajority;
  const AddressCounts fast = AddressScore(trace, launch, threads, addresses, policy).count(segment_at, warp_size);
  EXPECT_EQ(fast, test::SlowAddresses(trace, launch, threads, {}).count(segment_at, warp_size, policy));
  return fast;
}

/// Ray generation's accesses before the first event and behind the last trace call, worked out by hand.
class AddressScoreOfRayGeneration : public testing::Test {
 protected:
  AddressScoreOfRayGeneration() {
    trace_.shaders.resize(3);
    trace_.shaders[1].stage = trace::ShaderStage::Miss;
    trace_.shaders[2].stage = trace::ShaderStage::Callable;
    camera_ = test::add_site(trace_, {.shader = 0, .binding = 1, .bytes = 16});
    again_ = test::add_site(trace_, {.shader = 0, .binding = 2});
    result_ = test::add_site(trace_, {.shader = 0, .kind = trace::AccessKind::Store, .binding = 3, .bytes = 16});
  }
  [[nodiscard]] trace::Launch& launch() {
    return trace_.launches[0];
  }

  trace::Trace trace_;
  std::uint32_t camera_ = 0, again_ = 0, result_ = 0;
};

/// The example of docs/access-streams.md, "Where lanes meet".
TEST_F(AddressScoreOfRayGeneration, LanesMeetAsInStreams) {
  test::LaunchBuilder builder({4, 1, 1});
  builder.thread().begin(0).miss(1);
  builder.thread().begin(0).miss(1).begin(0).miss(1);
  builder.thread().callable(2);
  builder.thread().begin(0).miss(1).begin(0).miss(1).begin(0).miss(1);
  trace_.launches.push_back(builder.build());
  test::set_accesses(launch(),
                     {{{0, camera_, 0}, {2, result_, 0}},
                      {{0, camera_, 0}, {2, again_, 4}, {4, again_, 8}, {4, result_, 16}},
                      {{0, camera_, 0}, {1, result_, 32}},
                      {{0, camera_, 0}, {2, again_, 12}, {4, again_, 16}, {6, again_, 20}, {6, result_, 48}}});
  // The camera, three times the load behind a ray, the store, each in one line. The store: 64 bytes.
  EXPECT_EQ(counts_of(trace_, 4), (AddressCounts{5, 5, 6}));
  // Alone, each lane runs all of its own accesses: 2, 4, 2 and 5.
  EXPECT_EQ(counts_of(trace_, 1), (AddressCounts{13, 13, 13}));
  // The store takes a line for each lane, where pixels lie apart.
  for (const std::uint64_t row : {1U, 5U, 7U, 12U}) {
    ASSERT_EQ(launch().data.accesses.site[row], result_);
    launch().data.accesses.address[row] *= 8;
  }
  EXPECT_EQ(counts_of(trace_, 4), (AddressCounts{5, 8, 8}));
  // The lane that traces nothing reads the camera with the others, here from another line.
  ASSERT_EQ(launch().data.accesses.site[6], camera_);
  launch().data.accesses.address[6] = 256;
  EXPECT_EQ(counts_of(trace_, 4), (AddressCounts{5, 9, 9}));
}

TEST_F(AddressScoreOfRayGeneration, LanesThatTraceNothingEnterTogether) {
  test::LaunchBuilder builder({2, 1, 1});
  builder.thread().callable(2);
  builder.thread().callable(2);
  trace_.launches.push_back(builder.build());
  test::set_accesses(launch(), {{{0, camera_, 0}, {1, camera_, 256}}, {{0, camera_, 16}, {1, camera_, 272}}});
  // Twice the camera, each 32 bytes of a line.
  EXPECT_EQ(counts_of(trace_, 2), (AddressCounts{2, 2, 2}));
}

/// Stores of pixels to an image of 4 bytes a texel. Each of 8 warps stores a row of 8 pixels.
TEST_F(AddressScoreOfRayGeneration, StoresOfThePictureCount) {
  test::LaunchBuilder builder({8, 8, 1});
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    builder.thread().begin(0).miss(1);
  }
  trace_.launches.push_back(builder.build());
  memory::ImageShape shape;
  shape.width = shape.height = 8;
  shape.block_bytes = 4;
  test::add_image(launch(), {.binding = 4, .shape = shape});
  const std::uint32_t store = test::add_site(
      trace_,
      {.shader = 0, .kind = trace::AccessKind::Store, .space = trace::AccessSpace::Image, .binding = 4, .bytes = 0});
  std::vector<std::vector<test::Access>> accesses;
  for (std::uint32_t thread = 0; thread < 64; ++thread) {
    accesses.push_back({{0, camera_, 0}, {2, store, trace::pack({.x = thread % 8, .y = thread / 8})}});
  }
  test::set_accesses(launch(), accesses);
  // In block-linear memory a sector has 16 bytes of two rows, and a line four of them. So a warp's row of 32 bytes is
  // in two sectors of a line; the camera is one more.
  EXPECT_EQ(counts_of(trace_, 8), (AddressCounts{16, 16, 24}));
}

TEST(Information, IsWhatSortedCellsTell) {
  test::Random random(4);
  std::vector<std::uint32_t> strata, ways;
  std::vector<std::uint64_t> values;
  std::vector<PathValue> sample;
  for (int i = 0; i < 3000; ++i) {
    strata.push_back(random.below(3));
    values.push_back(random.below(40));
    ways.push_back(random.one_in(3) ? random.below(9) : static_cast<std::uint32_t>(values.back() / 5));
    sample.push_back({strata.back(), ways.back(), static_cast<double>(values.back())});
  }
  const Information information(strata, ways);
  EXPECT_NEAR(information.told(values), told_by(sample, 0), 1e-9);
  for (PathValue& one : sample) {
    one.value = one.way;
  }
  EXPECT_NEAR(information.entropy(), told_by(sample, 0), 1e-9);
  EXPECT_EQ(Information({}, {}).told({}), 0);
}

}  // namespace
}  // namespace rayreplay::experiment::advise_addresses
