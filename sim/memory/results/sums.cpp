#include "sim/memory/results/sums.hpp"

namespace rayreplay::memory {

void LevelSums::merge(const LevelSums& other) {
  accesses += other.accesses;
  hits += other.hits;
  stores += other.stores;
  sectors += other.sectors;
  cold += other.cold;
  stored_only += other.stored_only;
  new_sectors += other.new_sectors;
  capacity += other.capacity;
  conflict += other.conflict;
  beyond += other.beyond;
  sector_misses += other.sector_misses;
  load_sectors += other.load_sectors;
  filled += other.filled;
  written += other.written;
}

void WindowSums::merge(const WindowSums& other) {
  if (other.requests != 0) {
    first_request = requests == 0 ? other.first_request : std::min(first_request, other.first_request);
    first_cycle = requests == 0 ? other.first_cycle : std::min(first_cycle, other.first_cycle);
    last_cycle = std::max(last_cycle, other.last_cycle);
    requests += other.requests;
  }
  for (std::size_t level = 0; level < kLevels; ++level) {
    for (std::size_t kind = 0; kind < kDataKinds; ++kind) {
      levels[level][kind].merge(other.levels[level][kind]);
    }
  }
  sms.resize(std::max(sms.size(), other.sms.size()));
  for (std::size_t sm = 0; sm < other.sms.size(); ++sm) {
    for (std::size_t level = 0; level < kLevels; ++level) {
      sms[sm][level].merge(other.sms[sm][level]);
    }
  }
  dram_read_bytes += other.dram_read_bytes;
  dram_write_bytes += other.dram_write_bytes;
}

}  // namespace rayreplay::memory
