// A Vulkan device that runs compute kernels: memory, programs, and streams of commands.
//
// Contract: no Vulkan type crosses this header. Buffers are addressed by 64-bit device addresses, which kernels take in
// their push constants (GL_EXT_buffer_reference), so no binding limit applies; a buffer larger than one allocation may
// be is made of several where the device can, else `allocate` throws Memory. All of one Device may be used by one
// thread at a time; several Devices work side by side. Errors: DeviceError.
//
// A Stream runs its commands as if one after the other, each seeing what those before it wrote.
//   upload    the bytes are taken at once; the caller may change them afterwards
//   download  `to` is filled when `wait` returns
//   run       `groups` workgroups of the program. Its push constants begin with `std::uint32_t first_group`, which the
//             stream fills in: the kernel's workgroup number is gl_WorkGroupID.x + first_group. A launch that would
//             take long is cut into several, so that a display's watchdog never ends it and no other program waits long
//             (DeviceOptions::batch_seconds); kernels may therefore not wait for other workgroups. What a program costs
//             is measured as it runs.
// Large uploads go through a copy queue, where the device has one: beside commands that run, if nothing was recorded
// since the buffer was allocated or the caller says so (`upload_beside`). Copies between staging memory and the
// caller's go beside the device's own, in both directions.
//
// Kernels: GLSL in kernels/, compiled for Vulkan 1.2 at build time. Every device has 64-bit integers, 8- and 16-bit
// storage and arithmetic, scalar layout, buffer addresses, and subgroup basic, vote, ballot, shuffle and arithmetic
// operations; the rest is asked for by Needs.
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

/// A kernel as it was compiled at build time. `code` must live as long as the program does (arrays of rr_shader do).
struct Shader {
  const char* name = "";  ///< in tables and messages
  std::span<const std::uint32_t> code;
  Needs needs{};
};

struct DeviceOptions {
  std::uint64_t memory_limit = 0;  ///< bytes of device memory at most; 0: what the device has
  double batch_seconds = 0.2;      ///< one submission should take no longer
  std::string cache_folder{};      ///< where compiled pipelines are kept; empty: nowhere
  /// Faults on purpose, for tests: the device is lost at the N-th submission; 0: never.
  std::uint64_t lose_at_submission = 0;
};

/// What a program took on the device, by its own clock.
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

/// Memory of the device. Move-only; given back when destroyed, which waits for nothing: wait for the streams that use
/// it first.
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

/// A pipeline. Belongs to its device; copies are the same program.
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

  /// Contents are undefined; at least 16 bytes long, aligned to 256. `what` names it in messages.
  [[nodiscard]] Buffer allocate(std::uint64_t bytes, const char* what);
  template <class T>
  [[nodiscard]] Buffer allocate_array(std::uint64_t count, const char* what) {
    return allocate(count * sizeof(T), what);
  }
  /// What `allocate` can still give, about: of the limit and of what the driver says is free.
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] std::uint64_t peak_bytes() const;

  /// `constants`: specialization constants 0, 1, …. `subgroup`: the size its subgroups must have, full; 0: the device's
  /// own choice. Kept: asking again for the same costs a lookup.
  [[nodiscard]] Program program(const Shader& shader, std::span<const std::uint32_t> constants = {},
                                std::uint32_t subgroup = 0);

  /// By program name; since the device was opened or `clear_times`.
  [[nodiscard]] const std::map<std::string, ProgramTime>& times() const;
  void clear_times();

 private:
  friend class Stream;
  std::shared_ptr<detail::DeviceState> state_;
};

class Stream {
 public:
  explicit Stream(Device& device);
  /// Does what was recorded and waits for it; what was to be downloaded is lost. Where that fails the device is lost.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void upload(const Buffer& to, std::span<const std::byte> bytes, std::uint64_t offset = 0);
  /// The same for bytes that no command recorded so far touches, which the caller promises: goes beside those that run.
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
    static_assert(std::is_trivially_copyable_v<Push> && sizeof(Push) <= kMostPushBytes);
    static_assert(std::is_same_v<decltype(push.first_group), std::uint32_t>);
    run_bytes(program, groups, std::as_bytes(std::span(&push, 1)));
  }

  /// Until everything is done and downloaded.
  void wait();

  static constexpr std::size_t kMostPushBytes = 128;

 private:
  void run_bytes(const Program& program, std::uint64_t groups, std::span<const std::byte> push);
  std::unique_ptr<detail::StreamState> state_;
};

}  // namespace rayreplay::kernels
