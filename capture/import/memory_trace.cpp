#include "capture/import/memory_trace.hpp"

#include <array>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/forms.hpp"
#include "capture/import/line_source.hpp"
#include "capture/import/wait_notice.hpp"

namespace rayreplay::import {
namespace {

bool starts_text(std::string_view bytes) {
  return bytes.starts_with(kTextMagic);
}

bool starts_binary(std::string_view bytes) {
  return bytes.starts_with(kBinaryMagic);
}

/// Files that can be converted to a memory trace, or are mistaken for one.
struct Lookalike {
  std::string_view start;
  const char* fix;
};

constexpr const char* kUtf16 = "the text is in UTF-16: save it as UTF-8, without a byte order mark";
constexpr std::array kLookalikes = {
    Lookalike{"\x1F\x8B", "it is compressed with gzip: gzip -dc FILE | rayreplay import -"},
    Lookalike{"\x28\xB5\x2F\xFD", "it is compressed with Zstandard: zstd -dc FILE | rayreplay import -"},
    Lookalike{"\3757zXZ", "it is compressed with xz: xz -dc FILE | rayreplay import -"},
    Lookalike{"BZh", "it is compressed with bzip2: bzip2 -dc FILE | rayreplay import -"},
    Lookalike{"PK\x03\x04", "it is a zip archive: unzip -p FILE | rayreplay import -"},
    Lookalike{"\xEF\xBB\xBF", "the text starts with a byte order mark: save it as UTF-8 without one"},
    Lookalike{"\xFF\xFE", kUtf16},
    Lookalike{"\xFE\xFF", kUtf16},
    Lookalike{"MEMTRACE:", "this is the output of NVBit's mem_trace: rayreplay import FILE --nvbit HEADER -o OUT.rrm"},
    Lookalike{"------------- NVBit",
              "this is the output of NVBit's mem_trace: rayreplay import FILE --nvbit HEADER -o OUT.rrm"},
};

/// The remedy for a file that is no memory trace; "": unknown.
std::string lookalike_fix(std::string_view first) {
  for (const Lookalike& row : kLookalikes) {
    if (first.starts_with(row.start)) {
      return row.fix;
    }
  }
  return "";
}

std::string fix_for(std::string_view first, const std::string& path) {
  if (first.starts_with("\x89HDF") || first.starts_with("RAYREPLAY")) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error)
               ? "this is a trace of rays: give it to rayreplay cache as it is"
               : "this is a trace of rays, which is read from files only: write it to a file first, and name that";
  }
  const std::string fix = lookalike_fix(first);
  return fix.empty() ? "docs/memory-traces.md says how to write one, and how to convert other tools' output" : fix;
}

/// Checks records before the form writes them.
class CheckedWriter final : public MemoryTraceWriter {
 public:
  CheckedWriter(std::unique_ptr<MemoryTraceWriter> writer, TraceHeader header)
      : writer_(std::move(writer)), header_(std::move(header)) {}

  void append(const RecordBlock& block) override {
    for (std::size_t i = 0; i < block.records(); ++i) {
      check_row(header_, block, i, [&] { return fmt::format("record {}", records_ + i); });
    }
    records_ += block.records();
    writer_->append(block);
  }
  void commit() override {
    writer_->commit();
  }

 private:
  std::unique_ptr<MemoryTraceWriter> writer_;
  TraceHeader header_;
  std::uint64_t records_ = 0;
};

/// The first bytes of a file; false if it cannot be read.
template <class Says>
bool first_bytes(const std::string& path, const Says& says) {
  try {
    ByteSource bytes(path);
    return says(bytes.peek(kTextMagic.size()));
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

bool has_memory_trace_start(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) &&
         first_bytes(path, [](std::string_view first) { return starts_text(first) || starts_binary(first); });
}

bool is_memory_trace(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (path == "-" || (!error && (status.type() == std::filesystem::file_type::fifo ||
                                 status.type() == std::filesystem::file_type::character))) {
    return true;
  }
  return first_bytes(path, [](std::string_view first) {
    return starts_text(first) || starts_binary(first) || !lookalike_fix(first).empty();
  });
}

std::unique_ptr<MemoryTraceReader> open_memory_trace(const std::string& path) {
  return open_memory_trace(path, {});
}

std::unique_ptr<MemoryTraceReader> open_memory_trace(const std::string& path, const WaitNotice& on_wait) {
  auto bytes = std::make_unique<ByteSource>(path, on_wait);
  const std::string_view first = bytes->peek(kTextMagic.size());
  if (starts_binary(first)) {
    return make_binary_reader(std::move(bytes));
  }
  if (starts_text(first)) {
    return make_text_reader(std::move(bytes));
  }
  const std::string_view line = first.substr(0, first.find('\n'));
  throw Error(
      ErrorKind::Input,
      {"this is not a memory trace", bytes->name(), first.empty() ? "an empty file" : quoted(line),
       fmt::format("'{} {}' in the first line, or a file that rayreplay import wrote", kTextMagic, kTextVersion),
       fix_for(first, path)});
}

std::unique_ptr<MemoryTraceWriter> create_memory_trace(const std::string& path, TraceForm form, bool overwrite,
                                                       const TraceHeader& header) {
  check(header, path);
  auto output = std::make_unique<TraceOutput>(path, overwrite);
  return std::make_unique<CheckedWriter>(form == TraceForm::Text ? make_text_writer(std::move(output), header)
                                                                 : make_binary_writer(std::move(output), header),
                                         header);
}

}  // namespace rayreplay::import
