// Is the verdict that of the numbers' ranges, and are its times those of new comparisons?
#include "sim/comparison/sensitivity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <tbb/global_control.h>

#include "sim/comparison/compare.hpp"
#include "sim/comparison/ranges.hpp"
#include "sim/machine/machine_fields.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/second_path.hpp"

namespace rayreplay::test {
namespace {

using experiment::CompareOptions;
using experiment::CompareResult;
using experiment::CompareRow;
using experiment::Effect;
using experiment::judge;
using experiment::Quantity;
using experiment::QuantityKind;
using experiment::Verdict;
using experiment::VerdictKind;
using machine::Origin;

Quantity quantity(const std::string& key, double value, Origin origin = Origin::Assumed) {
  Quantity one{.kind = QuantityKind::Call, .key = key, .name = key, .unit = "instructions", .origin = origin};
  one.value = value;
  set_range(one);
  return one;
}

TEST(Sensitivity, SaysWhereTheSignChanges) {
  const auto speed_up = [](std::span<const double> x) { return 0.5 + x[0] / 300; };
  const Verdict verdict =
      judge({quantity("a", 200), quantity("b", 10)}, speed_up(std::array{200.0, 10.0}), speed_up, {});
  EXPECT_EQ(verdict.kind, VerdictKind::CannotTell);
  EXPECT_TRUE(verdict.pays_now());
  ASSERT_TRUE(verdict.decisive);
  const Effect& decisive = verdict.effects[*verdict.decisive];
  EXPECT_EQ(verdict.quantities[decisive.quantity].key, "a");
  EXPECT_TRUE(decisive.changes_below);
  EXPECT_FALSE(decisive.changes_above);
  EXPECT_GE(decisive.from, 150);
  EXPECT_LE(decisive.from, 150 * (1 + experiment::kSignWithin));
  EXPECT_EQ(decisive.to, 2000);
  EXPECT_EQ(verdict.effects[1].swing, 0);
  EXPECT_FALSE(verdict.effects[1].changes());
  EXPECT_NEAR(verdict.least, 0.5 + 20.0 / 300, 1e-12);
  EXPECT_NEAR(verdict.most, 0.5 + 2000.0 / 300, 1e-12);
}

TEST(Sensitivity, HoldsWhereNothingChangesIt) {
  const auto pays = [](std::span<const double> x) { return 1.5 + x[0] / 1000; };
  EXPECT_EQ(judge({quantity("a", 200)}, pays(std::array{200.0}), pays, {}).kind, VerdictKind::Pays);
  const auto loses = [](std::span<const double> x) { return 0.2 + x[0] / 1e4; };
  const Verdict verdict = judge({quantity("a", 200)}, loses(std::array{200.0}), loses, {});
  EXPECT_EQ(verdict.kind, VerdictKind::DoesNotPay);
  EXPECT_FALSE(verdict.decisive);
  EXPECT_GE(verdict.samples.size(), 2U + 32U);
}

/// Equal times change nothing; where some point loses, the model does not pay, and where one gains, it cannot be told.
TEST(Sensitivity, EqualTimesChangeNothing) {
  const auto same = [](std::span<const double>) { return 1.0; };
  EXPECT_EQ(judge({quantity("a", 200)}, 1, same, {}).kind, VerdictKind::ChangesNothing);
  EXPECT_EQ(judge({}, 1, same, {}).kind, VerdictKind::ChangesNothing) << "without a number that varies";
  const auto loses = [](std::span<const double> x) { return x[0] > 200 ? 0.9 : 1.0; };
  const Verdict lost = judge({quantity("a", 200)}, 1, loses, {});
  EXPECT_EQ(lost.kind, VerdictKind::DoesNotPay);
  EXPECT_TRUE(lost.same_now());
  const auto gains = [](std::span<const double> x) { return x[0] > 200 ? 1.1 : 1.0; };
  EXPECT_EQ(judge({quantity("a", 200)}, 1, gains, {}).kind, VerdictKind::CannotTell);
  EXPECT_FALSE(judge({quantity("a", 200)}, 1 - 1e-6, same, {}).same_now());
}

TEST(Sensitivity, NumbersThatAreKnownAreNotVaried) {
  const auto speed_up = [](std::span<const double> x) { return x[0] / 100; };
  for (const Origin origin : {Origin::Given, Origin::Published, Origin::Measured}) {
    const Verdict verdict = judge({quantity("a", 200, origin)}, 2, speed_up, {});
    EXPECT_EQ(verdict.kind, VerdictKind::Pays);
    EXPECT_TRUE(verdict.effects.empty());
    EXPECT_TRUE(verdict.samples.empty());
  }
  // A counted one is varied, also together with others.
  const Verdict counted = judge({quantity("a", 150, Origin::Counted)}, 1.5, speed_up, {});
  EXPECT_EQ(counted.kind, VerdictKind::CannotTell);
  EXPECT_EQ(counted.samples.size(), 2U + 32U);
}

/// Of whatever origin: 1.2 stays above 1 with each number alone, but not with all.
TEST(Sensitivity, AllUncertainNumbersVaryTogether) {
  const auto speed_up = [](std::span<const double> x) { return 1.2 * std::pow(x[0] / 100 * x[1] / 100, 0.1); };
  for (const Origin origin : {Origin::Counted, Origin::Captured}) {
    const Verdict verdict = judge({quantity("a", 100, origin), quantity("b", 100, origin)}, 1.2, speed_up, {});
    EXPECT_TRUE(std::none_of(verdict.effects.begin(), verdict.effects.end(),
                             [](const Effect& effect) { return effect.changes(); }));
    const double least = origin == Origin::Counted ? 25 : 50;
    EXPECT_DOUBLE_EQ(verdict.least, 1.2 * std::pow(least * least / 1e4, 0.1));
    EXPECT_EQ(verdict.kind, verdict.least < 1 ? VerdictKind::CannotTell : VerdictKind::Pays);
    EXPECT_EQ(verdict.decisive.has_value(), verdict.least < 1);
  }
}

/// A known number with a range shows where the sign changes. It decides nothing and stays as it is in the samples.
TEST(Sensitivity, KnownNumbersDecideNothing) {
  const auto speed_up = [](std::span<const double> x) { return x[0] / 100 * std::pow(x[1] / 100, 0.01); };
  Quantity known = quantity("a", 200, Origin::Given);
  known.low = 50;
  known.high = 800;
  const Verdict verdict = judge({known, quantity("b", 100, Origin::Counted)}, 2, speed_up, {});
  EXPECT_EQ(verdict.kind, VerdictKind::Pays);
  EXPECT_FALSE(verdict.decisive);
  EXPECT_TRUE(verdict.effects.front().changes_below);
  ASSERT_FALSE(verdict.samples.empty());
  for (const experiment::JointSample& sample : verdict.samples) {
    EXPECT_EQ(sample.values[0], 200);
  }
}

/// Two ways to know the calls of a stage have one key, and samples of their own.
TEST(Sensitivity, NumbersOfOneKeyAreSampledApart) {
  const auto speed_up = [](std::span<const double>) { return 2.0; };
  const Verdict verdict =
      judge({quantity("a", 100, Origin::Counted), quantity("a", 100, Origin::Assumed)}, 2, speed_up, {.samples = 16});
  int together = 0;
  for (std::size_t sample = 2; sample < verdict.samples.size(); ++sample) {
    const auto part = [&](std::size_t i) {
      const Quantity& one = verdict.quantities[i];
      return std::llround(16 * std::log(verdict.samples[sample].values[i] / one.low) / std::log(one.high / one.low) -
                          0.5);
    };
    together += part(0) == part(1) ? 1 : 0;
  }
  EXPECT_LT(together, 8);
}

TEST(Sensitivity, AssumedNumbersTogetherMayChangeWhatNoneChangesAlone) {
  const auto speed_up = [](std::span<const double> x) { return 1.2 * std::pow(x[0] / 100 * x[1] / 100, 0.05); };
  const Verdict verdict = judge({quantity("a", 100), quantity("b", 100)}, 1.2, speed_up, {});
  EXPECT_TRUE(std::none_of(verdict.effects.begin(), verdict.effects.end(),
                           [](const Effect& effect) { return effect.changes(); }));
  EXPECT_EQ(verdict.kind, VerdictKind::CannotTell);
  ASSERT_TRUE(verdict.decisive);
  EXPECT_LT(verdict.samples[0].speed_up, 1);
  EXPECT_EQ(verdict.least, verdict.samples[0].speed_up);
  EXPECT_EQ(verdict.most, verdict.samples[1].speed_up);
  ASSERT_TRUE(verdict.together);
  EXPECT_EQ(verdict.together->values, verdict.samples[0].values);
}

/// Alone, a high and c high help. Together they do not: only a low c makes much of a high a. The corner of the best
/// single values misses this, and so does the hypercube, which has no ends.
TEST(Sensitivity, NumbersThatActOnEachOtherAreSearched) {
  const auto speed_up = [](std::span<const double> x) {
    const bool a = x[0] == 1000, c = x[2] == 1000, low = x[2] == 10;
    return 0.7 + (a ? 0.25 : 0) + (c ? 0.1 : 0) - (a && c ? 0.1 : 0) - (low ? 0.1 : 0) + (a && low ? 0.35 : 0) +
           (x[1] > 100 ? 0.01 : 0) + (x[3] > 100 ? 0.02 : 0);
  };
  const std::vector<Quantity> numbers = {quantity("a", 100), quantity("b", 100), quantity("c", 100),
                                         quantity("d", 100)};
  for (const bool noisy : {false, true}) {
    const Verdict verdict = judge(numbers, 0.7, speed_up, {.noisy = noisy});
    EXPECT_EQ(verdict.kind, VerdictKind::CannotTell);
    ASSERT_TRUE(verdict.together);
    EXPECT_EQ(verdict.together->values, (std::vector<double>{1000, 100, 10, 100})) << "what it does not need goes back";
    EXPECT_EQ(verdict.together->speed_up, speed_up(verdict.together->values));
    ASSERT_TRUE(verdict.decisive);
    EXPECT_EQ(verdict.quantities[verdict.effects[*verdict.decisive].quantity].key, "a");
    EXPECT_GT(verdict.most, 1);
  }
}

TEST(Sensitivity, ASearchThatFindsNothingSaysHowManyPointsItTried) {
  std::atomic<std::size_t> calls = 0;
  const auto speed_up = [&calls](std::span<const double> x) {
    ++calls;
    return 0.5 + x[0] / 1e4 - x[1] / 1e4;
  };
  const Verdict verdict = judge({quantity("a", 100), quantity("b", 100)}, 0.5, speed_up, {});
  EXPECT_EQ(verdict.kind, VerdictKind::DoesNotPay);
  EXPECT_FALSE(verdict.together);
  EXPECT_EQ(verdict.points, calls);
  EXPECT_GT(verdict.points, 2U * 4U + 2U + 32U) << "some were searched";
}

TEST(Sensitivity, TheHypercubeHasOneSampleInEachPartOfEachRange) {
  const auto speed_up = [](std::span<const double>) { return 2.0; };
  const Verdict verdict = judge({quantity("a", 100), quantity("b", 7)}, 2, speed_up, {.samples = 16});
  for (std::size_t i = 0; i < 2; ++i) {
    const Quantity& one = verdict.quantities[i];
    std::vector<int> parts(16);
    for (std::size_t sample = 2; sample < verdict.samples.size(); ++sample) {
      const double share = std::log(verdict.samples[sample].values[i] / one.low) / std::log(one.high / one.low);
      ++parts.at(static_cast<std::size_t>(share * 16));
    }
    EXPECT_EQ(std::count(parts.begin(), parts.end(), 1), 16);
  }
  EXPECT_NE(verdict.samples[2].values[0] / 100, verdict.samples[2].values[1] / 7) << "orders of their own";
}

TEST(Sensitivity, WholeNumbersStayWhole) {
  Quantity one = quantity("a", 64);
  one.kind = QuantityKind::Registers;
  one.whole = true;
  set_range(one);
  EXPECT_EQ(one.low, 32);
  EXPECT_EQ(one.high, 128);
  const auto speed_up = [](std::span<const double> x) {
    EXPECT_EQ(x[0], std::round(x[0]));
    return x[0] > 50 ? 1.5 : 0.5;
  };
  const Verdict verdict = judge({one}, 1.5, speed_up, {});
  EXPECT_EQ(verdict.effects[0].from, 51);
}

TEST(Sensitivity, WholeNumbersKeepToTheirStep) {
  experiment::Quantity one = quantity("a", 1024);
  one.whole = true;
  one.step = 128;
  one.low = 128;
  one.high = 8192;
  const auto speed_up = [](std::span<const double> x) {
    EXPECT_EQ(std::fmod(x[0], 128), 0);
    return x[0] > 3000 ? 0.5 : 1.5;
  };
  const Verdict verdict = judge({one}, 1.5, speed_up, {.noisy = true, .noisy_steps = 9});
  EXPECT_EQ(verdict.effects[0].to, 23 * 128) << "the last multiple that is not above 3000";
  EXPECT_TRUE(verdict.effects[0].changes_above);
}

TEST(Sensitivity, NoisyCurvesTakeFewPoints) {
  int calls = 0;
  const auto speed_up = [&calls](std::span<const double> x) {
    ++calls;
    return x[0] / 100;
  };
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const Verdict verdict = judge({quantity("a", 200)}, 2, speed_up, {.noisy = true});
  EXPECT_EQ(calls, 2 + experiment::kNoisySteps + 2 + static_cast<int>(experiment::kNoisySamples)) << "and no search";
  EXPECT_TRUE(verdict.noisy);
}

trace::Trace small_launch(std::uint64_t seed) {
  RandomTraceOptions options;
  options.seed = seed;
  options.size = {32, 24, 1};
  options.rays_per_thread = 6;
  return random_trace(options);
}

experiment::Resolved resolved_launch(const trace::Trace& trace) {
  experiment::Configuration configuration;
  configuration.warp_size = 32;
  configuration.order = "z-order";
  configuration.packings = {"identity"};
  return experiment::resolve(configuration, trace);
}

/// The options with which a new comparison has the values; false where options cannot say them.
bool set_values(const trace::Trace& trace, const Verdict& verdict, std::span<const double> values,
                CompareOptions& options) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Quantity& one = verdict.quantities[i];
    if (values[i] == one.value) {
      continue;
    }
    const std::string last = one.key.substr(one.key.find_last_of(".:") + 1);
    switch (one.kind) {
      case QuantityKind::CallLatency:
        return false;
      case QuantityKind::Call:
        if (one.key == "trace-call") {
          return false;
        }
        for (std::size_t id = 0; id < trace.shaders.size(); ++id) {
          if (to_string(trace.shaders[id].stage) == last) {
            options.costs.hand.push_back({std::to_string(id), values[i]});
          }
        }
        break;
      case QuantityKind::CyclesPerInstruction:
        options.costs.cycles_per_instruction = values[i];
        break;
      case QuantityKind::StepsPerRay:
        options.costs.steps_per_ray = values[i];
        break;
      case QuantityKind::Registers:
        options.registers_per_thread = static_cast<std::uint32_t>(values[i]);
        break;
      case QuantityKind::Machine: {
        // Reads as the machine's file with another number would.
        std::string text = to_toml(options.machine);
        const std::size_t begin = text.find("\n" + last + " = ") + 1;
        text.replace(begin, text.find('\n', begin) - begin,
                     one.whole ? fmt::format("{} = {:.0f}", last, values[i]) : fmt::format("{} = {}", last, values[i]));
        options.machine = machine::parse_machine(text, "test");
        break;
      }
      case QuantityKind::Parameter: {
        std::string& spec = options.models.front();
        const std::size_t begin = spec.find(last + "=");
        const std::size_t end = std::min(spec.find(',', begin), spec.size());
        spec.replace(begin, end - begin, fmt::format("{}={}", last, values[i]));
        break;
      }
    }
  }
  return true;
}

TEST(Sensitivity, EveryTimeIsThatOfANewComparison) {
  const trace::Trace trace = small_launch(11);
  const experiment::Resolved configuration = resolved_launch(trace);
  CompareOptions options;
  options.machine = machine::load_machine("rtx4090");
  options.machine.sms = 6;
  options.break_even = false;
  options.sensitivity = true;
  options.models = {
      "ser", "ser:scope=sm", "ser:scope=sm,arrival=timeout", "wavefront", "compaction", "bindless-dispatch", "oracle"};
  const CompareResult result = compare_by_hand(trace, configuration, options);
  EXPECT_EQ(result.rows.front().verdict.kind, VerdictKind::NotAsked);
  std::size_t checked = 0, left_out = 0;
  for (std::size_t i = 1; i < result.rows.size(); ++i) {
    const CompareRow& row = result.rows[i];
    SCOPED_TRACE(row.model);
    const Verdict& verdict = row.verdict;
    EXPECT_NE(verdict.kind, VerdictKind::NotAsked);
    EXPECT_EQ(verdict.speed_up, row.speed_up);
    std::vector<double> now;
    for (const Quantity& one : verdict.quantities) {
      now.push_back(one.value);
    }
    const auto check = [&](const std::vector<double>& values, double speed_up) {
      CompareOptions there = options;
      there.sensitivity = false;
      there.models = {row.model};
      if (!set_values(trace, verdict, values, there)) {
        ++left_out;
        return;
      }
      EXPECT_EQ(compare_by_hand(trace, configuration, there).rows.back().speed_up, speed_up);
      ++checked;
    };
    for (const Effect& effect : verdict.effects) {
      SCOPED_TRACE(verdict.quantities[effect.quantity].key);
      for (const experiment::QuantityPoint& point : effect.points) {
        std::vector<double> values = now;
        values[effect.quantity] = point.value;
        check(values, point.speed_up);
      }
    }
    for (std::size_t sample = 0; sample < verdict.samples.size(); sample += 3) {
      check(verdict.samples[sample].values, verdict.samples[sample].speed_up);
    }
  }
  EXPECT_GT(checked, 200U);
  EXPECT_LT(left_out, checked / 2);
}

/// Foliage: any-hit calls in the traversal, where SER does not regroup them. All numbers but their cost are known.
CompareOptions foliage_options(const trace::Trace& trace) {
  CompareOptions options;
  options.machine = machine::load_machine("rtx4090");
  options.machine.sms = 1;  // which the launch fills
  options.machine.resident_warps = 8;
  for (const machine::MachineField& field : machine::machine_fields()) {
    options.machine.origins.insert_or_assign(field.key, Origin::Measured);
  }
  options.given = {"registers_per_thread", "scheduler.cycles_per_instruction", "scheduler.steps_per_ray"};
  for (std::size_t id = 0; id < trace.shaders.size(); ++id) {
    if (trace.shaders[id].stage != trace::ShaderStage::AnyHit) {
      const bool hit = trace.shaders[id].stage == trace::ShaderStage::ClosestHit;
      options.costs.hand.push_back({std::to_string(id), hit ? 1500.0 : 30.0});
    }
  }
  options.break_even = false;
  options.sensitivity = true;
  return options;
}

TEST(Sensitivity, AnAssumedAnyHitCostMayDecide) {
  const trace::Trace trace = small_launch(11);
  const experiment::Resolved configuration = resolved_launch(trace);
  CompareOptions options = foliage_options(trace);
  for (const char* live_state : {"16", "512"}) {
    options.models.push_back(std::string("ser:withheld=0,live_state=") + live_state);
  }
  int decided = 0;
  for (const CompareRow& row : compare_by_hand(trace, configuration, options).rows) {
    const Verdict& verdict = row.verdict;
    if (verdict.kind != VerdictKind::CannotTell ||
        verdict.quantities[verdict.effects[*verdict.decisive].quantity].key != "shader_costs.any-hit") {
      continue;
    }
    ++decided;
    // The sign is the present one where the verdict says so, and the other one beyond it.
    const Effect& effect = verdict.effects[*verdict.decisive];
    const auto pays_at = [&](double cost) {
      CompareOptions there = options;
      there.sensitivity = false;
      there.models = {row.model};
      there.costs.hand.push_back({"any-hit", cost});
      return compare_by_hand(trace, configuration, there).rows.back().speed_up > 1;
    };
    EXPECT_EQ(pays_at(effect.from), verdict.pays_now());
    EXPECT_EQ(pays_at(effect.to), verdict.pays_now());
    if (effect.changes_below) {
      EXPECT_NE(pays_at(effect.from * (1 - 1.01 * experiment::kSignWithin)), verdict.pays_now());
    }
    if (effect.changes_above) {
      EXPECT_NE(pays_at(effect.to * (1 + 1.01 * experiment::kSignWithin)), verdict.pays_now());
    }
    // Given, the cost decides nothing: the verdict is the sign.
    CompareOptions given = options;
    given.models = {row.model};
    given.costs.hand.push_back({"any-hit", 200});
    const Verdict known = compare_by_hand(trace, configuration, given).rows.back().verdict;
    EXPECT_EQ(known.kind, verdict.pays_now() ? VerdictKind::Pays : VerdictKind::DoesNotPay);
    EXPECT_EQ(known.speed_up, verdict.speed_up);
  }
  EXPECT_EQ(decided, 2);
}

TEST(Sensitivity, AVerdictMayHoldOverAllRanges) {
  const trace::Trace trace = small_launch(11);
  CompareOptions options;
  options.machine = machine::load_machine("rtx4090");
  options.machine.sms = 6;
  options.break_even = false;
  options.sensitivity = true;
  options.models = {"wavefront:state=100000"};
  const Verdict verdict = compare_by_hand(trace, resolved_launch(trace), options).rows.back().verdict;
  EXPECT_EQ(verdict.kind, VerdictKind::DoesNotPay);
  EXPECT_GE(verdict.effects.size(), 8U);
  EXPECT_LT(verdict.most, 1);
  for (const experiment::JointSample& sample : verdict.samples) {
    EXPECT_LT(sample.speed_up, 1);
  }
}

TEST(Sensitivity, RowsAreTheSameWithAndWithout) {
  const trace::Trace trace = small_launch(12);
  CompareOptions options;
  options.machine = machine::load_machine("h200");
  options.models = {"ser:scope=sm", "oracle"};
  const CompareResult without = compare_by_hand(trace, resolved_launch(trace), options);
  options.sensitivity = true;
  const CompareResult with = compare_by_hand(trace, resolved_launch(trace), options);
  for (std::size_t i = 0; i < with.rows.size(); ++i) {
    EXPECT_EQ(with.rows[i].timing.cycles, without.rows[i].timing.cycles);
    EXPECT_EQ(with.rows[i].break_even.hit_cost, without.rows[i].break_even.hit_cost);
    EXPECT_EQ(without.rows[i].verdict.kind, VerdictKind::NotAsked);
  }
}

TEST(Quantities, AreThoseThatTheTimesDependOn) {
  const trace::Trace trace = small_launch(11);
  CompareOptions options;
  options.machine = machine::load_machine("rtx4090");
  options.machine.sms = 6;
  options.break_even = false;
  options.sensitivity = true;
  options.models = {"ser", "wavefront"};
  options.given = {"registers_per_thread"};
  options.costs.hand = {{"closest-hit", 300}};
  const CompareResult result = compare_by_hand(trace, resolved_launch(trace), options);
  const auto find = [](const std::vector<Quantity>& list, const std::string& key) {
    const auto found = std::ranges::find(list, key, [](const Quantity& one) { return one.key; });
    EXPECT_NE(found, list.end()) << key;
    return found == list.end() ? Quantity{} : *found;
  };
  EXPECT_EQ(find(result.quantities, "registers_per_thread").origin, Origin::Given);
  EXPECT_FALSE(find(result.quantities, "registers_per_thread").varied());
  EXPECT_EQ(find(result.quantities, "shader_costs.closest-hit").value, 300);
  EXPECT_FALSE(find(result.quantities, "shader_costs.closest-hit").varied());
  EXPECT_EQ(find(result.quantities, "shader_costs.any-hit").low, 20);
  EXPECT_EQ(find(result.quantities, "shader_costs.any-hit").high, 2000);
  EXPECT_EQ(find(result.quantities, "machine.rt_steps_per_cycle").origin, Origin::Derived);
  EXPECT_EQ(find(result.quantities, "machine.dram_bytes_per_second").origin, Origin::Published);
  const Quantity tests = find(result.quantities, "machine.rt_test_latency_cycles");
  EXPECT_EQ(tests.value, 4);
  EXPECT_EQ(tests.low, 0) << "a visit of 22 cycles is less than its load";
  EXPECT_EQ(tests.high, 88 - 40) << "a visit of twice 44 cycles";
  EXPECT_FALSE(find(result.quantities, "machine.l1_latency_cycles").varied());
  const std::vector<Quantity>& of_ser = result.rows[1].verdict.quantities;
  EXPECT_TRUE(find(of_ser, "machine.withheld_sms").varied());
  EXPECT_TRUE(find(of_ser, "machine.reorder_cycles").varied());
  const Quantity assumed = find(of_ser, "scheduler.model:live_state");
  EXPECT_EQ(assumed.origin, Origin::Assumed);
  EXPECT_EQ(assumed.value, 84);
  EXPECT_EQ(assumed.low, 21);
  EXPECT_EQ(assumed.high, 336);
  const std::vector<Quantity>& of_wavefront = result.rows[2].verdict.quantities;
  EXPECT_FALSE(find(of_wavefront, "machine.withheld_sms").varied());
  EXPECT_FALSE(find(of_wavefront, "machine.reorder_cycles").varied());
  EXPECT_EQ(find(of_wavefront, "scheduler.model:state").value, 212);
}

TEST(Quantities, TakeTheLiveStateOfTheShadersUnlessItIsGiven) {
  const trace::Trace trace = small_launch(11);
  CompareOptions options;
  options.machine = machine::load_machine("rtx4090");
  options.machine.sms = 6;
  options.break_even = false;
  options.sensitivity = true;
  options.models = {"ser", "compaction", "ser:live_state=96", "ser:live_state=60"};
  options.given_parameters =
      experiment::parameters_given({"plain", "ser", "compaction", "ser:live_state=96", "ser:live_state=60"});
  options.live_state = {96, 32, Origin::Counted};
  const CompareResult result = compare_by_hand(trace, resolved_launch(trace), options);
  const auto live = [&](std::size_t row) {
    return *std::ranges::find(result.rows[row].verdict.quantities, "scheduler.model:live_state", &Quantity::key);
  };
  for (const std::size_t row : {1U, 2U}) {
    EXPECT_EQ(live(row).value, 96);
    EXPECT_EQ(live(row).origin, Origin::Counted);
    EXPECT_EQ(live(row).low, 48);
    EXPECT_EQ(live(row).high, 192);
  }
  EXPECT_EQ(result.rows[1].charges.bytes_per_thread, 2 * 96);
  EXPECT_EQ(result.rows[2].charges.bytes_per_moved, 2 * 96);
  EXPECT_EQ(live(3).origin, Origin::Given);
  EXPECT_FALSE(live(3).varied());
  EXPECT_EQ(result.rows[1].timing.cycles, result.rows[3].timing.cycles) << "the same number, however it is known";
  EXPECT_NE(result.rows[1].timing.cycles, result.rows[4].timing.cycles);
  // Its range is timed: the ends are other times than the present one.
  const auto effect = std::ranges::find_if(result.rows[1].verdict.effects, [&](const Effect& one) {
    return result.rows[1].verdict.quantities[one.quantity].key == "scheduler.model:live_state";
  });
  ASSERT_NE(effect, result.rows[1].verdict.effects.end());
  EXPECT_GT(effect->swing, 0);
}

}  // namespace
}  // namespace rayreplay::test
