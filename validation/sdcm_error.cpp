// Error of the stack distance cache model against exact caches.
//
//   sdcm_error [MEMORY_TRACE...]
//
// For the streams of tests/support/reuse_streams.hpp (2 million references each) and for memory traces (`rayreplay
// cache t.rrt --export t.rrm`), by cache size and associativity: the hit rate of exact LRU, and in brackets how many
// percentage points sdcm says more. Lines are 128 bytes, whole; loads and
// stores alike. Small sizes: a cache for each SM, hit rates over all of them; 6 MiB: one for all SMs. `worst` is the
// greatest difference of a size's row. Memory traces are coalesced (a transaction for each line of an instruction).
// "Lines renamed": the same stream after a random permutation of its lines, as the model assumes. Prints Markdown. Exit
// codes: 0; 2 for traces that cannot be read.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/import/memory_trace.hpp"
#include "sim/memory/allocations.hpp"
#include "sim/memory/caches/cache_model.hpp"
#include "sim/memory/reuse/reuse_engine.hpp"
#include "sim/memory/streams/transactions.hpp"
#include "tests/support/reuse_streams.hpp"

namespace {

using namespace rayreplay;
using memory::CacheGeometry;
using memory::CacheModels;
using memory::LineAccess;

constexpr std::uint32_t kLineBytes = 128;
constexpr std::size_t kReferences = 2'000'000;

struct Lines {
  std::string name;
  std::vector<std::uint64_t> all;
  std::vector<std::vector<std::uint64_t>> by_sm;
};

Lines from_stream(const test::ReuseStream& stream, const std::string& name) {
  Lines lines{name, stream.line, std::vector<std::vector<std::uint64_t>>(test::kStreamSms)};
  for (std::size_t i = 0; i < stream.line.size(); ++i) {
    lines.by_sm[stream.sm[i]].push_back(stream.line[i]);
  }
  return lines;
}

/// The same stream with its lines renamed at random: distances stay, sets do not.
test::ReuseStream shuffled(test::ReuseStream stream) {
  std::vector<std::uint64_t> name(stream.lines);
  test::StreamRandom random(5);
  for (std::uint64_t i = 0; i < stream.lines; ++i) {
    name[i] = i;
    std::swap(name[i], name[random.below(i + 1)]);
  }
  for (std::uint64_t& line : stream.line) {
    line = name[line];
  }
  return stream;
}

Lines from_trace(const std::string& path) {
  const auto reader = import::open_memory_trace(path);
  Lines lines{path, {}, std::vector<std::vector<std::uint64_t>>(reader->header().sms)};
  memory::CoalesceOptions options;
  options.line_bytes = kLineBytes;
  options.requests = false;
  import::RecordBlock block;
  while (reader->next(block)) {
    memory::Instructions instructions;
    for (std::size_t row = 0; row < block.records(); ++row) {
      memory::Instruction one;
      one.mask = block.mask[row];
      one.bytes = block.bytes[row];
      one.first = block.first[row];
      instructions.rows.push_back(one);
    }
    instructions.address = block.address;
    instructions.element.assign(block.address.size(), memory::kNoElement);
    instructions.thread.assign(block.address.size(), memory::kNoThread);
    memory::WarpStream stream;
    memory::coalesce(instructions, options, stream);
    for (std::size_t row = 0; row < block.records(); ++row) {
      for (std::uint32_t i = stream.first[row]; i < stream.first[row + 1]; ++i) {
        lines.all.push_back(stream.transactions[i].line);
        lines.by_sm[block.sm[row]].push_back(stream.transactions[i].line);
      }
    }
  }
  return lines;
}

/// Sums of hits of one model over some streams.
double hits(const std::string& model, const CacheGeometry& geometry, const std::vector<std::uint64_t>& lines,
            const std::vector<std::uint32_t>& distances) {
  const auto created = CacheModels::create(model);
  const auto cache = created.model->make(geometry);
  std::vector<LineAccess> accesses;
  accesses.reserve(lines.size());
  for (const std::uint64_t line : lines) {
    accesses.push_back({line, 1, false});
  }
  std::vector<std::uint32_t> hit(lines.size());
  cache->access(accesses, distances, hit, nullptr);
  return static_cast<double>(cache->counts().hits) / memory::kOne;
}

void compare(const Lines& stream, const std::string& size, std::uint64_t bytes,
             const std::vector<const std::vector<std::uint64_t>*>& caches) {
  std::vector<std::vector<std::uint32_t>> distances;
  double accesses = 0;
  for (const std::vector<std::uint64_t>* lines : caches) {
    distances.emplace_back(lines->size());
    memory::ReuseEngines::create("bitmap").model->make()->distances(*lines, distances.back());
    accesses += static_cast<double>(lines->size());
  }
  std::string row = fmt::format("| {} | {} |", stream.name, size);
  double worst = 0;
  for (const std::uint32_t ways : {1U, 2U, 4U, 8U, 16U, 64U, 0U}) {
    const CacheGeometry geometry{.bytes = bytes, .line_bytes = kLineBytes, .ways = ways, .sector_bytes = 0};
    double exact = 0;
    double model = 0;
    for (std::size_t i = 0; i < caches.size(); ++i) {
      exact += hits("lru", geometry, *caches[i], distances[i]);
      model += hits("sdcm", geometry, *caches[i], distances[i]);
    }
    const double difference = 100 * (model - exact) / accesses;
    worst = std::fabs(difference) > std::fabs(worst) ? difference : worst;
    row += fmt::format(" {:.1f} ({:+.2f}) |", 100 * exact / accesses, difference);
  }
  fmt::print("{} {:+.2f} |\n", row, worst);
  std::fflush(stdout);
}

void report(const Lines& stream) {
  std::vector<const std::vector<std::uint64_t>*> sms;
  for (const std::vector<std::uint64_t>& lines : stream.by_sm) {
    sms.push_back(&lines);
  }
  compare(stream, "32 KiB an SM", 32U << 10U, sms);
  compare(stream, "128 KiB an SM", 128U << 10U, sms);
  compare(stream, "6 MiB for all", 6U << 20U, {&stream.all});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    fmt::print(
        "| stream | cache | 1 way | 2 | 4 | 8 | 16 | 64 | full | worst |\n| --- | --- | --- | --- | --- | --- | "
        "--- | --- | --- | --- |\n");
    constexpr std::uint32_t kLines = 1U << 20U;
    report(from_stream(test::coherent_stream(kReferences, 20, 1), "coherent"));
    report(from_stream(shuffled(test::coherent_stream(kReferences, 20, 1)), "coherent, lines renamed"));
    report(from_stream(test::incoherent_stream(kReferences, 20, 2), "incoherent"));
    report(from_stream(shuffled(test::incoherent_stream(kReferences, 20, 2)), "incoherent, lines renamed"));
    report(from_stream(test::zipf_stream(kReferences, kLines, 0.99, 3), "zipf"));
    report(from_stream(test::uniform_stream(kReferences, kLines, 4), "uniform"));
    for (int i = 1; i < argc; ++i) {
      report(from_trace(argv[i]));
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "sdcm_error: {}\n", error.what());
    return 2;
  }
}
