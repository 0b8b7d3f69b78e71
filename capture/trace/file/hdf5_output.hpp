// An HDF5 file as an output: whole or not there, and a full disk that is an Output error.
//
// Contract: `root()` is written to with libhdf5, in a QuietScope; libhdf5 never learns of a failed write (see
// hdf5_sink.hpp), so callers that write much call `require_written` now and then, which throws Output with the system's
// reason. `commit` closes every object that is still open, asks once more and moves the file into place.
#pragma once

#include <filesystem>
#include <string>

#include "base/output_file.hpp"
#include "capture/trace/file/hdf5_handle.hpp"
#include "capture/trace/file/hdf5_sink.hpp"

namespace rayreplay::trace::hdf5 {

class OutputHdf5 {
 public:
  /// As OutputFile. `what`: what errors call it ("the schedule").
  OutputHdf5(const std::filesystem::path& path, bool overwrite, std::string what);
  ~OutputHdf5();
  OutputHdf5(const OutputHdf5&) = delete;
  OutputHdf5& operator=(const OutputHdf5&) = delete;

  [[nodiscard]] hid_t root() const {
    return file_.get();
  }
  [[nodiscard]] const std::filesystem::path& path() const {
    return output_.path();
  }
  void require_written() const;
  /// Writes everything to the file, so that it can be read back.
  void flush();
  void commit();

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  OutputFile output_;
  std::string what_;
  Sink sink_;
  Handle file_;
};

}  // namespace rayreplay::trace::hdf5
