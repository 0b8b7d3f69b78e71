// Fuzzer of the readers of memory traces. Reading must throw Input or give records that come back when they are written
// in both forms and read once more.
//
// An input is a byte and a file. The byte modulo 4: a text, a binary trace, output of mem_trace, a binary trace whose
// checksums are made right first, so that changes get past them.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "capture/import/binary_format.hpp"
#include "capture/import/nvbit.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/import/records.hpp"
#include "tests/support/fuzzing.hpp"

namespace rayreplay::fuzz {
namespace {

enum Kind : std::uint8_t { Text, Binary, Nvbit, SealedBinary, Kinds };
constexpr const char* kKinds[Kinds] = {"texts", "binary traces", "output of mem_trace", "sealed binary traces"};
constexpr std::size_t kMaxAccesses =
    1U << 16U;  ///< of traces that are written again; longer ones are slow and show no more

constexpr const char* kWords[] = {
    "load",  "store",     "#",           "end",   "allocation", "warp-size", "sms",
    "frame", "tool",      "device",      "node",  "index",      "other",     "\t",
    "\r",    "64",        "4096",        " - ",   "0x",         "MEMTRACE:", "LAUNCH",
    "warp",  "LDG.E.128", "ATOMG.E.ADD", "RED.E", "LDS",        "CTA 0,0,0", "grid size 4,4,2",
    "0X10"};

std::string nvbit_text(Random& random) {
  constexpr const char* kOpcodes[] = {"LDG.E", "STG.E.64", "LDS.128", "LDL", "ATOMG.E.ADD", "LDG.E.U8.SYS", "TLD4"};
  std::string text =
      "MEMTRACE: CTX 0x0000000000000001 - LAUNCH - Kernel pc 0x1 - Kernel name k - grid launch id 0 - "
      "grid size 4,4,2 - block size 32,1,1 - nregs 8 - shmem 0 - cuda stream id 0\nhello\n";
  for (int i = 0; i < 6; ++i) {
    text += fmt::format("MEMTRACE: CTX 0x0000000000000001 - grid_launch_id 0 - CTA {},{},{} - warp {} - {} - ",
                        random.below(4), random.below(4), random.below(2), random.below(64),
                        kOpcodes[random.below(std::size(kOpcodes))]);
    for (int lane = 0; lane < 32; ++lane) {
      text += fmt::format("0x{:016x} ", random.one_in(4) ? 0 : random.bits() >> 20U);
    }
    text += "\n";
  }
  return text;
}

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const std::string file = (scratch() / "seed").string();
  Random random(5);
  for (const std::uint32_t warp_size : {1U, 8U, 32U, 64U}) {
    const import::TraceHeader header = test::some_header(warp_size);
    const import::RecordBlock records = test::some_records(header, 10, random);
    test::write_whole(file, import::TraceForm::Text, header, records);
    result.push_back(static_cast<char>(Text) + test::read_bytes(file));
    test::write_whole(file, import::TraceForm::Binary, header, records);
    result.push_back(static_cast<char>(warp_size == 8 ? Binary : SealedBinary) + test::read_bytes(file));
    result.push_back(static_cast<char>(Nvbit) + nvbit_text(random));
  }
  return result;
}

template <class T>
void store(std::string& bytes, std::size_t at, T number) {
  std::string text;
  import::put(text, number);
  bytes.replace(at, text.size(), text);
}

/// Corrects checksums, as far as the sizes of header and blocks allow.
void seal(std::string& bytes) {
  const std::string_view all = bytes;
  if (all.size() < import::kPrefixBytes) {
    return;
  }
  const auto header = import::get<std::uint32_t>(bytes.data() + 12);
  if (header > all.size() - import::kPrefixBytes) {
    return;
  }
  store(bytes, 16, import::checksum(all.substr(import::kPrefixBytes, header), 0));
  std::size_t at = import::kPrefixBytes + header;
  for (std::uint64_t block = 1; all.size() - at >= import::kBlockHeaderBytes; ++block) {
    if (import::get<std::uint32_t>(bytes.data() + at) == import::kEndTag) {
      if (all.size() - at >= import::kEndBytes) {
        store(bytes, at + import::kEndBytes - 8, import::checksum(all.substr(at, import::kEndBytes - 8), block));
      }
      return;
    }
    const std::size_t payload = import::payload_bytes(import::get<std::uint32_t>(bytes.data() + at + 4),
                                                      import::get<std::uint32_t>(bytes.data() + at + 8));
    if (payload > all.size() - at - import::kBlockHeaderBytes) {
      return;
    }
    store(bytes, at + 16, import::checksum(all.substr(at + import::kBlockHeaderBytes, payload), block));
    at += import::kBlockHeaderBytes + payload;
  }
}

void mutate(std::string& input, Random& random) {
  if (input.empty()) {
    return change_bytes(input, random);
  }
  const auto kind = static_cast<Kind>(static_cast<unsigned char>(input[0]) % Kinds);
  std::string bytes = input.substr(1);
  if (kind == Text || kind == Nvbit) {
    change_text(bytes, random, kWords);
  } else if (bytes.size() > 32 && !random.one_in(4)) {
    // A number, where numbers are likely to stand.
    std::size_t at =
        random.one_in(2) ? random.below(bytes.size() - 8) : random.below(std::min(bytes.size() - 8, std::size_t{320}));
    at = random.one_in(2) ? at / 4 * 4 : at;
    random.one_in(3) ? store(bytes, at, odd_number(random))
                     : store(bytes, at, static_cast<std::uint32_t>(odd_number(random)));
  } else {
    change_bytes(bytes, random);
  }
  input.replace(1, std::string::npos, bytes);
}

test::WholeTrace read(Kind kind, const std::string& path) {
  if (kind != Nvbit) {
    return test::read_whole(path);
  }
  test::WholeTrace whole;
  const auto reader = import::open_nvbit_trace(path, test::some_header());
  whole.header = reader->header();
  import::RecordBlock block;
  while (reader->next(block)) {
    for (std::size_t i = 0; i < block.records(); ++i) {
      whole.records.add(block.sm[i], block.warp[i], block.store[i] != 0, block.bytes[i], block.mask[i],
                        block.address.data() + block.first[i]);
    }
  }
  return whole;
}

Verdict run(std::string_view input) {
  static const std::string kFile = (scratch() / "t.rrm").string();
  static const std::string kAgain = (scratch() / "again").string();
  const auto kind = static_cast<Kind>((input.empty() ? 0U : static_cast<unsigned char>(input.front())) % Kinds);
  std::string bytes(input.substr(std::min<std::size_t>(1, input.size())));
  if (kind == SealedBinary) {
    seal(bytes);
  }
  test::write_bytes(kFile, bytes);
  static_cast<void>(import::is_memory_trace(kFile));
  test::WholeTrace whole;
  const bool sound = taken({ErrorKind::Input}, [&] { whole = read(kind, kFile); });
  if (sound && whole.records.address.size() <= kMaxAccesses) {
    taken({}, [&] {
      for (const import::TraceForm form : {import::TraceForm::Text, import::TraceForm::Binary}) {
        test::write_whole(kAgain, form, whole.header, whole.records);
        const test::WholeTrace second = test::read_whole(kAgain);
        if (second.header != whole.header || second.records != whole.records) {
          finding("what was written is not what was read");
        }
      }
    });
  }
  return {kind, sound};
}

}  // namespace

const Fuzzer kFuzzer{"memory_trace", kKinds, &seeds, &run, &mutate, 6000};

}  // namespace rayreplay::fuzz
