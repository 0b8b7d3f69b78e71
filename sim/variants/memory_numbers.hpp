// The numbers whose break-even in memory time is searched for.
//
// Contract: a number is a key of an experiment with a numeric value. The usual ones: the cost of closest-hit calls, the
// live state of the row's scheduler model, the latency of an instruction, assumed rates, latencies and limits of the
// machine, the sizes of L1 and L2, the bandwidth of DRAM; those that a row does not have are left out. A number's range
// is the one that was asked for. Without it, an assumed number has its plausible range (sim/comparison/ranges.hpp); any
// other, and one without such a range, a quarter to four times its value. Ranges are cut to the key's limits. Sizes of
// caches are whole sets. Errors: Usage for keys that are no numbers, that no stage of memory time reads, or whose value
// is 0 if no range was asked for; for ranges that do not contain the value, or exceed the key's limits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/comparison/quantities.hpp"
#include "sim/settings/settings.hpp"

namespace rayreplay::experiment {

struct AskedNumber {
  std::string key;
  std::optional<std::pair<double, double>> range{};
};

/// Items "KEY" and "KEY=LOW..HIGH" between commas.
[[nodiscard]] std::vector<AskedNumber> parse_numbers(std::string_view list, const std::string& option);

/// Throws the errors that `numbers_of` has for the keys of `asked`, before anything is computed; and Usage for a
/// parameter of scheduler models that no row's model has. `rows`: their complete settings.
void check_numbers(std::span<const Settings> rows, const std::vector<AskedNumber>& asked);

/// Facts of the launch about its numbers, beside its settings.
struct NumberFacts {
  double hit_cost = 0;  ///< instructions of a closest-hit call, mean; 0: there is none
  machine::Origin hit_origin = machine::Origin::Assumed;
};

/// `complete`: the row's settings.
[[nodiscard]] std::vector<Quantity> numbers_of(const Settings& complete, const NumberFacts& facts,
                                               const std::vector<AskedNumber>& asked);

/// Sets the number in settings that are not completed.
void set_number(Settings& asked, const Quantity& quantity, double value);

}  // namespace rayreplay::experiment
