// Copies of the application's memory, made in the command stream and read on the host afterwards.
//
// Contract: `add` (or `add_rest`) all stretches, then `record` once into a command buffer: overlapping stretches are
// copied once, with barriers after earlier writes of the memory, and before later ones and the host's reads. After the
// submission `window` gives each stretch. Window::missing names the reason for a stretch of unknown address, one that
// ends outside its buffer (copied up to there), is too large, or found no memory. The copies' memory counts against
// `Budget` until the batch is destroyed. Not thread-safe. Complexity: O(n log n) for n stretches.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/layer/commands.hpp"
#include "capture/layer/geometry/address_map.hpp"
#include "capture/layer/geometry/build_inputs.hpp"

namespace rayreplay::layer::geometry {

/// Limit for the bytes of all copies.
struct Budget {
  std::uint64_t limit = 0;
  std::atomic<std::uint64_t> used{0};
};

class CopyBatch {
 public:
  explicit CopyBatch(std::shared_ptr<Budget> budget) : budget_(std::move(budget)) {}
  CopyBatch(const CopyBatch&) = delete;
  CopyBatch& operator=(const CopyBatch&) = delete;
  ~CopyBatch();

  /// Number of the stretch. bytes 0: an empty one.
  std::size_t add(const AddressMap& map, const Stretch& stretch);
  /// From `address` to the end of its buffer, at most `most` bytes.
  std::size_t add_rest(const AddressMap& map, std::uint64_t address, std::uint64_t most);
  /// A stretch that is not copied, with the reason.
  std::size_t add_missing(std::string why);

  /// False if nothing could be recorded (the windows say why). The owner of the batch must already belong to the
  /// recording. Throws before the first command or not at all.
  bool record(CommandRecording& recording);

  /// Called once after the device wrote, before window().
  void invalidate() const;
  [[nodiscard]] Window window(std::size_t part) const;
  [[nodiscard]] std::size_t size() const {
    return parts_.size();
  }

 private:
  struct Part {
    std::uint64_t address = 0, bytes = 0;
    VkBuffer buffer = VK_NULL_HANDLE;
    std::uint64_t offset = 0;  ///< in buffer
    std::uint64_t host = 0;    ///< in host_
    std::string missing;
  };
  struct Copy {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkBufferCopy region{};
  };

  std::vector<Copy> lay_out(std::uint64_t& total);

  std::shared_ptr<Budget> budget_;
  std::vector<Part> parts_;
  HostBuffer host_;
  std::uint64_t charged_ = 0;
};

}  // namespace rayreplay::layer::geometry
