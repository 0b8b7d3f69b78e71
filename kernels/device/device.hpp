// A Vulkan device for compute kernels: memory, programs, and streams of commands.
//
// Contract: no Vulkan type crosses this header. Kernels take 64-bit device addresses of buffers in their push constants
// (GL_EXT_buffer_reference), so no binding limit applies. A buffer larger than the largest allocation consists of
// several where the device supports it, else `allocate` throws Memory. One Device serves one thread at a time; several
// Devices work in parallel. Errors: DeviceError.
//
// A Stream runs its commands in order; each sees the writes of those before.
//   upload    copies the bytes at the call; the caller may change them afterwards
//   download  `to` is filled when `wait` returns
//   run       `groups` workgroups of the program. Push constants begin with `std::uint32_t first_group`, set by the
//             stream: the kernel's workgroup number is gl_WorkGroupID.x + first_group. Long launches are divided, for
//             display watchdogs and other programs (DeviceOptions::batch_seconds); kernels must therefore not wait for
//             other workgroups. The cost of a program is measured while it runs.
// Large uploads use a copy queue where the device has one, in parallel to commands, if nothing was recorded since the
// buffer was allocated or the caller promises independence (`upload_beside`). Copies between staging memory and the
// caller's overlap with the device's own, in both directions.
//
// Kernels: GLSL in kernels/, compiled for Vulkan 1.2 at build time. Every device has 64-bit integers, 8- and 16-bit
// storage and arithmetic, scalar layout, buffer addresses, and subgroup basic, vote, ballot, shuffle and arithmetic
// operations; kernels ask for more by Needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/accelerator.hpp"
#include "kernels/device/device_list.hpp"

namespace rayreplay::kernels {

/// A kernel compiled at build time. `code` must live as long as the program (arrays of rr_shader do).
struct Shader {
  const char* name = "";  ///< in tables and messages
  std::span<const std::uint32_t> code;
  Needs needs{};
};

struct DeviceOptions {
  std::uint64_t memory_limit = 0;  ///< limit of device memory in bytes; 0: the device's size
  double batch_seconds = 0.2;      ///< one submission should take no longer
  std::string cache_folder{};      ///< where compiled pipelines are kept; empty: nowhere
  /// Fault injection for tests: the device is lost at the N-th submission; 0: never.
  std::uint64_t lose_at_submission = 0;
};

/// Time of a program on the device, by the device's clock.
struct ProgramTime {
  std::uint64_t launches = 0;
  double seconds = 0;
};

namespace detail {
struct DeviceState;
struct BufferState;
struct ProgramState;
struct StreamState;
}  // namespace detail

/// Memory of the device. Move-only; the destructor frees without waiting: wait first for the streams that use it.
class Buffer {
 public:
  Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();

  [[nodiscard]] std::uint64_t address() const {
    return address_;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return bytes_;
  }

 private:
  friend class Device;
  friend class Stream;
  friend struct detail::StreamState;
  std::unique_ptr<detail::BufferState> state_;
  std::uint64_t address_ = 0;
  std::uint64_t bytes_ = 0;
};

/// A pipeline of one device; copies are the same program.
class Program {
 private:
  friend class Device;
  friend class Stream;
  friend struct detail::StreamState;
  explicit Program(detail::ProgramState* state) : state_(state) {}
  detail::ProgramState* state_;
};

class Device final : public ComputeDevice {
 public:
  explicit Device(const DeviceInfo& info, const DeviceOptions& options = {});
  ~Device() override;

  [[nodiscard]] const DeviceInfo& info() const;
  [[nodiscard]] const std::string& name() const override {
    return info().name;
  }
  [[nodiscard]] std::string lacks(const Needs& needs) const override {
    return info().lacks(needs);
  }
  [[nodiscard]] bool is_lost() const override;

  /// Contents are undefined; at least 16 bytes, aligned to 256. `what` names it in messages.
  [[nodiscard]] Buffer allocate(std::uint64_t bytes, const char* what);
  template <class T>
  [[nodiscard]] Buffer allocate_array(std::uint64_t count, const char* what) {
    return allocate(count * sizeof(T), what);
  }
  /// Estimate of what `allocate` can still provide: from the limit and from the driver's free memory.
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] std::uint64_t peak_bytes() const;

  /// `constants`: specialization constants 0, 1, …. `subgroup`: the required size of full subgroups; 0: the device's
  /// choice. Cached.
  [[nodiscard]] Program program(const Shader& shader, std::span<const std::uint32_t> constants = {},
                                std::uint32_t subgroup = 0);

  /// By program name, since the device was opened or `clear_times`.
  [[nodiscard]] const std::map<std::string, ProgramTime>& times() const;
  void clear_times();

 private:
  friend class Stream;
  std::shared_ptr<detail::DeviceState> state_;
};

class Stream {
 public:
  explicit Stream(Device& device);
  /// Finishes recorded commands; pending downloads are lost. If that fails, the device is lost.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void upload(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset = 0);
  /// Upload in parallel to running commands: the caller promises that no recorded command uses the bytes.
  void upload_beside(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset = 0);
  template <class Range>
  void upload_array(const Buffer& to, const Range& items, std::uint64_t first_item = 0) {
    const std::span view(items);
    using T = typename decltype(view)::element_type;
    static_assert(std::is_trivially_copyable_v<T>);
    upload(to, std::as_bytes(view), first_item * sizeof(T));
  }
  void download(const Buffer& from, std::span<std::byte> to, std::uint64_t offset = 0);
  template <class Range>
  void download_array(const Buffer& from, Range& items, std::uint64_t first_item = 0) {
    const std::span view(items);
    using T = typename decltype(view)::element_type;
    static_assert(std::is_trivially_copyable_v<T>);
    download(from, std::as_writable_bytes(view), first_item * sizeof(T));
  }
  /// Offset and size in bytes, multiples of 4.
  void fill(const Buffer& to, std::uint32_t word, std::uint64_t offset, std::uint64_t bytes);
  void fill(const Buffer& to, std::uint32_t word) {
    fill(to, word, 0, to.bytes());
  }
  void copy(const Buffer& from, std::uint64_t from_offset, const Buffer& to, std::uint64_t to_offset,
            std::uint64_t bytes);

  /// `Push`: trivially copyable, at most 128 bytes, `first_group` its first member.
  template <class Push>
  void run(const Program& program, std::uint64_t groups, Push push) {
    static_assert(std::is_trivially_copyable_v<Push> && sizeof(Push) <= kMaxPushBytes);
    static_assert(std::is_same_v<decltype(push.first_group), std::uint32_t>);
    run_bytes(program, groups, std::as_bytes(std::span(&push, 1)));
  }

  /// Waits for all commands and downloads.
  void wait();

  static constexpr std::size_t kMaxPushBytes = 128;

 private:
  void run_bytes(const Program& program, std::uint64_t groups, std::span<const std::byte> push);
  std::unique_ptr<detail::StreamState> state_;
};

}  // namespace rayreplay::kernels
