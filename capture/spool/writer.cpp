#include "capture/spool/writer.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "capture/spool/checksum.hpp"
#include "capture/spool/guest_files.hpp"
#include "capture/spool/payload.hpp"

namespace rayreplay::spool {
namespace {

/// Linux's limit for one write.
constexpr std::size_t kGreatestWrite = std::size_t{1} << 30;
constexpr std::size_t kGreatestPieces = 64;  ///< below IOV_MAX everywhere

}  // namespace

class SpoolWriter::Impl {
 public:
  ~Impl() {
    close();
  }
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool open(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (descriptor_ >= 0 || failed_) {
      return fail("the spool was opened before");
    }
    path_ = path;
    process_ = getpid();
    descriptor_ = open_apart(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
      return fail("cannot be created: " + reason());
    }
    device_ = status.st_dev;
    inode_ = status.st_ino;
    struct {
      char magic[8];
      std::uint32_t version = kVersion;
      std::uint32_t zero = 0;
    } head{};
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    std::vector<iovec> pieces{{&head, sizeof head}};
    open_ = write(pieces, sizeof head);
    return open_;
  }

  bool append(BlockType type, const Encoder& encoder) {
    if (!open_) {
      return false;
    }
    // Checked before the lock: a child forked while another thread held it would wait for ever.
    if (getpid() != process_) {
      return false;
    }
    const std::lock_guard lock(mutex_);
    if (failed_ || descriptor_ < 0) {
      return false;
    }
    BlockHeader header;
    header.type = type;
    header.bytes = encoder.bytes();
    header.sequence = sequence_;
    Checksum checksum(header.sequence);
    std::vector<iovec> pieces{{&header, sizeof header}};
    encoder.for_each_piece([&](const void* data, std::size_t bytes) {
      checksum.update(data, bytes);
      pieces.push_back({const_cast<void*>(data), bytes});
    });
    header.checksum = checksum.value();
    static constexpr char kPadding[8] = {};
    const std::size_t padding = (8 - header.bytes % 8) % 8;
    if (padding != 0) {
      pieces.push_back({const_cast<char*>(kPadding), padding});
    }
    if (!write(pieces, sizeof header + header.bytes + padding)) {
      return false;
    }
    ++sequence_;
    return true;
  }

  /// For failures outside `append`, such as lack of memory.
  bool fail_from_outside(const char* what) {
    if (getpid() != process_) {
      return false;
    }
    const std::lock_guard lock(mutex_);
    return fail(what);
  }
  void close() {
    if (open_ && getpid() != process_) {
      return;
    }
    const std::lock_guard lock(mutex_);
    open_ = false;
    if (descriptor_ >= 0 && is_ours()) {
      ::close(descriptor_);
    }
    descriptor_ = -1;
  }
  [[nodiscard]] bool is_open() const {
    return open_;
  }
  [[nodiscard]] const std::string& error() const {
    return error_;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return bytes_;
  }

 private:
  static std::string reason() {
    char text[128] = {};
    // The GNU form returns the text, which need not be in the buffer.
    return strerror_r(errno, text, sizeof text);
  }
  bool fail(const std::string& what) {
    failed_ = true;
    open_ = false;
    if (error_.empty()) {
      error_ = path_.empty() ? what : path_ + ": " + what;
    }
    return false;
  }
  /// Whether the descriptor is still this file: an application may close descriptors that it did not open.
  bool is_ours() const {
    struct stat status {};
    return fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
  }
  bool write(std::vector<iovec>& pieces, std::uint64_t total) {
    if (!is_ours()) {
      descriptor_ = -1;
      return fail("the application closed the spool's descriptor");
    }
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && bytes_ + total > limit.rlim_cur) {
      return fail("the limit on the size of files (RLIMIT_FSIZE) is reached");
    }
    std::size_t first = 0;
    while (first < pieces.size()) {
      std::size_t count = 0;
      std::size_t bytes = 0;
      while (first + count < pieces.size() && count < kGreatestPieces && bytes < kGreatestWrite) {
        bytes += pieces[first + count++].iov_len;
      }
      ssize_t done = pwritev(descriptor_, &pieces[first], static_cast<int>(count), static_cast<off_t>(position_));
      if (done < 0 && errno == EINTR) {
        continue;
      }
      if (done <= 0) {
        const std::string why = done == 0 ? "nothing was written" : reason();
        cut();
        return fail("cannot be written: " + why);
      }
      position_ += static_cast<std::uint64_t>(done);
      while (first < pieces.size() && static_cast<std::size_t>(done) >= pieces[first].iov_len) {
        done -= static_cast<ssize_t>(pieces[first++].iov_len);
      }
      if (done > 0) {
        pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + done;
        pieces[first].iov_len -= static_cast<std::size_t>(done);
      }
    }
    bytes_ = position_;
    return true;
  }
  /// Cuts the file to the last whole block. A failure is harmless: readers skip partial blocks.
  void cut() {
    position_ = bytes_;
    [[maybe_unused]] const int ignored = ftruncate(descriptor_, static_cast<off_t>(position_));
  }

  std::mutex mutex_;
  std::atomic<bool> open_{false};
  bool failed_ = false;
  int descriptor_ = -1;
  pid_t process_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t position_ = 0;
  std::atomic<std::uint64_t> bytes_{0};
  std::string path_, error_;
};

namespace {

const std::string& no_memory() {
  static const std::string* text = new (std::nothrow) std::string("no memory");
  static const std::string none;
  return text != nullptr ? *text : none;
}

template <class Impl, class Block>
bool append_block(Impl* impl, const Block& block) noexcept {
  if (impl == nullptr || !impl->is_open()) {
    return false;
  }
  try {
    Encoder encoder;
    visit_fields(encoder, block);
    return impl->append(block_type_of<Block>, encoder);
  } catch (...) {
    try {
      return impl->fail_from_outside("no memory");
    } catch (...) {
      return false;
    }
  }
}

}  // namespace

SpoolWriter::SpoolWriter() noexcept : impl_(new (std::nothrow) Impl) {}

SpoolWriter::~SpoolWriter() = default;

bool SpoolWriter::open(const std::string& path) noexcept {
  try {
    return impl_ && impl_->open(path);
  } catch (...) {
    return false;
  }
}

bool SpoolWriter::is_open() const noexcept {
  return impl_ && impl_->is_open();
}

bool SpoolWriter::append(const Process& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Device& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Shader& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Pipeline& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Structure& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Launch& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Note& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const End& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Seen& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Counters& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Counts& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Paths& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Accesses& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const PipelineFacts& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Images& block) noexcept {
  return append_block(impl_.get(), block);
}
bool SpoolWriter::append(const Events& block) noexcept {
  return append_events(block.launch, block.first_word, block.words.data(), block.words.size());
}

bool SpoolWriter::append_events(std::uint32_t launch, std::uint64_t first_word, const std::uint32_t* words,
                                std::uint64_t count) noexcept {
  if (!is_open()) {
    return false;
  }
  try {
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t part = std::min(count - done, kEventsBlockWords);
      Encoder encoder;
      encoder(launch);
      encoder(first_word + done);
      encoder.array(words + done, part, sizeof *words);
      if (!impl_->append(BlockType::Events, encoder)) {
        return false;
      }
      done += part;
    }
    return true;
  } catch (...) {
    try {
      return impl_->fail_from_outside("no memory");
    } catch (...) {
      return false;
    }
  }
}

const std::string& SpoolWriter::error() const noexcept {
  return impl_ ? impl_->error() : no_memory();
}

std::uint64_t SpoolWriter::bytes() const noexcept {
  return impl_ ? impl_->bytes() : 0;
}

void SpoolWriter::close() noexcept {
  if (impl_) {
    impl_->close();
  }
}

}  // namespace rayreplay::spool
