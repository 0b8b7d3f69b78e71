// How numbers lie in memory and on disk, and one column's entry in the schema. Internal to this room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/error.hpp"
#include "capture/trace/trace.hpp"

namespace rayreplay::trace {

enum class Storage : std::uint8_t { U8, U16, U32, U64, F32 };

[[nodiscard]] constexpr std::size_t bytes_of(Storage storage) {
  switch (storage) {
    case Storage::U8:
      return 1;
    case Storage::U16:
      return 2;
    case Storage::U32:
    case Storage::F32:
      return 4;
    case Storage::U64:
      return 8;
  }
  return 0;
}

[[nodiscard]] constexpr const char* name_of(Storage storage) {
  switch (storage) {
    case Storage::U8:
      return "u8";
    case Storage::U16:
      return "u16";
    case Storage::U32:
      return "u32";
    case Storage::U64:
      return "u64";
    case Storage::F32:
      return "f32";
  }
  return "";
}

template <class T>
[[nodiscard]] constexpr Storage storage_of() {
  if constexpr (std::is_same_v<T, float>) {
    return Storage::F32;
  } else if constexpr (std::is_enum_v<T>) {
    return storage_of<std::underlying_type_t<T>>();
  } else {
    static_assert(std::is_unsigned_v<T>);
    return sizeof(T) == 1 ? Storage::U8 : sizeof(T) == 2 ? Storage::U16 : sizeof(T) == 4 ? Storage::U32 : Storage::U64;
  }
}

/// The narrowest storage that holds 0 … `greatest`.
[[nodiscard]] constexpr Storage narrowest(std::uint64_t greatest) {
  return greatest <= 0xFFU          ? Storage::U8
         : greatest <= 0xFFFFU      ? Storage::U16
         : greatest <= 0xFFFF'FFFFU ? Storage::U32
                                    : Storage::U64;
}

/// Whether chunks that hold nothing but the fill value may be left out of the file. Each group of columns has one that
/// is always stored, so that a file cannot claim more rows than a fixed multiple of its size.
enum class Elision : std::uint8_t { Allowed, Forbidden };

struct ColumnSpec {
  const char* name = "";
  Storage memory = Storage::U8;
  Storage disk = Storage::U8;
  std::uint32_t width = 1;                                             ///< numbers in a row
  std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();  ///< integers: the largest value that is legal
  Elision elision = Elision::Allowed;
};

template <class T>
[[nodiscard]] constexpr ColumnSpec column_spec(const char* name, Elision elision = Elision::Allowed,
                                               std::uint32_t width = 1) {
  return {name, storage_of<T>(), storage_of<T>(), width, std::numeric_limits<std::uint64_t>::max(), elision};
}

/// As column_spec, in the narrowest storage for 0 … `greatest`.
template <class T>
[[nodiscard]] constexpr ColumnSpec bounded_spec(const char* name, std::uint64_t greatest) {
  const Storage disk = narrowest(greatest);
  const bool narrower = bytes_of(disk) < sizeof(T);
  return {name, storage_of<T>(), narrower ? disk : storage_of<T>(), 1, greatest, Elision::Allowed};
}

/// Calls visit(name, column, optional) for each column of the rays, in file order.
template <class RaysType, class Visit>
void visit_rays(RaysType& rays, Visit&& visit) {
  visit("origin_x", rays.origin_x, false);
  visit("origin_y", rays.origin_y, false);
  visit("origin_z", rays.origin_z, false);
  visit("direction_x", rays.direction_x, false);
  visit("direction_y", rays.direction_y, false);
  visit("direction_z", rays.direction_z, false);
  visit("t_min", rays.t_min, false);
  visit("t_max", rays.t_max, false);
  visit("flags", rays.flags, false);
  visit("cull_mask", rays.cull_mask, false);
  visit("sbt_offset", rays.sbt_offset, false);
  visit("sbt_stride", rays.sbt_stride, false);
  visit("miss_index", rays.miss_index, false);
  visit("site", rays.site, true);
  visit("hint", rays.hint, true);
  visit("hint_bits", rays.hint_bits, true);
}

/// Calls visit(name, column, optional) for each column of the events, in file order.
template <class EventsType, class Visit>
void visit_events(EventsType& events, Visit&& visit) {
  visit("kind", events.kind, false);
  visit("shader", events.shader, false);
  visit("t", events.t, false);
  visit("instance", events.instance, false);
  visit("primitive", events.primitive, false);
  visit("hit_kind", events.hit_kind, false);
  visit("accepted", events.accepted, false);
  visit("geometry", events.geometry, true);
  visit("ray", events.ray, true);
  visit("group", events.group, true);
  visit("path", events.path, true);
}

/// Calls visit(name, column) for each column of the accesses but their offsets, in file order.
template <class AccessesType, class Visit>
void visit_accesses(AccessesType& accesses, Visit&& visit) {
  visit("event", accesses.event);
  visit("site", accesses.site);
  visit("address", accesses.address);
  visit("group", accesses.group);
}

/// Calls visit(name, column) for each column of the images in descriptors, in file order.
template <class ImagesType, class Visit>
void visit_images(ImagesType& images, Visit&& visit) {
  visit("set", images.set);
  visit("binding", images.binding);
  visit("element", images.element);
  visit("image", images.image);
  visit("width", images.width);
  visit("height", images.height);
  visit("depth", images.depth);
  visit("layers", images.layers);
  visit("levels", images.levels);
  visit("base_layer", images.base_layer);
  visit("base_level", images.base_level);
  visit("block_width", images.block_width);
  visit("block_height", images.block_height);
  visit("block_bytes", images.block_bytes);
  visit("filter", images.filter);
}

}  // namespace rayreplay::trace
