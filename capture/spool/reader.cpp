#include "capture/spool/reader.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "capture/spool/checksum.hpp"
#include "capture/spool/payload.hpp"

namespace rayreplay::spool {
namespace {

constexpr std::uint64_t kHeadBytes = 16;

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what, const std::string& found,
                       const std::string& expected, const std::string& fix) {
  throw Error(ErrorKind::Input, {what, path.string(), found, expected, fix});
}

std::span<const std::byte> map_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO is refused below
  struct stat status {};
  const auto refuse = [&](const std::string& why) {
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    fail(path, "the spool cannot be read", why, "", "");
  };
  if (descriptor < 0 || fstat(descriptor, &status) != 0) {
    refuse(std::generic_category().message(errno));
  }
  if (!S_ISREG(status.st_mode)) {
    refuse("not a regular file");
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes == 0) {
    ::close(descriptor);
    return {};
  }
  void* const place = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (place == MAP_FAILED) {
    refuse(std::generic_category().message(errno));
  }
  ::close(descriptor);
  madvise(place, bytes, MADV_SEQUENTIAL);
  return {static_cast<const std::byte*>(place), bytes};
}

}  // namespace

std::optional<EventsView> view_events(std::span<const std::byte> payload) {
  if (payload.size() < kEventsHeadBytes) {
    return std::nullopt;
  }
  EventsView view;
  std::uint64_t count = 0;
  std::memcpy(&view.launch, payload.data(), 4);
  std::memcpy(&view.first_word, payload.data() + 4, 8);
  std::memcpy(&count, payload.data() + 12, 8);
  const std::span<const std::byte> words = payload.subspan(kEventsHeadBytes);
  if (count != words.size() / 4 || words.size() % 4 != 0) {
    return std::nullopt;
  }
  // A payload starts at a multiple of 8, so that its words are aligned.
  view.words = {reinterpret_cast<const std::uint32_t*>(words.data()), count};
  return view;
}

SpoolReader::SpoolReader(const std::filesystem::path& path) : bytes_(map_file(path)) {
  try {
    if (bytes_.empty()) {
      fail(path, "the spool is empty", "", "", "the application ended before anything was recorded");
    }
    std::uint32_t version = 0;
    if (bytes_.size() < kHeadBytes || std::memcmp(bytes_.data(), kMagic, sizeof kMagic) != 0) {
      fail(path, "the file is not a spool", "", "a file that starts with 'RRSPOOL'", "");
    }
    std::memcpy(&version, bytes_.data() + sizeof kMagic, sizeof version);
    if (version != kVersion) {
      fail(path, "the spool is of another version", std::to_string(version), std::to_string(kVersion),
           "use the rayreplay that came with the layer");
    }
    find_blocks();
  } catch (...) {
    if (!bytes_.empty()) {
      munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }
    throw;
  }
}

SpoolReader::~SpoolReader() {
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void SpoolReader::forget_pages() const {
  // A private mapping without writes: dropped pages are read from the file again.
  madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

std::optional<Block> SpoolReader::block_at(std::uint64_t position) {
  const std::uint64_t left = bytes_.size() - position;
  if (left < sizeof(BlockHeader)) {
    return std::nullopt;
  }
  BlockHeader header;
  std::memcpy(&header, bytes_.data() + position, sizeof header);
  if (header.magic != kBlockMagic || header.type < BlockType::Process || header.type > kLastBlockType ||
      header.bytes > left - sizeof header || header.sequence < next_sequence_) {
    return std::nullopt;
  }
  // Overlapping headers would otherwise cost the square of the file's length.
  if (header.bytes > kSearchFactor * bytes_.size() - checksummed_) {
    return std::nullopt;
  }
  checksummed_ += header.bytes;
  const std::span<const std::byte> payload = bytes_.subspan(position + sizeof header, header.bytes);
  Checksum checksum(header.sequence);
  checksum.update(payload.data(), payload.size());
  if (checksum.value() != header.checksum) {
    return std::nullopt;
  }
  return Block{header.type, position, header.sequence, payload};
}

void SpoolReader::find_blocks() {
  std::uint64_t end = kHeadBytes;  // of the last whole block
  for (std::uint64_t position = kHeadBytes; position + sizeof(BlockHeader) <= bytes_.size();) {
    const std::optional<Block> block = block_at(position);
    if (!block) {
      position += 8;
      continue;
    }
    if (position != end) {
      lost_bytes_ += position - end;
      ++damaged_places_;
    }
    blocks_.push_back(*block);
    next_sequence_ = block->sequence + 1;
    // The padding of the last block may be cut off.
    end = std::min<std::uint64_t>(position + sizeof(BlockHeader) + (block->payload.size() + 7) / 8 * 8, bytes_.size());
    position = end;
  }
  cut_bytes_ = bytes_.size() - end;
}

}  // namespace rayreplay::spool
