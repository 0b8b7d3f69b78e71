// Fuzzer of spool reading and ingest. `ingest` must refuse a spool as Input or write traces that load, and leave
// nothing behind where it refuses.
//
// An input is a byte of flags and a spool. Flag 1: every block's sequence number and checksum is made right first, so
// that changes get past the reader.
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <tbb/global_control.h>

#include "capture/ingest/ingest.hpp"
#include "capture/spool/checksum.hpp"
#include "capture/spool/format.hpp"
#include "capture/trace/reader.hpp"
#include "tests/fuzz/support/fuzzer.hpp"
#include "tests/fuzz/support/scratch.hpp"
#include "tests/ingest/spool_generator.hpp"
#include "tests/support/branching_shader.hpp"
#include "tests/support/fuzzing.hpp"

namespace rayreplay::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr char kSealed = 1;
// A few bytes may claim 2^32 threads, whose trace takes minutes to write: launches stay below about 10^6.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 25;
constexpr std::size_t kFileHeaderBytes = 16;
constexpr const char* kKinds[] = {"damaged spools", "sealed spools"};

struct PlacedBlock {
  std::size_t at = 0;  ///< of the header
  spool::BlockHeader header;
};

/// Corrects numbers and checksums, as far as the lengths of the blocks allow.
std::vector<PlacedBlock> blocks_of(std::string_view bytes) {
  std::vector<PlacedBlock> blocks;
  std::size_t at = kFileHeaderBytes;
  while (at + sizeof(spool::BlockHeader) <= bytes.size()) {
    PlacedBlock block{at, {}};
    std::memcpy(&block.header, bytes.data() + at, sizeof block.header);
    if (block.header.bytes > bytes.size() - at - sizeof block.header) {
      break;
    }
    blocks.push_back(block);
    at += sizeof block.header + (block.header.bytes + 7) / 8 * 8;
  }
  return blocks;
}

void seal(std::string& bytes) {
  std::uint64_t sequence = 0;
  for (PlacedBlock& block : blocks_of(bytes)) {
    block.header.magic = spool::kBlockMagic;
    block.header.sequence = sequence++;
    spool::Checksum checksum(block.header.sequence);
    checksum.update(bytes.data() + block.at + sizeof block.header, block.header.bytes);
    block.header.checksum = checksum.value();
    std::memcpy(bytes.data() + block.at, &block.header, sizeof block.header);
  }
}

/// Counts of the blocks, the branch and loads of the first shader, and of the values of a load.
void add_counts(test::SyntheticCapture& capture) {
  using spool::SiteKind;
  const std::uint16_t shader = capture.shaders[0].shader;
  capture.shaders[0].spirv = test::branching_shader();
  spool::CountedFunction counted{0, 0, 25, {shader}, {}};
  for (std::uint32_t block = 0; block < 4; ++block) {
    counted.sites.push_back({SiteKind::Block, spool::kNone, block, 0, 2 * block, 3, 0});
  }
  counted.sites.push_back({SiteKind::Branch, spool::kNone, 0, 6, 8, 7, 0});
  counted.sites.push_back({SiteKind::Load, spool::kNone, 1, 8, 11, 31, 0});
  counted.sites.push_back({SiteKind::Load, spool::kNone, 1, 9, 16, 0, 12});
  counted.sites.push_back({SiteKind::Value, spool::kNone, 1, 8, 16, 3, 0, 1, 2});
  constexpr std::uint64_t kHeld = std::uint64_t{1} << 32;
  capture.counters = {{shader, 25, {counted}}};
  capture.counts = {
      {capture.device.device, 0, capture.pipeline.pipeline, shader, {10, 2,         3, 1, 7,     1, 10, 3, 10,
                                                                     1,  1,         3, 0, 1,     0, 0,  3, 1,
                                                                     0,  kHeld + 7, 2, 0, kHeld, 1, 0}}};
}

std::vector<std::string> seeds() {
  std::vector<std::string> result;
  const fs::path file = scratch() / "seed.rrspool";
  for (std::uint64_t s = 0; s < 12; ++s) {
    test::SyntheticCapture capture = test::synthesize({.seed = s,
                                                       .size = {1 + static_cast<std::uint32_t>(s) * 2, 2, 1},
                                                       .launches = 1 + static_cast<std::uint32_t>(s % 3),
                                                       .warp_size = s % 2 == 0 ? 8U : 64U,
                                                       .recursion = s % 2 == 1,
                                                       .hit_objects = s % 3 == 0,
                                                       .markers = s % 4 == 2,
                                                       .window = s % 4 == 3,
                                                       .repack = s % 5 == 0,
                                                       .paths = s % 4 == 1,
                                                       .accesses = s % 4 >= 2,
                                                       .facts = s % 3 != 2,
                                                       .images = s % 2 == 1,
                                                       .block_words = s % 2 == 0 ? 64U : 0U});
    if (s % 3 == 1) {
      add_counts(capture);
    }
    capture.write(file);
    result.push_back((s % 4 == 0 ? '\0' : kSealed) + test::read_bytes(file));
    fs::remove(file);
  }
  return result;
}

/// A block: numbers of its payload, its type, its place, its presence.
void mutate(std::string& input, Random& random) {
  std::string bytes = input.substr(std::min<std::size_t>(1, input.size()));
  const std::vector<PlacedBlock> blocks = blocks_of(bytes);
  if (blocks.empty()) {
    return change_bytes(input, random);
  }
  if (random.one_in(16)) {
    input[0] = static_cast<char>(input[0] ^ kSealed);
    return;
  }
  if (random.one_in(64)) {
    // The file's header, which no checksum covers.
    bytes[random.below(kFileHeaderBytes)] ^= static_cast<char>(1 + random.below(255));
    input.replace(1, std::string::npos, bytes);
    return;
  }
  const PlacedBlock& block = blocks[random.below(blocks.size())];
  const std::size_t payload = block.at + sizeof block.header;
  const std::size_t size = sizeof block.header + (block.header.bytes + 7) / 8 * 8;
  switch (random.below(6)) {
    case 0: {
      const std::string copy = bytes.substr(block.at, size);
      const std::size_t to = blocks[random.below(blocks.size())].at;
      if (random.one_in(2)) {
        bytes.erase(block.at, size);
      }
      if (!random.one_in(3)) {
        bytes.insert(std::min(to, bytes.size()), copy);
      }
      break;
    }
    case 1: {
      const auto type = static_cast<std::uint32_t>(random.below(static_cast<std::uint32_t>(spool::kLastBlockType) + 2));
      std::memcpy(bytes.data() + block.at + 4, &type, sizeof type);
      break;
    }
    default:
      for (std::uint32_t n = 1 + random.below(3); n > 0 && block.header.bytes >= 8; --n) {
        const std::size_t place = random.below(block.header.bytes - 7);
        const std::uint64_t number = odd_number(random);
        const std::size_t width = std::size_t{1} << random.below(4);
        std::memcpy(bytes.data() + payload + (random.one_in(2) ? place / 4 * 4 : place), &number, width);
      }
  }
  input.replace(1, std::string::npos, bytes);
}

Verdict run(std::string_view input) {
  // One worker: results do not depend on their number, and starting further tasks costs time.
  static const tbb::global_control kOneWorker(tbb::global_control::max_allowed_parallelism, 1);
  static const fs::path kFile = scratch() / "s.rrspool";
  static const fs::path kOutput = scratch() / "t.rrt";
  const bool sealed = !input.empty() && (input.front() & kSealed) != 0;
  std::string bytes(input.substr(std::min<std::size_t>(1, input.size())));
  if (sealed) {
    seal(bytes);
  }
  test::write_bytes(kFile, bytes);
  const bool read = taken({ErrorKind::Input, ErrorKind::Resource}, [&] {
    ingest::IngestOptions options;
    options.overwrite = true;
    options.max_bytes = kMaxBytes;
    const ingest::IngestResult result = ingest::ingest({kFile}, kOutput, options);
    for (const ingest::TraceSummary& trace : result.traces) {
      if (trace.path.empty()) {
        continue;  // no launch could be kept
      }
      if (!taken({}, [&] { static_cast<void>(trace::load(trace.path)); })) {
        finding("a trace that was written does not load");
      }
      fs::remove(trace.path);
    }
  });
  if (fs::exists(kOutput)) {
    finding("something was left behind where the trace would be");
  }
  return {sealed ? 1U : 0U, read};
}

}  // namespace

const Fuzzer kFuzzer{"spool", kKinds, &seeds, &run, &mutate, 1000};

}  // namespace rayreplay::fuzz
