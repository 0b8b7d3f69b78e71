// Reading and writing a file by position, whole or not at all. For this room and for readers of other files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace rayreplay::trace {

/// An open regular file. Threads may read at the same time. Why not a memory map: a file that somebody cuts while it is
/// mapped kills the process, and its pages would count as ours.
class FileDescriptor {
 public:
  enum class Mode { Read, ReadWrite };
  /// Throws Input: missing, not readable, not a regular file. `noun` is what errors call the file.
  FileDescriptor(const std::filesystem::path& path, Mode mode, std::string noun = "trace");
  /// A file that is open for reading and writing, under a descriptor that stays the caller's. `path` is for messages.
  FileDescriptor(int descriptor, const std::filesystem::path& path);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const {
    return path_;
  }
  [[nodiscard]] const std::string& noun() const {
    return noun_;
  }
  [[nodiscard]] std::uint64_t size() const {
    return size_;
  }
  /// Fills `bytes` from `position`; throws Input if the file ends before or cannot be read.
  void read(std::span<std::byte> bytes, std::uint64_t position) const;
  /// Throws Output.
  void write(std::span<const std::byte> bytes, std::uint64_t position) const;

 private:
  std::filesystem::path path_;
  std::string noun_;
  int value_ = -1;
  bool is_ours_ = true;
  std::uint64_t size_ = 0;
};

}  // namespace rayreplay::trace
