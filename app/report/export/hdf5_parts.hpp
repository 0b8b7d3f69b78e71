// Shared by the HDF5 files of this folder: attributes, groups, checked calls.
//
// Contract: calls of libhdf5 whose failure cannot be the user's fault throw Internal with libhdf5's message. Groups
// store no times, so the same result gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hdf5.h>

#include "base/error.hpp"
#include "capture/trace/file/hdf5_handle.hpp"

namespace rayreplay::report::hdf5 {

template <class Result>
Result checked(Result result) {
  if (result < 0) {
    throw Error(ErrorKind::Internal, {"libhdf5 failed", "a result file", trace::hdf5::last_message(), "",
                                      "free space on that disk, or write to another one"});
  }
  return result;
}

/// UTF-8 of fixed length: one value, or a list.
void write_text(hid_t object, const char* name, const std::string& value);
void write_texts(hid_t object, const char* name, const std::vector<std::string>& values);
void write_number(hid_t object, const char* name, std::uint32_t value);

[[nodiscard]] trace::hdf5::Handle make_group(hid_t parent, const char* name);

/// The object and the file, for messages.
struct Place {
  const char* what = "a result file";
  std::string path;
};

/// For calls that write to the disk: throws Output.
template <class Result>
Result written(Result result, const Place& place) {
  if (result < 0) {
    throw Error(ErrorKind::Output, {std::string("cannot write ") + place.what, place.path, trace::hdf5::last_message(),
                                    "", "free space on that disk, or write to another one"});
  }
  return result;
}

/// A growing one-dimensional dataset in compressed chunks.
class GrowingColumn {
 public:
  GrowingColumn(hid_t group, const char* name, hid_t stored, hid_t native);
  void append(const void* values, hsize_t rows, const Place& place);

 private:
  trace::hdf5::Handle dataset_;
  hid_t native_;
  hsize_t rows_ = 0;
};

}  // namespace rayreplay::report::hdf5
