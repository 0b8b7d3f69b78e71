// Coalescing. Lines of up to 128 bytes use bit masks of bytes: lanes are gathered by line in their order, then lines
// are sorted. Most instructions take a shortcut: all lanes access one address, or addresses on one line. Instructions
// with several addresses a lane, which are rare, take a path of their own.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/memory/streams/transactions.hpp"

namespace rayreplay::memory {
namespace {

constexpr std::uint32_t kMaxLineBytes = 32768;  // Transaction::bytes has 16 bits
constexpr std::size_t kMaxLanes = 64;

std::uint64_t lane_mask(std::size_t lanes) {
  return lanes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
}

/// The lanes' accesses to one line.
struct Line {
  std::uint64_t number = 0;
  std::uint64_t lanes = 0;  ///< rows of the instruction, counted from its first
  std::uint32_t sectors = 0;
  std::uint32_t bytes = 0;
};

class Coalescer {
 public:
  Coalescer(const CoalesceOptions& options, WarpStream& out)
      : options_(options),
        out_(&out),
        line_shift_(static_cast<unsigned>(std::countr_zero(options.line_bytes))),
        sector_shift_(static_cast<unsigned>(std::countr_zero(options.sector_bytes))) {}

  void run(const Instructions& instructions) {
    if (out_->first.empty()) {
      out_->first.push_back(0);
    }
    out_->first.reserve(out_->first.size() + instructions.rows.size());
    for (const Instruction& instruction : instructions.rows) {
      instructions_ = &instructions;
      instruction_ = &instruction;
      address_ = instructions.address.data() + instruction.first;
      count_ = static_cast<std::size_t>(std::popcount(instruction.mask));
      is_first_ = true;
      if (instruction.pieces > 1) {
        coalesce_pieces();
      } else if (options_.coalesce) {
        coalesce_lanes();
      } else {
        each_lane();
      }
      out_->first.push_back(static_cast<std::uint32_t>(out_->transactions.size()));
    }
  }

 private:
  /// Address of the last byte; an access past the end of the address space ends there.
  [[nodiscard]] std::uint64_t last_byte(std::uint64_t address) const {
    const std::uint64_t last = address + (instruction_->bytes - 1);
    return last < address ? std::numeric_limits<std::uint64_t>::max() : last;
  }
  [[nodiscard]] std::uint64_t line_of(std::uint64_t address) const {
    return address >> line_shift_;
  }
  [[nodiscard]] std::uint32_t in_line(std::uint64_t address) const {
    return static_cast<std::uint32_t>(address) & (options_.line_bytes - 1);
  }
  /// Sectors with the bytes [low, high] of a line.
  [[nodiscard]] std::uint32_t sectors_of(std::uint32_t low, std::uint32_t high) const {
    return (2U << (high >> sector_shift_)) - (1U << (low >> sector_shift_));
  }

  /// `row_of`: by lane, the row whose element and thread a request has; null: that of the lane.
  void put(const Line& line, const std::array<std::size_t, kMaxLanes>* row_of = nullptr) {
    Transaction transaction;
    transaction.line = line.number;
    transaction.sectors = static_cast<std::uint8_t>(line.sectors);
    transaction.lanes = static_cast<std::uint8_t>(std::popcount(line.lanes));
    transaction.kind = instruction_->kind;
    transaction.flags = static_cast<std::uint8_t>((instruction_->store ? kStore : 0) | (is_first_ ? kFirst : 0));
    transaction.bytes = static_cast<std::uint16_t>(line.bytes);
    is_first_ = false;
    out_->transactions.push_back(transaction);
    if (options_.requests && row_of != nullptr) {
      for (std::uint64_t rest = line.lanes; rest != 0; rest &= rest - 1) {
        const std::size_t row = instruction_->first + (*row_of)[static_cast<std::size_t>(std::countr_zero(rest))];
        out_->requests.push_back({instructions_->element[row], instructions_->thread[row]});
      }
    } else if (options_.requests) {
      put_requests(line.lanes);
    }
  }

  void put_requests(std::uint64_t lanes) {
    const std::uint32_t* const element = instructions_->element.data() + instruction_->first;
    const std::uint32_t* const thread = instructions_->thread.data() + instruction_->first;
    const std::size_t before = out_->requests.size();
    out_->requests.resize(before + static_cast<std::size_t>(std::popcount(lanes)));
    Request* to = out_->requests.data() + before;
    if ((lanes & (lanes + 1)) == 0) {
      const auto count = static_cast<std::size_t>(std::popcount(lanes));
      for (std::size_t lane = 0; lane < count; ++lane) {
        to[lane] = {element[lane], thread[lane]};
      }
      return;
    }
    for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
      *to++ = {element[lane], thread[lane]};
    }
  }

  /// Adds the bytes [first, last], line by line, for these lanes.
  void put_range(std::uint64_t first, std::uint64_t last, std::uint64_t lanes) {
    for (std::uint64_t line = line_of(first);; ++line) {
      const std::uint32_t low = line == line_of(first) ? in_line(first) : 0;
      const std::uint32_t high = line == line_of(last) ? in_line(last) : options_.line_bytes - 1;
      put({line, lanes, sectors_of(low, high), high - low + 1});
      if (line == line_of(last)) {
        return;
      }
    }
  }

  void each_lane() {
    for (std::size_t lane = 0; lane < count_; ++lane) {
      put_range(address_[lane], last_byte(address_[lane]), std::uint64_t{1} << lane);
    }
  }

  void coalesce_lanes() {
    std::uint64_t different = 0;
    for (std::size_t lane = 1; lane < count_; ++lane) {
      different |= address_[lane] ^ address_[0];
    }
    if (different == 0) {
      put_range(address_[0], last_byte(address_[0]), lane_mask(count_));
    } else if (options_.line_bytes > 128 || instruction_->bytes > options_.line_bytes) {
      coalesce_any();
    } else {
      gather();
    }
  }

  /// The requested bytes of a line.
  struct Gathered {
    std::uint64_t number = 0;
    std::uint64_t lanes = 0;
    std::array<std::uint64_t, 2> bytes{};
  };

  /// Bits [low, high] of 128.
  static void add_bytes(std::array<std::uint64_t, 2>& bits, std::uint32_t low, std::uint32_t high) {
    const auto below = [](std::uint32_t end) {  // bits [0, end), end at most 64
      return end >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    };
    const std::uint32_t end = high + 1;
    bits[0] |= below(std::min(end, 64U)) & ~below(std::min(low, 64U));
    bits[1] |= below(end > 64 ? end - 64 : 0) & ~below(low > 64 ? low - 64 : 0);
  }

  [[nodiscard]] Line line_from(const Gathered& from) const {
    Line line{from.number, from.lanes, 0,
              static_cast<std::uint32_t>(std::popcount(from.bytes[0]) + std::popcount(from.bytes[1]))};
    if (options_.sector_bytes == 32) {
      line.sectors = ((from.bytes[0] & 0xFFFF'FFFFU) != 0 ? 1U : 0U) | ((from.bytes[0] >> 32U) != 0 ? 2U : 0U) |
                     ((from.bytes[1] & 0xFFFF'FFFFU) != 0 ? 4U : 0U) | ((from.bytes[1] >> 32U) != 0 ? 8U : 0U);
      return line;
    }
    for (std::uint32_t sector = 0; sector < options_.line_bytes >> sector_shift_; ++sector) {
      std::array<std::uint64_t, 2> of_sector{};
      add_bytes(of_sector, sector << sector_shift_, ((sector + 1) << sector_shift_) - 1);
      if ((of_sector[0] & from.bytes[0]) != 0 || (of_sector[1] & from.bytes[1]) != 0) {
        line.sectors |= 1U << sector;
      }
    }
    return line;
  }

  /// Lines of up to 128 bytes, accesses of up to a line: a lane touches one or two.
  void gather() {
    lines_ = 0;
    std::size_t low_at = 0;  // the entries of the previous lane's lines
    std::size_t high_at = 0;
    for (std::size_t lane = 0; lane < count_; ++lane) {
      const std::uint64_t bit = std::uint64_t{1} << lane;
      const std::uint64_t address = address_[lane];
      if (lane > 0 && address == address_[lane - 1]) {
        gathered_[low_at].lanes |= bit;
        gathered_[high_at].lanes |= bit;
        continue;
      }
      const std::uint64_t last = last_byte(address);
      const bool two = line_of(last) != line_of(address);
      low_at = place_of(line_of(address), high_at);
      gathered_[low_at].lanes |= bit;
      add_bytes(gathered_[low_at].bytes, in_line(address), two ? options_.line_bytes - 1 : in_line(last));
      high_at = low_at;
      if (two) {
        high_at = place_of(line_of(last), low_at);
        gathered_[high_at].lanes |= bit;
        add_bytes(gathered_[high_at].bytes, 0, in_line(last));
      }
    }
    put_sorted();
  }

  /// The entry of a line; `near`: the entry to try first.
  std::size_t place_of(std::uint64_t number, std::size_t near) {
    if (near < lines_ && gathered_[near].number == number) {
      return near;
    }
    // Open addressing; `put` clears the instruction's lines from the table after use.
    std::size_t slot = slot_of(number);
    while (table_[slot] != 0) {
      const std::size_t at = table_[slot] - std::size_t{1};
      if (gathered_[at].number == number) {
        return at;
      }
      slot = (slot + 1) % kSlots;
    }
    table_[slot] = static_cast<std::uint8_t>(lines_ + 1);
    used_[lines_] = static_cast<std::uint8_t>(slot);
    gathered_[lines_] = {number, 0, {}};
    return lines_++;
  }
  static std::size_t slot_of(std::uint64_t number) {
    return static_cast<std::size_t>(number * 0x9E37'79B9'7F4A'7C15U >> 56U) % kSlots;
  }

  void put_sorted() {
    bool ascending = true;
    std::uint64_t lowest = gathered_[0].number;
    std::uint64_t highest = gathered_[0].number;
    for (std::size_t i = 0; i < lines_; ++i) {
      table_[used_[i]] = 0;
      ascending &= i == 0 || gathered_[i - 1].number < gathered_[i].number;
      lowest = std::min(lowest, gathered_[i].number);
      highest = std::max(highest, gathered_[i].number);
    }
    if (ascending) {
      for (std::size_t i = 0; i < lines_; ++i) {
        put(line_from(gathered_[i]));
      }
      return;
    }
    std::array<std::uint8_t, kPlaces> order;
    if (highest - lowest < std::uint64_t{1} << 31U) {
      rank_lines(lowest, order);
    } else {
      for (std::size_t i = 0; i < lines_; ++i) {
        order[i] = static_cast<std::uint8_t>(i);
      }
      std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(lines_),
                [this](std::uint8_t a, std::uint8_t b) { return gathered_[a].number < gathered_[b].number; });
    }
    for (std::size_t i = 0; i < lines_; ++i) {
      put(line_from(gathered_[order[i]]));
    }
  }

  /// A line's position is the number of lines below it: no branch depends on addresses.
  void rank_lines(std::uint64_t lowest, std::array<std::uint8_t, kMaxLanes * 2>& order) const {
    using Four [[gnu::vector_size(16)]] = std::int32_t;
    alignas(16) std::array<std::int32_t, kPlaces> key;
    const std::size_t padded = (lines_ + 3) / 4 * 4;
    for (std::size_t i = 0; i < lines_; ++i) {
      key[i] = static_cast<std::int32_t>(gathered_[i].number - lowest);
    }
    for (std::size_t i = lines_; i < padded; ++i) {
      key[i] = std::numeric_limits<std::int32_t>::max();
    }
    for (std::size_t i = 0; i < lines_; ++i) {
      const Four mine = {key[i], key[i], key[i], key[i]};
      Four below{};
      for (std::size_t j = 0; j < padded; j += 4) {
        below += *reinterpret_cast<const Four*>(&key[j]) < mine;  // a true comparison is -1
      }
      order[static_cast<std::size_t>(-(below[0] + below[1] + below[2] + below[3]))] = static_cast<std::uint8_t>(i);
    }
  }

  /// Any line and access size: sorts all (line, lane) pairs; a line's bytes are the union of the lanes' ranges, which
  /// ascend as addresses do.
  void coalesce_any() {
    struct Part {
      std::uint64_t line;
      std::uint32_t low, high;
      std::uint8_t lane;
    };
    std::vector<Part> parts;
    for (std::size_t lane = 0; lane < count_; ++lane) {
      const std::uint64_t last = last_byte(address_[lane]);
      for (std::uint64_t line = line_of(address_[lane]);; ++line) {
        parts.push_back({line, line == line_of(address_[lane]) ? in_line(address_[lane]) : 0,
                         line == line_of(last) ? in_line(last) : options_.line_bytes - 1,
                         static_cast<std::uint8_t>(lane)});
        if (line == line_of(last)) {
          break;
        }
      }
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return a.line != b.line ? a.line < b.line : a.low != b.low ? a.low < b.low : a.high < b.high;
    });
    for (std::size_t i = 0; i < parts.size();) {
      Line line{parts[i].line, 0, 0, 0};
      std::uint32_t covered = 0;  // bytes below it are counted
      for (; i < parts.size() && parts[i].line == line.number; ++i) {
        line.lanes |= std::uint64_t{1} << parts[i].lane;
        line.sectors |= sectors_of(parts[i].low, parts[i].high);
        const std::uint32_t from = std::max(covered, parts[i].low);
        if (parts[i].high >= from) {
          line.bytes += parts[i].high + 1 - from;
          covered = parts[i].high + 1;
        }
      }
      put(line);
    }
  }

  /// Lanes with several addresses each: as coalesce_any. A request is of the lane's first piece that touches the line.
  void coalesce_pieces() {
    struct Part {
      std::uint64_t line;
      std::uint32_t low, high;
      std::size_t lane, row;  ///< row: of the piece, counted from the instruction's first
    };
    std::vector<Part> parts;
    const auto add_lane = [&](std::size_t lane) {
      for (std::size_t piece = 0; piece < instruction_->pieces; ++piece) {
        const std::size_t row = piece * count_ + lane;
        const std::uint64_t last = last_byte(address_[row]);
        for (std::uint64_t line = line_of(address_[row]);; ++line) {
          parts.push_back({line, line == line_of(address_[row]) ? in_line(address_[row]) : 0,
                           line == line_of(last) ? in_line(last) : options_.line_bytes - 1, lane, row});
          if (line == line_of(last)) {
            break;
          }
        }
      }
    };
    const auto put_lines = [&] {
      std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
        return std::tuple(a.line, a.low, a.high) < std::tuple(b.line, b.low, b.high);
      });
      for (std::size_t i = 0; i < parts.size();) {
        Line line{parts[i].line, 0, 0, 0};
        std::array<std::size_t, kMaxLanes> row_of{};
        std::uint32_t covered = 0;  // bytes below it are counted
        for (; i < parts.size() && parts[i].line == line.number; ++i) {
          const Part& part = parts[i];
          const bool known = (line.lanes >> part.lane & 1U) != 0;
          row_of[part.lane] = known ? std::min(row_of[part.lane], part.row) : part.row;
          line.lanes |= std::uint64_t{1} << part.lane;
          line.sectors |= sectors_of(part.low, part.high);
          const std::uint32_t from = std::max(covered, part.low);
          if (part.high >= from) {
            line.bytes += part.high + 1 - from;
            covered = part.high + 1;
          }
        }
        put(line, &row_of);
      }
      parts.clear();
    };
    for (std::size_t lane = 0; lane < count_; ++lane) {
      add_lane(lane);
      if (!options_.coalesce) {
        put_lines();
      }
    }
    put_lines();
  }

  static constexpr std::size_t kPlaces = 2 * kMaxLanes;
  static constexpr std::size_t kSlots = 256;

  CoalesceOptions options_;
  WarpStream* out_;
  unsigned line_shift_;
  unsigned sector_shift_;
  const Instructions* instructions_ = nullptr;
  const Instruction* instruction_ = nullptr;
  const std::uint64_t* address_ = nullptr;
  std::size_t count_ = 0;
  bool is_first_ = true;
  std::size_t lines_ = 0;
  std::array<Gathered, kPlaces> gathered_;
  std::array<std::uint8_t, kPlaces> used_{};
  std::array<std::uint8_t, kSlots> table_{};  ///< entry + 1; 0: free
};

}  // namespace

void check(const CoalesceOptions& options, const std::string& where) {
  const auto fail = [&](const char* what, const std::string& found, const std::string& expected) {
    throw Error(ErrorKind::Usage, {what, where, found, expected, ""});
  };
  if (!std::has_single_bit(options.sector_bytes)) {
    fail("the sector size is not a power of two", fmt::format("{} bytes", options.sector_bytes), "1, 2, 4, … bytes");
  }
  if (!std::has_single_bit(options.line_bytes)) {
    fail("the line size is not a power of two", fmt::format("{} bytes", options.line_bytes), "32, 64, 128, … bytes");
  }
  if (options.line_bytes < options.sector_bytes || options.line_bytes / options.sector_bytes > 8) {
    fail("the line has no fitting number of sectors",
         fmt::format("lines of {} bytes, sectors of {}", options.line_bytes, options.sector_bytes),
         "1, 2, 4 or 8 sectors a line");
  }
  if (options.line_bytes > kMaxLineBytes) {
    fail("the line size is out of range", fmt::format("{} bytes", options.line_bytes),
         fmt::format("at most {} bytes", kMaxLineBytes));
  }
}

void coalesce(const Instructions& instructions, const CoalesceOptions& options, WarpStream& out) {
  Coalescer(options, out).run(instructions);
}

}  // namespace rayreplay::memory
