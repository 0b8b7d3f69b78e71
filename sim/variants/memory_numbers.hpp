// The numbers whose break-even in memory time is searched for.
//
// Contract: a number is a key of an experiment that is an amount (number_rules.hpp). The usual numbers are the costs of
// calls, the charges of the row's scheduler model, the latency of an instruction, the registers of a thread, the
// payload of a ray, uncertain rates, latencies and limits of the machine (is_uncertain in sim/comparison/ranges.hpp),
// the sizes of L1 and L2, and the bandwidth of DRAM, without those that a row does not have or read. A number's range
// is the one asked for; where the key names several numbers of calls (call_numbers.hpp), of those whose value it
// holds. Otherwise it is its plausible range (sim/comparison/ranges.hpp), or without one a quarter to
// four times the value, cut to the number's limits. The ends of all ranges move inwards to whole steps (sets of a
// cache, words). Errors of kind Usage, for keys: a key that is no amount, is named twice, has no amount in a row now (0
// for "no limit"), or is 0 and has no range. For ranges: a range that lacks the value, has no other value, holds values
// that are no amounts, or exceeds the limits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/comparison/call_groups.hpp"
#include "sim/comparison/model_list.hpp"
#include "sim/comparison/quantity.hpp"
#include "sim/machine/live_state.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

struct AskedNumber {
  std::string key;
  std::optional<std::pair<double, double>> range{};
};

/// Items "KEY" and "KEY=LOW..HIGH", with commas between them, of several lists.
[[nodiscard]] std::vector<AskedNumber> parse_numbers(std::span<const std::string> lists, const std::string& option);

/// Facts of the launch about its numbers, beside its settings.
struct NumberFacts {
  CallGroups calls{};
  std::uint32_t warp_size = 0;
  GivenParameters given{};
  machine::LiveState live_state{};  ///< of its shaders
};

/// Throws the errors of `numbers_of` for the keys of `asked` before anything is computed, and Usage for a number that
/// no row has or reads. `rows`: their complete settings.
void check_numbers(std::span<const Settings> rows, const NumberFacts& facts, const std::vector<AskedNumber>& asked);

/// `complete`: the row's settings.
[[nodiscard]] std::vector<Quantity> numbers_of(const Settings& complete, const NumberFacts& facts,
                                               const std::vector<AskedNumber>& asked);

/// All amounts from which the row's memory time follows: costs of calls, parameters of its scheduler model, and keys,
/// without those that it does not read. Those that are varied have their range, the others none.
[[nodiscard]] std::vector<Quantity> numbers_in_use(const Settings& complete, const NumberFacts& facts,
                                                   std::span<const Quantity> varied);

/// Labels (label_of) of the uncertain numbers in use that `asked`, or the usual list if it is empty, leaves as they
/// are: those that it does not name, and those without an amount to vary (such as "no limit").
[[nodiscard]] std::vector<std::string> left_out(const Settings& complete, const NumberFacts& facts,
                                                const std::vector<AskedNumber>& asked);

/// "machine.l1_bytes: whole sets of 32,768 bytes, so 65,536 to 262,144 in place of 60,000 to 300,000"; "" where the
/// range is the one asked for.
[[nodiscard]] std::string range_note(const Quantity& quantity, const AskedNumber& asked);

/// The values used when numbers are varied together. They are `values`, changed so that they do not contradict each
/// other: a farther latency is at least the nearer one, at least one SM is not withheld, an SM has registers for a warp
/// and slots for the schedule's warps.
[[nodiscard]] std::vector<double> used_numbers(const NumberFacts& facts, std::span<const Quantity> quantities,
                                               std::span<const double> values);

/// Sets the used numbers (used_numbers) that differ from their present values, in settings that are not completed.
/// `of_model`: also parameters of the scheduler model.
void set_numbers(Settings& asked, const NumberFacts& facts, std::span<const Quantity> quantities,
                 std::span<const double> values, bool of_model);

}  // namespace rayreplay::experiment
