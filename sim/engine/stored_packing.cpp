#include "sim/engine/stored_packing.hpp"

#include <cstring>

#include "base/error.hpp"

namespace rayreplay::experiment {
namespace {

constexpr std::string_view kMagic = "rrpack1\n";
constexpr std::size_t kWord = 4;

void put(std::string& bytes, std::uint32_t value) {
  for (unsigned byte = 0; byte < kWord; ++byte) {
    bytes += static_cast<char>((value >> (8U * byte)) & 0xFFU);
  }
}

class Words {
 public:
  explicit Words(std::string_view bytes) : bytes_(bytes) {}
  std::uint32_t next() {
    std::uint32_t value = 0;
    for (unsigned byte = 0; byte < kWord; ++byte) {
      value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[byte])) << (8U * byte);
    }
    bytes_.remove_prefix(kWord);
    return value;
  }
  void fill(trace::Column<std::uint32_t>& column, std::size_t count) {
    column.resize(count);
    for (std::uint32_t& value : column) {
      value = next();
    }
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::string write_packing(const scheduler::WarpAssignment& assignment) {
  std::string bytes(kMagic);
  bytes.reserve(kMagic.size() + kWord * (2 + assignment.thread_at.size() + 2 * assignment.warps()));
  put(bytes, assignment.warp_size);
  put(bytes, static_cast<std::uint32_t>(assignment.warps()));
  for (const auto* column : {&assignment.thread_at, &assignment.start_rank, &assignment.tile}) {
    for (const std::uint32_t value : *column) {
      put(bytes, value);
    }
  }
  return bytes;
}

std::optional<scheduler::WarpAssignment> read_packing(std::string_view bytes, std::uint64_t threads) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 2 * kWord) {
    return std::nullopt;
  }
  Words words(bytes.substr(kMagic.size()));
  scheduler::WarpAssignment assignment;
  assignment.warp_size = words.next();
  const std::size_t warps = words.next();
  if (assignment.warp_size == 0 || assignment.warp_size > scheduler::kMaxWarpSize ||
      bytes.size() != kMagic.size() + kWord * (2 + warps * (assignment.warp_size + 2))) {
    return std::nullopt;
  }
  words.fill(assignment.thread_at, warps * assignment.warp_size);
  words.fill(assignment.start_rank, warps);
  words.fill(assignment.tile, warps);
  try {
    scheduler::check(assignment, threads);
  } catch (const Error&) {
    return std::nullopt;
  }
  return assignment;
}

}  // namespace rayreplay::experiment
