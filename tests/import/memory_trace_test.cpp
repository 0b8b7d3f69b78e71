// Both forms of memory traces: what is written is read again, whatever is damaged or malformed is said.
#include "capture/import/memory_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sim/memory/data_kind.hpp"
#include "tests/import/records.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/fuzzing.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay {
namespace {

using import::TraceForm;
using test::error_of;
using test::Random;
using testing::HasSubstr;

const std::string kHead = "rayreplay-memory-trace 1\nsms 4\nallocation node 0x1000 256 32 some nodes\n";

TEST(MemoryTrace, KindsOfDataAreThoseOfTheModels) {
  ASSERT_EQ(import::kDataValues + 1U, memory::kDataKinds);
  for (std::size_t i = 0; i < import::kDataValues; ++i) {
    EXPECT_EQ(import::kDataNames[i], memory::kDataKindNames[i]);
  }
  EXPECT_EQ(import::kDataNames[import::kDataOther], "other");
}

TEST(MemoryTrace, WhatIsWrittenIsReadAgain) {
  const test::TemporaryFolder folder;
  Random random(7);
  for (const std::uint32_t warp_size : {1U, 8U, 32U, 64U}) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{700}, import::kMaxBlockRecords, import::kMaxBlockRecords + 1}) {
      const import::TraceHeader header = test::some_header(warp_size);
      const import::RecordBlock records = test::some_records(header, count, random);
      const std::string text = folder / "t.txt";
      const std::string binary = folder / "t.rrm";
      test::write_whole(text, TraceForm::Text, header, records);
      test::write_whole(binary, TraceForm::Binary, header, records);
      for (const std::string& path : {text, binary}) {
        EXPECT_TRUE(import::is_memory_trace(path));
        const test::WholeTrace whole = test::read_whole(path);
        EXPECT_EQ(whole.header, header);
        EXPECT_EQ(whole.records, records);
        EXPECT_THAT(whole.hash, testing::MatchesRegex("[0-9a-f]{32}"));
      }
      EXPECT_NE(test::read_whole(text).hash, test::read_whole(binary).hash);
    }
  }
}

TEST(MemoryTrace, TextMayBeWrittenInSeveralWays) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("t.txt",
                                        "rayreplay-memory-trace 1\r\n# a comment\r\n\r\n"
                                        "  sms 0x2   # two\r\nwarp-size 4\nallocation node 4096 0x100 32 some nodes \n"
                                        "tool  hand \t\nframe 3 2\n"
                                        "0 7 load 4 0xf 0x1000 4100 0x1008 0x100C # a comment\r\n"
                                        "\t1\t9 store 16 2 18446744073709551599\r\n\n# end\nend 2\n# behind\n");
  const test::WholeTrace whole = test::read_whole(path);
  EXPECT_EQ(whole.header.sms, 2U);
  EXPECT_EQ(whole.header.warp_size, 4U);
  EXPECT_EQ(whole.header.tool, "hand");
  EXPECT_EQ(whole.header.width, 3U);
  EXPECT_EQ(whole.header.height, 2U);
  ASSERT_EQ(whole.header.allocations.size(), 1U);
  EXPECT_EQ(whole.header.allocations[0], (import::TraceAllocation{"some nodes", 0, 4096, 256, 32}));
  ASSERT_EQ(whole.records.records(), 2U);
  EXPECT_THAT(whole.records.address, testing::ElementsAre(0x1000, 0x1004, 0x1008, 0x100C, 18446744073709551599U));
  EXPECT_THAT(whole.records.store, testing::ElementsAre(0, 1));
  EXPECT_THAT(whole.records.mask, testing::ElementsAre(0xF, 2));
  EXPECT_THAT(whole.records.warp, testing::ElementsAre(7, 9));
  EXPECT_THAT(whole.records.sm, testing::ElementsAre(0, 1));
}

struct Malformed {
  const char* name;
  std::string text;
  int line;  ///< 0: the file
  const char* what;
  const char* said;  ///< somewhere in found, expected or fix
};

class MalformedText : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedText, IsSaid) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("t.txt", GetParam().text);
  const ErrorInfo info = error_of(ErrorKind::Input, [&] { return test::read_whole(path); });
  EXPECT_THAT(info.what, HasSubstr(GetParam().what));
  EXPECT_EQ(info.where, GetParam().line == 0 ? path : fmt::format("{}:{}", path, GetParam().line));
  EXPECT_THAT(info.found + "|" + info.expected + "|" + info.fix, HasSubstr(GetParam().said));
  EXPECT_NE(info.found, "");
  EXPECT_NE(info.expected, "");
  EXPECT_NE(info.fix, "");
}

INSTANTIATE_TEST_SUITE_P(
    All, MalformedText,
    testing::Values(
        Malformed{"empty", "", 0, "not a memory trace", "empty file"},
        Malformed{"other_file", "P6\n640 480\n", 0, "not a memory trace", "'P6'"},
        Malformed{"gzip", "\x1F\x8B\x08\n", 0, "not a memory trace", "gzip -dc FILE | rayreplay import -"},
        Malformed{"zstandard", "\x28\xB5\x2F\xFD\x04", 0, "not a memory trace", "zstd -dc"},
        Malformed{"xz", "\3757zXZ", 0, "not a memory trace", "xz -dc"},
        Malformed{"bzip2", "BZh91AY", 0, "not a memory trace", "bzip2 -dc"},
        Malformed{"zip", "PK\x03\x04", 0, "not a memory trace", "unzip -p"},
        Malformed{"byte_order_mark", "\xEF\xBB\xBFrayreplay-memory-trace 1\n", 0, "not a memory trace",
                  "byte order mark"},
        Malformed{"utf16", "\xFF\xFEr", 0, "not a memory trace", "UTF-16"},
        Malformed{"mem_trace", "MEMTRACE: CTX 0x1 - LAUNCH\n", 0, "not a memory trace", "--nvbit HEADER"},
        Malformed{"mem_trace_banner", "------------- NVBit (NVidia Binary\n", 0, "not a memory trace",
                  "--nvbit HEADER"},
        Malformed{"hdf5", "\x89HDF\r\n", 0, "not a memory trace", "rayreplay cache"},
        Malformed{"zeros", std::string(5000, '\0'), 0, "not a memory trace", "docs/memory-traces.md"},
        Malformed{"trace_of_rays", "RAYREPLAY\n", 0, "not a memory trace", "rayreplay cache"},
        Malformed{"magic_goes_on", "rayreplay-memory-traces 1\n", 1, "not a memory trace", "memory-traces"},
        Malformed{"no_version", "rayreplay-memory-trace\n", 1, "version is missing", ""},
        Malformed{"version", "rayreplay-memory-trace 2\n", 1, "another version", "version 1"},
        Malformed{"no_sms", "rayreplay-memory-trace 1\n0 0 load 4 1 0x10\n", 2, "how many SMs", "sms N"},
        Malformed{"no_sms_in_sight", "rayreplay-memory-trace 1\n", 1, "how many SMs", "sms N"},
        Malformed{"zero_sms", "rayreplay-memory-trace 1\nsms 0\n", 2, "number of SMs is out of range", "1 to 4096"},
        Malformed{"two_sms", "rayreplay-memory-trace 1\nsms 2\nsms 2\n", 3, "comes twice", "'sms'"},
        Malformed{"warp_size", "rayreplay-memory-trace 1\nsms 2\nwarp-size 65\n", 3, "warp size is out of range", "64"},
        Malformed{"warp_size_zero", "rayreplay-memory-trace 1\nwarp-size 0\nsms 2\n", 2, "warp size is out of range",
                  "1 to 64"},
        Malformed{"frame", "rayreplay-memory-trace 1\nsms 2\nframe 7 0\n", 3, "one side only", "7 x 0"},
        Malformed{"key", "rayreplay-memory-trace 1\nwarp_size 2\n", 2, "unknown line", "did you mean 'warp-size'?"},
        Malformed{"kind", kHead + "allocation nodes 0 1 1 x\n", 4, "unknown kind", "did you mean 'node'?"},
        Malformed{"kind_unallocated", kHead + "allocation unallocated 0 1 1 x\n", 4, "unknown kind", "'unallocated'"},
        Malformed{"element_size", kHead + "allocation node 0 16 0 x\n", 4, "elements of no size", "1 if that is not"},
        Malformed{"element_missing", kHead + "allocation node 0 16\n", 4, "element size of an allocation is missing",
                  "end of the line"},
        Malformed{"empty_allocation", kHead + "allocation node 0 0 4 x\n", 4, "allocation is empty", ""},
        Malformed{"allocation_end", kHead + "allocation node 0xffffffffffffff00 0x100 4 x\n", 4, "behind the last",
                  "2^64"},
        Malformed{"overlap", kHead + "allocation index 0x10ff 16 4 other\n", 4, "overlap", "'some nodes' at 0x1000"},
        Malformed{"negative", kHead + "-1 0 load 4 1 0x10\n", 4, "unknown line", "'-1'"},
        Malformed{"sm", kHead + "4 0 load 4 1 0x10\n", 4, "SM is out of range", "below 4"},
        Malformed{"sm_far", kHead + "70000 0 load 4 1 0x10\n", 4, "SM is out of range", "70000"},
        Malformed{"sm_word", kHead + "0x 0 load 4 1 0x10\n", 4, "SM is not a number", "'0x'"},
        Malformed{"warp", kHead + "0 0x100000000 load 4 1 0x10\n", 4, "warp is out of range", "4294967295"},
        Malformed{"neither", kHead + "0 0 lead 4 1 0x10\n", 4, "neither a load nor a store", "did you mean 'load'?"},
        Malformed{"short_record", kHead + "0 0\n", 4, "neither a load nor a store", "end of the line"},
        Malformed{"zero_size", kHead + "0 0 load 0 1 0x10\n", 4, "size of a lane's access", "1 to 4096"},
        Malformed{"large_size", kHead + "0 0 load 5000 1 0x10\n", 4, "size of a lane's access", "1 to 4096"},
        Malformed{"zero_mask", kHead + "0 0 load 4 0\n", 4, "no lane is active", "leave out"},
        Malformed{"lanes", kHead + "0 0 load 4 0x100000001 1 2\n", 4, "lanes that a warp does not have", "below 32"},
        Malformed{"few", kHead + "0 0 load 4 7 1 2\n", 4, "fewer addresses than lanes", "2 addresses"},
        Malformed{"many", kHead + "0 0 load 4 7 1 2 3 4\n", 4, "more addresses than lanes", "'4'"},
        Malformed{"address", kHead + "0 0 load 4 1 0x1ffffffffffffffff\n", 4, "not a number of at most 64", ""},
        Malformed{"address_hex", kHead + "0 0 load 4 1 ff\n", 4, "not a number", "'ff'"},
        Malformed{"address_end", kHead + "0 0 load 16 1 0xfffffffffffffff8\n", 4, "behind the last address", "2^64"},
        Malformed{"late_header", kHead + "0 0 load 4 1 16\nsms 3\n", 5, "neither a record nor the end",
                  "before the first record"},
        Malformed{"cut", kHead + "0 0 load 4 1 0x1000\n0 0 load 4 1 0x10", 5, "truncated", "line feed"},
        Malformed{"carriage_returns_alone", "rayreplay-memory-trace 1\rsms 4\r", 1, "truncated", "tr '\\r' '\\n'"},
        Malformed{"zero_byte", kHead + "0 0 load 4 1 0x10" + std::string(1, '\0') + "\n", 4, "address is not a number",
                  "not text"},
        Malformed{"mask_without_prefix", kHead + "0 0 load 4 ff 1\n", 4, "lane mask is not a number", "start with 0x"},
        Malformed{"lost", kHead + "0 0 load 4 1 0x1000\nend 2\n", 5, "not the one stated", "1 records"},
        Malformed{"behind", kHead + "end 0\n0 0 load 4 1 1\n", 5, "behind the end", ""},
        Malformed{"long", kHead + "# " + std::string(70000, '-') + "\n", 4, "too long", "65536"},
        Malformed{"control", kHead + "tool a\x01z\n", 4, "control character", "0x01"},
        Malformed{"name", kHead + "allocation node 0 4 4 " + std::string(5000, 'n') + "\n", 4, "too long", "4096"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(MemoryTrace, TheLastByteOfTheAddressSpaceCanBeAccessed) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("t.txt", kHead +
                                                     "0 0 load 16 1 0xfffffffffffffff0\n"
                                                     "0 0 load 1 1 0xffffffffffffffff\n");
  EXPECT_EQ(test::read_whole(path).records.records(), 2U);
}

TEST(MemoryTrace, AnEndIsOptionalInText) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::read_whole(folder.write("t.txt", kHead + "3 0 load 4 1 0x1000\n")).records.records(), 1U);
  EXPECT_EQ(test::read_whole(folder.write("u.txt", kHead)).records.records(), 0U);
}

std::string binary_of(const test::TemporaryFolder& folder, std::size_t count, std::size_t blocks) {
  Random random(11);
  const import::TraceHeader header = test::some_header(8);
  const auto writer = import::create_memory_trace(folder / "b.rrm", TraceForm::Binary, true, header);
  for (std::size_t i = 0; i < blocks; ++i) {
    writer->append(test::some_records(header, count, random));
  }
  writer->commit();
  return test::read_bytes(folder / "b.rrm");
}

TEST(MemoryTrace, EveryTruncationOfABinaryFileIsSaid) {
  const test::TemporaryFolder folder;
  const std::string bytes = binary_of(folder, 3, 2);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string path = folder.write("cut.rrm", bytes.substr(0, length));
    const ErrorInfo info = error_of(ErrorKind::Input, [&] { return test::read_whole(path); });
    EXPECT_THAT(info.what, length < 8 ? HasSubstr("not a memory trace") : HasSubstr("truncated")) << length;
  }
  const std::string longer = folder.write("longer.rrm", bytes + "x");
  EXPECT_THAT(error_of(ErrorKind::Input, [&] { return test::read_whole(longer); }).what, HasSubstr("behind the end"));
}

TEST(MemoryTrace, ChangedBitsOfABinaryFileAreSaid) {
  const test::TemporaryFolder folder;
  const std::string bytes = binary_of(folder, 3, 2);
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 3) {  // every byte, and each of its bits in turn
    std::string changed = bytes;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const std::string path = folder.write("changed.rrm", changed);
    error_of(ErrorKind::Input, [&] { return test::read_whole(path); });
  }
}

TEST(MemoryTrace, BlocksThatMovedOrAreMissingAreSaid) {
  const test::TemporaryFolder folder;
  const std::string one = binary_of(folder, 1, 0);
  const std::string bytes = binary_of(folder, 5, 3);
  const std::size_t head = one.size() - 40;
  std::vector<std::size_t> starts;
  for (std::size_t at = head; at < bytes.size() - 40; ++at) {
    if (bytes.compare(at, 4, "BLCK") == 0) {
      starts.push_back(at);
    }
  }
  ASSERT_EQ(starts.size(), 3U);
  starts.push_back(bytes.size() - 40);
  const auto block = [&](std::size_t i) { return bytes.substr(starts[i], starts[i + 1] - starts[i]); };
  const std::string start = bytes.substr(0, head), end = bytes.substr(starts[3]);
  for (const std::string& changed : {start + block(1) + block(0) + block(2) + end, start + block(0) + block(1) + end,
                                     start + block(0) + block(1) + block(2) + block(2) + end, start + end}) {
    const std::string path = folder.write("moved.rrm", changed);
    EXPECT_THAT(error_of(ErrorKind::Input, [&] { return test::read_whole(path); }).fix, HasSubstr("damaged"));
  }
}

TEST(MemoryTrace, AWrongSizeAsksForNoMemory) {
  const test::TemporaryFolder folder;
  std::string bytes = binary_of(folder, 1, 1);
  bytes[15] = 0x0F;  // a header of 251 MB
  const std::string path = folder.write("lie.rrm", bytes);
  EXPECT_THAT(error_of(ErrorKind::Input, [&] { return test::read_whole(path); }).what, HasSubstr("truncated"));
}

long resident_pages() {
  long total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

TEST(MemoryTrace, ATraceLargerThanABlockStreamsThroughAPipe) {
  constexpr std::size_t kBlocks = 150;  // 40 MB binary, 98 MB as text
  for (const TraceForm form : {TraceForm::Binary, TraceForm::Text}) {
    const import::TraceHeader header = test::some_header();
    Random random(3);
    const import::RecordBlock records = test::some_records(header, 1500, random);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::thread writing([&] {
      const auto writer = import::create_memory_trace(fmt::format("/dev/fd/{}", ends[1]), form, false, header);
      ::close(ends[1]);
      for (std::size_t i = 0; i < kBlocks; ++i) {
        writer->append(records);
      }
      writer->commit();
    });
    const std::string path = fmt::format("/dev/fd/{}", ends[0]);
    EXPECT_TRUE(import::is_memory_trace(path));
    const auto reader = import::open_memory_trace(path);
    import::RecordBlock block;
    std::uint64_t count = 0, sum = 0;
    long after_first = 0, most = 0;
    while (reader->next(block)) {
      count += block.records();
      for (const std::uint64_t address : block.address) {
        sum += address;
      }
      most = std::max(most, resident_pages());
      if (count <= 4 * import::kMaxBlockRecords) {
        after_first = most;
      }
    }
    writing.join();
    ::close(ends[0]);
    std::uint64_t expected = 0;
    for (const std::uint64_t address : records.address) {
      expected += address * kBlocks;
    }
    EXPECT_EQ(count, kBlocks * records.records());
    EXPECT_EQ(sum, expected);
    EXPECT_LT((most - after_first) * ::sysconf(_SC_PAGESIZE), 16 << 20);
  }
}

TEST(MemoryTrace, WritersRefuseWhatReadersWould) {
  const test::TemporaryFolder folder;
  const import::TraceHeader header = test::some_header();
  for (const TraceForm form : {TraceForm::Binary, TraceForm::Text}) {
    const auto writer = import::create_memory_trace(folder / "w", form, false, header);
    import::RecordBlock block;
    const std::uint64_t address = 16;
    block.add(4, 0, false, 4, 1, &address);
    EXPECT_THAT(error_of(ErrorKind::Input, [&] { return writer->append(block), 0; }).what, HasSubstr("SM"));
    import::TraceHeader wrong = header;
    wrong.allocations[1].element_bytes = 0;
    EXPECT_THAT(
        error_of(ErrorKind::Input, [&] { return import::create_memory_trace(folder / "v", form, false, wrong); }).what,
        HasSubstr("no size"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(MemoryTrace, NothingIsLeftWithoutCommitAndNothingIsOverwritten) {
  const test::TemporaryFolder folder;
  const import::TraceHeader header = test::some_header();
  Random random(1);
  const import::RecordBlock records = test::some_records(header, 5, random);
  import::create_memory_trace(folder / "a", TraceForm::Binary, false, header)->append(records);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  test::write_whole(folder / "a", TraceForm::Binary, header, records);
  error_of(ErrorKind::Output,
           [&] { return import::create_memory_trace(folder / "a", TraceForm::Text, false, header); });
  EXPECT_EQ(test::read_whole(folder / "a").records, records);
}

TEST(MemoryTrace, WhatCannotBeReadIsNoMemoryTrace) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(import::is_memory_trace(folder / "missing"));
  EXPECT_FALSE(import::is_memory_trace(folder.path()));
  EXPECT_FALSE(import::is_memory_trace(folder.write("other", "RAYREPLAY\n")));
  EXPECT_TRUE(import::is_memory_trace("-"));
  EXPECT_FALSE(import::has_memory_trace_start("-"));
  EXPECT_FALSE(import::has_memory_trace_start(folder / "missing"));
  EXPECT_FALSE(import::has_memory_trace_start(folder.write("packed", "\x1F\x8B\x08")));
  EXPECT_TRUE(import::has_memory_trace_start(folder.write("text", "rayreplay-memory-trace 1\n")));
  EXPECT_TRUE(import::is_memory_trace(folder.write("packed", "\x1F\x8B\x08"))) << "opening it says how to unpack it";
  EXPECT_THAT(error_of(ErrorKind::Input, [&] { return import::open_memory_trace(folder / "missing"); }).found,
              HasSubstr("No such file"));
  error_of(ErrorKind::Input, [&] { return import::open_memory_trace(folder.path()); });
}

}  // namespace
}  // namespace rayreplay
