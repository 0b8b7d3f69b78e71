#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "base/list_items.hpp"
#include "base/parameters.hpp"
#include "capture/import/forms.hpp"
#include "capture/import/line_source.hpp"

namespace rayreplay::import {
namespace {

constexpr const char* kRecordForm = "SM WARP load|store BYTES MASK ADDRESS…, one address for each lane of the mask";

/// The nearest name, or `otherwise`.
std::string suggestion(std::string_view word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string near = nearest(word, known);
  return near.empty() ? otherwise : "did you mean '" + near + "'?";
}

/// The remedy for a word that is not a valid number.
std::string number_fix(std::string_view word) {
  if (word.empty()) {
    return "docs/memory-traces.md shows every line; the file may have been cut";
  }
  if (std::ranges::any_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) {
    return "the line has bytes that are not text: write it again";
  }
  if (word.starts_with('-')) {
    return "numbers have no sign: print them as unsigned";
  }
  if (word.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos &&
      word.find_first_not_of("0123456789") != std::string_view::npos) {
    return "hexadecimal numbers start with 0x";
  }
  return "mend the number";
}

class TextReader final : public MemoryTraceReader {
 public:
  explicit TextReader(std::unique_ptr<ByteSource> bytes) : lines_(std::move(bytes)) {
    read_magic();
    read_header();
  }

  [[nodiscard]] const TraceHeader& header() const override {
    return header_;
  }

  bool next(RecordBlock& block) override {
    block.clear();
    while (has_line_ && block.records() < kMaxBlockRecords) {
      if (!is_blank(line_)) {
        if (line_starts_record()) {
          read_record(block);
        } else {
          read_end();
        }
      }
      advance();
    }
    return block.records() > 0;
  }

  [[nodiscard]] std::string hash() const override {
    return lines_.bytes().hash();
  }

 private:
  static bool is_blank(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin == std::string_view::npos || line[begin] == '#';
  }

  bool line_starts_record() const {
    const char c = line_[line_.find_first_not_of(" \t")];
    return c >= '0' && c <= '9';
  }

  void advance() {
    has_line_ = lines_.next(line_);
    if (has_line_ && !lines_.terminated()) {
      lines_.fail("the memory trace is truncated: its last line has no line feed", quoted(line_), "a line feed",
                  line_.find('\r') == std::string_view::npos
                      ? "write the trace again, or add a line feed if it is whole"
                      : "its lines end with carriage returns alone: tr '\\r' '\\n' turns them into line feeds");
    }
  }

  void read_magic() {
    advance();
    std::string_view rest = line_;
    if (!has_line_ || take_word(rest) != kTextMagic) {
      lines_.fail("this is not a memory trace", has_line_ ? quoted(line_) : std::string("an empty file"),
                  fmt::format("'{} {}' in the first line", kTextMagic, kTextVersion),
                  "docs/memory-traces.md says how to write one");
    }
    const std::uint64_t version = number(rest, "the version", std::numeric_limits<std::uint32_t>::max());
    if (version != kTextVersion) {
      lines_.fail("the memory trace is of another version", fmt::format("{}", version),
                  fmt::format("version {}", kTextVersion), "convert it with the rayreplay that wrote it");
    }
    require_end(rest);
    advance();
  }

  std::uint64_t number(std::string_view& line, const char* what, std::uint64_t most) {
    const std::string_view word = take_word(line);
    const auto value = parse_number(word);
    if (!value || *value > most) {
      lines_.fail(std::string(what) + (value          ? " is out of range"
                                       : word.empty() ? " is missing"
                                                      : " is not a number"),
                  word.empty() ? "the end of the line" : quoted(word),
                  fmt::format("a whole number, decimal or hexadecimal with 0x, at most {}", most), number_fix(word));
    }
    return *value;
  }

  std::uint32_t number32(std::string_view& line, const char* what) {
    return static_cast<std::uint32_t>(number(line, what, std::numeric_limits<std::uint32_t>::max()));
  }

  /// Only a comment may follow.
  void require_end(std::string_view rest) {
    const std::string_view word = take_word(rest);
    if (!word.empty() && !word.starts_with('#')) {
      lines_.fail("there is more in the line than it can have", quoted(word), "the end of the line",
                  "remove the rest, or put a # before it");
    }
  }

  void read_allocation(std::string_view rest) {
    TraceAllocation row;
    const std::string_view kind = take_word(rest);
    const auto* const found = std::find(kDataNames.begin(), kDataNames.end(), kind);
    if (found == kDataNames.end()) {
      lines_.fail("an allocation holds data of an unknown kind", quoted(kind),
                  fmt::format("one of {}", fmt::join(kDataNames, ", ")),
                  suggestion(kind, {kDataNames.begin(), kDataNames.end()}, "data of any other kind is 'other'"));
    }
    row.data = static_cast<std::uint8_t>(found - kDataNames.begin());
    row.start = number(rest, "the start of an allocation", std::numeric_limits<std::uint64_t>::max());
    row.bytes = number(rest, "the size of an allocation", std::numeric_limits<std::uint64_t>::max());
    row.element_bytes = number32(rest, "the element size of an allocation");
    row.name = trimmed(rest, " \t");
    if (header_.allocations.size() >= kMaxAllocations) {
      lines_.fail("there are too many allocations", fmt::format("more than {}", kMaxAllocations),
                  fmt::format("at most {}", kMaxAllocations), "leave out those that no record touches");
    }
    header_.allocations.push_back(std::move(row));
    allocation_lines_.push_back(lines_.number());
  }

  /// Checks each header line on its own, so that the message has its line number.
  void check_line(bool allocation) {
    TraceHeader one;
    one.sms = seen_[4] ? header_.sms : 1;
    if (allocation) {
      one.allocations.push_back(header_.allocations.back());
    } else {
      one.tool = header_.tool;
      one.device = header_.device;
      one.application = header_.application;
      one.warp_size = header_.warp_size;
      one.width = header_.width;
      one.height = header_.height;
    }
    check(one, lines_.where());
  }

  void read_header_line() {
    static const std::vector<std::string> kKeys = {"tool", "device", "application", "warp-size",
                                                   "sms",  "frame",  "allocation",  "end"};
    std::string_view rest = line_;
    const std::string_view key = take_word(rest);
    const auto once = [&](bool& seen) {
      if (seen) {
        lines_.fail("a line of the header comes twice", quoted(key), "one", "remove one of them");
      }
      seen = true;
    };
    if (key == "tool" || key == "device" || key == "application") {
      const std::size_t which = key == "tool" ? 0 : key == "device" ? 1 : 2;
      once(seen_[which]);
      (which == 0 ? header_.tool : which == 1 ? header_.device : header_.application) = trimmed(rest, " \t");
    } else if (key == "warp-size") {
      once(seen_[3]);
      header_.warp_size = number32(rest, "the warp size");
      require_end(rest);
    } else if (key == "sms") {
      once(seen_[4]);
      header_.sms = number32(rest, "the number of SMs");
      require_end(rest);
    } else if (key == "frame") {
      once(seen_[5]);
      header_.width = number32(rest, "the width of the frame");
      header_.height = number32(rest, "the height of the frame");
      require_end(rest);
    } else if (key == "allocation") {
      read_allocation(rest);
    } else {
      lines_.fail("unknown line of the header", quoted(key), fmt::format("one of {}", fmt::join(kKeys, ", ")),
                  suggestion(key, kKeys, "a record begins with the number of its SM, a comment with #"));
    }
    check_line(key == "allocation");
  }

  void read_header() {
    while (has_line_) {
      if (!is_blank(line_)) {
        std::string_view rest = line_;
        if (line_starts_record() || take_word(rest) == "end") {
          break;
        }
        read_header_line();
      }
      advance();
    }
    if (!seen_[4]) {
      lines_.fail("the header does not say how many SMs there are", "no line 'sms N' before the first record", "one",
                  "add 'sms 1' if the tool does not tell SMs apart");
    }
    if (const auto overlap = find_overlap(header_)) {
      fail_overlap(header_, *overlap,
                   fmt::format("{}:{}", lines_.bytes().name(),
                               std::max(allocation_lines_[overlap->low], allocation_lines_[overlap->high])));
    }
    allocation_lines_ = {};
    check(header_, lines_.bytes().name());
  }

  void read_record(RecordBlock& block) {
    std::string_view rest = line_;
    const auto sm = static_cast<std::uint16_t>(number(rest, "the SM", kMaxSms - 1));
    const std::uint32_t warp = number32(rest, "the warp");
    const std::string_view kind = take_word(rest);
    if (kind != "load" && kind != "store") {
      lines_.fail("a record is neither a load nor a store", kind.empty() ? "the end of the line" : quoted(kind),
                  kRecordForm, suggestion(kind, {"load", "store"}, "an atomic is a store"));
    }
    const std::uint32_t bytes = number32(rest, "the size of a lane's access");
    const std::uint64_t mask = number(rest, "the lane mask", std::numeric_limits<std::uint64_t>::max());
    const int lanes = std::popcount(mask);
    std::array<std::uint64_t, kMaxWarpSize> addresses{};
    int found = 0;
    for (std::string_view ahead = rest; found < lanes; rest = ahead) {
      const std::string_view word = take_word(ahead);
      if (word.empty() || word.starts_with('#')) {
        lines_.fail("a record has fewer addresses than lanes", fmt::format("{} addresses", found),
                    fmt::format("{}, one for each lane of the mask {:#x}", lanes, mask),
                    "write the addresses of all lanes of the mask and of no other, or mend the mask");
      }
      const auto address = parse_number(word);
      if (!address) {
        lines_.fail("an address is not a number of at most 64 bits", quoted(word), "hexadecimal with 0x, or decimal",
                    number_fix(word));
      }
      addresses[static_cast<std::size_t>(found++)] = *address;
    }
    const std::string_view more = take_word(rest);
    if (!more.empty() && !more.starts_with('#')) {
      lines_.fail("a record has more addresses than lanes", quoted(more),
                  fmt::format("{} addresses, one for each lane of the mask {:#x}", lanes, mask),
                  "write the addresses of all lanes of the mask and of no other, or mend the mask");
    }
    block.add(sm, warp, kind == "store", bytes, mask, addresses.data());
    check_row(header_, block, block.records() - 1, [&] { return lines_.where(); });
    ++records_;
  }

  /// "end N"; only comments may follow.
  void read_end() {
    std::string_view rest = line_;
    const std::string_view key = take_word(rest);
    if (key != "end") {
      lines_.fail(
          "this is neither a record nor the end", quoted(key), kRecordForm,
          "lines of the header come before the first record; the last line is 'end' with the number of records");
    }
    const std::uint64_t stated = number(rest, "the number of records", std::numeric_limits<std::uint64_t>::max());
    require_end(rest);
    if (stated != records_) {
      lines_.fail("the number of records is not the one stated", fmt::format("{} records", records_),
                  fmt::format("{}", stated), "the trace lost lines, or they were edited: write it again");
    }
    for (advance(); has_line_; advance()) {
      if (!is_blank(line_)) {
        lines_.fail("there is something behind the end", quoted(line_), "nothing but comments",
                    "put 'end' and the number of records last, or leave it out");
      }
    }
  }

  LineSource lines_;
  std::string_view line_;
  bool has_line_ = false;
  std::array<bool, 6> seen_{};
  TraceHeader header_;
  std::vector<std::uint64_t> allocation_lines_;  ///< until the header has been read
  std::uint64_t records_ = 0;
};

}  // namespace

std::unique_ptr<MemoryTraceReader> make_text_reader(std::unique_ptr<ByteSource> bytes) {
  return std::make_unique<TextReader>(std::move(bytes));
}

}  // namespace rayreplay::import
