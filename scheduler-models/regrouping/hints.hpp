// Coherence hints: what an application would tell the hardware about a thread's pending call (MODELS.md §7).
//
// Contract: a hint is a number of `bits` bits for every segment that opens with a pending ClosestHit or Miss; 0 for the
// others. Three sources:
//   captured    the trace's hint column: the low rays.hint_bits bits of rays.hint, narrowed or widened to `bits` so
//               the most significant bits stay ("captured" by name: as many bits as the launch's widest hint)
//   expression  a formula over fields of the pending event (hints/expression.hpp: operators and functions;
//               hints/fields.hpp: fields)
//   file        flat little-endian uint32, one per ray of the launch in the order of the trace's rays; values of rays
//               without a pending call are ignored
// Deterministic; O(segments · length of the formula), parallel. Errors: Usage for a malformed formula (the message
// marks the column); Input for a value that does not fit the bits (names ray, thread, value, limit and fix) and for a
// file of the wrong size; Missing when the trace has no hints.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "capture/trace/trace.hpp"
#include "scheduler-models/regrouping/segments.hpp"

namespace rayreplay::scheduler {

inline constexpr std::uint32_t kMaxHintBits = 32;

enum class HintOrigin : std::uint8_t { Captured, Expression, File };

struct Hints;

struct HintSource {
  HintOrigin origin = HintOrigin::Captured;
  std::uint32_t bits = 8;
  std::string text{};  ///< the formula, or the file's path
  /// The result of `make_hints` for the same segments, where the caller has it already.
  std::shared_ptr<const Hints> ready{};
};

/// By the names that models use. "none", "captured" and "auto" are predefined and cannot be redefined.
using HintSources = std::map<std::string, HintSource, std::less<>>;

/// "NAME:BITS=FORMULA" (`--hint material:4=material%16`); the formula is parsed too. Errors: Usage.
[[nodiscard]] std::pair<std::string, HintSource> parse_hint(std::string_view text);

/// "NAME:BITS=FILE" (`--hint-file mine:8=hints.bin`).
[[nodiscard]] std::pair<std::string, HintSource> parse_hint_file(std::string_view text);

struct Hints {
  std::uint32_t bits = 0;              ///< 0: no hints
  trace::Column<std::uint32_t> value;  ///< by segment; empty when bits is 0
};

/// The source of the values of a name.
struct HintPlace {
  enum class From : std::uint8_t { Nowhere, Captured, Made } from = From::Nowhere;
  std::uint32_t bits = 0;  ///< Captured only; 0: as many as the launch's widest hint
};

/// Errors as `make_hints`, except those of values.
[[nodiscard]] HintPlace find_hints(const trace::Launch& launch, std::string_view name, const HintSources& sources);

/// `name`: "none", "captured", "auto" (captured where the trace has hints, else none) or a key of `sources`. Usage with
/// the nearest name for others.
[[nodiscard]] Hints make_hints(const trace::Trace& trace, const trace::Launch& launch, const Segments& segments,
                               std::string_view name, const HintSources& sources);

}  // namespace rayreplay::scheduler
