// Fuzz test of spool reading and ingest: sound spools are changed, half of them sealed again with right checksums so
// that the change gets past the reader, and ingested. `ingest` must throw rayreplay::Error or write traces that load.
//
//   fuzz_spool [--seconds N] [--seed S]
//
// A failing round's number is printed and its file kept; the same seed gives the same rounds.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/error.hpp"
#include "capture/ingest/ingest.hpp"
#include "capture/spool/checksum.hpp"
#include "capture/spool/format.hpp"
#include "capture/trace/reader.hpp"
#include "tests/ingest/spool_generator.hpp"
#include "tests/support/fuzzing.hpp"
#include "tests/support/random_trace.hpp"

namespace {

namespace fs = std::filesystem;
using namespace rayreplay;
using test::Random;
using test::read_bytes;
using test::write_bytes;

std::vector<std::string> make_seeds(const fs::path& path) {
  std::vector<std::string> seeds;
  for (std::uint64_t s = 0; s < 12; ++s) {
    fs::remove(path);
    test::synthesize({.seed = s,
                      .size = {1 + static_cast<std::uint32_t>(s) * 2, 2, 1},
                      .launches = 1 + static_cast<std::uint32_t>(s % 3),
                      .warp_size = s % 2 == 0 ? 8U : 64U,
                      .recursion = s % 2 == 1,
                      .hit_objects = s % 3 == 0,
                      .window = s % 4 == 3,
                      .repack = s % 5 == 0,
                      .block_words = s % 2 == 0 ? 64U : 0U})
        .write(path);
    seeds.push_back(read_bytes(path));
  }
  return seeds;
}

/// Positions of the blocks of a sound spool.
std::vector<std::size_t> blocks_of(const std::string& bytes) {
  std::vector<std::size_t> blocks;
  for (std::size_t at = 16; at + sizeof(spool::BlockHeader) <= bytes.size();) {
    spool::BlockHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    blocks.push_back(at);
    at += sizeof header + (header.bytes + 7) / 8 * 8;
  }
  return blocks;
}

std::uint32_t odd_number(Random& random) {
  constexpr std::uint32_t kChoices[] = {0, 1, 2, 3, 7, 8, 15, 31, 32, 64, 255, 65535, 65536, 0x7FFFFFFF, 0xFFFFFFFF};
  return random.one_in(3) ? static_cast<std::uint32_t>(random.bits()) : kChoices[random.below(std::size(kChoices))];
}

/// Changes numbers inside payloads and makes their checksums right.
void change_payload(std::string& bytes, Random& random) {
  const std::vector<std::size_t> blocks = blocks_of(bytes);
  const std::size_t at = blocks[random.below(blocks.size())];
  spool::BlockHeader header;
  std::memcpy(&header, bytes.data() + at, sizeof header);
  char* const payload = bytes.data() + at + sizeof header;
  for (std::uint32_t n = 1 + random.below(3); n > 0 && header.bytes >= 4; --n) {
    const std::size_t place = random.below(header.bytes - 3);
    const std::uint32_t number = odd_number(random);
    std::memcpy(payload + (random.one_in(2) ? place / 4 * 4 : place), &number, random.one_in(2) ? 4 : 1);
  }
  spool::Checksum checksum(header.sequence);
  checksum.update(payload, header.bytes);
  header.checksum = checksum.value();
  std::memcpy(bytes.data() + at, &header, sizeof header);
}

void mutate(std::string& bytes, Random& random) {
  if (random.one_in(4)) {
    for (std::uint32_t n = 1 + random.below(6); n > 0; --n) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.bits());
    }
  } else if (random.one_in(6)) {
    bytes.resize(random.below(bytes.size()));
  } else {
    for (std::uint32_t n = 1 + random.below(2); n > 0; --n) {
      change_payload(bytes, random);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto [seconds, seed] = test::fuzz_arguments(argc, argv);
  const fs::path folder = fs::temp_directory_path() / ("fuzz_spool-" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path file = folder / "s.rrspool";
  const fs::path output = folder / "t.rrt";
  const std::vector<std::string> seeds = make_seeds(file);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t rounds = 0;
  std::uint64_t refused = 0;
  std::uint64_t traces = 0;
  std::uint64_t remarked = 0;
  for (; std::chrono::steady_clock::now() < end; ++rounds) {
    Random random(seed * 1'000'003 + rounds);
    std::string bytes = seeds[random.below(seeds.size())];
    mutate(bytes, random);
    write_bytes(file, bytes);
    try {
      ingest::IngestOptions options;
      options.overwrite = true;
      const ingest::IngestResult result = ingest::ingest({file}, output, options);
      for (const ingest::TraceSummary& trace : result.traces) {
        if (trace.path.empty()) {
          continue;  // no launch could be kept
        }
        remarked += trace::load(trace.path).header.not_captured.empty() ? 0U : 1U;
        fs::remove(trace.path);
        ++traces;
      }
    } catch (const Error& error) {
      ++refused;
      if (error.kind() == ErrorKind::Internal || fs::exists(output)) {
        std::fprintf(stderr, "round %llu: %s\nkept: %s\n", static_cast<unsigned long long>(rounds), error.what(),
                     file.c_str());
        return 1;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "round %llu: %s\nkept: %s\n", static_cast<unsigned long long>(rounds), error.what(),
                   file.c_str());
      return 1;
    }
  }
  fs::remove_all(folder);
  std::printf("%llu spools, %llu refused, %llu traces, %llu of them with something missing\n",
              static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(traces), static_cast<unsigned long long>(remarked));
  // Changes that nothing survives, or that change nothing, would test nothing.
  return traces == 0 || remarked == 0 ? 1 : 0;
}
