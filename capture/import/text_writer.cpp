#include <iterator>

#include <fmt/format.h>

#include "capture/import/forms.hpp"

namespace rayreplay::import {
namespace {

class TextWriter final : public MemoryTraceWriter {
 public:
  TextWriter(std::unique_ptr<TraceOutput> output, const TraceHeader& header) : output_(std::move(output)) {
    const auto to = std::back_inserter(text_);
    fmt::format_to(to, "{} {}\n", kTextMagic, kTextVersion);
    const auto text = [&](const char* key, const std::string& value) {
      if (!value.empty()) {
        fmt::format_to(to, "{} {}\n", key, value);
      }
    };
    text("tool", header.tool);
    text("device", header.device);
    text("application", header.application);
    fmt::format_to(to, "warp-size {}\nsms {}\n", header.warp_size, header.sms);
    if (header.width != 0) {
      fmt::format_to(to, "frame {} {}\n", header.width, header.height);
    }
    for (const TraceAllocation& row : header.allocations) {
      fmt::format_to(to, "allocation {} {:#x} {} {}{}{}\n", kDataNames[row.data], row.start, row.bytes,
                     row.element_bytes, row.name.empty() ? "" : " ", row.name);
    }
    output_->write(text_);
  }

  void append(const RecordBlock& block) override {
    text_.clear();
    const auto to = std::back_inserter(text_);
    for (std::size_t i = 0; i < block.records(); ++i) {
      fmt::format_to(to, "{} {} {} {} {:#x}", block.sm[i], block.warp[i], block.store[i] != 0 ? "store" : "load",
                     block.bytes[i], block.mask[i]);
      for (std::uint32_t a = block.first[i]; a < block.first[i + 1]; ++a) {
        fmt::format_to(to, " {:#x}", block.address[a]);
      }
      text_ += '\n';
    }
    records_ += block.records();
    output_->write(text_);
  }

  void commit() override {
    output_->write(fmt::format("end {}\n", records_));
    output_->commit();
  }

 private:
  std::unique_ptr<TraceOutput> output_;
  std::string text_;
  std::uint64_t records_ = 0;
};

}  // namespace

std::unique_ptr<MemoryTraceWriter> make_text_writer(std::unique_ptr<TraceOutput> output, const TraceHeader& header) {
  return std::make_unique<TextWriter>(std::move(output), header);
}

}  // namespace rayreplay::import
