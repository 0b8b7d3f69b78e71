// Where a memory trace is written to. Internal to this room.
//
// Contract: a file is written aside and renamed by `commit`; "-", pipes and devices are written straight. Errors:
// Output with the system's reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/output_file.hpp"

namespace rayreplay::import {

class TraceOutput {
 public:
  TraceOutput(const std::string& path, bool overwrite);
  ~TraceOutput() = default;
  TraceOutput(const TraceOutput&) = delete;
  TraceOutput& operator=(const TraceOutput&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const std::string& what, int error) const;
  void flush();

  std::string name_;
  std::unique_ptr<OutputFile> file_;  ///< null: straight
  FileDescriptor straight_;           ///< a device or a pipe; none: standard output
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace rayreplay::import
