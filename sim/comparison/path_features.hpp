// Features that separate paths: remainders of whole-number fields that tell which path a pending closest-hit call
// takes.
//
// Contract: for a sample of the pending closest hits that have a path (every n-th, at most kPathSample), and each field
// that is a whole number, measures what the remainders by 2, 3, … tell about the path: the mutual information
// I(path; field mod m | shader), from counts, with Miller's correction (G. A. Miller 1955: + (cells − 1) / 2n for each
// entropy), because many classes in a sample seem to tell something by chance. Of each field the smallest m with 99 %
// of what its best one tells becomes the feature "field % m", which has exactly the bits that m − 1 takes. Fields tell
// nothing below 1 % of the paths' own entropy; the field itself, where it wins, is a feature already
// (advise_features.hpp). m is at most 2^bits and kMostModulus. This only chooses candidates: the advisor replays them.
// The features that tell most come first. O(fields · kMostModulus · kPathSample · log kPathSample), parallel; the same
// for any number of workers.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/comparison/advise_features.hpp"
#include "sim/machine/path_costs.hpp"

namespace rayreplay::experiment {

inline constexpr std::size_t kPathSample = 1 << 13;
inline constexpr std::uint32_t kMostModulus = 64;

/// A pending call of the sample: the value of a field, and how the call ran.
struct PathValue {
  std::uint32_t shader = 0;
  std::uint32_t way = 0;  ///< PathCosts::way
  double value = 0;       ///< a whole number of at least 0
};

/// I(way; value mod modulus | shader) in nats, corrected; may be a little below 0. A modulus of 0: the value itself.
[[nodiscard]] double told_by(const std::vector<PathValue>& sample, std::uint32_t modulus);

[[nodiscard]] std::vector<Feature> make_path_features(const scheduler::formula::FieldReader& fields,
                                                      const scheduler::formula::FieldSet& available,
                                                      const machine::PathCosts& paths, std::uint32_t bits);

}  // namespace rayreplay::experiment
