// Columns of HDF5 files that commands write.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <hdf5.h>

namespace rayreplay::test {

/// A column of an HDF5 file; the file is closed again.
inline std::vector<std::uint64_t> read_file_column(const std::string& path, const char* name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  EXPECT_GE(dataset, 0) << name;
  const hid_t space = H5Dget_space(dataset);
  std::vector<std::uint64_t> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  EXPECT_GE(H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  return values;
}

}  // namespace rayreplay::test
