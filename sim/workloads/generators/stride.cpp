// Strided reads: the number of lines that a warp's load touches.
//
// Contract: in instruction i every lane reads 4 bytes, lane l at (i · n + l) · stride, n being the lanes of a warp;
// each instruction is issued `repeats` times before the next. Up to a stride of one line an instruction touches
// floor(last / line) − floor(first / line) + 1 lines, above that one for each lane. Lines are read in ascending order;
// two instructions share at most the line between them. Let T be the transactions of all instructions once, and S those
// on the last line of the previous instruction. A cache that holds an instruction's lines hits T (repeats − 1) + S of T
// · repeats. Source: rayreplay; CUDA C++ Best Practices Guide, "Strided Accesses". O(addresses).
#include <memory>

#include <fmt/format.h>

#include "sim/workloads/declare.hpp"
#include "sim/workloads/memory_maker.hpp"
#include "sim/workloads/workload.hpp"

namespace rayreplay::workloads {
namespace {

constexpr std::uint32_t kWord = 4;

class Stride final : public Workload {
 public:
  explicit Stride(const Parameters& parameters)
      : stride_(get_count(parameters, "stride")),
        instructions_(get_count(parameters, "instructions")),
        repeats_(get_count(parameters, "repeats")),
        lanes_(get_count(parameters, "warp_size")) {
    if (stride_ % kWord != 0) {
      throw Error(ErrorKind::Usage, {"the stride is not a whole number of words", "workload 'stride', stride",
                                     std::to_string(stride_), "a multiple of 4 bytes", ""});
    }
  }

  [[nodiscard]] WorkloadKind kind() const override {
    return WorkloadKind::Memory;
  }
  [[nodiscard]] MemoryWorkload make_memory() const override {
    const std::uint64_t addresses = std::uint64_t{instructions_} * repeats_ * lanes_;
    MemoryWorkload made =
        begin_memory("stride", lanes_, 1, std::uint64_t{instructions_} * lanes_ * stride_ + kWord, addresses);
    std::vector<std::uint64_t> lane_address(lanes_);
    for (std::uint32_t i = 0; i < instructions_; ++i) {
      for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
        lane_address[lane] = kDataStart + first_byte(i) + std::uint64_t{lane} * stride_;
      }
      for (std::uint32_t repeat = 0; repeat < repeats_; ++repeat) {
        made.records.add(0, i, false, kWord, ~std::uint64_t{0} >> (64 - lanes_), lane_address.data());
      }
    }
    return made;
  }

  [[nodiscard]] std::vector<KnownAnswer> answers(const machine::Machine& /*machine*/) const override {
    std::vector<KnownAnswer> answers;
    for (const std::uint32_t line : {32U, 128U}) {
      const Lines lines = count(line);
      const double transactions = static_cast<double>(lines.transactions) * repeats_;
      const double hits = static_cast<double>(lines.transactions) * (repeats_ - 1) + static_cast<double>(lines.shared);
      // Room for the lines of an instruction and of the one before.
      const AnswerSettings cache = cache_of("l1", 128, line);
      answers.push_back({"stream_transactions", transactions, 0,
                         fmt::format("lines of {} bytes between the first and the last byte, at most one a lane", line),
                         cache});
      answers.push_back({"l1_hit_rate", hits / transactions, 0,
                         "(T (repeats - 1) + S) / (T repeats), S lines shared with the instruction before", cache});
    }
    return answers;
  }
  [[nodiscard]] std::vector<std::string> examples() const override {
    return {"stride:stride=0", "stride:stride=4", "stride:stride=36", "stride:stride=128",
            "stride:stride=64,repeats=4"};
  }

 private:
  struct Lines {
    std::uint64_t transactions = 0;  ///< of every instruction once
    std::uint64_t shared = 0;        ///< of these, on the last line of the previous instruction
  };

  /// Relative to kDataStart.
  [[nodiscard]] std::uint64_t first_byte(std::uint64_t instruction) const {
    return instruction * lanes_ * stride_;
  }
  [[nodiscard]] Lines count(std::uint64_t line) const {
    Lines lines;
    for (std::uint64_t i = 0; i < instructions_; ++i) {
      const std::uint64_t first = first_byte(i) / line;
      const std::uint64_t last = (first_byte(i) + (lanes_ - 1) * std::uint64_t{stride_}) / line;
      lines.transactions += stride_ > line ? lanes_ : last - first + 1;
      lines.shared += i > 0 && first == (first_byte(i) - stride_) / line ? 1U : 0U;
    }
    return lines;
  }

  std::uint32_t stride_;
  std::uint32_t instructions_;
  std::uint32_t repeats_;
  std::uint32_t lanes_;
};

const Workloads::Registrar kRegistrar(
    {.kind = {},
     .name = "stride",
     .summary = "Warps read words that lie a stride apart",
     .text = "Lane l of instruction i reads the word at (i n + l) stride. With a small stride one line serves a whole "
             "warp; with a stride of a line or more each lane needs its own.",
     .source = "CUDA C++ Best Practices Guide, strided accesses",
     .parameters = {declare::whole(
                        "stride", 4, "bytes",
                        "Distance of the words of two neighbouring lanes; a multiple of 4. 0: all lanes read one word.",
                        0, 1 << 20),
                    declare::whole("instructions", 1024, "instructions", "Different instructions.", 1, 1 << 20),
                    declare::whole("repeats", 1, "", "How often each instruction is issued before the next.", 1,
                                   1 << 16),
                    warp_size_parameter()}},
    [](const Parameters& parameters) { return std::make_unique<Stride>(parameters); });

}  // namespace
}  // namespace rayreplay::workloads
