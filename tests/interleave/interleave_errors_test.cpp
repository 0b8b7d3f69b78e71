// What the interleaving refuses, and in which words.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/machine/cache_geometry.hpp"
#include "sim/machine/interleave.hpp"
#include "tests/interleave/hand_made.hpp"
#include "tests/support/error_of.hpp"

namespace rayreplay::machine {
namespace {

using test::hand_made;
using test::KeepingSink;
using test::KeptSource;
using test::load;
using test::plan_of;
using testing::HasSubstr;

/// A call that is right: two items on one SM. Tests break it.
struct Call {
  KeptSource source = hand_made({{load({0})}, {load({1})}});
  WorkPlan plan = plan_of(2);
  Machine machine;
  InterleaveOptions options;

  Call() {
    machine.name = "m";
    machine.sms = 2;
  }
};

ErrorInfo refused(ErrorKind kind, void (*change)(Call&)) {
  Call call;
  change(call);
  KeepingSink sink;
  ErrorInfo info =
      test::error_of(kind, [&] { return interleave(call.source, call.plan, call.machine, call.options, sink); });
  EXPECT_TRUE(sink.all.transactions.empty()) << "nothing is written before the refusal";
  return info;
}

TEST(InterleaveErrors, TheCallThatTestsBreakIsRight) {
  Call call;
  KeepingSink sink;
  EXPECT_EQ(interleave(call.source, call.plan, call.machine, call.options, sink).transactions, 2U);
}

TEST(InterleaveErrors, ResidentWarps) {
  const ErrorInfo none = refused(ErrorKind::Usage, [](Call& call) { call.options.resident_warps = 0; });
  EXPECT_EQ(none.what, "the number of resident warps is out of range");
  EXPECT_EQ(none.found, "0");
  EXPECT_EQ(none.expected, "1 to 1024");
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.options.resident_warps = 1025; }).found, "1025");
}

TEST(InterleaveErrors, ComputeCycles) {
  const ErrorInfo info = refused(ErrorKind::Usage, [](Call& call) { call.options.compute_cycles = 1'000'001; });
  EXPECT_EQ(info.what, "there are too many compute cycles");
  EXPECT_EQ(info.found, "1000001");
  EXPECT_EQ(info.expected, "at most 1000000");
}

TEST(InterleaveErrors, Latencies) {
  const ErrorInfo zero = refused(ErrorKind::Usage, [](Call& call) { call.machine.l2_latency_cycles = 0; });
  EXPECT_EQ(zero.what, "a latency is out of range");
  EXPECT_EQ(zero.where, "machine 'm', l2_latency_cycles");
  EXPECT_EQ(zero.found, "0");
  EXPECT_EQ(zero.expected, "1 to 1000000");
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.machine.l1_latency_cycles = 1'000'001; }).where,
            "machine 'm', l1_latency_cycles");
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.machine.dram_latency_cycles = 0; }).where,
            "machine 'm', dram_latency_cycles");
}

TEST(InterleaveErrors, OutstandingMisses) {
  const ErrorInfo info = refused(ErrorKind::Usage, [](Call& call) { call.machine.outstanding_misses = 0; });
  EXPECT_EQ(info.what, "the machine allows no outstanding miss");
  EXPECT_EQ(info.where, "machine 'm', outstanding_misses");
  EXPECT_EQ(info.found, "0");
}

TEST(InterleaveErrors, PlansOfOtherSmsAndItems) {
  const ErrorInfo sms = refused(ErrorKind::Usage, [](Call& call) { call.plan = plan_of(2, 3, {0, 2}); });
  EXPECT_EQ(sms.what, "the work plan has another number of SMs than the machine");
  EXPECT_EQ(sms.found, "3 queues");
  EXPECT_EQ(sms.expected, "1 or 2");
  const ErrorInfo items = refused(ErrorKind::Usage, [](Call& call) { call.plan = plan_of(3); });
  EXPECT_EQ(items.what, "the work plan has another number of items than the source of streams");
  EXPECT_EQ(items.found, "3 items");
  EXPECT_EQ(items.expected, "2");
}

TEST(InterleaveErrors, TooManyLines) {
  const ErrorInfo info = refused(ErrorKind::Resource, [](Call& call) {
    call.machine.l2_line_bytes = 32;
    call.machine.l2_bytes = std::uint64_t{1} << 34U;
  });
  EXPECT_EQ(info.what, "the machine's caches have too many lines");
  EXPECT_EQ(info.where, "machine 'm'");
  EXPECT_THAT(info.found, HasSubstr("those of all L1s and of the L2"));
  EXPECT_EQ(info.expected, "at most 268435456");
}

TEST(InterleaveErrors, GeometriesThatDoNotFitTheStream) {
  const ErrorInfo line = refused(ErrorKind::Usage, [](Call& call) {
    call.machine.l1_line_bytes = 64;
    call.machine.l1_ways = 0;
  });
  EXPECT_EQ(line.what, "the L1's lines are not those of the accesses");
  EXPECT_EQ(line.where, "machine 'm'");
  EXPECT_EQ(line.found, "64 bytes");
  EXPECT_EQ(line.expected, "128 bytes");
  EXPECT_THAT(line.fix, HasSubstr("coalesce with the sizes of the machine's L1"));
  const ErrorInfo sector = refused(ErrorKind::Usage, [](Call& call) { call.machine.l1_sector_bytes = 16; });
  EXPECT_EQ(sector.what, "the L1's sectors are smaller than those of the accesses");
  EXPECT_EQ(sector.found, "16 bytes");
  EXPECT_EQ(sector.expected, "32 bytes or more");
  const ErrorInfo l2 = refused(ErrorKind::Usage, [](Call& call) {
    call.machine.l2_line_bytes = 16;
    call.machine.l2_sector_bytes = 16;
  });
  EXPECT_EQ(l2.what, "the L2's lines are smaller than the sectors of the accesses");
  EXPECT_EQ(l2.found, "16 bytes");
}

// Sizes that are wrong by themselves are named with machine and cache.
TEST(InterleaveErrors, GeometriesThatDoNotFitThemselves) {
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.machine.l1_line_bytes = 96; }).where, "machine 'm', L1");
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.machine.l1_ways = 7; }).where, "machine 'm', L1");
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.machine.l2_sector_bytes = 8; }).where, "machine 'm', L2");
  EXPECT_EQ(refused(ErrorKind::Usage, [](Call& call) { call.machine.l2_bytes = 1000; }).where, "machine 'm', L2");
}

class NoInstructions : public memory::InstructionSink {
 public:
  void take(std::uint32_t, std::uint32_t, std::uint64_t, const memory::Instructions&, std::size_t) override {
    ADD_FAILURE() << "there are no raw instructions";
  }
};

TEST(InterleaveErrors, RawInstructionsThatWereNotKept) {
  const ErrorInfo info = refused(ErrorKind::Usage, [](Call& call) {
    static NoInstructions sink;
    call.options.raw = &sink;
    call.source.streams[1].raw.clear();
  });
  EXPECT_EQ(info.what, "the raw instructions of a warp are wanted, but not kept");
  EXPECT_EQ(info.where, "item 1");
  EXPECT_EQ(info.found, "0 rows");
  EXPECT_EQ(info.expected, "1, one an instruction");
  EXPECT_EQ(info.fix, "set keep_raw");
}

TEST(InterleaveErrors, StreamsThatBreakTheirContract) {
  const std::vector<void (*)(Call&)> breaks = {
      [](Call& call) {
        call.source.streams[0].first = {0, 0, 1};
      },  // an instruction without transactions
      [](Call& call) {
        call.source.streams[0].first = {0, 2};
      },  // ends behind the transactions
      [](Call& call) {
        call.source.streams[0].first = {1, 1};
      },
      [](Call& call) { call.source.streams[0].first.clear(); },
  };
  for (const auto change : breaks) {
    const ErrorInfo info = refused(ErrorKind::Internal, change);
    EXPECT_EQ(info.what, "the stream of a warp breaks its contract");
    EXPECT_EQ(info.where, "item 0");
  }
}

TEST(InterleaveErrors, UnknownWarpScheduler) {
  const ErrorInfo info =
      refused(ErrorKind::Usage, [](Call& call) { call.options.warp_scheduler = "greedy-then-older"; });
  EXPECT_THAT(info.fix, HasSubstr("greedy-then-oldest"));
  EXPECT_THAT(refused(ErrorKind::Usage, [](Call& call) { call.options.warp_scheduler = "random:seed=-1"; }).found,
              HasSubstr("-1"));
}

}  // namespace
}  // namespace rayreplay::machine
