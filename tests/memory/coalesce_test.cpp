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
  std::map<std::uint32_t, std::uint32_t> piece;  ///< by lane: its first one in the line
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
        const std::size_t place = row.first + line.piece.at(lane) * row.lanes() + lane;
        out.requests.push_back({from.element[place], from.thread[place]});
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
      for (std::uint64_t place = 0; place < std::uint64_t{row.bytes} * row.pieces; ++place) {
        const auto piece = static_cast<std::uint32_t>(place / row.bytes);
        const std::uint64_t byte = from.address[row.first + piece * row.lanes() + lane] + place % row.bytes;
        if (byte < place % row.bytes) {
          continue;  // over the end of the address space
        }
        TwinLine& line = lines[byte / options.line_bytes];
        line.lanes.insert(lane);
        line.piece.emplace(lane, piece);
        line.bytes.insert(byte);
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

/// The texels of a linear filter, say: lanes with several addresses.
void append_pieces(Instructions& out, std::uint64_t mask, std::uint8_t pieces,
                   const std::vector<std::uint64_t>& addresses, std::uint32_t bytes) {
  ASSERT_EQ(addresses.size(), static_cast<std::size_t>(std::popcount(mask)) * pieces);
  Instruction row{.mask = mask, .first = static_cast<std::uint32_t>(out.address.size()), .bytes = bytes};
  row.kind = DataKind::ImageSample;
  row.pieces = pieces;
  out.rows.push_back(row);
  for (const std::uint64_t address : addresses) {
    out.element.push_back(static_cast<std::uint32_t>(out.address.size()) * 3 + 1);
    out.thread.push_back(static_cast<std::uint32_t>(out.address.size()) * 7 + 2);
    out.address.push_back(address);
  }
}

TEST(Coalesce, PiecesByHand) {
  Instructions from;
  // Lanes 0 and 2: two rows of two texels, of which lane 2's lie in two lines; its last one is repeated.
  append_pieces(from, 0b101, 4, {24, 60, 28, 332, 40, 0, 44, 0}, 4);
  WarpStream made;
  memory::coalesce(from, {}, made);
  EXPECT_EQ(made.first, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(made.transactions, (std::vector<Transaction>{{0, 0, 0b11, 2, DataKind::ImageSample, memory::kFirst, 24},
                                                         {2, 0, 0b100, 1, DataKind::ImageSample, 0, 4}}));
  EXPECT_EQ(made.requests, (std::vector<Request>{{1, 2}, {4, 9}, {10, 23}})) << "of the first piece in the line";
  // Without coalescing each lane has its own lines.
  WarpStream alone;
  memory::coalesce(from, {.coalesce = false}, alone);
  EXPECT_EQ(alone.transactions, (std::vector<Transaction>{{0, 0, 0b11, 1, DataKind::ImageSample, memory::kFirst, 16},
                                                          {0, 0, 0b11, 1, DataKind::ImageSample, 0, 8},
                                                          {2, 0, 0b100, 1, DataKind::ImageSample, 0, 4}}));
}

TEST(Coalesce, PiecesAsTheirTwin) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    Instructions from;
    for (int row = 0; row < 3; ++row) {
      const std::uint64_t mask = random.one_in(3) ? random.bits() | 1U : 1U << random.below(5) | 4U;
      const auto pieces = static_cast<std::uint8_t>(2 + random.below(7));
      const std::uint64_t base = random.one_in(10) ? ~std::uint64_t{0} - 300 : random.below(4) * 1000;
      std::vector<std::uint64_t> addresses(static_cast<std::size_t>(std::popcount(mask)) * pieces);
      for (std::uint64_t& address : addresses) {
        address = base + random.below(random.one_in(3) ? 300 : 80);
      }
      append_pieces(from, mask, pieces, addresses, 1U << random.below(5));
      append(from, 0b11, {base, base + 4}, 4);
    }
    for (const bool coalesce : {true, false}) {
      compare(from, {.coalesce = coalesce});
      compare(from, {.line_bytes = 32, .coalesce = coalesce});
      compare(from, {.line_bytes = 256, .coalesce = coalesce});
    }
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

/// What one instruction of 64 lanes becomes.
WarpStream of_lanes(std::uint64_t start, std::uint64_t stride, std::uint32_t bytes, const CoalesceOptions& options,
                    bool store = false) {
  Instructions from;
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t lane = 0; lane < 64; ++lane) {
    addresses.push_back(start + lane * stride);
  }
  append(from, ~std::uint64_t{0}, addresses, bytes, DataKind::Payload, store);
  compare(from, options);
  WarpStream made;
  memory::coalesce(from, options, made);
  return made;
}

TEST(Coalesce, SixtyFourLanesByHand) {
  // Consecutive words: two lines, whole. Each lane its own line. All lanes the same word.
  const WarpStream words = of_lanes(256, 4, 4, {});
  ASSERT_EQ(words.transactions.size(), 2U);
  EXPECT_EQ(words.transactions[0], (Transaction{2, 0, 0b1111, 32, DataKind::Payload, memory::kFirst, 128}));
  EXPECT_EQ(words.transactions[1], (Transaction{3, 0, 0b1111, 32, DataKind::Payload, 0, 128}));
  const WarpStream lines = of_lanes(0, 128, 16, {}, true);
  EXPECT_EQ(lines.transactions.size(), 64U);
  EXPECT_EQ(lines.transactions[63], (Transaction{63, 0, 0b0001, 1, DataKind::Payload, memory::kStore, 16}));
  const WarpStream same = of_lanes(1000, 0, 4, {});
  ASSERT_EQ(same.transactions.size(), 1U);
  EXPECT_EQ(same.transactions[0], (Transaction{7, 0, 0b1000, 64, DataKind::Payload, memory::kFirst, 4}));
  EXPECT_EQ(same.requests.size(), 64U);
  // As many lines as there can be: each lane spans two that no other touches.
  const WarpStream spans = of_lanes(120, 256, 16, {});
  EXPECT_EQ(spans.transactions.size(), 128U);
  EXPECT_EQ(spans.requests.size(), 128U);
  EXPECT_EQ(of_lanes(120, 256, 16, {.coalesce = false}).transactions.size(), 128U);
  // A lane of 256 bytes from the middle of a line touches three.
  EXPECT_EQ(of_lanes(64, 384, 256, {}).transactions.size(), 64U * 3);
}

// Every offset of an access in its line, and one byte before and behind its end.
TEST(Coalesce, AccessesAtEveryBorder) {
  for (const std::uint32_t bytes : {1U, 4U, 12U, 31U, 32U, 33U, 127U, 128U, 129U, 256U}) {
    Instructions from;
    for (std::uint64_t offset = 0; offset <= 128; ++offset) {
      append(from, 0b1, {1024 + offset}, bytes);
      append(from, 0b11, {1024 + offset, 1024}, bytes);                   // overlapping
      append(from, 0b11, {1024 + offset, 1024 + offset + bytes}, bytes);  // side by side
    }
    for (const bool coalesce : {true, false}) {
      compare(from, {.coalesce = coalesce});
      compare(from, {.line_bytes = 64, .sector_bytes = 64, .coalesce = coalesce});
    }
  }
}

TEST(Coalesce, TheEndOfTheAddressSpace) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  Instructions from;
  append(from, 0b1, {kLast}, 1);
  append(from, 0b1, {kLast}, 256);  // one byte is left of it
  append(from, 0b11, {kLast - 200, kLast}, 256);
  append(from, 0b111, {0, kLast, kLast - 3}, 4);  // both ends at once
  append(from, 0b11, {kLast - 3, kLast - 3}, 4, DataKind::Stack, true);
  for (const bool coalesce : {true, false}) {
    compare(from, {.coalesce = coalesce});
    compare(from, {.line_bytes = 32768, .sector_bytes = 4096, .coalesce = coalesce});
    compare(from, {.line_bytes = 1, .sector_bytes = 1, .coalesce = coalesce});
  }
  WarpStream made;
  memory::coalesce(from, {}, made);
  EXPECT_EQ(made.transactions[1], (Transaction{kLast / 128, 0, 0b1000, 1, DataKind::Node, memory::kFirst, 1}));
}

// Lanes out of order, twice at the same place, with gaps in the mask, in loads and stores.
TEST(Coalesce, DuplicatesOutOfOrder) {
  Instructions from;
  const std::vector<std::uint64_t> addresses = {900, 100, 900, 500, 100, 96, 900, 124};
  for (const bool store : {true, false}) {
    append(from, 0b1101'0110'1001'0000'1000, {addresses.begin(), addresses.end()}, 8, DataKind::Vertex, store);
    append(from, 0xFF00'0000'0000'0000, {addresses.begin(), addresses.end()}, 4, DataKind::Vertex, store);
  }
  for (const bool coalesce : {true, false}) {
    compare(from, {.coalesce = coalesce});
  }
  WarpStream made;
  memory::coalesce(from, {}, made);
  // Lines ascend, whatever lanes come first: 0 (96, 100, 100, 124 and its 8 bytes), 1 (the end of 124), 3 (500), 7
  // (900).
  ASSERT_GE(made.transactions.size(), 4U);
  EXPECT_EQ(made.transactions[0].line, 0U);
  EXPECT_EQ(made.transactions[0].lanes, 4U);
  EXPECT_EQ(made.transactions[0].bytes, 12U + 4);
  EXPECT_EQ(made.transactions[1].line, 1U);
  EXPECT_EQ(made.transactions[3].lanes, 3U);
  for (std::size_t i = 0; i < made.first[2]; ++i) {
    EXPECT_TRUE((made.transactions[i].flags & memory::kStore) != 0);
  }
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
