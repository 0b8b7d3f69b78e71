// What the tests of ingest share.
#pragma once

#include <string>

#include "capture/ingest/ingest.hpp"
#include "capture/trace/reader.hpp"
#include "tests/ingest/spool_generator.hpp"
#include "tests/trace/support.hpp"

namespace rayreplay::ingest {

/// "" or the first part in which a trace is not what was expected. What the header says of tool, options and missing
/// parts is not compared.
inline std::string capture_difference(trace::Trace expected, trace::Trace found) {
  for (trace::Trace* trace : {&expected, &found}) {
    trace->header.tool_version.clear();
    trace->header.configuration.clear();
    trace->header.not_captured.clear();
  }
  return trace::difference(expected, found);
}

class IngestTest : public trace::TraceFileTest {
 protected:
  /// Ingests and loads, which checks every rule.
  trace::Trace ingested(const test::SyntheticCapture& capture, const IngestOptions& options = {}) {
    std::filesystem::remove(file("s.rrspool"));
    capture.write(file("s.rrspool"));
    return ingested_file(options);
  }
  trace::Trace ingested_file(IngestOptions options = {}) {
    options.overwrite = true;
    result_ = ingest({file("s.rrspool")}, file(), options);
    return result_.traces.empty() ? trace::Trace{} : trace::load(file());
  }
  IngestResult result_;
};

}  // namespace rayreplay::ingest
