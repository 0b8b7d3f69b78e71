#include "capture/layer/geometry/content.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <utility>

namespace rayreplay::layer::geometry {
namespace {

class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    if (state_ != nullptr) {
      XXH3_128bits_reset(state_);
    }
  }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  ~Hasher() {
    XXH3_freeState(state_);
  }

  void bytes(const void* data, std::size_t size) {
    if (state_ != nullptr && size != 0) {
      XXH3_128bits_update(state_, data, size);
    }
  }
  template <class T>
  void value(const T& value) {
    static_assert(std::has_unique_object_representations_v<T>);
    bytes(&value, sizeof value);
  }
  template <class T>
  void array(const T& array) {
    value(std::uint64_t{array.size()});
    bytes(array.data(), array.size());
  }
  /// low = high = 0: hashing failed.
  [[nodiscard]] Hash digest() const {
    if (state_ == nullptr) {
      return {};
    }
    const XXH128_hash_t hash = XXH3_128bits_digest(state_);
    return {hash.low64, hash.high64};
  }

 private:
  XXH3_state_t* state_;
};

Hash hash_of(const Content& content) {
  Hasher hasher;
  hasher.value(std::uint32_t{content.top_level});
  hasher.value(content.flags);
  hasher.array(content.missing);
  hasher.value(std::uint64_t{content.geometries.size()});
  for (const spool::Geometry& geometry : content.geometries) {
    hasher.value(geometry.type);
    hasher.value(geometry.flags);
    hasher.value(geometry.primitive_count);
    hasher.value(geometry.vertex_format);
    hasher.value(geometry.vertex_count);
    hasher.value(geometry.vertex_stride);
    hasher.value(geometry.index_type);
    hasher.value(geometry.has_transform);
    hasher.bytes(geometry.transform, sizeof geometry.transform);
    hasher.array(geometry.vertices);
    hasher.array(geometry.indices);
    hasher.array(geometry.boxes);
    hasher.array(geometry.missing);
  }
  hasher.value(std::uint64_t{content.instances.size()});
  for (const TopInstance& instance : content.instances) {
    hasher.bytes(&instance.raw, sizeof instance.raw);
    const Hash bottom = instance.bottom != nullptr ? instance.bottom->hash : Hash{};
    hasher.value(bottom.low);
    hasher.value(bottom.high);
  }
  return hasher.digest();
}

}  // namespace

Hash hash_bytes(const void* data, std::size_t bytes) {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return {hash.low64, hash.high64};
}

std::uint64_t bytes_of(const Content& content) {
  std::uint64_t bytes = content.instances.size() * sizeof(TopInstance);
  for (const spool::Geometry& geometry : content.geometries) {
    bytes += geometry.vertices.size() + geometry.indices.size() + geometry.boxes.size();
  }
  return bytes;
}

ContentStore::ContentStore(std::uint64_t limit_bytes)
    : limit_(limit_bytes), held_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

std::shared_ptr<Content> ContentStore::intern(Content content) {
  const Hash hash = hash_of(content);
  const bool hashed = hash != Hash{};
  if (hashed) {
    if (const auto found = known_.find(hash); found != known_.end()) {
      if (std::shared_ptr<Content> equal = found->second.lock()) {
        return equal;
      }
    }
  }
  const std::uint64_t bytes = bytes_of(content);
  const std::uint64_t held = held_->load();
  const bool fits = bytes <= limit_ && held <= limit_ - bytes;
  if (!fits) {
    const std::string why = std::to_string(bytes) + " bytes did not fit in the memory limit for geometry (" +
                            std::to_string(held) + " of " + std::to_string(limit_) + " in use)";
    for (spool::Geometry& geometry : content.geometries) {
      geometry.vertices = {};
      geometry.indices = {};
      geometry.boxes = {};
      geometry.missing = why;
    }
    content.instances = {};
    content.missing = why;
  }
  // The deleter releases bytes that are still held; those of a written content are released already.
  std::shared_ptr<Content> kept(new Content(std::move(content)), [held_by = held_](Content* dead) {
    held_by->fetch_sub(bytes_of(*dead));
    delete dead;
  });
  held_->fetch_add(bytes_of(*kept));
  // Contents without their bytes equal no other.
  kept->hash = fits ? hash : Hash{0, ++dropped_};
  if (fits && hashed) {
    known_[hash] = kept;
    if (known_.size() >= sweep_at_) {
      std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
      sweep_at_ = 2 * known_.size() + 1024;
    }
  }
  return kept;
}

void ContentStore::release_bytes(Content& content) {
  const std::uint64_t before = bytes_of(content);
  for (spool::Geometry& geometry : content.geometries) {
    geometry.vertices = {};
    geometry.indices = {};
    geometry.boxes = {};
  }
  held_->fetch_sub(before - bytes_of(content));
}

}  // namespace rayreplay::layer::geometry
