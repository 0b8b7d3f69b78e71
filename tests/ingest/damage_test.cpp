// Damaged spools: what is whole is recovered, the rest is counted, and what is written always validates.
#include <fstream>

#include "capture/spool/reader.hpp"
#include "tests/ingest/support.hpp"

namespace rayreplay::ingest {
namespace {

using test::CaptureOptions;
using test::Random;
using test::synthesize;
using test::SyntheticCapture;

using DamageTest = IngestTest;

/// Whether each thread's events are the first of those expected. Groups are numbered alike as long as the stream is.
std::string prefix_fault(const trace::Launch& whole, const trace::Launch& part) {
  for (std::size_t thread = 0; thread < whole.data.threads(); ++thread) {
    const std::uint64_t first = whole.data.event_offset[thread];
    const std::uint64_t begin = part.data.event_offset[thread];
    const std::uint64_t count = part.data.event_offset[thread + 1] - begin;
    if (count > whole.data.event_offset[thread + 1] - first) {
      return "thread " + std::to_string(thread) + " has too many events";
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const trace::Events& a = whole.data.events;
      const trace::Events& b = part.data.events;
      if (a.kind[first + i] != b.kind[begin + i] || a.shader[first + i] != b.shader[begin + i] ||
          a.primitive[first + i] != b.primitive[begin + i] || a.group[first + i] != b.group[begin + i]) {
        return "thread " + std::to_string(thread) + ", event " + std::to_string(i) + " is another";
      }
    }
  }
  return "";
}

TEST_F(DamageTest, EveryCutLeavesWhatWasWhole) {
  CaptureOptions how{.seed = 21, .launches = 2, .recursion = true, .block_words = 300};
  const SyntheticCapture capture = synthesize(how);
  capture.write(file("whole.rrspool"));
  const std::string bytes = trace::read_bytes(file("whole.rrspool"));
  std::vector<std::uint64_t> cuts{bytes.size()};
  {
    const spool::SpoolReader reader(file("whole.rrspool"));
    for (const spool::Block& block : reader.blocks()) {
      cuts.push_back(block.position);
      cuts.push_back(block.position + 13);
      cuts.push_back(block.position + 32 + block.payload.size() / 2);
    }
  }
  std::size_t most = 0;
  for (const std::uint64_t cut : cuts) {
    trace::write_bytes(file("s.rrspool"), bytes.substr(0, cut));
    if (cut == 16) {
      EXPECT_TRUE(
          ingest({file("s.rrspool")}, file(), {.overwrite = true, .max_bytes = 0, .limits = {}}).traces.empty());
      continue;
    }
    const trace::Trace found = ingested_file();
    ASSERT_LE(found.launches.size(), 2U);
    for (std::size_t i = 0; i < found.launches.size(); ++i) {
      EXPECT_EQ(prefix_fault(capture.expected.launches[i], found.launches[i]), "") << "cut at " << cut;
    }
    most = std::max(most, found.launches.size());
    EXPECT_EQ(found.header.not_captured.empty(), cut == bytes.size() || found.launches.empty()) << "cut at " << cut;
  }
  EXPECT_EQ(most, 2U);
}

TEST_F(DamageTest, DamagedWordsEndTheirLaunchAlone) {
  Random random(5);
  for (int round = 0; round < 80; ++round) {
    SyntheticCapture capture = synthesize({.seed = 30 + static_cast<std::uint64_t>(round) % 4, .launches = 2});
    auto& words = capture.launches[0].words;
    for (std::uint32_t n = 1 + random.below(3); n > 0; --n) {
      words[random.below(words.size())] =
          random.one_in(2) ? static_cast<std::uint32_t>(random.bits()) : random.below(9);
    }
    const trace::Trace found = ingested(capture);
    ASSERT_GE(found.launches.size(), 1U);
    EXPECT_EQ(found.launches.back().data.events.size(), capture.expected.launches[1].data.events.size());
  }
}

TEST_F(DamageTest, RandomBytesNeverGetThrough) {
  Random random(6);
  const SyntheticCapture capture = synthesize({.seed = 40, .launches = 2, .block_words = 200});
  capture.write(file("whole.rrspool"));
  const std::string bytes = trace::read_bytes(file("whole.rrspool"));
  for (int round = 0; round < 80; ++round) {
    std::string damaged = bytes;
    for (std::uint32_t n = 1 + random.below(4); n > 0; --n) {
      damaged[16 + random.below(damaged.size() - 16)] = static_cast<char>(random.bits());
    }
    trace::write_bytes(file("s.rrspool"), damaged);
    const trace::Trace found = ingested_file();
    for (const trace::Launch& launch : found.launches) {
      const auto& whole = capture.expected.launches[launch.duration_ns == 500 ? 0 : 1];
      EXPECT_EQ(prefix_fault(whole, launch), "");
    }
  }
}

TEST_F(DamageTest, ZeroWordsAtTheEndAreNoLoss) {
  SyntheticCapture capture = synthesize({.seed = 44});
  capture.launches[0].words.resize(capture.launches[0].words.size() + 77);
  capture.launches[0].launch.words = capture.launches[0].words.size();
  const trace::Trace found = ingested(capture);
  EXPECT_EQ(capture_difference(capture.expected, found), "");
  EXPECT_TRUE(found.header.not_captured.empty());
}

}  // namespace
}  // namespace rayreplay::ingest
