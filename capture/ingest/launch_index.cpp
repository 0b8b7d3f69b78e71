#include "capture/ingest/launch_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"
#include "capture/ingest/word_stream.hpp"

namespace rayreplay::ingest {
namespace {

using trace::kNone;

constexpr std::uint32_t kGreatestGeometry = 0xFFFF;

class Indexer {
 public:
  Indexer(const SpooledLaunch& launch, const std::vector<std::uint8_t>& stages, std::uint32_t warp_size,
          const AccessTable& accesses)
      : stream_(launch.events, launch.launch.words),
        claimed_(launch.launch.words),
        stages_(stages),
        accesses_(accesses),
        lanes_of_warp_(warp_size >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << warp_size) - 1),
        warp_size_(warp_size) {
    result_.size = {launch.launch.width, launch.launch.height, launch.launch.depth};
    threads_ = static_cast<std::uint32_t>(result_.size.threads());
    result_.records.assign(threads_, 0);
    result_.thread_warp.assign(threads_, kNone);
    result_.thread_lane.assign(threads_, 0);
  }

  LaunchIndex run() {
    std::string damage;
    while (stream_.left() != 0 && damage.empty()) {
      damage = take_chunk();
    }
    if (!damage.empty() && !stream_.rest_is_zero()) {
      result_.damage = damage;
      result_.lost_words = stream_.left();
    }
    if (stream_.words() < claimed_) {
      result_.lost_words += claimed_ - stream_.words();
      result_.damage +=
          (result_.damage.empty() ? "" : "; ") + fmt::format("words from {} on are not in the spool", stream_.words());
    }
    finish_warps();
    finish_clock();
    return std::move(result_);
  }

 private:
  /// "" or the reason why the stream ends; it then stands before the chunk.
  std::string take_chunk() {
    const auto available = static_cast<std::uint32_t>(std::min<std::uint64_t>(stream_.left(), kGreatestChunk));
    std::array<std::uint32_t, kGreatestChunk>* copy = &scratch_;
    const std::uint32_t* words = stream_.peek(1, copy->data());
    const std::uint32_t header = header_words(*words);
    if (header > available) {
      return "a chunk is cut";
    }
    words = stream_.peek(header, copy->data());
    Chunk chunk = parse_header(words);
    if (std::string fault = header_fault(chunk); !fault.empty()) {
      return fault;
    }
    const std::uint32_t size = chunk.size();
    if (size > available) {
      return "a chunk is cut";
    }
    chunk.words = stream_.peek(size, copy->data());
    for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank) {
      if (chunk.field(0, rank) >= threads_) {
        return "a record's thread is out of range";
      }
    }
    if (chunk.words == copy->data()) {
      chunk.words = result_.copies.emplace_back(scratch_.begin(), scratch_.begin() + size).data();
    }
    if (result_.chunks.size() >= kNone) {
      throw Error(ErrorKind::Resource, {"a launch has more groups than can be numbered", "", "", "",
                                        "capture a window or fewer threads of it"});
    }
    stream_.skip(size);
    add(chunk);
    return "";
  }

  [[nodiscard]] std::string header_fault(const Chunk& chunk) const {
    if (chunk.kind >= RR_KINDS || stages_of(chunk.kind) == 0 || (chunk.words[0] & 0x80U) != 0) {
      return "a chunk is of no kind that there is";
    }
    if (chunk.fields() > RR_MAX_FIELDS) {
      return "a chunk's path has more counters than there are";
    }
    if (chunk.shader >= stages_.size() || stages_[chunk.shader] == kUnknownStage) {
      return fmt::format("a chunk names shader {}, which the spool does not hold", chunk.shader);
    }
    if ((stages_of(chunk.kind) & 1U << stages_[chunk.shader]) == 0) {
      return "a chunk names a shader of a stage that does not make it";
    }
    if (chunk.mask == 0 || (chunk.mask & ~lanes_of_warp_) != 0) {
      return "a chunk's lanes are none, or beyond the warp";
    }
    if ((chunk.recorded & ~chunk.mask) != 0 || chunk.lanes == 0 ||
        chunk.lanes != static_cast<std::uint32_t>(std::popcount(chunk.recorded))) {
      return "a chunk's recorded lanes are not those it counts";
    }
    return "";
  }

  void add(const Chunk& chunk) {
    for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank) {
      ++result_.records[chunk.field(0, rank)];
    }
    result_.total_records += chunk.lanes;
    result_.chunks.push_back(chunk.words);
    look_at_fields(chunk);
    if (chunk.kind == RR_RAY_GENERATION) {
      add_warp(chunk);
    }
    if (is_access(chunk.kind)) {
      const bool known = accesses_.row_of(chunk).has_value();
      result_.unknown_accesses += known ? 0 : chunk.lanes;
      std::uint32_t without_texel = 0;
      for (std::uint32_t rank = 0; known && rank < chunk.lanes; ++rank) {
        without_texel += chunk.has_no_texel(rank) ? 1U : 0U;
      }
      result_.accesses_without_texel += without_texel;
      result_.group_of_chunk.push_back(known && without_texel < chunk.lanes ? access_groups_++ : kNone);
      return;
    }
    if (!makes_event(chunk.kind)) {
      result_.group_of_chunk.push_back(kNone);
      return;
    }
    result_.group_of_chunk.push_back(static_cast<std::uint32_t>(result_.groups.size()));
    const std::uint32_t warp = warp_of(chunk);
    result_.repacked_groups += warp == kNone && warps_ != 0 ? 1U : 0U;
    result_.groups.warp.push_back(warp);
    result_.groups.sm.push_back(chunk.sm());
    result_.groups.lane_mask.push_back(chunk.mask);
    result_.groups.clock.push_back(static_cast<std::uint64_t>(unwrap(chunk.clock())));
    if (chunk.kind != RR_REPORT && chunk.kind != RR_IGNORE && chunk.kind != RR_TERMINATE && chunk.kind != RR_REORDER) {
      ++result_.warp_event_groups;
      result_.group_lanes += static_cast<std::uint64_t>(std::popcount(chunk.mask));
    }
  }

  void look_at_fields(const Chunk& chunk) {
    std::uint32_t seen = 0;
    switch (chunk.kind) {
      case RR_INTERSECTION:
      case RR_ANY_HIT:
      case RR_CLOSEST_HIT: {
        const std::uint32_t bits = chunk.kind == RR_INTERSECTION ? ~0U : 0xFF'FFFFU;
        for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank) {
          seen = std::max(seen, chunk.field(4, rank) & bits);
        }
        result_.has_geometry |= seen != 0;
        result_.geometry_too_large |= seen > kGreatestGeometry;
        return;
      }
      case RR_TRACE:
        result_.has_rays = true;
        for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank) {
          seen |= chunk.field(2, rank);
        }
        result_.has_ray_names |= (seen >> 16U & 1U) != 0;
        return;
      case RR_REORDER:
        result_.has_hints = result_.has_ray_names = true;
        return;
      case RR_HINT:
        result_.has_hints = true;
        return;
      case RR_EXECUTE:
        result_.has_ray_names = true;
        return;
      default:
        return;
    }
  }

  void add_warp(const Chunk& chunk) {
    const std::uint32_t warp = warps_++;
    std::uint64_t left = chunk.recorded;
    for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank, left &= left - 1) {
      const std::uint32_t thread = chunk.field(0, rank);
      if (result_.thread_warp[thread] != kNone) {
        result_.no_warps = fmt::format("thread {} started twice", thread);
      } else {
        ++threads_in_warps_;
      }
      result_.thread_warp[thread] = warp;
      result_.thread_lane[thread] = static_cast<std::uint8_t>(std::countr_zero(left));
    }
  }

  [[nodiscard]] std::uint32_t warp_of(const Chunk& chunk) const {
    const std::uint32_t warp = result_.thread_warp[chunk.field(0, 0)];
    std::uint64_t left = chunk.recorded;
    for (std::uint32_t rank = 0; rank < chunk.lanes; ++rank, left &= left - 1) {
      const std::uint32_t thread = chunk.field(0, rank);
      if (result_.thread_warp[thread] != warp ||
          result_.thread_lane[thread] != static_cast<std::uint32_t>(std::countr_zero(left))) {
        return kNone;
      }
    }
    return warp;
  }

  void finish_warps() {
    result_.unrecorded_threads = threads_ - threads_in_warps_;
    if (warps_ == 0) {
      result_.no_warps = "no ray-generation shader recorded its entry";
    }
    // Threads without a warp fill warps of their own.
    std::uint32_t next = 0;
    for (std::uint32_t thread = 0; thread < threads_ && result_.no_warps.empty(); ++thread) {
      if (result_.thread_warp[thread] != kNone) {
        continue;
      }
      if (result_.records[thread] != 0) {
        result_.no_warps = fmt::format("thread {} has events but its start was not recorded", thread);
        break;
      }
      result_.thread_warp[thread] = warps_ + next / warp_size_;
      result_.thread_lane[thread] = static_cast<std::uint8_t>(next % warp_size_);
      ++next;
    }
    if (!result_.no_warps.empty()) {
      result_.thread_warp.clear();
      result_.thread_lane.clear();
    }
  }

  std::int64_t unwrap(std::uint32_t clock) {
    if (!clock_started_) {
      clock_started_ = true;
      clock_low_ = clock;
    }
    // Difference to the latest clock so far, as a signed 32-bit number.
    const auto step = static_cast<std::int32_t>(clock - clock_low_);
    const std::int64_t value = clock_latest_ + step;
    if (value > clock_latest_) {
      clock_latest_ = value;
      clock_low_ = clock;
    }
    clock_earliest_ = std::min(clock_earliest_, value);
    return value;
  }
  void finish_clock() {
    for (std::uint64_t& clock : result_.groups.clock) {
      clock -= static_cast<std::uint64_t>(clock_earliest_);
    }
  }

  WordStream stream_;
  std::uint64_t claimed_;
  const std::vector<std::uint8_t>& stages_;
  const AccessTable& accesses_;
  std::uint32_t access_groups_ = 0;
  std::uint64_t lanes_of_warp_;
  std::uint32_t warp_size_;
  std::uint32_t threads_ = 0;
  std::array<std::uint32_t, kGreatestChunk> scratch_{};
  std::uint32_t warps_ = 0, threads_in_warps_ = 0;
  bool clock_started_ = false;
  std::uint32_t clock_low_ = 0;
  std::int64_t clock_latest_ = 0, clock_earliest_ = 0;
  LaunchIndex result_;
};

}  // namespace

LaunchIndex index_launch(const SpooledLaunch& launch, const std::vector<std::uint8_t>& stages, std::uint32_t warp_size,
                         const AccessTable& accesses) {
  return Indexer(launch, stages, warp_size, accesses).run();
}

}  // namespace rayreplay::ingest
