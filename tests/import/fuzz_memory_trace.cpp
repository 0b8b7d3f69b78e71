// Fuzz test of the readers of memory traces: sound traces in both forms, and output of mem_trace, are changed; half of
// the binary ones get right checksums again, so that the change gets past them. Reading must throw rayreplay::Error or
// give records that keep every rule, and what was read must come back when it is written and read once more.
//
//   fuzz_memory_trace [--seconds N] [--seed S]
//
// A failing round's number is printed and its file kept; the same seed gives the same rounds.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/binary_format.hpp"
#include "capture/import/nvbit.hpp"
#include "tests/import/records.hpp"
#include "tests/support/fuzzing.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rayreplay;
using test::Random;
using test::read_bytes;
using test::write_bytes;

enum class Kind : std::uint8_t { Text, Binary, Nvbit };

struct Seed {
  Kind kind;
  std::string bytes;
};

std::string nvbit_text(Random& random) {
  constexpr const char* kOpcodes[] = {"LDG.E", "STG.E.64", "LDS.128", "LDL", "ATOMG.E.ADD", "LDG.E.U8.SYS", "TLD4"};
  std::string text =
      "MEMTRACE: CTX 0x0000000000000001 - LAUNCH - Kernel pc 0x1 - Kernel name k - grid launch id 0 - "
      "grid size 4,4,2 - block size 32,1,1 - nregs 8 - shmem 0 - cuda stream id 0\nhello\n";
  for (int i = 0; i < 20; ++i) {
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

std::vector<Seed> make_seeds(const fs::path& file) {
  std::vector<Seed> seeds;
  Random random(5);
  for (const std::uint32_t warp_size : {1U, 8U, 32U, 64U}) {
    const import::TraceHeader header = test::some_header(warp_size);
    const import::RecordBlock records = test::some_records(header, 40, random);
    for (const import::TraceForm form : {import::TraceForm::Text, import::TraceForm::Binary}) {
      test::write_whole(file, form, header, records);
      seeds.push_back({form == import::TraceForm::Text ? Kind::Text : Kind::Binary, read_bytes(file)});
    }
    seeds.push_back({Kind::Nvbit, nvbit_text(random)});
  }
  return seeds;
}

/// A number at the places where texts have them.
std::string odd_word(Random& random) {
  constexpr const char* kWords[] = {"0",
                                    "1",
                                    "-1",
                                    "0x",
                                    "0xffffffffffffffff",
                                    "18446744073709551616",
                                    "load",
                                    "#",
                                    "end",
                                    "allocation",
                                    "4294967296",
                                    "\t",
                                    "",
                                    "64",
                                    "4096",
                                    "\r",
                                    "0X10",
                                    " - "};
  return kWords[random.below(std::size(kWords))];
}

void change_text(std::string& bytes, Random& random) {
  for (std::uint32_t n = 1 + random.below(2); n > 0; --n) {
    std::size_t begin = bytes.find_first_of(" \n", random.below(bytes.size()));
    begin = begin == std::string::npos ? 0 : begin + 1;
    const std::size_t end = std::min(bytes.find_first_of(" \n", begin), bytes.size());
    if (random.one_in(5)) {
      bytes.insert(begin, bytes.substr(random.below(bytes.size()), random.below(200)));
    } else {
      bytes.replace(begin, end - begin, odd_word(random));
    }
  }
}

template <class T>
void store(std::string& bytes, std::size_t at, T number) {
  std::string text;
  import::put(text, number);
  bytes.replace(at, text.size(), text);
}

/// Changes numbers in header or block and makes their checksums right. Seeds have one block.
void change_binary(std::string& bytes, Random& random) {
  constexpr std::array<std::uint32_t, 12> kNumbers = {0,   1,    2,     31,    32,         64,
                                                      255, 4096, 65535, 65536, 0x7FFFFFFF, 0xFFFFFFFF};
  const auto header = import::get<std::uint32_t>(bytes.data() + 12);
  const std::size_t block = import::kPrefixBytes + header;
  const std::size_t payload = block + import::kBlockHeaderBytes;
  const std::size_t end = bytes.size() - import::kEndBytes;
  const bool in_header = random.one_in(2);
  const std::size_t low = in_header ? import::kPrefixBytes : payload;
  const std::size_t high = in_header ? block : end;
  for (std::uint32_t n = 1 + random.below(2); n > 0; --n) {
    const std::size_t at = low + random.below(high - low - 3);
    store(bytes, random.one_in(2) ? low + (at - low) / 4 * 4 : at, kNumbers[random.below(kNumbers.size())]);
  }
  if (random.one_in(6)) {
    store(bytes, block + 4 + 4 * random.below(2), kNumbers[random.below(kNumbers.size())]);
  }
  const std::string_view all = bytes;
  const std::uint64_t header_sum = import::checksum(all.substr(import::kPrefixBytes, header), 0);
  const std::uint64_t block_sum = import::checksum(all.substr(payload, end - payload), 1);
  store(bytes, 16, header_sum);
  store(bytes, block + 16, block_sum);
}

void mutate(Seed& seed, Random& random) {
  if (random.one_in(6)) {
    seed.bytes.resize(random.below(seed.bytes.size()));
  } else if (random.one_in(4)) {
    for (std::uint32_t n = 1 + random.below(6); n > 0; --n) {
      seed.bytes[random.below(seed.bytes.size())] = static_cast<char>(random.bits());
    }
  } else if (seed.kind == Kind::Binary) {
    change_binary(seed.bytes, random);
  } else {
    change_text(seed.bytes, random);
  }
}

test::WholeTrace read(const Seed& seed, const std::string& path) {
  if (seed.kind != Kind::Nvbit) {
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

}  // namespace

int main(int argc, char** argv) {
  const auto [seconds, seed] = test::fuzz_arguments(argc, argv);
  const fs::path folder = fs::temp_directory_path() / ("fuzz_memory_trace-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path file = folder / "t.rrm";
  const fs::path again = folder / "again";
  const std::vector<Seed> seeds = make_seeds(file);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t rounds = 0;
  std::array<std::uint64_t, 3> refused{}, read_whole{};
  const auto fail = [&](const std::string& what) {
    std::fprintf(stderr, "round %llu: %s\nkept: %s\n", static_cast<unsigned long long>(rounds), what.c_str(),
                 file.c_str());
    return 1;
  };
  for (; std::chrono::steady_clock::now() < end; ++rounds) {
    Random random(seed * 1'000'003 + rounds);
    Seed changed = seeds[random.below(seeds.size())];
    mutate(changed, random);
    write_bytes(file, changed.bytes);
    const auto kind = static_cast<std::size_t>(changed.kind);
    test::WholeTrace whole;
    try {
      whole = read(changed, file);
    } catch (const Error& error) {
      ++refused[kind];
      if (error.kind() != ErrorKind::Input) {
        return fail(error.what());
      }
      continue;
    } catch (const std::exception& error) {
      return fail(error.what());
    }
    ++read_whole[kind];
    if (!random.one_in(8)) {
      continue;  // writing reaches the disk, which takes long
    }
    try {
      for (const import::TraceForm form : {import::TraceForm::Text, import::TraceForm::Binary}) {
        test::write_whole(again, form, whole.header, whole.records);
        const test::WholeTrace second = test::read_whole(again);
        if (second.header != whole.header || second.records != whole.records) {
          return fail("what was written is not what was read");
        }
      }
    } catch (const std::exception& error) {
      return fail(error.what());
    }
  }
  fs::remove_all(folder);
  bool sound = true;
  constexpr const char* kNames[] = {"text", "binary", "mem_trace"};
  for (std::size_t kind = 0; kind < 3; ++kind) {
    std::printf("%s: %llu refused, %llu read\n", kNames[kind], static_cast<unsigned long long>(refused[kind]),
                static_cast<unsigned long long>(read_whole[kind]));
    // Changes that nothing survives, or that change nothing, would test nothing.
    sound = sound && refused[kind] > 0 && read_whole[kind] > 0;
  }
  return sound ? 0 : 1;
}
