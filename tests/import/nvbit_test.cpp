// The output of NVBit's mem_trace as a memory trace.
#include "capture/import/nvbit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "tests/import/records.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// A line as mem_trace prints it: lanes of `mask` at start, start + stride, ….
std::string access(int launch, const char* block, int warp, const char* opcode, std::uint64_t mask, std::uint64_t start,
                   std::uint64_t stride) {
  std::string line = fmt::format("MEMTRACE: CTX 0x{:016x} - grid_launch_id {} - CTA {} - warp {} - {} - ", 0x55aa,
                                 launch, block, warp, opcode);
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    line += fmt::format("0x{:016x} ", (mask >> lane & 1) != 0 ? start + stride * lane : 0);
  }
  return line + "\n";
}

std::string launch(int id, const char* grid) {
  return fmt::format(
      "MEMTRACE: CTX 0x00000000000055aa - LAUNCH - Kernel pc 0x00007f0000000000 - Kernel name "
      "trace(Ray - const*) - grid launch id {} - grid size {} - block size 64,1,1 - nregs 40 - shmem 0 - "
      "cuda stream id 0\n",
      id, grid);
}

import::RecordBlock read(import::NvbitReader& reader){import::RecordBlock block, all;
while (reader.next(block)) {
  for (std::size_t i = 0; i < block.records(); ++i) {
    all.add(block.sm[i], block.warp[i], block.store[i] != 0, block.bytes[i], block.mask[i],
            block.address.data() + block.first[i]);
  }
}
return all;
}  // namespace

TEST(Nvbit, LinesBecomeRecords) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write(
      "log", "------------- NVBit (NVidia Binary Instrumentation Tool v1.7) Loaded --------------\n" +
                 launch(0, "3,2,1") + access(0, "0,0,0", 1, "LDG.E.64.SYS", 0xFFFFFFFF, 0x7f0000001000, 8) +
                 access(0, "2,1,0", 0, "LDG.E.128.CONSTANT", 0x80000001, 0x7f0000001000, 16) + "hello\n" +
                 launch(1, "100,1,1") + access(1, "99,0,0", 63, "STG.E.U8", 0x2, 0x7f0000002000, 1) +
                 access(1, "0,0,0", 0, "LDS.64", 1, 0x10, 0) + access(1, "0,0,0", 0, "STL", 1, 0x10, 0) +
                 access(1, "0,0,0", 0, "LDG.E", 0, 0, 0) + access(1, "0,0,0", 0, "UTMALDG.2D", 1, 64, 0) +
                 access(1, "0,0,0", 0, "RED.E.ADD.F32.FTZ.RN", 1, 64, 0) +
                 access(1, "0,0,0", 0, "ATOMG.E.ADD.64", 1, 64, 0) + access(1, "0,0,0", 0, "LDG.E.U16", 1, 64, 0));
  const auto reader = import::open_nvbit_trace(path, test::some_header());
  const import::RecordBlock all = read(*reader);
  EXPECT_THAT(all.bytes, ElementsAre(8, 16, 1, 4, 8, 2));
  EXPECT_THAT(all.store, ElementsAre(0, 0, 1, 1, 1, 0));
  EXPECT_THAT(all.mask, ElementsAre(0xFFFFFFFF, 0x80000001, 2, 1, 1, 1));
  EXPECT_THAT(all.sm, ElementsAre(0, 5 % 4, 99 % 4, 0, 0, 0));
  EXPECT_THAT(all.warp, ElementsAre(1, 5 * 64, 99 * 64 + 63, 0, 0, 0));
  EXPECT_EQ(all.address[31], 0x7f0000001000U + 31 * 8);
  EXPECT_EQ(all.address[33], 0x7f0000001000U + 31 * 16);
  const import::NvbitTally& tally = reader->tally();
  EXPECT_EQ(tally.launches, 2U);
  EXPECT_EQ(tally.other_lines, 2U);
  EXPECT_EQ(tally.shared, 1U);
  EXPECT_EQ(tally.local, 1U);
  EXPECT_EQ(tally.idle, 1U);
  EXPECT_EQ(tally.tool_lines, 12U);
  EXPECT_EQ(tally.zero_lanes, 30U + 4 * 31);
  EXPECT_THAT(tally.unknown, ElementsAre(testing::Pair("'UTMALDG'", 1)));
}

TEST(Nvbit, MalformedLinesAreSaid) {
  const test::TemporaryFolder folder;
  const std::string good = access(0, "1,0,0", 1, "LDG.E", 3, 0x1000, 4);
  const auto complaint = [&](const std::string& text) {
    const std::string path = folder.write("log", good + text);
    const ErrorInfo info = error_of(ErrorKind::Input, [&] {
      const auto reader = import::open_nvbit_trace(path, test::some_header());
      return read(*reader);
    });
    EXPECT_EQ(info.where, path + ":2");
    return info.what;
  };
  EXPECT_THAT(complaint(good.substr(0, 200) + "\n"), HasSubstr("address is missing"));
  EXPECT_THAT(complaint(good.substr(0, good.size() - 1)), HasSubstr("truncated"));
  EXPECT_THAT(complaint("MEMTRACE: CTX 0x1 - grid_launch_id 0\n"), HasSubstr("not a line of mem_trace"));
  EXPECT_THAT(complaint("MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 1,2 - warp 0 - LDG - 0x1\n"),
              HasSubstr("not a line of mem_trace"));
  EXPECT_THAT(complaint("MEMTRACE: CTX 0x1 - grid_launch_id 0 - CTA 1,2,3 - warp 0\n"),
              HasSubstr("not a line of mem_trace"));
  EXPECT_THAT(complaint(access(0, "1,1,0", 1, "LDG.E", 3, 0x1000, 4)), HasSubstr("how large the grid is"));
  EXPECT_THAT(complaint(good.substr(0, good.size() - 1) + "0x17\n"), HasSubstr("not a line of mem_trace"));
  EXPECT_THAT(complaint(launch(0, "1,x,1")), HasSubstr("three numbers"));
}

TEST(Nvbit, TextOfAnotherProgramIsSaid) {
  const test::TemporaryFolder folder;
  for (const char* text : {"", "hello\nworld\n", "rayreplay-memory-trace 1\nsms 1\n0 0 load 4 1 0x10\n"}) {
    const std::string path = folder.write("log", text);
    const ErrorInfo info = error_of(ErrorKind::Input, [&] {
      const auto reader = import::open_nvbit_trace(path, test::some_header());
      return read(*reader);
    });
    EXPECT_THAT(info.what, HasSubstr("not the output of mem_trace"));
    EXPECT_EQ(info.where, path);
  }
  // A program that launched and touched no memory.
  const auto reader = import::open_nvbit_trace(folder.write("log", launch(0, "1,1,1")), test::some_header());
  EXPECT_EQ(read(*reader).records(), 0U);
}

TEST(Nvbit, WarpsHave32Lanes) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("log", "");
  error_of(ErrorKind::Input, [&] { return import::open_nvbit_trace(path, test::some_header(64)); });
}

}  // namespace rayreplay
}  // namespace rayreplay
