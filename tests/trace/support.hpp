// What the tests of the trace file share: a folder of their own, whole files as bytes, comparison bit by bit.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.hpp"
#include "capture/trace/reader.hpp"
#include "capture/trace/writer.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/file_bytes.hpp"
#include "tests/support/random_trace.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rayreplay::trace {

namespace fs = std::filesystem;

/// A test with a folder that is there before and gone after it.
class TraceFileTest : public testing::Test {
 protected:
  [[nodiscard]] fs::path file(const std::string& name = "t.rrt") const {
    return folder_ / name;
  }

 private:
  test::TemporaryFolder folder_;
};

using test::error_of;
using test::read_bytes;
using test::write_bytes;

template <class Column>
std::string bytes_of_column(const Column& column) {
  return {reinterpret_cast<const char*>(column.data()), column.size() * sizeof(column[0])};
}

/// "" or the first part in which the traces differ; floats are compared as bits. Hashes are left out.
std::string difference(const Trace& a, const Trace& b);

}  // namespace rayreplay::trace
