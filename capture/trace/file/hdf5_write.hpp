// Small writes through libhdf5, each checked. Internal to this room.
//
// Contract: `written` passes a result of libhdf5 through or throws Output with libhdf5's innermost message. Text is
// stored as fixed-length UTF-8, so that no file of ours needs libhdf5's global heap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "capture/trace/file/hdf5_handle.hpp"

namespace rayreplay::trace::hdf5 {

[[noreturn]] void throw_not_written(const std::string& where);

template <class Result>
Result written(Result result, const std::string& where) {
  if (result < 0) {
    throw_not_written(where);
  }
  return result;
}

void write_attribute(hid_t object, const char* name, std::uint32_t value, const std::string& where);
void write_attribute(hid_t object, const char* name, std::uint64_t value, const std::string& where);
void write_attribute(hid_t object, const char* name, const std::string& value, const std::string& where);
void write_attribute(hid_t object, const char* name, const std::vector<std::string>& values, const std::string& where);
void write_texts(hid_t group, const char* name, const std::vector<std::string>& values, const std::string& where);
[[nodiscard]] Handle create_group(hid_t parent, const char* name, const std::string& where);

}  // namespace rayreplay::trace::hdf5
