#include "sim/caching/grid/recorded_stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/huge_pages.hpp"
#include "sim/machine/time_shares.hpp"

namespace rayreplay::experiment {
namespace {

using machine::SmTime;
using memory::Transaction;

static_assert(std::endian::native == std::endian::little, "stored streams are little-endian");
static_assert(std::is_trivially_copyable_v<SmTime> && std::has_unique_object_representations_v<SmTime>);
static_assert(std::is_trivially_copyable_v<Transaction> && std::has_unique_object_representations_v<Transaction>);

constexpr std::uint64_t kMagic = 0x6D61'6572'7473'7272U;  // "rrstream"
constexpr std::uint32_t kVersion = 4;
constexpr std::uint32_t kMaxSms = 65536;
constexpr std::uint8_t kMaxLanes = 64;
constexpr std::uint8_t kAllFlags =
    memory::kStore | memory::kFirst | memory::kTimedHit | memory::kTimedMerged | memory::kTimedL2Hit;

/// The bytes before the transactions; after these are the SMs of memory time, and a checksum of everything before it.
struct Header {
  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t sms = 0;
  std::uint32_t line_bytes = 0;
  std::uint32_t sector_bytes = 0;
  std::uint32_t coalesce = 0;
  std::uint32_t requests = 0;
  std::uint32_t keep_raw = 0;
  std::uint32_t nothing = 0;
  std::uint64_t transactions = 0;
  std::uint64_t cycles = 0;
  std::uint64_t instructions = 0;
  std::uint64_t mshr_stall_cycles = 0;
  std::uint64_t timed_sms = 0;  ///< 0: no memory time
  std::uint64_t l2_bytes = 0;
  std::uint64_t dram_bytes = 0;
  std::uint64_t dram_written_bytes = 0;
  std::uint64_t calls = 0;
  std::uint64_t call_lanes = 0;
  machine::StageWaits stages{};
  // Bits of doubles: a struct with padding or doubles has no unique representation.
  std::uint64_t issue_cycles = 0;
  std::uint64_t ray_unit_cycles = 0;
  std::uint64_t l2_cycles = 0;
  std::uint64_t dram_cycles = 0;
};
static_assert(sizeof(Header) == 152 + sizeof(machine::StageWaits) && std::has_unique_object_representations_v<Header>);

[[noreturn]] void damaged(std::string what, const std::string& where, std::string found, std::string expected) {
  throw Error(ErrorKind::Input, {std::move(what), where, std::move(found), std::move(expected),
                                 "delete the file; the next run makes it again"});
}

void check_header(const Header& header, std::size_t bytes, const std::string& where) {
  if (header.magic != kMagic) {
    damaged("this is not a recorded stream", where, fmt::format("{:016x}", header.magic),
            fmt::format("{:016x}", kMagic));
  }
  if (header.version != kVersion) {
    damaged("the recorded stream is of another version", where, fmt::format("{}", header.version),
            fmt::format("{}", kVersion));
  }
  if (header.timed_sms != 0 && header.timed_sms != header.sms) {
    damaged("the memory time of a recorded stream is of other SMs", where, fmt::format("{}", header.timed_sms),
            fmt::format("0 or {}", header.sms));
  }
  const std::uint64_t room = bytes - sizeof(Header) - sizeof(std::uint64_t);
  const std::uint64_t timed = header.timed_sms * sizeof(SmTime);
  if (timed > room || (room - timed) % sizeof(Transaction) != 0 ||
      header.transactions != (room - timed) / sizeof(Transaction)) {
    damaged("the recorded stream has another size than it says", where, fmt::format("{} bytes", bytes),
            fmt::format("{} transactions", header.transactions));
  }
  if (header.sms == 0 || header.sms > kMaxSms) {
    damaged("the number of SMs of a recorded stream is out of range", where, fmt::format("{}", header.sms),
            fmt::format("1 to {}", kMaxSms));
  }
  if (header.coalesce > 1 || header.requests > 1 || header.keep_raw > 1 || header.nothing != 0) {
    damaged("a switch of a recorded stream is neither on nor off", where, "", "0 or 1");
  }
}

void check_transactions(const RecordedStream& stream, const std::string& where) {
  const std::uint32_t sectors = 1U << (stream.coalescing.line_bytes / stream.coalescing.sector_bytes);
  const std::uint64_t last_line = std::numeric_limits<std::uint64_t>::max() / stream.coalescing.line_bytes;
  for (std::size_t i = 0; i < stream.transactions.size(); ++i) {
    const Transaction& one = stream.transactions[i];
    if (one.line > last_line || one.sm >= stream.sms || one.sectors == 0 || one.sectors >= sectors || one.lanes == 0 ||
        one.lanes > kMaxLanes || static_cast<std::size_t>(one.kind) >= memory::kDataKinds ||
        (one.flags & ~kAllFlags) != 0 || one.bytes > stream.coalescing.line_bytes) {
      damaged("a transaction of a recorded stream is invalid", fmt::format("{}, transaction {}", where, i), "",
              "a line, SM, sectors, lanes, kind, flags and bytes within their limits");
    }
  }
}

void check_time(const RecordedStream& stream, const std::string& where) {
  const auto wrong = [&](const std::string& found) {
    damaged("the memory time of a recorded stream is invalid", where, found,
            "cycles of SMs that sum to the launch's, within its warps' lives; stages that sum to the SMs' states");
  };
  const machine::MemoryTime& time = stream.time;
  std::array<std::uint64_t, machine::kWarpWaits> states{};  // sums wrap around alike
  for (std::size_t i = 0; i < time.sms.size(); ++i) {
    const SmTime& sm = time.sms[i];
    std::uint64_t lives = 0;
    for (const std::uint64_t state : sm.waits) {
      if (state > std::numeric_limits<std::uint64_t>::max() - lives) {
        wrong(fmt::format("SM {}", i));
      }
      lives += state;
    }
    for (std::size_t state = 0; state < states.size(); ++state) {
      states[state] += sm.waits[state];
    }
    if (sm.busy > stream.cycles || sm.barrier > stream.cycles - sm.busy ||
        sm.idle != stream.cycles - sm.busy - sm.barrier || lives < sm.busy ||
        lives / machine::kMaxResidentWarps > sm.busy) {
      wrong(fmt::format("SM {}", i));
    }
  }
  const std::array servers{time.issue_cycles, time.ray_unit_cycles, time.l2_cycles, time.dram_cycles};
  if (time.sms.empty() && (time.l2_bytes != 0 || time.dram_bytes != 0 || servers != std::array<double, 4>{})) {
    wrong("sums without SMs");
  }
  for (std::size_t state = 0; state < states.size(); ++state) {
    std::uint64_t of_stages = 0;
    for (const auto& stage : time.stages) {
      of_stages += stage[state];
    }
    if (of_stages != states[state]) {
      wrong(fmt::format("{} {} warp-cycles of stages", of_stages, machine::kTimePartNames[state]));
    }
  }
  if (time.dram_written_bytes > time.dram_bytes) {
    wrong(fmt::format("{} bytes written of {} served", time.dram_written_bytes, time.dram_bytes));
  }
  const memory::WarpCalls& calls = time.calls;
  if (calls.lanes < calls.calls || calls.lanes / kMaxLanes + (calls.lanes % kMaxLanes != 0 ? 1 : 0) > calls.calls) {
    wrong(fmt::format("{} lanes of {}", calls.lanes, counted(calls.calls, "call")));
  }
  for (const double cycles : servers) {
    if (!(std::isfinite(cycles) && cycles >= 0)) {
      wrong(fmt::format("{} cycles of a server", cycles));
    }
  }
}

}  // namespace

void StreamRecorder::tell(std::uint64_t transactions) const {
  if (grows_) {
    grows_(transactions);
  }
}

/// Room for at least one transaction in the last part. The first part doubles, so that a short stream stays small.
void StreamRecorder::make_room(std::size_t more) {
  if (!parts_.empty() && parts_.back().size() == kPart) {
    tell((parts_.size() + 2) * kPart);
    reserve_huge_pages(parts_.emplace_back(), kPart);
    return;
  }
  const std::size_t size = parts_.empty() ? 0 : parts_.back().size();
  const std::size_t room = parts_.empty() ? 0 : parts_.back().capacity();
  if (size < room) {
    return;
  }
  const std::size_t wanted = std::min(kPart, std::max(2 * room, size + more));
  tell(room + wanted);
  if (parts_.empty()) {
    parts_.emplace_back();
  }
  parts_.front().reserve(wanted);
}

void StreamRecorder::take(const memory::TransactionBlock& block) {
  std::span<const Transaction> left(block.transactions);
  while (!left.empty()) {
    make_room(left.size());
    std::vector<Transaction>& part = parts_.back();
    const std::span<const Transaction> some =
        left.first(std::min(left.size(), std::min(kPart, part.capacity()) - part.size()));
    part.insert(part.end(), some.begin(), some.end());
    left = left.subspan(some.size());
  }
}

void StreamRecorder::finish() {
  if (parts_.size() == 1) {
    into_->transactions = std::move(parts_.front());
  } else if (!parts_.empty()) {
    reserve_huge_pages(into_->transactions, (parts_.size() - 1) * kPart + parts_.back().size());
    for (std::vector<Transaction>& part : parts_) {
      into_->transactions.insert(into_->transactions.end(), part.begin(), part.end());
      std::vector<Transaction>().swap(part);  // assigning {} would keep the capacity
    }
  }
  parts_.clear();
}

std::string write_stream(const RecordedStream& stream) {
  const Header header{.sms = stream.sms,
                      .line_bytes = stream.coalescing.line_bytes,
                      .sector_bytes = stream.coalescing.sector_bytes,
                      .coalesce = static_cast<std::uint32_t>(stream.coalescing.coalesce),
                      .requests = static_cast<std::uint32_t>(stream.coalescing.requests),
                      .keep_raw = static_cast<std::uint32_t>(stream.coalescing.keep_raw),
                      .transactions = stream.transactions.size(),
                      .cycles = stream.cycles,
                      .instructions = stream.instructions,
                      .mshr_stall_cycles = stream.mshr_stall_cycles,
                      .timed_sms = stream.time.sms.size(),
                      .l2_bytes = stream.time.l2_bytes,
                      .dram_bytes = stream.time.dram_bytes,
                      .dram_written_bytes = stream.time.dram_written_bytes,
                      .calls = stream.time.calls.calls,
                      .call_lanes = stream.time.calls.lanes,
                      .stages = stream.time.stages,
                      .issue_cycles = std::bit_cast<std::uint64_t>(stream.time.issue_cycles),
                      .ray_unit_cycles = std::bit_cast<std::uint64_t>(stream.time.ray_unit_cycles),
                      .l2_cycles = std::bit_cast<std::uint64_t>(stream.time.l2_cycles),
                      .dram_cycles = std::bit_cast<std::uint64_t>(stream.time.dram_cycles)};
  const std::size_t size = stream.transactions.size() * sizeof(Transaction);
  const std::size_t timed = stream.time.sms.size() * sizeof(SmTime);
  const std::size_t end = sizeof(Header) + size + timed;
  std::string bytes(end + sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), &header, sizeof(Header));
  if (size != 0) {
    std::memcpy(bytes.data() + sizeof(Header), stream.transactions.data(), size);
  }
  if (timed != 0) {
    std::memcpy(bytes.data() + sizeof(Header) + size, stream.time.sms.data(), timed);
  }
  const std::uint64_t checksum = XXH3_64bits(bytes.data(), end);
  std::memcpy(bytes.data() + end, &checksum, sizeof(checksum));
  return bytes;
}

RecordedStream read_stream(std::string_view bytes, const std::string& where) {
  if (bytes.size() < sizeof(Header) + sizeof(std::uint64_t)) {
    damaged("the recorded stream ends early", where, fmt::format("{} bytes", bytes.size()),
            fmt::format("at least {}", sizeof(Header) + sizeof(std::uint64_t)));
  }
  Header header;
  std::memcpy(&header, bytes.data(), sizeof(Header));
  check_header(header, bytes.size(), where);
  const std::size_t before = bytes.size() - sizeof(std::uint64_t);
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, bytes.data() + before, sizeof(checksum));
  if (checksum != XXH3_64bits(bytes.data(), before)) {
    damaged("the recorded stream is damaged", where, "another checksum", fmt::format("{:016x}", checksum));
  }
  RecordedStream stream;
  stream.coalescing = {.line_bytes = header.line_bytes,
                       .sector_bytes = header.sector_bytes,
                       .coalesce = header.coalesce != 0,
                       .requests = header.requests != 0,
                       .keep_raw = header.keep_raw != 0};
  stream.sms = header.sms;
  stream.cycles = header.cycles;
  stream.instructions = header.instructions;
  stream.mshr_stall_cycles = header.mshr_stall_cycles;
  stream.time.l2_bytes = header.l2_bytes;
  stream.time.dram_bytes = header.dram_bytes;
  stream.time.dram_written_bytes = header.dram_written_bytes;
  stream.time.calls = {header.calls, header.call_lanes};
  stream.time.stages = header.stages;
  stream.time.issue_cycles = std::bit_cast<double>(header.issue_cycles);
  stream.time.ray_unit_cycles = std::bit_cast<double>(header.ray_unit_cycles);
  stream.time.l2_cycles = std::bit_cast<double>(header.l2_cycles);
  stream.time.dram_cycles = std::bit_cast<double>(header.dram_cycles);
  try {
    memory::check(stream.coalescing, where);
  } catch (const Error& error) {
    throw Error(ErrorKind::Input, error.info());
  }
  stream.transactions.resize(header.transactions);
  if (header.transactions != 0) {
    std::memcpy(stream.transactions.data(), bytes.data() + sizeof(Header), header.transactions * sizeof(Transaction));
  }
  check_transactions(stream, where);
  stream.time.sms.resize(header.timed_sms);
  if (header.timed_sms != 0) {
    std::memcpy(stream.time.sms.data(), bytes.data() + sizeof(Header) + header.transactions * sizeof(Transaction),
                header.timed_sms * sizeof(SmTime));
  }
  check_time(stream, where);
  return stream;
}

}  // namespace rayreplay::experiment
