// Recorded streams: written, read, damaged.
#include "sim/caching/grid/recorded_stream.hpp"

#include <cstring>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.hpp"
#include "tests/caching/random_transactions.hpp"

namespace rayreplay::experiment {
namespace {

bool same(const RecordedStream& a, const RecordedStream& b) {
  return a.coalescing.line_bytes == b.coalescing.line_bytes && a.coalescing.sector_bytes == b.coalescing.sector_bytes &&
         a.coalescing.coalesce == b.coalescing.coalesce && a.coalescing.requests == b.coalescing.requests &&
         a.coalescing.keep_raw == b.coalescing.keep_raw && a.sms == b.sms && a.transactions == b.transactions &&
         a.cycles == b.cycles && a.instructions == b.instructions && a.mshr_stall_cycles == b.mshr_stall_cycles &&
         a.time.sms == b.time.sms && a.time.l2_bytes == b.time.l2_bytes && a.time.dram_bytes == b.time.dram_bytes &&
         a.time.dram_written_bytes == b.time.dram_written_bytes && a.time.stages == b.time.stages &&
         a.time.calls == b.time.calls && a.time.issue_cycles == b.time.issue_cycles &&
         a.time.ray_unit_cycles == b.time.ray_unit_cycles && a.time.l2_cycles == b.time.l2_cycles &&
         a.time.dram_cycles == b.time.dram_cycles;
}

/// The same with memory time of 1000 cycles.
RecordedStream timed(RecordedStream stream) {
  stream.cycles = 1000;
  stream.mshr_stall_cycles = 17;
  for (std::uint32_t sm = 0; sm < stream.sms; ++sm) {
    machine::SmTime time{.busy = 600 + sm, .barrier = 100, .idle = 300 - sm};
    for (std::size_t state = 0; state < machine::kWarpWaits; ++state) {
      time.waits[state] = 200 + 7 * state + sm;
      stream.time.stages[(state + sm) % memory::kWorkStages][state] += time.waits[state];
    }
    stream.time.sms.push_back(time);
  }
  stream.time.l2_bytes = 4096;
  stream.time.dram_bytes = 1024;
  stream.time.dram_written_bytes = 320;
  stream.time.calls = {.calls = 10, .lanes = 320};
  stream.time.issue_cycles = 123.5;
  stream.time.ray_unit_cycles = 1.0 / 3;
  stream.time.l2_cycles = 99;
  stream.time.dram_cycles = 0.25;
  return stream;
}

/// Whether it is refused, as input that is not sound.
bool refused(const std::string& bytes) {
  try {
    (void)read_stream(bytes, "test");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Input);
    EXPECT_NE(std::string(error.what()).find("test"), std::string::npos);
    return true;
  }
  return false;
}

/// The checksum put right, so that what lies behind it is looked at.
std::string sealed(std::string bytes) {
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), bytes.size() - 8);
  std::memcpy(bytes.data() + bytes.size() - 8, &checksum, sizeof(checksum));
  return bytes;
}

TEST(RecordedStream, WhatIsWrittenIsRead) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
    const RecordedStream stream = test::random_transactions({.size = size}, size + 1);
    EXPECT_TRUE(same(read_stream(write_stream(stream), "test"), stream));
    EXPECT_EQ(write_stream(read_stream(write_stream(stream), "test")), write_stream(stream));
    const RecordedStream with_time = timed(stream);
    EXPECT_TRUE(same(read_stream(write_stream(with_time), "test"), with_time));
    EXPECT_FALSE(same(read_stream(write_stream(with_time), "test"), stream));
  }
}

TEST(RecordedStream, TheRecorderKeepsTheOrder) {
  const RecordedStream stream = test::random_transactions({.size = 100}, 3);
  RecordedStream recorded;
  StreamRecorder recorder(recorded);
  memory::TransactionBlock block;
  for (const std::size_t at : {0U, 30U, 60U}) {
    block.transactions.assign(stream.transactions.begin() + static_cast<std::ptrdiff_t>(at),
                              stream.transactions.begin() + static_cast<std::ptrdiff_t>(at == 60 ? 100 : at + 30));
    recorder.take(block);
  }
  recorder.finish();
  EXPECT_EQ(recorded.transactions, stream.transactions);
}

TEST(RecordedStream, TheRecorderSaysBeforeItGrowsAndKeepsNoMoreThanThereIs) {
  const RecordedStream stream = test::random_transactions({.size = 1000}, 4);
  RecordedStream recorded;
  std::vector<std::uint64_t> told;
  StreamRecorder recorder(recorded, [&](std::uint64_t transactions) { told.push_back(transactions); });
  constexpr std::size_t kPart = StreamRecorder::kPart;
  constexpr std::size_t kBlocks = 2 * kPart / 1000 + 1;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    recorder.take({stream.transactions, {}, {}});
    ASSERT_LE(recorder.taken(), told.back());
  }
  recorder.finish();
  // The first part doubles; two more parts follow, and one is there twice while they are joined.
  ASSERT_GE(told.size(), 4U);
  EXPECT_EQ((std::vector<std::uint64_t>(told.begin(), told.begin() + 3)),
            (std::vector<std::uint64_t>{1000, 3000, 6000}));
  EXPECT_EQ((std::vector<std::uint64_t>(told.end() - 2, told.end())),
            (std::vector<std::uint64_t>{3 * kPart, 4 * kPart}));
  ASSERT_EQ(recorded.transactions.size(), kBlocks * 1000);
  EXPECT_EQ(recorded.transactions.capacity(), recorded.transactions.size());
  for (std::size_t i = 0; i < kBlocks; ++i) {
    ASSERT_TRUE(std::equal(stream.transactions.begin(), stream.transactions.end(),
                           recorded.transactions.begin() + static_cast<std::ptrdiff_t>(i * 1000)))
        << i;
  }
}

TEST(RecordedStream, TimeThatContradictsItselfIsRefused) {
  const RecordedStream sound = timed(test::random_transactions({.size = 10}, 8));
  const auto with = [&](const auto& change) {
    RecordedStream stream = sound;
    change(stream.time);
    return write_stream(stream);
  };
  EXPECT_FALSE(refused(with([](machine::MemoryTime&) {})));
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { ++time.sms[0].idle; })));
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.sms[0].busy = ~std::uint64_t{0}; })));
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.sms[0].waits = {}; }))) << "busy without warps";
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.sms[0].waits[3] = 1U << 30U; }))) << "too many warps";
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.sms[0].waits.fill(~std::uint64_t{0}); })));
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.sms.emplace_back(time.sms[0]); })));
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.sms.clear(); }))) << "sums without SMs";
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.l2_cycles = -1; })));
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { ++time.stages[2][5]; }))) << "more than the SMs have";
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.dram_written_bytes = 1025; }))) << "a part of 1024";
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.calls.lanes = 9; }))) << "a call without lanes";
  EXPECT_TRUE(refused(with([](machine::MemoryTime& time) { time.calls.lanes = 641; }))) << "above 64 lanes a call";
  EXPECT_TRUE(
      refused(with([](machine::MemoryTime& time) { time.dram_cycles = std::numeric_limits<double>::infinity(); })));
}

TEST(RecordedStream, TheRecorderOfAShortStreamStaysSmall) {
  const RecordedStream stream = test::random_transactions({.size = 100}, 4);
  RecordedStream recorded;
  std::uint64_t most = 0;
  StreamRecorder recorder(recorded, [&](std::uint64_t transactions) { most = std::max(most, transactions); });
  for (std::size_t i = 0; i < 10; ++i) {
    recorder.take({stream.transactions, {}, {}});
  }
  recorder.finish();
  EXPECT_EQ(recorded.transactions.size(), 1000U);
  EXPECT_LE(most, 3000U);
}

TEST(RecordedStream, EveryDamagedByteIsFound) {
  const std::string bytes = write_stream(timed(test::random_transactions({.size = 40}, 5)));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned flip : {1U, 128U, 255U}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(static_cast<unsigned char>(damaged[i]) ^ flip);
      EXPECT_TRUE(refused(damaged)) << i;
    }
  }
}

TEST(RecordedStream, EveryShorterOrLongerOneIsRefused) {
  const std::string bytes = write_stream(timed(test::random_transactions({.size = 40}, 6)));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(refused(bytes.substr(0, size))) << size;
  }
  EXPECT_TRUE(refused(bytes + '\0'));
  EXPECT_TRUE(refused(bytes + std::string(16, '\0')));
}

/// What nobody could have written, with a checksum that fits: refused, or a stream that is sound.
TEST(RecordedStream, ForgedOnesAreRefusedOrSound) {
  const std::string bytes = write_stream(timed(test::random_transactions({.size = 10}, 7)));
  std::size_t refusals = 0;
  for (std::size_t i = 0; i + 8 < bytes.size(); ++i) {
    for (unsigned value = 0; value < 256; value += 15) {
      std::string forged = bytes;
      forged[i] = static_cast<char>(value);
      forged = sealed(forged);
      if (refused(forged)) {
        ++refusals;
        continue;
      }
      const RecordedStream stream = read_stream(forged, "test");
      EXPECT_EQ(write_stream(stream), forged);
      for (const memory::Transaction& one : stream.transactions) {
        EXPECT_LT(one.sm, stream.sms);
        EXPECT_LT(static_cast<std::size_t>(one.kind), memory::kDataKinds);
        EXPECT_NE(one.sectors, 0);
        EXPECT_GE(one.lanes, 1);
        EXPECT_LE(one.lanes, 64);
      }
    }
  }
  EXPECT_GT(refusals, 500U);
}

}  // namespace
}  // namespace rayreplay::experiment
