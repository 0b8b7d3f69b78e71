// Unit and meaning of each dataset of `rayreplay cache --elements`.
//
// Contract: one list for the file's attributes, its tests and docs/cache.md. `describe_datasets` sets the attributes
// "unit" and "meaning" of every existing dataset.
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
