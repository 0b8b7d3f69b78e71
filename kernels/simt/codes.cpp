#include "kernels/simt/codes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "SimtEncode.spv.hpp"

namespace rayreplay::kernels::simt {
namespace {

constexpr Shader kEncode{"simt encode", kSimtEncode};
/// Rows of a piece where the columns do not fit: enough to keep the device busy.
constexpr std::uint64_t kMaxPieceRows = std::uint64_t{1} << 25;
constexpr std::uint64_t kMinPieceRows = std::uint64_t{1} << 16;
constexpr std::uint64_t kBytesOfRow = 3;
constexpr std::uint16_t kNoNarrowCall = 0xFF;

void run_encoder(Device& device, Stream& stream, std::uint32_t code_bytes, const EncodePush& push) {
  const Program program = device.program(kEncode, std::array<std::uint32_t, 1>{code_bytes});
  constexpr std::uint64_t kRowsOfGroup = std::uint64_t{RR_SIMT_THREADS} * RR_SIMT_ENCODED_ROWS;
  stream.run(program, (push.rows + kRowsOfGroup - 1) / kRowsOfGroup, push);
}

/// Runs the encoder over all events; `push` has the tables and the address of row 0's codes.
void over_columns(LaunchOnDevice& launch, Device& device, Stream& stream, std::uint32_t code_bytes, EncodePush push) {
  const trace::Events& events = launch.launch().data.events;
  const std::uint64_t rows = events.size();
  if (rows == 0) {
    return;
  }
  if (device.free_bytes() / kBytesOfRow > rows) {
    push.rows = rows;
    push.kind = launch.column(device, stream, events.kind).address();
    push.shader = launch.column(device, stream, events.shader).address();
    run_encoder(device, stream, code_bytes, push);
    return;
  }
  // Half of the free memory, in whole rounds of the encoder.
  const std::uint64_t fitting = device.free_bytes() / 2 / kBytesOfRow;
  const std::uint64_t piece =
      std::clamp(fitting, kMinPieceRows, kMaxPieceRows) / RR_SIMT_ENCODED_ROWS * RR_SIMT_ENCODED_ROWS;
  const Buffer kind = device.allocate_array<trace::EventKind>(piece, "kinds of a piece of the launch");
  const Buffer shader = device.allocate_array<std::uint16_t>(piece, "shaders of a piece of the launch");
  const std::uint64_t codes = push.codes;
  push.kind = kind.address();
  push.shader = shader.address();
  for (std::uint64_t first = 0; first < rows; first += piece) {
    push.rows = std::min(piece, rows - first);
    stream.upload_array(kind, std::span(events.kind).subspan(first, push.rows));
    stream.upload_array(shader, std::span(events.shader).subspan(first, push.rows));
    push.codes = codes + first * code_bytes;
    run_encoder(device, stream, code_bytes, push);
  }
  stream.wait();
}

}  // namespace

std::vector<std::uint8_t> find_pairs(LaunchOnDevice& launch, Device& device, Stream& stream, std::size_t shaders) {
  const std::size_t entries = shaders << kKindBits;
  const Buffer& seen =
      launch.derived(device, stream, "simt.pairs:" + std::to_string(shaders), [&](Device& on, Stream& by) {
        Buffer words = on.allocate_array<std::uint32_t>(entries, "calls that occur");
        by.fill(words, 0);
        EncodePush push{};
        push.seen = words.address();
        over_columns(launch, on, by, 0, push);
        return words;
      });
  std::vector<std::uint32_t> words(entries);
  stream.download_array(seen, words);
  stream.wait();
  std::vector<std::uint8_t> occurs(entries);
  std::transform(words.begin(), words.end(), occurs.begin(),
                 [](std::uint32_t word) { return static_cast<std::uint8_t>(word); });
  return occurs;
}

Codes encode(LaunchOnDevice& launch, Device& device, Stream& stream, std::span<const std::uint16_t> code_of) {
  const bool narrow = std::all_of(code_of.begin(), code_of.end(),
                                  [](std::uint16_t code) { return code < kNoNarrowCall || code == kNoCall; });
  const std::uint32_t bytes = narrow ? 1 : 2;
  std::string name = "simt.codes:";
  name.append(reinterpret_cast<const char*>(code_of.data()), code_of.size_bytes());
  const Buffer& codes = launch.derived(device, stream, name, [&](Device& on, Stream& by) {
    const std::uint64_t rows = launch.launch().data.events.size();
    // Queues are read 16 bytes at a time, up to the end of the last.
    constexpr std::uint64_t kSlack = 16;
    Buffer column = on.allocate(rows * bytes + kSlack, "the launch's calls as codes");
    const Buffer table = on.allocate_array<std::uint16_t>(code_of.size(), "table of codes");
    by.upload_array(table, code_of);
    EncodePush push{};
    push.codes = column.address();
    push.code_of = table.address();
    over_columns(launch, on, by, bytes, push);
    by.wait();
    return column;
  });
  return {codes.address(), bytes};
}

}  // namespace rayreplay::kernels::simt
