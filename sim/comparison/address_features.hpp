// Features that separate addresses: steps and remainders of fields that tell which memory a pending call touches.
//
// Contract: for a sample of the segments that open with a pending call and touch memory (every n-th, at most
// kAddressSample, with at most kAddressRows instructions in all and kRowsOfACall of each), measures what a class of the
// pending call tells about the line of each memory instruction of its segment: the mutual information from counts,
// I(line; class | shader, instruction), with Miller's correction (path_features.hpp). Where a sample has nearly as many
// lines as calls, counts tell nothing about lines, so aligned runs of 2, 4, 8, … lines take their place, until there
// are at least kCallsOfALine calls for each. Classes are
//
//   quotients    field / d of whole-number fields, d from 1 to 64 and powers of two ("field >> k")
//   remainders   field % m, m from 2 to 64
//   steps        of quantised fields, points and directions (Feature::is_scale), with 1, 2, 3, … bits
//
// with at most `bits` bits. Of each field the coarsest class with 99 % of what its best one tells becomes a feature, or
// the remainder where that tells more, or as much with fewer classes. Classes that tell below 1 % of the lines' own
// entropy are left out. At most kMostAddressFeatures, those that tell most first. This only chooses candidates: the
// advisor replays them. O(classes · kAddressRows) and one pass over the pending calls, parallel over fields; the same
// for any number of workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/comparison/advise_features.hpp"
#include "sim/comparison/call_addresses.hpp"

namespace rayreplay::experiment {

inline constexpr std::size_t kAddressSample = 1 << 13;
inline constexpr std::size_t kAddressRows = 1 << 14;
inline constexpr std::size_t kRowsOfACall = 64;
inline constexpr std::size_t kCallsOfALine = 8;
inline constexpr std::size_t kMostAddressFeatures = 8;

/// I(way; value | stratum) for many values of the same rows: as told_by (path_features.hpp), in linear time.
class Information {
 public:
  /// By row. Strata and ways are below 2^24.
  Information(std::vector<std::uint32_t> strata, std::vector<std::uint32_t> ways);

  /// In nats, corrected; may be a little below 0. `values`: by row, below 2^40.
  [[nodiscard]] double told(std::span<const std::uint64_t> values) const;
  /// H(way | stratum), corrected: the most that can be told.
  [[nodiscard]] double entropy() const {
    return of_ways_ - of_strata_;
  }

 private:
  std::vector<std::uint32_t> strata_, ways_;
  double of_ways_ = 0, of_strata_ = 0;  ///< H(stratum, way), H(stratum)
};

/// `base`: the features of the launch (make_features), for the quantised ones.
[[nodiscard]] std::vector<Feature> make_address_features(const scheduler::formula::FieldReader& fields,
                                                         const scheduler::formula::FieldSet& available,
                                                         const CallAddresses& addresses, std::span<const Feature> base,
                                                         std::uint32_t bits);

}  // namespace rayreplay::experiment
