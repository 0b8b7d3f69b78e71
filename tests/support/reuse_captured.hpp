// Lines that a captured launch touches, as the L1 of each SM and the L2 see them, for tests and benchmarks of reuse
// distances.
//
// Contract: warps of captured_streams.hpp go to 4 SMs in turn; an SM's resident warps take turns instruction by
// instruction, and so do SMs: an interleaving that anyone can follow, not a machine's. The L2 gets every transaction.
// Deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/captured_streams.hpp"

namespace rayreplay::test {

inline constexpr std::size_t kCapturedSms = 4;
inline constexpr std::size_t kCapturedResident = 6;

struct CapturedCase {
  const char* trace;  ///< of tests/data/h200, without ending
  const char* layout;
  bool coalesce;
  std::uint32_t l2_line_bytes;
};

struct CapturedLines {
  std::vector<std::vector<std::uint64_t>> l1 = std::vector<std::vector<std::uint64_t>>(kCapturedSms);
  std::vector<std::uint64_t> l2;
};

inline CapturedLines captured_lines(const CapturedCase& which) {
  const CapturedStreams captured = captured_streams(which.trace, which.layout, which.coalesce);
  const std::vector<memory::WarpStream>& streams = captured.warps;

  CapturedLines result;
  struct Warp {
    std::size_t item = 0;
    std::size_t instruction = 0;
  };
  std::vector<std::vector<Warp>> resident(kCapturedSms);
  std::size_t next = 0;
  bool busy = true;
  while (busy) {
    busy = next < streams.size();
    for (std::size_t sm = 0; sm < kCapturedSms; ++sm) {
      std::vector<Warp>& warps = resident[sm];
      while (warps.size() < kCapturedResident && next < streams.size()) {
        warps.push_back({next++, 0});
      }
      for (Warp& warp : warps) {
        const memory::WarpStream& stream = streams[warp.item];
        if (warp.instruction < stream.instructions()) {
          for (std::uint32_t i = stream.first[warp.instruction]; i < stream.first[warp.instruction + 1]; ++i) {
            const std::uint64_t line = stream.transactions[i].line;
            result.l1[sm].push_back(line);
            result.l2.push_back(line * captured.coalescing.line_bytes / which.l2_line_bytes);
          }
          ++warp.instruction;
        }
      }
      std::erase_if(warps, [&](const Warp& warp) { return warp.instruction >= streams[warp.item].instructions(); });
      busy = busy || !warps.empty();
    }
  }
  return result;
}

}  // namespace rayreplay::test
