// Coalescing against a twin that looks at every byte of every lane; instructions written out by hand; wrong sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "sim/memory/streams/transactions.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_trace.hpp"

namespace rayreplay::test {
namespace {

using memory::CoalesceOptions;
using memory::DataKind;
using memory::Instruction;
using memory::Instructions;
using memory::Request;
using memory::Transaction;
using memory::WarpStream;

void append(Instructions& out, std::uint64_t mask, const std::vector<std::uint64_t>& addresses, std::uint32_t bytes,
            DataKind kind = DataKind::Node, bool store = false) {
  ASSERT_EQ(addresses.size(), static_cast<std::size_t>(std::popcount(mask)));
  out.rows.push_back({mask, static_cast<std::uint32_t>(out.address.size()), bytes, kind, store});
  for (const std::uint64_t address : addresses) {
    out.element.push_back(static_cast<std::uint32_t>(out.address.size()) * 3 + 1);
    out.thread.push_back(static_cast<std::uint32_t>(out.address.size()) * 7 + 2);
    out.address.push_back(address);
  }
}

/// What lanes ask of a line, byte by byte.
struct TwinLine {
  std::set<std::uint32_t> lanes;
  std::set<std::uint64_t> bytes;
};

void put_twin(const Instructions& from, const Instruction& row, const std::map<std::uint64_t, TwinLine>& lines,
              const CoalesceOptions& options, bool& first, WarpStream& out) {
  for (const auto& [number, line] : lines) {
    Transaction transaction;
    transaction.line = number;
    transaction.kind = row.kind;
    transaction.lanes = static_cast<std::uint8_t>(line.lanes.size());
    transaction.bytes = static_cast<std::uint16_t>(line.bytes.size());
    for (const std::uint64_t byte : line.bytes) {
      const unsigned sector = static_cast<unsigned>(byte % options.line_bytes) / options.sector_bytes;
      transaction.sectors = static_cast<std::uint8_t>(transaction.sectors | (1U << sector));
    }
    transaction.flags = static_cast<std::uint8_t>((row.store ? memory::kStore : 0) | (first ? memory::kFirst : 0));
    first = false;
    out.transactions.push_back(transaction);
    for (const std::uint32_t lane : line.lanes) {
      if (options.requests) {
        out.requests.push_back({from.element[row.first + lane], from.thread[row.first + lane]});
      }
    }
  }
}

WarpStream twin(const Instructions& from, const CoalesceOptions& options) {
  WarpStream out;
  out.first.push_back(0);
  for (const Instruction& row : from.rows) {
    bool first = true;
    std::map<std::uint64_t, TwinLine> lines;
    for (std::uint32_t lane = 0; lane < static_cast<std::uint32_t>(std::popcount(row.mask)); ++lane) {
      for (std::uint64_t i = 0; i < row.bytes; ++i) {
        const std::uint64_t byte = from.address[row.first + lane] + i;
        if (byte < i) {
          break;  // over the end of the address space
        }
        lines[byte / options.line_bytes].lanes.insert(lane);
        lines[byte / options.line_bytes].bytes.insert(byte);
      }
      if (!options.coalesce) {
        put_twin(from, row, lines, options, first, out);
        lines.clear();
      }
    }
    put_twin(from, row, lines, options, first, out);
    out.first.push_back(static_cast<std::uint32_t>(out.transactions.size()));
  }
  return out;
}

void compare(const Instructions& from, const CoalesceOptions& options) {
  WarpStream made;
  memory::coalesce(from, options, made);
  const WarpStream expected = twin(from, options);
  ASSERT_EQ(made.first, expected.first);
  ASSERT_EQ(made.requests, expected.requests);
  ASSERT_EQ(made.transactions.size(), expected.transactions.size());
  for (std::size_t i = 0; i < made.transactions.size(); ++i) {
    const Transaction& a = made.transactions[i];
    const Transaction& b = expected.transactions[i];
    ASSERT_EQ(a, b) << i << ": line " << a.line << " sectors " << int{a.sectors} << " lanes " << int{a.lanes}
                    << " bytes " << a.bytes << " flags " << int{a.flags} << ", expected line " << b.line << " sectors "
                    << int{b.sectors} << " lanes " << int{b.lanes} << " bytes " << b.bytes << " flags " << int{b.flags};
  }
}

TEST(Coalesce, ByHand) {
  Instructions from;
  append(from, 0b1111, {0, 4, 8, 12}, 4);                     // one sector
  append(from, 0b1011, {0x100, 0x180, 0x100}, 4);             // two lines
  append(from, 0b0110, {96, 96}, 64, DataKind::Index, true);  // over the border of a line
  append(from, 0b1000, {1000}, 12);
  WarpStream made;
  memory::coalesce(from, {}, made);
  EXPECT_EQ(made.first, (std::vector<std::uint32_t>{0, 1, 3, 5, 6}));
  const std::uint8_t both = memory::kStore | memory::kFirst;
  EXPECT_EQ(made.transactions, (std::vector<Transaction>{{0, 0, 0b0001, 4, DataKind::Node, memory::kFirst, 16},
                                                         {2, 0, 0b0001, 2, DataKind::Node, memory::kFirst, 4},
                                                         {3, 0, 0b0001, 1, DataKind::Node, 0, 4},
                                                         {0, 0, 0b1000, 2, DataKind::Index, both, 32},
                                                         {1, 0, 0b0001, 2, DataKind::Index, memory::kStore, 32},
                                                         {7, 0, 0b1000, 1, DataKind::Node, memory::kFirst, 12}}));
  // Requests: lane by lane within a transaction.
  EXPECT_EQ(made.requests.size(), 4U + 2 + 1 + 2 + 2 + 1);
  EXPECT_EQ(made.requests[4], (Request{from.element[4], from.thread[4]}));
  EXPECT_EQ(made.requests[5], (Request{from.element[6], from.thread[6]}));
  EXPECT_EQ(made.requests[6], (Request{from.element[5], from.thread[5]}));

  WarpStream single;
  memory::coalesce(from, {.coalesce = false, .requests = false}, single);
  EXPECT_EQ(single.first, (std::vector<std::uint32_t>{0, 4, 7, 11, 12}));
  EXPECT_TRUE(single.requests.empty());
  EXPECT_EQ(single.transactions[4], (Transaction{2, 0, 1, 1, DataKind::Node, memory::kFirst, 4}));
  EXPECT_EQ(single.transactions[6], (Transaction{2, 0, 1, 1, DataKind::Node, 0, 4}));
}

TEST(Coalesce, AppendsBehindWhatIsThere) {
  Instructions from;
  append(from, 1, {5}, 4);
  WarpStream twice;
  memory::coalesce(from, {}, twice);
  memory::coalesce(from, {}, twice);
  EXPECT_EQ(twice.first, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(twice.transactions.size(), 2U);
  EXPECT_EQ(twice.transactions[1].flags, memory::kFirst);
}

/// Addresses of many shapes: the same, consecutive, strided, in few lines, anywhere, at the end of the address space.
Instructions random_instructions(std::uint64_t seed, std::size_t count) {
  Random random(seed);
  const auto below = [&](std::uint64_t limit) { return random.bits() % limit; };
  Instructions out;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t mask = random.bits();
    mask = below(4) == 0 ? ~std::uint64_t{0} : below(3) == 0 ? mask & 0xFFFF'FFFFU : mask & random.bits();
    mask |= std::uint64_t{1} << below(64);
    const auto lanes = static_cast<std::size_t>(std::popcount(mask));
    const std::uint32_t sizes[] = {1, 4, 12, 16, 24, 32, 64, 80, 96, 128, 200, 256};
    const std::uint32_t bytes = sizes[below(12)];
    const std::uint64_t shape = below(8);
    const std::uint64_t base = shape == 7 ? std::numeric_limits<std::uint64_t>::max() - below(300) : below(100000);
    const std::uint64_t stride = below(3) == 0 ? bytes : below(300);
    std::vector<std::uint64_t> addresses;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      switch (shape) {
        case 0:
          addresses.push_back(base);
          break;
        case 1:
          addresses.push_back(base + lane * stride);
          break;
        case 2:
          addresses.push_back(base + (lanes - lane) * stride);
          break;
        case 3:
          addresses.push_back(base + below(256));
          break;
        case 4:
          addresses.push_back(base + below(3) * 96);
          break;
        case 5:
          addresses.push_back(below(std::uint64_t{1} << 20));
          break;
        case 6:
          addresses.push_back(random.bits());
          break;
        default:
          addresses.push_back(base + (lane % 2 == 0 ? 0 : below(4)));
      }
    }
    append(out, mask, addresses, bytes, static_cast<DataKind>(below(memory::kDataKinds)), below(2) == 0);
  }
  return out;
}

TEST(Coalesce, EqualsTheTwin) {
  const std::vector<CoalesceOptions> sizes = {
      {.line_bytes = 128, .sector_bytes = 32}, {.line_bytes = 32, .sector_bytes = 32},
      {.line_bytes = 64, .sector_bytes = 32},  {.line_bytes = 128, .sector_bytes = 16},
      {.line_bytes = 256, .sector_bytes = 32}, {.line_bytes = 1, .sector_bytes = 1},
      {.line_bytes = 4, .sector_bytes = 1},    {.line_bytes = 128, .sector_bytes = 128}};
  for (CoalesceOptions options : sizes) {
    for (const bool coalesce : {true, false}) {
      for (const bool requests : {true, false}) {
        SCOPED_TRACE(testing::Message() << options.line_bytes << "/" << options.sector_bytes << " " << coalesce);
        options.coalesce = coalesce;
        options.requests = requests;
        compare(random_instructions(options.line_bytes + (coalesce ? 1U : 0U), 150), options);
      }
    }
  }
}

/// Both forms have the same requests.
TEST(Coalesce, FormsHaveTheSameRequests) {
  const Instructions from = random_instructions(9, 400);
  WarpStream together;
  WarpStream single;
  memory::coalesce(from, {}, together);
  memory::coalesce(from, {.coalesce = false}, single);
  const auto sorted = [](std::vector<Request> rows) {
    std::ranges::sort(rows, {}, [](const Request& r) { return std::pair(r.element, r.thread); });
    return rows;
  };
  EXPECT_LT(together.transactions.size(), single.transactions.size());
  EXPECT_EQ(sorted(together.requests), sorted(single.requests));
}

TEST(Coalesce, WrongSizesAreErrors) {
  const auto message = [](std::uint32_t line, std::uint32_t sector) {
    return error_of(ErrorKind::Usage, [&] {
      memory::check({.line_bytes = line, .sector_bytes = sector}, "machine 'm': l1");
      return 0;
    });
  };
  EXPECT_NO_THROW(memory::check({}, ""));
  EXPECT_NO_THROW(memory::check({.line_bytes = 32768, .sector_bytes = 4096}, ""));
  for (const auto& [line, sector] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {0, 32}, {96, 32}, {128, 0}, {128, 24}, {16, 32}, {512, 32}, {65536, 8192}, {128, 256}}) {
    const auto info = message(line, sector);
    EXPECT_EQ(info.where, "machine 'm': l1") << line << " " << sector;
    EXPECT_FALSE(info.found.empty());
    EXPECT_FALSE(info.expected.empty());
  }
}

}  // namespace
}  // namespace rayreplay::test
