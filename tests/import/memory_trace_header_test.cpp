// The C header that writes memory traces: as C and as C++, read back, and what it refuses.
#include "capture/import/rayreplay_memory_trace.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/import/records.hpp"
#include "tests/import/some_trace.h"
#include "tests/support/file_bytes.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::import {
namespace {

using namespace rayreplay::test;

/// The records of the trace.
void expect_some_trace(const std::string& path) {
  const WholeTrace whole = read_whole(path);
  EXPECT_EQ(whole.header.tool, "a tool");
  EXPECT_EQ(whole.header.device, "");
  EXPECT_EQ(whole.header.application, "viewer --scene \"dragon # 3\"");
  EXPECT_EQ(whole.header.sms, 4U);
  EXPECT_EQ(whole.header.width, 16U);
  ASSERT_EQ(whole.header.allocations.size(), std::size_t{RR_KINDS});
  for (std::uint8_t kind = 0; kind < RR_KINDS; ++kind) {
    EXPECT_EQ(whole.header.allocations[kind].data, kind);
    EXPECT_EQ(whole.header.allocations[kind].start, 0x10000U * (1U + kind));
    EXPECT_EQ(whole.header.allocations[kind].element_bytes, 4U + kind);
  }
  EXPECT_EQ(whole.header.allocations[RR_SHADER_RECORD].name, "records");
  EXPECT_EQ(whole.header.allocations[RR_STACK].name, "");
  EXPECT_EQ(whole.header.allocations[RR_OTHER].name, "line?feed?");
  EXPECT_EQ(whole.header.allocations[RR_STATE].name, "état");
  ASSERT_EQ(whole.records.records(), SOME_RECORDS);
  RecordBlock expected;
  for (std::uint32_t r = 0; r < SOME_RECORDS; ++r) {
    std::vector<std::uint64_t> addresses;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if ((some_mask(r) >> lane & 1U) != 0) {
        addresses.push_back(some_address(r, lane));
      }
    }
    expected.add(static_cast<std::uint16_t>(r % 4), r % 100, r % 5 == 0, some_bytes(r), some_mask(r), addresses.data());
  }
  EXPECT_EQ(whole.records, expected);
}

TEST(MemoryTraceHeader, WritesTheSameAsCAndAsCpp) {
  const TemporaryFolder folder;
  const std::string as_c = (folder.path() / "c.txt").string();
  const std::string as_cpp = (folder.path() / "cpp.txt").string();
  const char* error = nullptr;
  EXPECT_EQ(write_some_trace(as_cpp.c_str(), &error), 0) << error;
  std::string command = RAYREPLAY_TRACE_WRITER;
  command.append(" '").append(as_c).append("'");
  ASSERT_EQ(std::system(command.c_str()), 0);
  expect_some_trace(as_cpp);
  EXPECT_EQ(read_bytes(as_c), read_bytes(as_cpp));
  EXPECT_FALSE(std::filesystem::exists(as_cpp + ".records"));
}

TEST(MemoryTraceHeader, RefusesWhatTheReaderRefuses) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "t.txt").string();
  const rr_trace_header sound = {nullptr, nullptr, nullptr, 32, 4, 0, 0};
  const std::array<std::uint64_t, 2> addresses = {0x1000, ~std::uint64_t{0}};
  using Step = std::function<int(rr_trace*)>;
  const auto told = [](rr_kind kind, std::uint64_t start, std::uint64_t bytes, std::uint32_t element) -> Step {
    return [=](rr_trace* trace) { return rr_trace_allocation(trace, kind, start, bytes, element, ""); };
  };
  const auto recorded = [&](std::uint32_t sm, std::uint32_t bytes, std::uint64_t mask) -> Step {
    return [=](rr_trace* trace) { return rr_trace_record(trace, sm, 0, 0, bytes, mask, addresses.data()); };
  };
  const std::array<Step, 10> wrong = {told(RR_NODE, 0x1000, 0, 4),
                                      told(RR_NODE, ~std::uint64_t{0}, 1, 4),
                                      told(RR_NODE, 0x1000, 64, 0),
                                      told(RR_KINDS, 0x1000, 64, 4),
                                      told(RR_NODE, 0x7FF, 0x1000, 4),  // over the one before
                                      recorded(4, 4, 1),
                                      recorded(0, 0, 1),
                                      recorded(0, 4097, 1),
                                      recorded(0, 4, std::uint64_t{1} << 32U),
                                      recorded(0, 4, 3)};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    SCOPED_TRACE(i);
    rr_trace trace;
    ASSERT_EQ(rr_trace_open(&trace, path.c_str(), &sound), 0);
    EXPECT_EQ(rr_trace_allocation(&trace, RR_NODE, 0x800, 0x10, 16, "before"), 0);
    EXPECT_EQ(recorded(0, 4, 1)(&trace), 0);
    EXPECT_EQ(wrong[i](&trace), 1);
    EXPECT_NE(trace.error, nullptr);
    EXPECT_EQ(recorded(0, 4, 1)(&trace), 1) << "the error stays";
    EXPECT_EQ(rr_trace_close(&trace), 1);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  for (const rr_trace_header& header :
       {rr_trace_header{nullptr, nullptr, nullptr, 0, 4, 0, 0}, rr_trace_header{nullptr, nullptr, nullptr, 65, 4, 0, 0},
        rr_trace_header{nullptr, nullptr, nullptr, 32, 0, 0, 0},
        rr_trace_header{nullptr, nullptr, nullptr, 32, 4097, 0, 0},
        rr_trace_header{nullptr, nullptr, nullptr, 32, 4, 16, 0}}) {
    rr_trace trace;
    EXPECT_EQ(rr_trace_open(&trace, path.c_str(), &header), 1);
    EXPECT_EQ(rr_trace_close(&trace), 1);
  }
  rr_trace nowhere;
  EXPECT_EQ(rr_trace_open(&nowhere, (folder.path() / "none" / "t.txt").string().c_str(), &sound), 1);
  EXPECT_EQ(rr_trace_close(&nowhere), 1);
}

TEST(MemoryTraceHeader, WritesWarpsOf64LanesAndNoRecords) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "t.txt").string();
  const rr_trace_header header = {nullptr, nullptr, nullptr, 64, 1, 0, 0};
  std::array<std::uint64_t, 64> addresses{};
  addresses.fill(~std::uint64_t{0} - 4095);
  rr_trace trace;
  rr_trace_open(&trace, path.c_str(), &header);
  EXPECT_EQ(rr_trace_record(&trace, 0, 0xFFFF'FFFFU, 1, 4096, ~std::uint64_t{0}, addresses.data()), 0);
  EXPECT_EQ(rr_trace_close(&trace), 0) << trace.error;
  EXPECT_EQ(read_whole(path).records.mask.at(0), ~std::uint64_t{0});
  rr_trace_open(&trace, path.c_str(), &header);
  EXPECT_EQ(rr_trace_close(&trace), 0) << trace.error;
  EXPECT_EQ(read_whole(path).records.records(), 0U);
}

}  // namespace
}  // namespace rayreplay::import
