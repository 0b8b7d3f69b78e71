// The output of a memory trace. Internal to this folder.
//
// Contract: a file is written under a temporary name, and `commit` renames it; "-", pipes and devices are written
// directly. Errors: Output with the system's reason.
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
  std::unique_ptr<OutputFile> file_;  ///< null: direct
  FileDescriptor straight_;           ///< a device or a pipe; none: standard output
  int descriptor_ = -1;
  std::string buffer_;
};

}  // namespace rayreplay::import
