// Names of HDF5 types and shapes in messages.
//
// Contract: pure functions of open identifiers: "64-bit floats, little-endian", "32-bit unsigned integers, big-endian",
// "texts of 4 bytes"; "one value", "5 values", "4 x 2 values".
#pragma once

#include <string>

#include <hdf5.h>

namespace rayreplay::trace::hdf5 {

[[nodiscard]] std::string type_text(hid_t type);
[[nodiscard]] std::string shape_text(hid_t space);

}  // namespace rayreplay::trace::hdf5
