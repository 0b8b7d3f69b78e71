#include "sim/memory/results/element_distances.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "sim/memory/allocations.hpp"

namespace rayreplay::memory {

void ElementDistanceTable::add(std::span<const Transaction> transactions, std::span<const Request> requests,
                               const PieceDistances& distances) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < transactions.size(); ++i) {
    const std::span<const std::uint32_t> below =
        distances.l2.empty() ? distances.l2
                             : distances.l2.subspan(distances.l2_begin[i],
                                                    std::size_t{distances.l2_begin[i + 1]} - distances.l2_begin[i]);
    const auto count = [&](Counts& counts, std::uint64_t weight) {
      if (!distances.l1.empty()) {
        counts[kL1][octave_slot(distances.l1[i])] += weight;
      }
      for (const std::uint32_t distance : below) {
        counts[kL2][octave_slot(distance)] += weight;
      }
    };
    count(all_, transactions[i].lanes);
    for (const std::size_t end = next + transactions[i].lanes; next < end; ++next) {
      const std::uint32_t element = requests[next].element;
      if (element == kNoElement) {
        count(none_, 1);
        continue;
      }
      if (element >= elements_) {
        throw Error(ErrorKind::Internal, {"a request's element is out of range", "", fmt::format("{}", element),
                                          fmt::format("less than {}", elements_), ""});
      }
      std::unique_ptr<Page>& page = pages_[element / kPage];
      if (page == nullptr) {
        page = std::make_unique<Page>();
      }
      count((*page)[element % kPage], 1);
    }
  }
}

std::vector<ElementDistances> ElementDistanceTable::rows() const {
  std::vector<ElementDistances> rows;
  const auto add = [&rows](std::uint32_t element, const Counts& counts) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      for (std::size_t slot = 0; slot < kOctaveSlots; ++slot) {
        if (counts[level][slot] != 0) {
          rows.push_back(
              {element, static_cast<std::uint8_t>(level), static_cast<std::uint8_t>(slot), counts[level][slot]});
        }
      }
    }
  };
  for (std::size_t page = 0; page < pages_.size(); ++page) {
    for (std::size_t i = 0; pages_[page] != nullptr && i < kPage; ++i) {
      add(static_cast<std::uint32_t>(page * kPage + i), (*pages_[page])[i]);
    }
  }
  add(kNoElement, none_);
  return rows;
}

}  // namespace rayreplay::memory
