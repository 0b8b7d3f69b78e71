// The numbers that memory what-ifs vary: which can be, between which values, and that all of these can run.
#include "sim/variants/memory_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler-models/regrouping/scheduler_model.hpp"
#include "sim/comparison/quantity_names.hpp"
#include "sim/comparison/ranges.hpp"
#include "sim/engine/machine_room.hpp"
#include "sim/engine/stage_settings.hpp"
#include "sim/variants/number_rules.hpp"
#include "tests/settings/expect_usage.hpp"
#include "tests/support/groups_by_hand.hpp"

namespace rayreplay::test {
namespace {

using experiment::AskedNumber;
using experiment::NumberFacts;
using experiment::Quantity;
using experiment::Settings;
using testing::HasSubstr;

const NumberFacts kFacts{.calls = groups_of({hit(250, "default")}), .warp_size = 32};

Settings asked_of(const std::vector<std::string>& assignments) {
  Settings settings;
  for (const std::string& one : assignments) {
    settings.set_text(one, "--set");
  }
  return settings;
}

Settings completed(const std::vector<std::string>& assignments) {
  return experiment::complete(asked_of(assignments), experiment::NamedInput::Elsewhere);
}

std::vector<Quantity> numbers(const std::vector<std::string>& assignments, const std::string& list) {
  return experiment::numbers_of(completed(assignments), kFacts,
                                experiment::parse_numbers(std::vector<std::string>{list}, "--break-even"));
}

void expect_refused(const std::vector<std::string>& assignments, const std::string& list,
                    const std::vector<std::string>& pieces) {
  expect_usage([&] { (void)numbers(assignments, list); }, pieces);
}

/// Limits; of a real key without an amount at 0, from half a unit.
experiment::Limits amounts_of(const Settings& settings, const std::string& key) {
  experiment::Limits limits =
      experiment::limits_of(settings, experiment::find_parameter(key)->declared, kFacts.warp_size);
  if (!experiment::meaning_beside(key, limits.low).empty()) {
    EXPECT_TRUE(std::holds_alternative<double>(settings.at(key))) << key;
    limits.low = 0.5;
  }
  return limits;
}

/// Each amount alone: every value between its limits gives a machine and accesses.
TEST(MemoryNumbers, TheEndsOfAllLimitsCanRun) {
  const std::vector<std::string> usual = {"machine.rt_rays=64", "machine.rt_boxes_per_cycle=4",
                                          "machine.rt_triangles_per_cycle=1", "schedule.resident_warps=8"};
  const Settings settings = completed(usual);
  for (const std::string& key : experiment::amount_keys()) {
    const experiment::Limits limits = amounts_of(settings, key);
    const double step = experiment::step_of(settings, key);
    ASSERT_LT(limits.low, limits.high) << key;
    for (const double end : {std::ceil(limits.low / step) * step, std::floor(limits.high / step) * step}) {
      const double value =
          std::holds_alternative<double>(settings.at(key)) ? std::clamp(end, limits.low, limits.high) : end;
      Settings at = asked_of(usual);
      Quantity quantity{.kind = experiment::QuantityKind::Machine,
                        .key = key,
                        .value = -1,
                        .whole = !std::holds_alternative<double>(settings.at(key))};
      experiment::set_numbers(at, kFacts, {&quantity, 1}, {&value, 1}, true);
      SCOPED_TRACE(key + " = " + std::to_string(value));
      Settings complete;
      ASSERT_NO_THROW(complete = experiment::complete(at, experiment::NamedInput::Elsewhere));
      EXPECT_NO_THROW((void)experiment::stream_machine(complete));
      EXPECT_NO_THROW((void)experiment::stream_of(complete, kFacts.warp_size));
      EXPECT_NO_THROW(experiment::require_warps_fit(complete, kFacts.warp_size));
    }
  }
}

/// A new key whose text says what 0 means is either listed as one without an amount there, or a plain zero.
TEST(MemoryNumbers, ZerosThatMeanSomethingElseAreKnown) {
  const std::set<std::string> plain = {"stream.payload_bytes", "stream.pixel_bytes"};  // no bytes in memory
  for (const std::string& key : experiment::amount_keys()) {
    const bool told = experiment::find_parameter(key)->declared.text.find("0: ") != std::string::npos;
    const bool known = !experiment::meaning_beside(key, 0).empty() || key == "machine.rt_triangles_per_cycle";
    EXPECT_EQ(told && !plain.contains(key), known && key != "machine.rt_triangles_per_cycle") << key;
  }
}

TEST(MemoryNumbers, ChoicesAreNoAmounts) {
  for (const char* key : {"machine.l1_line_bytes", "machine.l2_ways", "machine.l1_sector_bytes", "machine.warp_size",
                          "launch", "warp_size", "cache.l1.line_bytes", "bvh.leaf_size"}) {
    expect_refused({}, std::string(key) + "=1..1000",
                   {"not an amount", key, "machine.sms", "shader_costs.closest-hit"});
  }
  expect_refused({}, "packing", {"the key is not a number", "'packing'", "machine.sms"});
  expect_refused({}, "machine.software_traversal", {"the key is not a number"});
  expect_refused({}, "cache.l2.bytes", {"memory time does not depend on the key", "machine.l2_bytes"});
  expect_refused({}, "machine.rt_ray", {"unknown key", "did you mean 'machine.rt_rays'"});
  expect_refused({}, "shader_costs.metal",
                 {"'shader_costs.metal'", "expected shader_costs.STAGE, with one of", "miss"});
  expect_refused({}, "shader_costs.miss", {"miss calls cost nothing, or the launch makes none", "'shader_costs.miss'"});
}

TEST(MemoryNumbers, ValuesThatAreNoAmounts) {
  expect_refused({}, "machine.rt_rays=0..64", {"0 means 'no limit'", "'machine.rt_rays=0..64'"});
  expect_refused({}, "machine.rt_rays=8..64", {"a range around 1536, the present value"});
  expect_refused({"machine.rt_rays=64"}, "machine.rt_rays=0..128", {"0 means 'no limit'", "'machine.rt_rays=0..128'"});
  expect_refused({}, "schedule.resident_warps=0..8", {"0 means 'the machine's, by registers'"});
  expect_refused({}, "machine.l1_bytes=0..262144", {"0 means 'no L1'"});
  expect_refused({"scheduler.model=ser"}, "scheduler.model:withheld=-1..4", {"-1 means 'the machine's'"});
  expect_refused({"scheduler.model=ser"}, "scheduler.model:live_state=-1..96",
                 {"-1 means 'of the launch's shaders'", "'scheduler.model:live_state=-1..96'"});
  expect_refused({"scheduler.model=ser:live_state=0"}, "scheduler.model:live_state", {"0", "KEY=LOW..HIGH"});
  EXPECT_EQ(numbers({"machine.rt_rays=64"}, "machine.rt_rays=1..128").front().low, 1);
  EXPECT_EQ(numbers({"scheduler.model=ser"}, "scheduler.model:live_state=0..65536").front().low, 0) << "no bytes";
  EXPECT_EQ(numbers({"scheduler.model=ser"}, "machine.withheld_sms=0..5").front().low, 0) << "no SM is withheld";
}

TEST(MemoryNumbers, RangesThatDoNotFit) {
  expect_refused({}, "machine.sms=200..100", {"LOW below HIGH"});
  expect_refused({}, "machine.sms=nan..200", {"LOW below HIGH"});
  expect_refused({}, "machine.sms=1..64", {"values from 3 to 4096, by machine.withheld_sms = 2"});
  expect_refused({}, "machine.sms=3..64", {"a range around 128, the present value"});
  expect_refused({}, "machine.sms=2.5..200", {"values from 3"});
  expect_refused({}, "machine.sms=3.5..200", {"whole numbers"});
  expect_refused({"scheduler.model=ser"}, "machine.withheld_sms=0..128",
                 {"values from 0 to 127, by machine.sms = 128"});
  expect_refused({}, "machine.l1_latency_cycles=1..297", {"values from 1 to 296, by machine.l2_latency_cycles = 296"});
  expect_refused({}, "machine.l2_latency_cycles=1..1000",
                 {"values from 40 to 636, by machine.dram_latency_cycles = 636"});
  expect_refused({}, "machine.dram_latency_cycles=1..1000",
                 {"values from 296 to 1000000, by machine.l2_latency_cycles"});
  expect_refused({"schedule.resident_warps=8"}, "schedule.resident_warps=1..49",
                 {"1 to 48, by machine.resident_warps"});
  expect_refused({}, "machine.l1_bytes=131072..131072", {"another multiple of 32768 beside 131072"});
  expect_refused({}, "machine.sms=128..128", {"another value beside 128"});
  expect_refused({}, "machine.l1_bytes=64KiB..256KiB", {"a bound of the range is not a number"});
  expect_refused({}, "machine.sms,machine.sms=64..256", {"a key is named twice", "'machine.sms'"});
  expect_refused({}, "machine.sms,", {"a key is missing"});
  expect_refused({}, "machine.l1_bytes=65536...262144", {"not of the form LOW..HIGH", "65536...262144"});
}

std::set<std::string> deciding(const std::vector<std::string>& assignments, const NumberFacts& facts = kFacts) {
  std::set<std::string> keys;
  for (const Quantity& one : experiment::numbers_of(completed(assignments), facts, {})) {
    if (experiment::is_uncertain(one.origin)) {
      EXPECT_TRUE(one.varied()) << one.key;
      keys.insert(one.key);
    }
  }
  return keys;
}

TEST(MemoryNumbers, AllNumbersNotKnownForSureDecide) {
  const std::string laptop = "machine.name=rtx4060-laptop";
  const std::set<std::string> of_all = {"shader_costs.closest-hit",
                                        "scheduler.cycles_per_instruction",
                                        "registers_per_thread",
                                        "machine.rt_steps_per_cycle",
                                        "machine.rt_test_latency_cycles",
                                        "machine.l1_latency_cycles",
                                        "machine.l2_latency_cycles",
                                        "machine.l2_bytes_per_second",
                                        "machine.dram_latency_cycles",
                                        "machine.outstanding_misses",
                                        "machine.rt_rays",
                                        "stream.load_bytes",
                                        "stream.stack_entries",
                                        "stream.payload_bytes"};
  EXPECT_EQ(deciding({laptop}), of_all);
  std::set<std::string> of_ser = of_all;
  of_ser.insert({"machine.reorder_cycles", "scheduler.model:live_state"});
  const std::set<std::string> found = deciding({laptop, "scheduler.model=ser"});
  EXPECT_TRUE(std::ranges::includes(found, of_ser)) << "and costs of the model that are 0";
  EXPECT_FALSE(found.contains("machine.withheld_sms")) << "measured";
  EXPECT_FALSE(found.contains("machine.l1_bytes")) << "published";
  NumberFacts three = kFacts;
  three.calls = groups_of({hit(250, "default"),
                           {trace::ShaderStage::Miss, trace::EventKind::Miss, {20, 120, "default", ""}},
                           {trace::ShaderStage::AnyHit, trace::EventKind::AnyHit, {35, 210, "hand", ""}}});
  EXPECT_TRUE(deciding({laptop}, three).contains("shader_costs.miss"));
  EXPECT_FALSE(deciding({laptop}, three).contains("shader_costs.any-hit"));
  EXPECT_FALSE(deciding({laptop, "schedule.resident_warps=8"}).contains("registers_per_thread"));
  EXPECT_TRUE(deciding({"scheduler.model=bindless-dispatch"}).contains("scheduler.model:spawn_cycles"));
}

/// The ranges are those of the fluid model.
TEST(MemoryNumbers, UncertainNumbersHaveTheirPlausibleRange) {
  const std::vector<std::string> ser = {"machine.name=rtx4060-laptop", "scheduler.model=ser"};
  const auto expect_range = [&](const std::string& key, double low, double high) {
    const Quantity one = numbers(ser, key).front();
    EXPECT_EQ(one.low, low) << key;
    EXPECT_EQ(one.high, high) << key;
  };
  expect_range("machine.reorder_cycles", 0, 2000);
  expect_range("machine.l1_latency_cycles", 20, 80);
  expect_range("machine.rt_steps_per_cycle", 0.76, 3.04);
  expect_range("machine.l2_bytes_per_second", 657.5e9, 2630e9);
  expect_range("registers_per_thread", 32, 128);
  expect_range("stream.payload_bytes", 8, 128);
  expect_range("shader_costs.closest-hit", 25, 2500);
  const Quantity withheld =
      numbers({"machine.name=rtx4060-laptop", "machine.sms=2", "scheduler.model=ser"}, "machine.withheld_sms").front();
  EXPECT_EQ(withheld.origin, machine::Origin::Assumed) << "cut to 1";
  EXPECT_EQ(withheld.low, 0);
  EXPECT_EQ(withheld.high, 1);
  EXPECT_EQ(numbers({"machine.name=rtx4090"}, "machine.l1_latency_cycles").front().high, 4 * 40) << "measured";
}

TEST(MemoryNumbers, ParametersThatTheUserGaveAreNotAssumed) {
  const std::vector<std::string> bindless = {"scheduler.model=bindless-dispatch"};
  EXPECT_TRUE(deciding(bindless).contains("scheduler.model:spawn_cycles"));
  NumberFacts facts = kFacts;
  facts.given = experiment::parameters_given({"plain", "bindless-dispatch:spawn_cycles=100"});
  EXPECT_FALSE(deciding(bindless, facts).contains("scheduler.model:spawn_cycles")) << "given at its default";
  EXPECT_EQ(facts.given.at(completed(bindless).text("scheduler.model")), std::set<std::string>{"spawn_cycles"});
}

TEST(MemoryNumbers, TheLiveStateIsThatOfTheShadersUnlessItIsGiven) {
  NumberFacts facts = kFacts;
  const auto live = [&](const std::string& model, const char* payload = "-1") {
    const auto asked =
        experiment::parse_numbers(std::vector<std::string>{"scheduler.model:live_state"}, "--break-even");
    const std::vector<std::string> given = {"scheduler.model=" + model, std::string("stream.payload_bytes=") + payload};
    return experiment::numbers_of(completed(given), facts, asked).front();
  };
  EXPECT_EQ(live("ser").value, 84);
  EXPECT_EQ(live("ser").origin, machine::Origin::Assumed);
  EXPECT_EQ(live("ser").high, 4 * 84);
  facts.live_state = {116, 92, machine::Origin::Counted};
  for (const char* model : {"ser", "compaction", "ser:live_state=-1"}) {
    EXPECT_EQ(live(model, "0").value, 116) << model << ": registers keep the payload, which moves along";
    EXPECT_EQ(live(model, "64").value, 24) << model << ": the payload goes through memory";
    EXPECT_EQ(live(model).value, 24) << model;
    EXPECT_EQ(live(model).origin, machine::Origin::Counted) << model;
    EXPECT_EQ(live(model).low, 12) << model;
    EXPECT_EQ(live(model).high, 48) << model;
  }
  EXPECT_EQ(live("ser:live_state=84").value, 84);
  EXPECT_EQ(live("ser:live_state=84").origin, machine::Origin::Given);
}

TEST(MemoryNumbers, ThePayloadIsThatOfTheShadersUnlessItIsGiven) {
  NumberFacts facts = kFacts;
  const auto payload = [&](const std::vector<std::string>& settings) {
    const auto asked = experiment::parse_numbers(std::vector<std::string>{"stream.payload_bytes"}, "--break-even");
    return experiment::numbers_of(completed(settings), facts, asked).front();
  };
  EXPECT_EQ(payload({}).value, 32);
  EXPECT_EQ(payload({}).origin, machine::Origin::Assumed);
  EXPECT_EQ(payload({}).high, 128);
  facts.live_state = {116, 91, machine::Origin::Counted};
  EXPECT_EQ(payload({}).value, 92) << "whole words";
  EXPECT_EQ(payload({}).origin, machine::Origin::Counted);
  EXPECT_EQ(payload({}).low, 48);
  EXPECT_EQ(payload({}).high, 184);
  EXPECT_EQ(payload({"stream.payload_bytes=32"}).value, 32);
  EXPECT_EQ(payload({"stream.payload_bytes=32"}).origin, machine::Origin::Given);
}

TEST(MemoryNumbers, PayloadRangesBeginWithAnAmount) {
  expect_refused({}, "stream.payload_bytes=-1..64", {"-1 means 'of the launch's shaders'"});
  EXPECT_EQ(numbers({}, "stream.payload_bytes=0..64").front().low, 0) << "it stays in registers";
}

/// Keys of the accesses change the time of every row, also of one whose model is plain.
TEST(MemoryNumbers, KeysOfAccessesAreSetForAllModels) {
  for (const char* key : {"stream.payload_bytes", "stream.record_bytes", "stream.pixel_bytes", "machine.sms"}) {
    Settings plain;
    const Quantity one = numbers({}, key).front();
    const double value = one.value * 2;
    experiment::set_numbers(plain, kFacts, {&one, 1}, {&value, 1}, false);
    EXPECT_EQ(static_cast<double>(experiment::complete(plain, experiment::NamedInput::Elsewhere).integer(key)), value)
        << key;
  }
  Settings plain;
  const Quantity one = numbers({"scheduler.model=ser"}, "scheduler.model:live_state").front();
  const double value = one.value * 2;
  experiment::set_numbers(plain, kFacts, {&one, 1}, {&value, 1}, false);
  EXPECT_FALSE(plain.has("scheduler.model:live_state"));
}

/// Numbers that are varied together are told as they are used.
TEST(MemoryNumbers, UsedNumbersAreFreeOfContradictions) {
  const auto used = [](const std::vector<std::string>& keys, const std::vector<double>& values) {
    std::vector<Quantity> quantities;
    for (const std::string& key : keys) {
      quantities.push_back({.kind = experiment::QuantityKind::Machine, .key = key, .whole = true});
    }
    const std::vector<double> result = experiment::used_numbers(kFacts, quantities, values);
    // The same ones are set.
    Settings settings = asked_of({});
    for (Quantity& quantity : quantities) {
      quantity.value = -1;
    }
    experiment::set_numbers(settings, kFacts, quantities, values, true);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      EXPECT_EQ(std::get<std::int64_t>(settings.at(keys[i])), std::llround(result[i])) << keys[i];
    }
    return result;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(used({"machine.dram_latency_cycles", "machine.l2_latency_cycles"}, {318, 592}), (Values{592, 592}));
  EXPECT_EQ(
      used({"machine.l1_latency_cycles", "machine.l2_latency_cycles", "machine.dram_latency_cycles"}, {90, 40, 80}),
      (Values{90, 90, 90}));
  EXPECT_EQ(used({"machine.l2_latency_cycles", "machine.dram_latency_cycles"}, {200, 500}), (Values{200, 500}));
  EXPECT_EQ(used({"machine.withheld_sms", "machine.sms"}, {7, 4}), (Values{3, 4}));
  EXPECT_EQ(used({"registers_per_thread", "machine.registers"}, {100, 1000}), (Values{100, 3200}));
  EXPECT_EQ(used({"machine.resident_warps", "schedule.resident_warps"}, {8, 12}), (Values{12, 12}));
}

TEST(MemoryNumbers, NumbersWithoutAnEffectAreRefused) {
  const auto refused = [](const std::vector<std::string>& assignments, const std::string& key, const char* why) {
    const std::vector<Settings> rows = {completed(assignments)};
    const auto asked = experiment::parse_numbers(std::vector<std::string>{key}, "--break-even");
    expect_usage([&] { experiment::check_numbers(rows, kFacts, asked); },
                 {"memory time does not depend on the key", why, "'" + key + "'"});
  };
  const std::string model = "scheduler.model=";
  refused({model + "ser:bandwidth=4"}, "scheduler.model:bandwidth", "accesses alone decide");
  refused({model + "ser"}, "scheduler.model:pool_warps", "arrival is all");
  refused({model + "compaction:scope=sm"}, "scheduler.model:pool_warps", "scope is not pool");
  refused({model + "ser:scope=sm,arrival=full"}, "scheduler.model:timeout", "arrival is not timeout");
  refused({model + "ser"}, "scheduler.model:spatial_bits", "spatial is none");
  refused({model + "ser:scope=warp"}, "scheduler.model:live_state", "no such cost");
  refused({model + "wavefront"}, "machine.reorder_cycles", "wavefront has no such cost");
  refused({"schedule.resident_warps=8"}, "registers_per_thread", "schedule.resident_warps is given");
  EXPECT_EQ(numbers({model + "ser:scope=sm,arrival=full"}, "scheduler.model:pool_warps").size(), 1U);
  EXPECT_EQ(numbers({model + "ser:scope=pool"}, "scheduler.model:pool_warps").size(), 1U);
}

TEST(MemoryNumbers, NumbersLeftOutAreTold) {
  const Settings ser = completed({"machine.name=rtx4060-laptop", "scheduler.model=ser"});
  const auto asked = experiment::parse_numbers(
      std::vector<std::string>{"machine.l1_bytes,shader_costs.closest-hit=10..500"}, "--break-even");
  const std::vector<std::string> left = experiment::left_out(ser, kFacts, asked);
  EXPECT_THAT(left, testing::IsSupersetOf({"scheduler.model:live_state", "machine.reorder_cycles"}));
  EXPECT_THAT(left, testing::Not(testing::Contains("shader_costs.closest-hit")));
  // Without a range are those that now mean nothing at all, or have no plausible other value.
  const std::vector<std::string> fixed = experiment::left_out(ser, kFacts, {});
  EXPECT_THAT(fixed, testing::IsSupersetOf({"stream.record_bytes", "stream.pixel_bytes"}));
  for (const char* key : {"machine.rt_rays", "stream.load_bytes", "stream.stack_entries", "machine.rt_boxes_per_cycle",
                          "machine.rt_triangles_per_cycle"}) {
    EXPECT_THAT(fixed, testing::Not(testing::Contains(key)));
  }
  for (const Quantity& quantity : experiment::numbers_of(ser, kFacts, {})) {
    EXPECT_THAT(fixed, testing::Not(testing::Contains(quantity.key)));
  }
}

/// No limit is as many as there can be: the range goes from the least plausible limit to it.
TEST(MemoryNumbers, NoLimitHasARange) {
  const auto usual = [](const std::vector<std::string>& assignments, const std::string& key) {
    std::optional<Quantity> found;
    for (const Quantity& quantity : experiment::numbers_of(completed(assignments), kFacts, {})) {
      found = quantity.key == key ? quantity : found;
    }
    return found;
  };
  const auto rays = usual({}, "machine.rt_rays");
  ASSERT_TRUE(rays);
  EXPECT_EQ(rays->meaning, "no limit");
  EXPECT_EQ(rays->value, 48 * 32) << "of the warps that an SM holds";
  EXPECT_EQ(rays->low, 32) << "a warp's";
  EXPECT_EQ(rays->high, rays->value);
  const auto load = usual({}, "stream.load_bytes");
  ASSERT_TRUE(load);
  EXPECT_EQ(load->low, 16);
  EXPECT_EQ(load->high, 4096);
  EXPECT_EQ(load->meaning, "no limit");
  const auto stack = usual({}, "stream.stack_entries");
  ASSERT_TRUE(stack);
  EXPECT_EQ(stack->low, 8);
  EXPECT_EQ(stack->meaning, "all of them");
  EXPECT_FALSE(usual({"machine.software_traversal=true"}, "machine.rt_rays"));
  EXPECT_FALSE(usual({"stream.stack_entries=4"}, "stream.stack_entries")) << "given";
  EXPECT_FALSE(usual({"machine.rt_rays=64"}, "machine.rt_rays")) << "given";
  // At its present value the key stays as it is: no limit, not a limit of so many.
  for (const double value : {rays->value, 64.0}) {
    Settings settings = asked_of({});
    experiment::set_numbers(settings, kFacts, {&*rays, 1}, {&value, 1}, true);
    EXPECT_EQ(experiment::complete(settings, experiment::NamedInput::Elsewhere).integer("machine.rt_rays"),
              value == 64 ? 64 : 0);
  }
  const auto asked = numbers({}, "machine.rt_rays");
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked.front().low, 32);
}

TEST(MemoryNumbers, RangesAreCutToWholeSteps) {
  const auto asked =
      experiment::parse_numbers(std::vector<std::string>{"machine.l1_bytes=100000..300000"}, "--break-even");
  const Quantity l1 = experiment::numbers_of(completed({"machine.name=generic"}), kFacts, asked).front();
  EXPECT_EQ(l1.step, 128 * 64);
  EXPECT_EQ(l1.low, 106496);
  EXPECT_EQ(l1.high, 294912);
  EXPECT_EQ(experiment::range_note(l1, asked.front()),
            "machine.l1_bytes: multiples of 8,192 bytes, so 106,496 to 294,912 in place of 100000..300000");
  const Quantity payload = numbers({}, "stream.payload_bytes=6..70").front();
  EXPECT_EQ(payload.low, 8);
  EXPECT_EQ(payload.high, 68);
  const auto whole = experiment::parse_numbers(std::vector<std::string>{"machine.sms=64..256"}, "--break-even");
  EXPECT_EQ(experiment::range_note(experiment::numbers_of(completed({}), kFacts, whole).front(), whole.front()), "");
}

TEST(MemoryNumbers, UsualRangesKeepTheOrderOfLatencies) {
  for (const char* machine : {"rtx3080", "rx7900-xtx", "rtx4060-laptop"}) {
    const std::string name = std::string("machine.name=") + machine;
    const Settings settings = completed({name});
    const Quantity l2 = numbers({name}, "machine.l2_latency_cycles").front();
    EXPECT_GE(l2.low, static_cast<double>(settings.integer("machine.l1_latency_cycles"))) << machine;
    EXPECT_LE(l2.high, static_cast<double>(settings.integer("machine.dram_latency_cycles"))) << machine;
    const Quantity dram = numbers({name}, "machine.dram_latency_cycles").front();
    EXPECT_GE(dram.low, static_cast<double>(settings.integer("machine.l2_latency_cycles"))) << machine;
  }
}

TEST(MemoryNumbers, AllAmountsHaveNames) {
  const auto expect_named = [](const std::string& key) {
    const std::string name(experiment::name_of_number(key));
    EXPECT_TRUE(name.starts_with("the ")) << key << ": " << name;
  };
  for (const std::string& key : experiment::amount_keys()) {
    expect_named(key);
  }
  std::size_t parameters = 0;
  for (const std::string& model : scheduler::SchedulerModels::names()) {
    for (const Parameter& parameter : scheduler::SchedulerModels::describe(model).parameters) {
      if (std::holds_alternative<std::int64_t>(parameter.default_value) ||
          std::holds_alternative<double>(parameter.default_value)) {
        expect_named("scheduler.model:" + parameter.name);
        ++parameters;
      }
    }
  }
  EXPECT_GE(parameters, 20U);
}

/// Each once; the usual ones with their ranges, the others without; none that stands for another one.
TEST(MemoryNumbers, NumbersInUseContainTheUsualOnes) {
  NumberFacts facts = kFacts;
  facts.calls = groups_of({hit(250, "default"), {.kind = trace::EventKind::Begin, .cost = {10, 60, "default", ""}}});
  for (const char* model : {"plain", "ser", "ser:arrival=timeout", "wavefront", "bindless-dispatch", "compaction"}) {
    SCOPED_TRACE(model);
    const Settings settings = completed({std::string("scheduler.model=") + model, "machine.name=rtx4060-laptop"});
    const std::vector<Quantity> usual = experiment::numbers_of(settings, facts, {});
    const std::vector<Quantity> all = experiment::numbers_in_use(settings, facts, usual);
    for (const Quantity& quantity : experiment::numbers_in_use(settings, facts, {})) {
      EXPECT_FALSE(quantity.varied()) << quantity.key << ": nothing was varied";
    }
    std::set<std::string> keys;
    std::size_t with_range = 0;
    for (const Quantity& quantity : all) {
      EXPECT_TRUE(keys.insert(quantity.key).second) << quantity.key;
      EXPECT_FALSE(quantity.name.empty()) << quantity.key;
      EXPECT_THAT(std::string(experiment::meaning_beside(quantity.key, quantity.value)),
                  testing::Not(testing::StartsWith("the machine's")));
      with_range += quantity.varied() ? 1U : 0U;
    }
    EXPECT_EQ(with_range, usual.size());
    EXPECT_TRUE(keys.contains("trace-call"));
    EXPECT_TRUE(keys.contains("machine.sms"));
    for (const Quantity& quantity : usual) {
      const auto same = std::ranges::find(all, quantity.key, &Quantity::key);
      ASSERT_NE(same, all.end()) << quantity.key;
      EXPECT_EQ(same->value, quantity.value) << quantity.key;
      EXPECT_EQ(same->low, quantity.low) << quantity.key;
      EXPECT_EQ(same->high, quantity.high) << quantity.key;
      EXPECT_EQ(same->origin, quantity.origin) << quantity.key;
      EXPECT_EQ(same->name, quantity.name) << quantity.key;
    }
  }
}

TEST(MemoryNumbers, NumbersVariedTogetherStayAMachineThatCanBe) {
  const std::vector<Quantity> list = numbers({"scheduler.model=ser"},
                                             "machine.dram_latency_cycles,machine.l2_latency_cycles=100..600,"
                                             "machine.sms=3..256,machine.withheld_sms=0..100");
  Settings at;
  experiment::set_numbers(at, kFacts, list, std::vector<double>{310, 600, 50, 100}, true);
  const Settings complete = experiment::complete(at, experiment::NamedInput::Elsewhere);
  EXPECT_EQ(complete.integer("machine.l2_latency_cycles"), 600);
  EXPECT_EQ(complete.integer("machine.dram_latency_cycles"), 600);
  EXPECT_EQ(complete.integer("machine.withheld_sms"), 49);
  Settings apart;
  experiment::set_numbers(apart, kFacts, list, std::vector<double>{400, 296, 50, 2}, true);
  EXPECT_EQ(apart.integer("machine.dram_latency_cycles"), 400) << "what fits is left alone";
  EXPECT_FALSE(apart.has("machine.withheld_sms")) << "the present value";
}

}  // namespace
}  // namespace rayreplay::test
