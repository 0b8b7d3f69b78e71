// rayreplay import: checks and sums up a memory trace of another tool, and converts its form.
#include <bit>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/commands/command.hpp"
#include "app/commands/options/options.hpp"
#include "app/commands/options/wait_notice.hpp"
#include "app/console/console.hpp"
#include "app/console/progress.hpp"
#include "base/count_text.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/output_file.hpp"
#include "base/text.hpp"
#include "capture/import/nvbit.hpp"
#include "capture/import/wait_notice.hpp"
#include "sim/memory/allocations.hpp"

namespace rayreplay::app {
namespace {

struct ImportArguments {
  std::string input;
  std::string output;  ///< "": only checks and sums up
  std::string nvbit_header;
  bool text = false;
  bool force = false;
  FormatOption format;
};

/// Accesses of lanes to one allocation.
struct Sums {
  std::uint64_t loads = 0, stores = 0, bytes_read = 0, bytes_written = 0;
};

struct Summary {
  std::uint64_t records = 0, lanes = 0;
  std::vector<Sums> rows;  ///< by allocation; the last one: outside all
};

class Summing {
 public:
  explicit Summing(const import::TraceHeader& header, const std::string& path) {
    for (const import::TraceAllocation& row : header.allocations) {
      allocations_.add({row.name, static_cast<memory::DataKind>(row.data), row.start, row.bytes, row.element_bytes},
                       path);
    }
    summary_.rows.resize(header.allocations.size() + 1);
  }

  void add(const import::RecordBlock& block) {
    summary_.records += block.records();
    summary_.lanes += block.address.size();
    for (std::size_t i = 0; i < block.records(); ++i) {
      for (std::uint32_t a = block.first[i]; a < block.first[i + 1]; ++a) {
        const std::uint32_t found = allocations_.find(block.address[a], cursor_);
        Sums& row = found == memory::kNoAllocation ? summary_.rows.back() : summary_.rows[found];
        (block.store[i] != 0 ? row.stores : row.loads) += 1;
        (block.store[i] != 0 ? row.bytes_written : row.bytes_read) += block.bytes[i];
      }
    }
  }

  [[nodiscard]] const Summary& summary() const {
    return summary_;
  }

 private:
  memory::Allocations allocations_;
  memory::Allocations::Cursor cursor_;
  Summary summary_;
};

output::Table table_of(const import::TraceHeader& header, const Summary& summary) {
  output::Table table;
  table.columns = {{"allocation", "allocation"},
                   {"data", "data"},
                   {"start", "start"},
                   {"bytes", "bytes"},
                   {"element_bytes", "element"},
                   {"loads", "loads of lanes"},
                   {"stores", "stores of lanes"},
                   {"bytes_read", "bytes read"},
                   {"bytes_written", "bytes written"}};
  const auto add = [&](std::vector<output::Cell> cells, const Sums& sums) {
    cells.insert(cells.end(), {sums.loads, sums.stores, sums.bytes_read, sums.bytes_written});
    table.rows.push_back(std::move(cells));
  };
  for (std::size_t i = 0; i < header.allocations.size(); ++i) {
    const import::TraceAllocation& row = header.allocations[i];
    add({row.name, std::string(import::kDataNames[row.data]), fmt::format("{:#x}", row.start), row.bytes,
         std::uint64_t{row.element_bytes}},
        summary.rows[i]);
  }
  add({std::string("outside all"), std::string("unallocated"), {}, {}, {}}, summary.rows.back());
  return table;
}

std::string frame_text(const import::TraceHeader& header) {
  return header.width == 0 ? "unknown" : fmt::format("{} x {}", header.width, header.height);
}

std::string summary_text(const ImportArguments& options, const import::TraceHeader& header, const Summary& summary) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) {
      text += fmt::format("{:<12} {}\n", name, text::printable(value));
    }
  };
  line("memory trace", options.input);
  line("tool", header.tool);
  line("device", header.device);
  line("application", header.application);
  line("warps", counted(header.warp_size, "lane") + ", " + counted(header.sms, "SM"));
  line("frame", frame_text(header));
  line("records", fmt::format("{} of {}", with_separators(summary.records), counted(summary.lanes, "lane")));
  return text + "\n" + output::to_text(table_of(header, summary));
}

nlohmann::ordered_json summary_json(const ImportArguments& options, const import::TraceHeader& header,
                                    const Summary& summary, const std::string& hash) {
  return {{"memory_trace", options.input},
          {"hash", hash},
          {"tool", header.tool},
          {"device", header.device},
          {"application", header.application},
          {"warp_size", header.warp_size},
          {"sms", header.sms},
          {"width", header.width},
          {"height", header.height},
          {"records", summary.records},
          {"lanes", summary.lanes},
          {"allocations", output::to_json(table_of(header, summary))}};
}

/// Counts of data that was left out.
std::vector<std::string> left_out(const import::NvbitTally& tally) {
  std::vector<std::string> lines;
  const auto add = [&](std::uint64_t count, const char* one, const char* many, const std::string& what) {
    if (count > 0) {
      lines.push_back(fmt::format("left out: {} {}{}", with_separators(count), count == 1 ? one : many, what));
    }
  };
  add(tally.shared, "access", "accesses", " to shared memory");
  add(tally.local, "access", "accesses", " to local memory");
  add(tally.idle, "instruction", "instructions", " without an active lane");
  add(tally.zero_lanes, "lane", "lanes",
      " with address 0 of other instructions (mem_trace prints 0 for lanes that take no part)");
  for (const auto& [opcode, count] : tally.unknown) {
    add(count, "instruction", "instructions", " of the unknown opcode " + opcode);
  }
  add(tally.other_lines, "line that is", "lines that are", " not of mem_trace");
  return lines;
}

/// A name of text must not hold the binary form: other programs take it by its name.
void require_form(const ImportArguments& options) {
  for (const std::string_view ending : {".csv", ".txt", ".json", ".tsv"}) {
    if (!options.text && options.output.ends_with(ending)) {
      throw Error(ErrorKind::Usage,
                  {"the binary form of a memory trace would get a name of text", "--output", options.output,
                   "a name such as t.rrm", "add --text for the text form, or give it another name"});
    }
  }
}

int act(const ImportArguments& options) {
  static_cast<void>(options.format.format());
  require_distinct({{"--output", options.output}}, {{"TRACE", options.input}, {"--nvbit", options.nvbit_header}});
  require_form(options);
  std::unique_ptr<import::MemoryTraceReader> reader;
  const import::NvbitReader* nvbit = nullptr;
  if (options.nvbit_header.empty()) {
    reader = import::open_memory_trace(options.input, tell_wait);
  } else {
    const auto head = import::open_memory_trace(options.nvbit_header, tell_wait);
    import::RecordBlock records;
    if (head->next(records)) {
      throw Error(ErrorKind::Input, {"the header for the output of mem_trace has records, which would be lost",
                                     options.nvbit_header, "a memory trace with records", "the lines of a header alone",
                                     "leave out the records; a memory trace that is whole is read without --nvbit"});
    }
    auto opened = import::open_nvbit_trace(options.input, head->header(), tell_wait);
    nvbit = opened.get();
    reader = std::move(opened);
  }
  const import::TraceHeader& header = reader->header();
  Summing sums(header, options.input);
  std::unique_ptr<import::MemoryTraceWriter> writer;
  if (!options.output.empty()) {
    writer = import::create_memory_trace(
        options.output, options.text ? import::TraceForm::Text : import::TraceForm::Binary, options.force, header);
  }
  const std::unique_ptr<Progress> progress = console::make_progress();
  if (progress != nullptr) {
    progress->start("reading the memory trace", 0);
  }
  import::RecordBlock block;
  while (reader->next(block)) {
    sums.add(block);
    if (writer != nullptr) {
      writer->append(block);
    }
    if (progress != nullptr) {
      progress->advance(block.records());
    }
  }
  if (progress != nullptr) {
    progress->finish();
  }
  if (writer != nullptr) {
    writer->commit();
  }
  if (nvbit != nullptr) {
    for (const std::string& line : left_out(nvbit->tally())) {
      console::tell("{}", line);
    }
  }
  const Sums& outside = sums.summary().rows.back();
  if (sums.summary().records == 0) {
    console::log("rayreplay: warning: the memory trace has no records");
  }
  if (outside.loads + outside.stores > 0) {
    console::warn("outside every allocation: {} of lanes",
                  counted(outside.loads + outside.stores, "access", "accesses"));
  }
  if (options.output != "-") {
    const output::Result result{[&] { return summary_text(options, header, sums.summary()); },
                                [&] { return table_of(header, sums.summary()); },
                                [&] { return summary_json(options, header, sums.summary(), reader->hash()); }};
    console::print(output::render(result, options.format.format()));
  }
  return 0;
}

void declare(CLI::App& command, ImportArguments& options) {
  command.add_option("trace", options.input, "Memory trace, text or binary; - is standard input")
      ->type_name("TRACE")
      ->required();
  CLI::Option* output =
      command.add_option("-o,--output", options.output, "Memory trace to write (.rrm), binary; - is standard output")
          ->type_name("FILE");
  command.add_flag("--text", options.text, "Write the text form")->needs(output);
  command
      .add_option("--nvbit", options.nvbit_header,
                  "TRACE is the output of NVBit's mem_trace; this memory trace's header has SMs and allocations")
      ->type_name("HEADER");
  add_force(command, options.force);
  options.format.add_to(command);
}

}  // namespace

void add_import_command(CLI::App& root, Session& session) {
  add_command(root, session,
              {"import", "Traces", "Check a memory trace of another tool, sum it up, convert between its forms"},
              declare, act);
}

}  // namespace rayreplay::app
