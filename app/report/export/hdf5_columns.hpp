// Reads and writes whole columns of HDF5 files.
//
// Contract: as GrowingColumn (hdf5_parts.hpp); one overload for each type in result files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <vector>

#include "app/report/export/hdf5_parts.hpp"

namespace rayreplay::report::hdf5 {

template <class Value>
void column(hid_t group, const char* name, hid_t stored, hid_t native, const std::vector<Value>& values,
            const Place& place) {
  GrowingColumn(group, name, stored, native).append(values.data(), values.size(), place);
}

inline void column(hid_t group, const char* name, const std::vector<std::uint64_t>& values, const Place& place) {
  column(group, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, values, place);
}
inline void column(hid_t group, const char* name, const std::vector<std::uint32_t>& values, const Place& place) {
  column(group, name, H5T_STD_U32LE, H5T_NATIVE_UINT32, values, place);
}
inline void column(hid_t group, const char* name, const std::vector<std::uint8_t>& values, const Place& place) {
  column(group, name, H5T_STD_U8LE, H5T_NATIVE_UINT8, values, place);
}
inline void column(hid_t group, const char* name, const std::vector<float>& values, const Place& place) {
  column(group, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values, place);
}

/// The same value in every row.
template <class Rows, class Value>
auto gather(const Rows& rows, const Value& value) {
  std::vector<std::remove_cvref_t<std::invoke_result_t<Value, decltype(*std::begin(rows))>>> values;
  values.reserve(std::size(rows));
  std::ranges::transform(rows, std::back_inserter(values), value);
  return values;
}

}  // namespace rayreplay::report::hdf5
