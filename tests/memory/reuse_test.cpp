// Reuse distances: the table of MODELS.md §11, brute force, and every exact engine against every other.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "base/split_mix.hpp"
#include "sim/memory/reuse/engines/bitmap_stack.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "tests/memory/reuse_checks.hpp"
#include "tests/support/reuse_streams.hpp"

namespace rayreplay::memory {
namespace {

using test::brute_force;
using test::Distances;
using test::exact_engines;
using test::expect_all;
using test::in_pieces;
using test::Lines;
using test::StreamRandom;
using test::whole;

struct Pattern {
  std::string name;
  Lines lines;
};

std::vector<Pattern> patterns() {
  constexpr std::uint64_t kPage = LineTable::kPageLines;
  std::vector<Pattern> result;
  const auto add = [&](const std::string& name, std::size_t size, const auto& line) {
    Lines lines;
    for (std::uint64_t i = 0; i < size; ++i) {
      lines.push_back(line(i));
    }
    result.push_back({name, std::move(lines)});
  };
  StreamRandom random(5);
  add("one line", 500, [](std::uint64_t) { return std::uint64_t{7}; });
  add("all different", 3000, [](std::uint64_t i) { return i; });
  add("round and round", 3000, [](std::uint64_t i) { return i % 700; });
  add("there and back", 3000, [](std::uint64_t i) { return i % 1400 < 700 ? i % 1400 : 1399 - i % 1400; });
  add("backwards", 3000, [](std::uint64_t i) { return 100000 - i % 1500; });
  add("runs of 31 hits", 4000, [](std::uint64_t i) { return i / 32 % 60; });
  add("few", 3000, [&](std::uint64_t) { return random.below(5); });
  add("random", 4000, [&](std::uint64_t) { return random.below(900); });
  add("around page limits", 4000, [&](std::uint64_t) { return kPage * random.below(5) + kPage - 3 + random.below(6); });
  add("ends of 64 bits", 2000, [&](std::uint64_t) { return random.below(40) - 20; });
  add("sparse", 4000, [&](std::uint64_t) { return split_mix_finish(random.below(900)); });
  add("multiples of 2^32", 3000, [&](std::uint64_t) { return random.below(700) << 32U; });
  add("growing", 4000, [&](std::uint64_t i) { return random.below(i + 1); });
  add("dense, then sparse", 4000, [&](std::uint64_t i) {
    const std::uint64_t line = random.below(700);
    return i % 3 != 0 || i < 1000 ? line : split_mix_finish(line);
  });
  add("near and far in time", 4000,
      [&](std::uint64_t i) { return i % 2 == 0 ? random.below(3) : 10 + random.below(600); });
  return result;
}

TEST(Reuse, TheTableOfTheDefinition) {
  const Distances expected = {kInfinite, kInfinite, 0, kInfinite, 2};
  expect_all({0, 1, 1, 2, 0}, expected, "five references");
  EXPECT_EQ(brute_force({0, 1, 1, 2, 0}), expected);
}

TEST(Reuse, NothingGivesNothing) {
  for (const std::string& name : ReuseEngines::names()) {
    const auto stack = ReuseEngines::create(name).model->make();
    EXPECT_EQ(stack->live_lines(), 0U);
    stack->distances({}, {});
    EXPECT_EQ(stack->live_lines(), 0U);
    EXPECT_LT(stack->memory_bytes(), 1U << 20U);
  }
}

TEST(Reuse, EnginesGiveWhatTheDefinitionSays) {
  for (const Pattern& pattern : patterns()) {
    expect_all(pattern.lines, brute_force(pattern.lines), pattern.name);
  }
}

/// Longer than brute force can do: against the reference.
TEST(Reuse, EnginesAgreeOnStreamsLikeATraversals) {
  rayreplay::test::ReuseStream scattered = rayreplay::test::zipf_stream(60000, 1U << 14U, 0.6, 5);
  scattered.name = "scattered over 64 bits";
  for (std::uint64_t& line : scattered.line) {
    line = split_mix_finish(line);
  }
  const std::vector<rayreplay::test::ReuseStream> streams = {
      rayreplay::test::coherent_stream(150000, 12, 1), rayreplay::test::incoherent_stream(150000, 14, 2),
      rayreplay::test::zipf_stream(100000, 1U << 14U, 0.99, 3), rayreplay::test::uniform_stream(100000, 1U << 15U, 4),
      scattered};
  for (const rayreplay::test::ReuseStream& stream : streams) {
    const auto reference = ReuseEngines::create("splay").model->make();
    const Distances expected = whole(*reference, stream.line);
    for (const std::string& name : exact_engines()) {
      SCOPED_TRACE(stream.name + ", " + name);
      const auto engine = ReuseEngines::create(name).model;
      EXPECT_TRUE(whole(*engine->make(), stream.line) == expected);
      EXPECT_TRUE(in_pieces(*engine->make(), stream.line, 9, 60000) == expected);
    }
    for (const SlotRank::Form form : SlotRank::forms()) {
      BitmapStack stack(form);
      EXPECT_TRUE(whole(stack, stream.line) == expected) << stream.name << static_cast<int>(form);
    }
  }
}

/// Pages first; the hash when sparse lines come; pages again when it finds lines dense. No line is lost on the way.
TEST(Reuse, TheTableOfLinesFollowsTheirDensity) {
  Lines lines;
  StreamRandom random(8);
  const auto add = [&](std::size_t count, const auto& line) {
    for (std::size_t i = 0; i < count; ++i) {
      lines.push_back(line());
    }
  };
  add(3000, [&] { return random.below(4000); });
  const std::size_t dense = lines.size();
  add(10000, [&] { return split_mix_finish(random.below(1200)); });
  const std::size_t sparse = lines.size();
  add(450000, [&] { return (std::uint64_t{1} << 40U) + random.below(1U << 19U); });
  LineTable table;
  std::vector<std::uint32_t> before(lines.size());
  const auto exchange = [&](std::size_t begin, std::size_t end) {
    table.exchange(std::span(lines).subspan(begin, end - begin), static_cast<std::uint32_t>(begin + 1),
                   before.data() + begin);
  };
  exchange(0, dense);
  EXPECT_TRUE(table.in_pages());
  exchange(dense, sparse);
  EXPECT_FALSE(table.in_pages());
  EXPECT_LT(table.memory_bytes(), 2U << 20U);  // a page for each line would be 10 MB
  exchange(sparse, lines.size());
  EXPECT_TRUE(table.in_pages());
  std::unordered_map<std::uint64_t, std::uint32_t> last;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint32_t& number = last[lines[i]];
    ASSERT_EQ(before[i], number) << i;
    number = static_cast<std::uint32_t>(i + 1);
  }
  std::size_t numbers = 0;
  table.for_each_number([&](std::uint32_t& number) {
    ++numbers;
    ASSERT_EQ(last.at(lines[number - 1]), number);
  });
  EXPECT_EQ(numbers, last.size());
}

/// Windows of pages that grow up and down, and pages too far away for them.
TEST(Reuse, PagesFarApart) {
  constexpr std::uint64_t kPage = LineTable::kPageLines;
  Lines lines;
  StreamRandom random(9);
  for (int i = 0; i < 30000; ++i) {
    const std::uint64_t page = std::uint64_t{1} << random.below(52);
    const std::uint64_t base = kPage << 40U;
    lines.push_back((random.bits() % 2 == 0 ? base + page * kPage : base - page * kPage) + random.below(40));
  }
  LineTable table;
  std::vector<std::uint32_t> before(lines.size());
  table.exchange(lines, 1, before.data());
  EXPECT_TRUE(table.in_pages());
  std::unordered_map<std::uint64_t, std::uint32_t> last;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::uint32_t& number = last[lines[i]];
    ASSERT_EQ(before[i], number) << i;
    number = static_cast<std::uint32_t>(i + 1);
  }
}

/// The slots' higher levels: distances across 2^21 and 2^25 slots, without going through as many accesses.
TEST(Reuse, ManySlots) {
  constexpr std::uint64_t kSlots = (std::uint64_t{1} << 25U) + (std::uint64_t{1} << 22U) + 4096;
  for (const SlotRank::Form form : SlotRank::forms()) {
    SlotRank slots(kSlots, form);
    StreamRandom random(6);
    std::vector<std::uint32_t> taken;  // ascending
    for (std::uint64_t slot = random.below(40000); slot + 4096 < kSlots; slot += 1 + random.below(40000)) {
      taken.push_back(static_cast<std::uint32_t>(slot));
      slots.words()[slot / 64] |= std::uint64_t{1} << (slot % 64);
    }
    slots.recount(static_cast<std::uint32_t>(kSlots - 4096));
    EXPECT_EQ(slots.live(), taken.size());
    std::vector<std::uint32_t> previous;
    Distances expected;
    for (int i = 0; i < 500; ++i) {  // a taken slot leaves, a new one comes at the end
      const std::size_t which = random.below(taken.size());
      previous.push_back(taken[which] + 1);
      expected.push_back(static_cast<std::uint32_t>(taken.size() - 1 - which));
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
      taken.push_back(slots.now() + static_cast<std::uint32_t>(i));
    }
    Distances out(previous.size());
    slots.distances(previous, out.data());
    EXPECT_EQ(out, expected) << static_cast<int>(form);
  }
}

}  // namespace
}  // namespace rayreplay::memory
