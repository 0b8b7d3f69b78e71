// A schedule file as plain data, sound or not (docs/schedule-files.md), for tests of its reader.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <hdf5.h>

#include "capture/trace/file/hdf5_handle.hpp"

namespace rayreplay::test {

struct ScheduleParts {
  std::map<std::string, std::string> texts;
  std::map<std::string, std::uint32_t> numbers;
  std::map<std::string, std::vector<std::uint64_t>> columns;  ///< by "places/thread"
  std::map<std::string, hid_t> types{};                       ///< of columns that have another type than they should

  [[nodiscard]] static hid_t type_of(const std::string& column) {
    return column == "places/first_event" || column == "places/queue" ? H5T_STD_U64LE
           : column == "places/state"                                 ? H5T_STD_U8LE
                                                                      : H5T_STD_U32LE;
  }

  void write(const std::filesystem::path& path) const {
    using trace::hdf5::Handle;
    const trace::hdf5::QuietScope quiet;
    const Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const Handle scalar(H5Screate(H5S_SCALAR));
    for (const auto& [name, text] : texts) {
      const Handle type(H5Tcopy(H5T_C_S1));
      H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1));
      H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
      const Handle attribute(H5Acreate2(file.get(), name.c_str(), type.get(), scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
      H5Awrite(attribute.get(), type.get(), text.c_str());
    }
    for (const auto& [name, number] : numbers) {
      const Handle attribute(
          H5Acreate2(file.get(), name.c_str(), H5T_STD_U32LE, scalar.get(), H5P_DEFAULT, H5P_DEFAULT));
      H5Awrite(attribute.get(), H5T_NATIVE_UINT32, &number);
    }
    const Handle parents(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(parents.get(), 1);
    for (const auto& [name, values] : columns) {
      const hsize_t rows = values.size();
      const Handle space(H5Screate_simple(1, &rows, nullptr));
      const hid_t type = types.contains(name) ? types.at(name) : type_of(name);
      const Handle dataset(
          H5Dcreate2(file.get(), name.c_str(), type, space.get(), parents.get(), H5P_DEFAULT, H5P_DEFAULT));
      if (!values.empty()) {
        H5Dwrite(dataset.get(), H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
      }
    }
  }
};

}  // namespace rayreplay::test
