// The payloads of spool blocks as bytes: each struct of format.hpp field by field, written and read by one description.
//
// Contract: `Encoder` divides a struct into pieces for writev: small fields are copied into its own buffer, arrays of
// kBorrowedBytes or more are borrowed (they must stay valid while the pieces are used). `decode` takes untrusted bytes:
// every count is checked against the remaining bytes before anything is allocated, enumerations against their values,
// and all bytes must be used; otherwise it returns false. Integers are little-endian as in memory; text and arrays are
// a u64 count and the elements. Standard library only. May throw std::bad_alloc, nothing else. Linear in the bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "capture/spool/format.hpp"

namespace rayreplay::spool {

static_assert(std::endian::native == std::endian::little, "a spool is little-endian");

/// An array of at least this many bytes is not copied.
inline constexpr std::size_t kBorrowedBytes = 4096;

// The description: visit(field…) for each struct, in order.

template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Process>
void visit_fields(V& v, T& x) {
  v(x.pid), v(x.executable), v(x.command_line), v(x.application_name), v(x.engine_name), v(x.tool_version);
  v(x.options), v(x.start_unix_ns);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Device>
void visit_fields(V& v, T& x) {
  v(x.device), v(x.name), v(x.driver_name), v(x.driver_info), v(x.vendor_id), v(x.device_id), v(x.driver_version);
  v(x.api_version), v(x.subgroup_size), v(x.has_clock), v(x.has_sm), v(x.sm_count), v(x.warps_per_sm);
  v(x.timestamp_period_ns), v(x.shader_group_handle_size), v(x.events_words);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Site>
void visit_fields(V& v, T& x) {
  v(x.site), v(x.bound), v(x.set), v(x.binding);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Shader>
void visit_fields(V& v, T& x) {
  v(x.shader), v(x.stage), v(x.status), v(x.entry), v(x.name), v(x.reason), v(x.spirv), v(x.sites);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Group>
void visit_fields(V& v, T& x) {
  v(x.general), v(x.closest_hit), v(x.any_hit), v(x.intersection), v(x.handle);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Pipeline>
void visit_fields(V& v, T& x) {
  v(x.device), v(x.pipeline), v(x.name), v(x.groups);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Geometry>
void visit_fields(V& v, T& x) {
  v(x.type), v(x.flags), v(x.primitive_count), v(x.vertex_format), v(x.vertex_count), v(x.vertex_stride);
  v(x.index_type), v(x.box_stride), v(x.has_transform);
  for (auto& number : x.transform) {
    v(number);
  }
  v(x.vertices), v(x.indices), v(x.boxes), v(x.missing);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Instance>
void visit_fields(V& v, T& x) {
  for (auto& number : x.transform) {
    v(number);
  }
  v(x.custom_index), v(x.hit_group_offset), v(x.mask), v(x.flags), v(x.structure);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Structure>
void visit_fields(V& v, T& x) {
  v(x.device), v(x.structure), v(x.top_level), v(x.flags), v(x.name), v(x.geometries), v(x.instances), v(x.missing);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Table>
void visit_fields(V& v, T& x) {
  v(x.region), v(x.stride), v(x.bytes), v(x.missing);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Launch>
void visit_fields(V& v, T& x) {
  v(x.device), v(x.launch), v(x.frame), v(x.queue_family), v(x.queue), v(x.width), v(x.height), v(x.depth);
  v(x.pipeline), v(x.structures), v(x.tables), v(x.begin_ns), v(x.end_ns), v(x.words), v(x.dropped), v(x.swizzled);
  v(x.observe_all), v(x.stack_bytes);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Events>
void visit_fields(V& v, T& x) {
  v(x.launch), v(x.first_word), v(x.words);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Note>
void visit_fields(V& v, T& x) {
  v(x.launch), v(x.text);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, End>
void visit_fields(V& v, T& x) {
  v(x.launches_seen), v(x.launches_captured);
}

template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Seen>
void visit_fields(V& v, T& x) {
  v(x.sight);
}

template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, CounterSite>
void visit_fields(V& v, T& x) {
  v(x.kind), v(x.from), v(x.to), v(x.instruction), v(x.cell), v(x.cells), v(x.always), v(x.component), v(x.slots);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, CountedFunction>
void visit_fields(V& v, T& x) {
  v(x.function), v(x.first), v(x.cells), v(x.shaders), v(x.sites);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Counters>
void visit_fields(V& v, T& x) {
  v(x.module), v(x.cells), v(x.functions);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Counts>
void visit_fields(V& v, T& x) {
  v(x.device), v(x.launch), v(x.pipeline), v(x.module), v(x.cells);
}

template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, PathSite>
void visit_fields(V& v, T& x) {
  v(x.from), v(x.to);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, PathFunction>
void visit_fields(V& v, T& x) {
  v(x.function), v(x.shaders), v(x.sites);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Paths>
void visit_fields(V& v, T& x) {
  v(x.module), v(x.shaders), v(x.functions);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, AccessSite>
void visit_fields(V& v, T& x) {
  v(x.shaders), v(x.function), v(x.block), v(x.instruction), v(x.kind), v(x.space), v(x.set), v(x.binding),
      v(x.element), v(x.bytes);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Accesses>
void visit_fields(V& v, T& x) {
  v(x.module), v(x.sites);
}

template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Image>
void visit_fields(V& v, T& x) {
  v(x.image), v(x.format), v(x.width), v(x.height), v(x.depth), v(x.layers), v(x.levels), v(x.samples);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, ImageDescriptor>
void visit_fields(V& v, T& x) {
  v(x.set), v(x.binding), v(x.element), v(x.place), v(x.format), v(x.base_layer), v(x.base_level), v(x.filter);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Images>
void visit_fields(V& v, T& x) {
  v(x.launch), v(x.images), v(x.descriptors);
}

template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, GroupStack>
void visit_fields(V& v, T& x) {
  v(x.general), v(x.closest_hit), v(x.any_hit), v(x.intersection), v(x.general_bytes), v(x.closest_hit_bytes),
      v(x.any_hit_bytes), v(x.intersection_bytes);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Statistic>
void visit_fields(V& v, T& x) {
  v(x.name), v(x.description), v(x.format), v(x.value);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, Executable>
void visit_fields(V& v, T& x) {
  v(x.name), v(x.description), v(x.stages), v(x.subgroup_size), v(x.statistics);
}
template <class V, class T>
requires std::is_same_v<std::remove_const_t<T>, PipelineFacts>
void visit_fields(V& v, T& x) {
  v(x.device), v(x.pipeline), v(x.recursion_depth), v(x.dynamic_stack), v(x.groups), v(x.executables);
}

/// The block type of a struct: block_type_of<Process> is BlockType::Process.
template <class T>
inline constexpr BlockType block_type_of = BlockType{};
template <>
inline constexpr BlockType block_type_of<Process> = BlockType::Process;
template <>
inline constexpr BlockType block_type_of<Device> = BlockType::Device;
template <>
inline constexpr BlockType block_type_of<Shader> = BlockType::Shader;
template <>
inline constexpr BlockType block_type_of<Pipeline> = BlockType::Pipeline;
template <>
inline constexpr BlockType block_type_of<Structure> = BlockType::Structure;
template <>
inline constexpr BlockType block_type_of<Launch> = BlockType::Launch;
template <>
inline constexpr BlockType block_type_of<Events> = BlockType::Events;
template <>
inline constexpr BlockType block_type_of<Note> = BlockType::Note;
template <>
inline constexpr BlockType block_type_of<End> = BlockType::End;
template <>
inline constexpr BlockType block_type_of<Seen> = BlockType::Seen;
template <>
inline constexpr BlockType block_type_of<Counters> = BlockType::Counters;
template <>
inline constexpr BlockType block_type_of<Counts> = BlockType::Counts;
template <>
inline constexpr BlockType block_type_of<Paths> = BlockType::Paths;
template <>
inline constexpr BlockType block_type_of<Accesses> = BlockType::Accesses;
template <>
inline constexpr BlockType block_type_of<PipelineFacts> = BlockType::PipelineFacts;
template <>
inline constexpr BlockType block_type_of<Images> = BlockType::Images;

/// Bytes of an Events payload before its words: launch, first_word, count.
inline constexpr std::size_t kEventsHeadBytes = 20;

class Encoder {
 public:
  /// Borrowed bytes, or (data null) `bytes` of the buffer from `offset`.
  struct Piece {
    const void* data = nullptr;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  template <class T>
  void operator()(const T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      copy(&x, sizeof x);
    } else {
      visit_fields(*this, x);
    }
  }
  void operator()(const std::string& text) {
    array(text.data(), text.size(), 1);
  }
  template <class T>
  void operator()(const std::vector<T>& elements) {
    if constexpr (std::is_arithmetic_v<T>) {
      array(elements.data(), elements.size(), sizeof(T));
    } else {
      const std::uint64_t count = elements.size();
      copy(&count, sizeof count);
      for (const T& element : elements) {
        (*this)(element);
      }
    }
  }
  /// As a vector of `count` numbers of `size` bytes.
  void array(const void* data, std::uint64_t count, std::size_t size) {
    copy(&count, sizeof count);
    const std::size_t length = static_cast<std::size_t>(count) * size;
    if (length >= kBorrowedBytes) {
      pieces_.push_back({data, 0, length});
      bytes_ += length;
    } else {
      copy(data, length);
    }
  }

  [[nodiscard]] std::uint64_t bytes() const {
    return bytes_;
  }
  /// Calls take(data, bytes) for each piece in order.
  template <class Take>
  void for_each_piece(Take&& take) const {
    for (const Piece& piece : pieces_) {
      take(piece.data != nullptr ? piece.data : buffer_.data() + piece.offset, piece.bytes);
    }
  }

 private:
  void copy(const void* data, std::size_t bytes) {
    if (bytes == 0) {
      return;
    }
    if (pieces_.empty() || pieces_.back().data != nullptr) {
      pieces_.push_back({nullptr, buffer_.size(), 0});
    }
    const auto* first = static_cast<const unsigned char*>(data);
    buffer_.insert(buffer_.end(), first, first + bytes);
    pieces_.back().bytes += bytes;
    bytes_ += bytes;
  }

  std::vector<unsigned char> buffer_;
  std::vector<Piece> pieces_;
  std::uint64_t bytes_ = 0;
};

namespace detail {

/// The bytes of a struct with empty text and arrays: the smallest valid size.
class LeastBytes {
 public:
  template <class T>
  constexpr void operator()(const T& x) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes += sizeof x;
    } else {
      visit_fields(*this, x);
    }
  }
  void operator()(const std::string&) {
    bytes += 8;
  }
  template <class T>
  void operator()(const std::vector<T>&) {
    bytes += 8;
  }
  std::size_t bytes = 0;
};

template <class T>
[[nodiscard]] std::size_t least_bytes() {
  LeastBytes least;
  least(T{});
  return least.bytes;
}

[[nodiscard]] inline bool is_known(ShaderStatus x) {
  return x <= ShaderStatus::Added;
}
[[nodiscard]] inline bool is_known(GeometryType x) {
  return x <= GeometryType::Boxes;
}
[[nodiscard]] inline bool is_known(Sight x) {
  return static_cast<std::uint32_t>(x) < kSights;
}
[[nodiscard]] inline bool is_known(SiteKind x) {
  return x <= SiteKind::Value;
}
[[nodiscard]] inline bool is_known(AccessKind x) {
  return x <= AccessKind::Sample;
}
[[nodiscard]] inline bool is_known(AccessSpace x) {
  return x <= AccessSpace::Image;
}
[[nodiscard]] inline bool is_known(ImageFilter x) {
  return x <= ImageFilter::Linear;
}
[[nodiscard]] inline bool is_known(StatisticFormat x) {
  return x <= StatisticFormat::Float64;
}
[[nodiscard]] inline bool is_known(TableRegion x) {
  return x <= TableRegion::Callable;
}

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_arithmetic_v<T>) {
      copy(&x, sizeof x);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      copy(&number, sizeof number);
      x = static_cast<T>(number);
      sound_ = sound_ && is_known(x);
    } else {
      visit_fields(*this, x);
    }
  }
  void operator()(std::string& text) {
    if (const std::size_t count = take_count(1); count != 0) {
      text.resize(count);
      copy(text.data(), count);
    }
  }
  template <class T>
  void operator()(std::vector<T>& elements) {
    if constexpr (std::is_arithmetic_v<T>) {
      if (const std::size_t count = take_count(sizeof(T)); count != 0) {
        elements.resize(count);
        copy(elements.data(), count * sizeof(T));
      }
    } else {
      const std::size_t count = take_count(least_bytes<T>());
      // Grown step by step: a wrong count allocates little.
      for (std::size_t i = 0; i < count && sound_; ++i) {
        (*this)(elements.emplace_back());
      }
    }
  }
  [[nodiscard]] bool complete() const {
    return sound_ && rest_.empty();
  }

 private:
  std::size_t take_count(std::size_t least_bytes_each) {
    std::uint64_t count = 0;
    copy(&count, sizeof count);
    sound_ = sound_ && count <= rest_.size() / least_bytes_each;
    return sound_ ? static_cast<std::size_t>(count) : 0;
  }
  void copy(void* to, std::size_t bytes) {
    sound_ = sound_ && bytes <= rest_.size();
    if (sound_) {
      std::memcpy(to, rest_.data(), bytes);
      rest_ = rest_.subspan(bytes);
    }
  }

  std::span<const std::byte> rest_;
  bool sound_ = true;
};

template <>
[[nodiscard]] inline std::size_t least_bytes<std::string>() {
  return 8;
}

}  // namespace detail

/// False unless `payload` is exactly one T; `x` is then undefined.
template <class T>
[[nodiscard]] bool decode(std::span<const std::byte> payload, T& x) {
  detail::Decoder decoder(payload);
  x = T{};
  visit_fields(decoder, x);
  return decoder.complete();
}

}  // namespace rayreplay::spool
