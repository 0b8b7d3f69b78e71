// What the datasets of `rayreplay cache --elements` hold: unit and meaning of each.
//
// Contract: one list for the file's attributes, its tests and docs/cache.md. `describe_datasets` gives every dataset
// that is there the attributes "unit" and "meaning".
#pragma once

#include <vector>

#include <hdf5.h>

namespace rayreplay::report {

struct CacheDataset {
  const char* group;
  const char* name;
  const char* unit;
  const char* meaning;
};

[[nodiscard]] const std::vector<CacheDataset>& cache_datasets();

void describe_datasets(hid_t root);

}  // namespace rayreplay::report
