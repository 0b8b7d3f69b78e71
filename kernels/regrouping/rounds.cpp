#include "kernels/regrouping/rounds.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "RegroupClaim.spv.hpp"
#include "RegroupDecide.spv.hpp"
#include "RegroupForm.spv.hpp"
#include "RegroupGather.spv.hpp"
#include "RegroupHeads.spv.hpp"
#include "RegroupLiving.spv.hpp"
#include "RegroupMoved.spv.hpp"
#include "RegroupOpen.spv.hpp"
#include "RegroupPermute.spv.hpp"
#include "RegroupStay.spv.hpp"
#include "RegroupStretchWarps.spv.hpp"
#include "RegroupStretches.spv.hpp"
#include "RegroupThreads.spv.hpp"
#include "RegroupWarpStarts.spv.hpp"
#include "kernels/device/growing.hpp"
#include "kernels/regrouping/common.hpp"
#include "kernels/regrouping/number_keys.hpp"
#include "kernels/sort/exclusive_sum.hpp"
#include "kernels/sort/radix_sort.hpp"

namespace rayreplay::kernels {
namespace {

using namespace regrouping;

const Shader kClaim{"regroup: claims", kRegroupClaim};
const Shader kDecide{"regroup: units that stay", kRegroupDecide};
const Shader kForm{"regroup: form warps", kRegroupForm};
const Shader kGather{"regroup: gather", kRegroupGather};
const Shader kHeads{"regroup: stretches", kRegroupHeads};
const Shader kLiving{"regroup: living warps", kRegroupLiving};
const Shader kMoved{"regroup: moved", kRegroupMoved};
const Shader kOpen{"regroup: first round", kRegroupOpen};
const Shader kPermute{"regroup: units in order", kRegroupPermute};
const Shader kStay{"regroup: stay", kRegroupStay};
const Shader kStretchWarps{"regroup: warps of stretches", kRegroupStretchWarps};
const Shader kStretches{"regroup: begins of stretches", kRegroupStretches};
const Shader kThreads{"regroup: segments of threads", kRegroupThreads};
const Shader kWarpStarts{"regroup: begins of warps", kRegroupWarpStarts};

constexpr std::uint64_t kWord = sizeof(std::uint32_t);
constexpr std::uint64_t kMaxWarps = std::uint64_t{1} << 26;
constexpr std::uint64_t kMaxPlaces = (std::uint64_t{1} << 32) - kPlacesAGroup;
constexpr std::uint64_t kMinBins = 1024;  ///< of the histogram: as many as threads.comp has of its own

uint narrow(std::uint64_t value) {
  return static_cast<uint>(value);
}

class Rounds {
 public:
  Rounds(Device& device, Stream& stream, const SegmentsOnDevice& segments, const RoundsSpec& spec)
      : device_(device),
        stream_(stream),
        segments_(segments),
        spec_(spec),
        summer_(device),
        sorter_(device),
        units_(std::max<std::uint64_t>(spec.unit_begin.size(), 2) - 1),
        by_unit_(units_ > 1),
        by_stretch_(by_unit_ || spec.split_keys),
        waits_(by_stretch_ || spec.only_if_fewer) {}

  ScheduleOnDevice run(const Buffer* keys, const Buffer& thread_at) {
    ScheduleOnDevice result;
    result.device = &device_;
    result.warp_size = spec_.warp_size;
    if (spec_.warps.empty()) {
      result.round_begin = {0};
      result.unit_begin = {0};
      result.segment_at = device_.allocate(0, "segments by place");
      result.moved = device_.allocate(0, "threads that moved");
      return result;
    }
    count_threads();
    look_at(keys);
    reserve();
    open(thread_at);
    for (std::size_t round = 1; round < waiting_.size() && waiting_[round] > 0; ++round) {
      next_round(waiting_[round]);
    }
    if (by_unit_) {
      order_by_unit(result);
    } else {
      result.round_begin = round_begin_;
      result.unit_begin = {0, round_begin_.size() - 1};
      result.unit = {0};
      result.segment_at = segment_at_.take();
      result.moved = moved_.take();
    }
    result.warps = round_begin_.back();
    stream_.wait();
    return result;
  }

 private:
  void sum(const Buffer& from, const Buffer& to, std::uint64_t count) {
    summer_.exclusive_sum(stream_, from, to, count, SumBits::Of32);
  }

  /// Counts the continuing threads of each round and marks the first segments of threads.
  void count_threads() {
    const std::uint64_t bins = std::max<std::uint64_t>(segments_.most_of_a_thread + std::uint64_t{1}, kMinBins);
    const Buffer histogram = device_.allocate_array<std::uint32_t>(bins, "threads by segments");
    starts_ = device_.allocate_array<std::uint32_t>(segments_.size / 32 + 1, "first segments");
    stream_.fill(histogram, 0);
    stream_.fill(starts_, 0);
    // The last segment has no successor.
    const std::uint64_t end = segments_.size / 32 * kWord;
    stream_.fill(starts_, 1U << (segments_.size % 32), end, kWord);
    ThreadsPush push{};
    push.threads = narrow(segments_.threads);
    push.first = segments_.first.address();
    push.histogram = histogram.address();
    push.starts = starts_.address();
    stream_.run(device_.program(kThreads), groups_of(segments_.threads, kPathsAGroup), push);
    std::vector<std::uint32_t> threads(bins);
    stream_.download_array(histogram, threads);
    stream_.wait();
    waiting_.assign(std::size_t{segments_.most_of_a_thread} + 1, 0);
    std::uint64_t sum = 0;
    for (std::size_t count = waiting_.size(); count-- > 0;) {
      waiting_[count] = sum;
      sum += threads[count];
    }
  }

  /// Finds the bits to sort by.
  void look_at(const Buffer* keys) {
    unit_bits_ = by_unit_ ? static_cast<uint>(std::bit_width(units_ - 1)) : 0;
    if (keys != nullptr) {
      key_mask_ = varying_bits(device_, stream_, *keys, segments_.size, starts_);
      keys_ = keys->address();
      if (static_cast<uint>(std::popcount(key_mask_)) + unit_bits_ > 64) {
        numbered_ = number_keys(device_, stream_, *keys, segments_.size);
        keys_ = numbered_.address();
        key_mask_ = (std::uint64_t{1} << std::bit_width(segments_.size)) - 1;
      }
    }
    key_bits_ = static_cast<uint>(std::popcount(key_mask_));
    sort_bits_ = key_bits_ + unit_bits_;
    wide_ = sort_bits_ > 32;
  }

  /// Upper bound for the number of stretches.
  [[nodiscard]] std::uint64_t most_stretches(std::uint64_t threads) const {
    const uint bits = spec_.split_keys ? key_bits_ : 0;
    return bits + unit_bits_ > 31 ? threads : std::min(threads, units_ << bits);
  }

  void reserve() {
    const std::uint64_t most = waiting_.size() > 1 ? waiting_[1] : 0;
    const std::uint64_t key_bytes = most * (wide_ ? 8 : 4);
    for (std::size_t i = 0; i < 2; ++i) {
      places_.at(i) = device_.allocate(most * kWord, "places of waiting threads");
      sort_keys_.at(i) = device_.allocate(sort_bits_ > 0 ? key_bytes : 0, "keys of waiting threads");
    }
    givers_ = device_.allocate(most * kWord, "earlier warps of warps");
    std::uint64_t warps = spec_.warps.size();
    for (std::size_t round = 1; round < waiting_.size(); ++round) {
      constexpr std::uint64_t kRagged = 4096;  // more need another request
      const std::uint64_t threads = waiting_[round];
      warps += threads / spec_.warp_size + std::min({threads, most_stretches(threads), kRagged}) + 1;
    }
    grow(warps);
    if (waits_) {
      for (Buffer* const buffer :
           {&unit_formed_, &formed_begin_, &unit_warps_, &stays_, &begin_.front(), &begin_.back()}) {
        *buffer = device_.allocate_array<std::uint32_t>(units_ + 1, "warps by unit");
      }
    }
    if (by_unit_) {
      rows_ = device_.allocate((units_ + 1) * waiting_.size() * kWord, "warps by round and unit");
    }
  }

  void grow(std::uint64_t warps) {
    const std::uint64_t used = round_begin_.back();
    segment_at_.need(device_, stream_, warps * spec_.warp_size * kWord, used * spec_.warp_size * kWord);
    moved_.need(device_, stream_, warps * kWord, used * kWord);
    if (by_unit_) {
      unit_.need(device_, stream_, warps * kWord, used * kWord);
    }
  }

  [[nodiscard]] std::uint64_t segments_from(std::uint64_t warp) const {
    return segment_at_.address() + warp * spec_.warp_size * kWord;
  }
  [[nodiscard]] std::uint64_t units_from(std::uint64_t warp) const {
    return by_unit_ ? unit_.address() + warp * kWord : 0;
  }

  /// Adds the round of `warps` warps; `begin_[0]` holds the first warps of its units.
  void add_round(std::uint64_t warps) {
    if (by_unit_) {
      const std::uint64_t row = (round_begin_.size() - 1) * (units_ + 1) * kWord;
      stream_.copy(begin_[0], 0, rows_, row, (units_ + 1) * kWord);
    }
    round_begin_.push_back(round_begin_.back() + warps);
  }

  [[nodiscard]] uint places_of(std::uint64_t warps) const {
    if (warps >= kMaxWarps || warps * spec_.warp_size >= kMaxPlaces) {
      throw DeviceError(Fault::Memory, {"a round has too many warps for the device's kernels", device_.info().name,
                                        fmt::format("{} of {} lanes", warps, spec_.warp_size),
                                        fmt::format("less than {} warps and {} lanes", kMaxWarps, kMaxPlaces), ""});
    }
    return narrow(warps * spec_.warp_size);
  }

  void open(const Buffer& thread_at) {
    const std::uint64_t warps = spec_.warps.size();
    OpenPush push{};
    push.places = places_of(warps);
    push.warp_size = spec_.warp_size;
    const Buffer list = device_.allocate_array<std::uint32_t>(warps, "the launch's warps");
    stream_.upload_array(list, spec_.warps);
    push.warps = list.address();
    push.thread_at = thread_at.address();
    push.first = segments_.first.address();
    push.segment_at = segments_from(0);
    stream_.run(device_.program(kOpen), groups_of(push.places), push);
    stream_.fill(moved_.get(), 0, 0, warps * kWord);
    if (waits_) {
      std::vector<std::uint32_t> begin(units_ + 1);
      std::transform(spec_.unit_begin.begin(), spec_.unit_begin.end(), begin.begin(), narrow);
      stream_.upload_array(begin_[0], begin);
      if (by_unit_) {
        std::vector<std::uint32_t> unit(warps);
        for (std::size_t u = 0; u < units_; ++u) {
          std::fill(unit.begin() + static_cast<std::ptrdiff_t>(begin[u]),
                    unit.begin() + static_cast<std::ptrdiff_t>(begin[u + 1]), narrow(u));
        }
        stream_.upload_array(unit_.get(), unit);
      }
    }
    add_round(warps);
    stream_.wait();  // the uploaded list must live until then
  }

  void next_round(std::uint64_t threads) {
    first_ = round_begin_[round_begin_.size() - 2];
    warps_ = round_begin_.back() - first_;
    threads_ = threads;
    gather();
    SortArrays sorted{&sort_keys_.front(), &places_.front(), &sort_keys_.back(), &places_.back()};
    if (sort_bits_ > 0) {
      sorter_.sort(stream_, threads, wide_ ? 8 : 4, 0, sort_bits_, sorted);
    }
    formed_ = (threads + spec_.warp_size - 1) / spec_.warp_size;
    std::uint64_t next = formed_;
    if (waits_) {
      next = find_warps(*sorted.keys);
    }
    static_cast<void>(places_of(next));
    grow(round_begin_.back() + next);
    form(*sorted.values);
    if (spec_.only_if_fewer) {
      stay();
    }
    if (waits_) {
      std::swap(begin_[0], begin_[1]);
    }
    add_round(next);
  }

  void gather() {
    GatherPush push{};
    push.places = places_of(warps_);
    const std::uint64_t blocks = groups_of(push.places, kPlacesAGroup);
    marks_.need(device_, stream_, blocks * kPlacesAGroup / 8);
    block_count_.need(device_, stream_, blocks * kWord);
    block_before_.need(device_, stream_, (blocks + 1) * kWord);
    push.warp_size = spec_.warp_size;
    push.key_bits = key_bits_;
    push.segment_at = segments_from(first_);
    push.starts = starts_.address();
    push.waiting = marks_.address();
    push.blocks = block_count_.address();
    push.keys = keys_;
    push.key_mask = key_mask_;
    push.unit = units_from(first_);
    push.out_keys = sort_keys_[0].address();
    push.out_places = places_[0].address();
    const Program program = device_.program(kGather);
    stream_.run(program, blocks, push);
    sum(block_count_.get(), block_before_.get(), blocks);
    push.flags = kGatherWrite | (sort_bits_ > 0 ? kGatherKeys : 0U) | (wide_ ? kGatherWide : 0U);
    push.blocks = block_before_.address();
    stream_.run(program, blocks, push);
  }

  /// Finds the beginnings of warps and the number of warps of the next round.
  std::uint64_t find_warps(const Buffer& keys) {
    if (by_stretch_) {
      cut_stretches(keys);
    } else {
      stream_.fill(unit_formed_, narrow(formed_), 0, kWord);
    }
    sum(unit_formed_, formed_begin_, units_);
    if (spec_.only_if_fewer) {
      decide();
    } else {
      stream_.copy(formed_begin_, 0, begin_[1], 0, (units_ + 1) * kWord);
    }
    std::uint32_t formed = 0;
    stream_.download(formed_begin_, std::as_writable_bytes(std::span(&formed, 1)), units_ * kWord);
    const std::uint32_t next = read_word(stream_, begin_[1], units_);
    formed_ = formed;
    return next;
  }

  void cut_stretches(const Buffer& keys) {
    const std::uint64_t most = most_stretches(threads_);
    const std::uint64_t most_formed = std::min(threads_, threads_ / spec_.warp_size + most);
    flags_.need(device_, stream_, threads_ * kWord);
    number_.need(device_, stream_, (threads_ + 1) * kWord);
    stretch_begin_.need(device_, stream_, (most + 1) * kWord);
    stretch_warps_.need(device_, stream_, most * kWord);
    warps_before_.need(device_, stream_, (most + 1) * kWord);
    warp_start_.need(device_, stream_, most_formed * kWord);
    warp_fill_.need(device_, stream_, most_formed * kWord);
    if (by_unit_) {
      warp_unit_.need(device_, stream_, most_formed * kWord);
    }
    StretchPush push{};
    push.count = narrow(threads_);
    push.shift = spec_.split_keys ? 0 : key_bits_;
    push.key_bits = key_bits_;
    push.wide = wide_ ? 1 : 0;
    push.warp_size = spec_.warp_size;
    push.keys = keys.address();
    push.flags = flags_.address();
    push.number = number_.address();
    push.begin = stretch_begin_.address();
    push.warps_before = warps_before_.address();
    push.warp_start = warp_start_.address();
    push.warp_fill = warp_fill_.address();
    if (by_unit_) {
      push.warp_unit = warp_unit_.address();
      push.unit_formed = unit_formed_.address();
    }
    const std::uint64_t groups = groups_of(threads_);
    if (sort_bits_ > 0) {
      stream_.run(device_.program(kHeads), groups, push);
    } else {
      stream_.fill(flags_.get(), 0, 0, threads_ * kWord);
      stream_.fill(flags_.get(), 1, 0, kWord);
    }
    sum(flags_.get(), number_.get(), threads_);
    stream_.fill(stretch_begin_.get(), narrow(threads_), 0, (most + 1) * kWord);
    stream_.run(device_.program(kStretches), groups, push);
    StretchWarpsPush warps{};
    warps.stretches = narrow(most);
    warps.warp_size = spec_.warp_size;
    warps.begin = stretch_begin_.address();
    warps.warps = stretch_warps_.address();
    stream_.run(device_.program(kStretchWarps), groups_of(most), warps);
    sum(stretch_warps_.get(), warps_before_.get(), most);
    stream_.fill(unit_formed_, 0, 0, units_ * kWord);
    stream_.run(device_.program(kWarpStarts), groups, push);
    if (!by_unit_) {
      stream_.copy(warps_before_.get(), most * kWord, unit_formed_, 0, kWord);
    }
  }

  void decide() {
    lives_.need(device_, stream_, warps_ * kWord);
    living_rank_.need(device_, stream_, (warps_ + 1) * kWord);
    LivingPush living{};
    living.warps = narrow(warps_);
    living.warp_size = spec_.warp_size;
    living.waiting = marks_.address();
    living.lives = lives_.address();
    stream_.run(device_.program(kLiving), groups_of(warps_), living);
    sum(lives_.get(), living_rank_.get(), warps_);
    DecidePush push{};
    push.units = narrow(units_);
    push.formed = unit_formed_.address();
    push.living_rank = living_rank_.address();
    push.begin = begin_[0].address();
    push.stays = stays_.address();
    push.warps = unit_warps_.address();
    stream_.run(device_.program(kDecide), groups_of(units_), push);
    sum(unit_warps_, begin_[1], units_);
  }

  /// Assigns lanes and finds the continued warps.
  void form(const Buffer& places) {
    claims_.need(device_, stream_, warps_ * kWord);
    stream_.fill(claims_.get(), kNobody, 0, warps_ * kWord);
    const std::uint64_t next = round_begin_.back();
    FormPush push{};
    push.log_lanes = static_cast<uint>(std::bit_width(spec_.warp_size - 1));
    push.warp_size = spec_.warp_size;
    push.formed = narrow(formed_);
    push.waiting = narrow(threads_);
    push.keep_lanes = spec_.keep_lanes ? 1 : 0;
    push.segment_at = segments_from(first_);
    push.places = places.address();
    push.warp_start = by_stretch_ ? warp_start_.address() : 0;
    push.warp_fill = by_stretch_ ? warp_fill_.address() : 0;
    push.givers = givers_.address();
    push.out_segment_at = segments_from(next);
    push.warp_unit = by_unit_ ? warp_unit_.address() : 0;
    if (spec_.only_if_fewer) {
      push.stays = stays_.address();
      push.formed_begin = formed_begin_.address();
      push.out_begin = begin_[1].address();
    }
    push.out_unit = units_from(next);
    stream_.run(device_.program(kForm), groups_of(formed_, kGroup >> push.log_lanes), push);
    ClaimPush claim{};
    claim.warp_size = push.warp_size;
    claim.formed = push.formed;
    claim.waiting = push.waiting;
    claim.warp_start = push.warp_start;
    claim.warp_fill = push.warp_fill;
    claim.givers = push.givers;
    claim.claims = claims_.address();
    claim.warp_unit = push.warp_unit;
    claim.stays = push.stays;
    claim.formed_begin = push.formed_begin;
    claim.out_begin = push.out_begin;
    claim.out_moved = moved_.address() + next * kWord;
    stream_.run(device_.program(kClaim), groups_of(formed_), claim);
    stream_.run(device_.program(kMoved), groups_of(formed_), claim);
  }

  void stay() {
    const std::uint64_t next = round_begin_.back();
    StayPush push{};
    push.places = places_of(warps_);
    push.warp_size = spec_.warp_size;
    push.segment_at = segments_from(first_);
    push.waiting = marks_.address();
    push.living_rank = living_rank_.address();
    push.unit = units_from(first_);
    push.begin = begin_[0].address();
    push.stays = stays_.address();
    push.out_begin = begin_[1].address();
    push.out_segment_at = segments_from(next);
    push.out_moved = moved_.address() + next * kWord;
    push.out_unit = units_from(next);
    stream_.run(device_.program(kStay), groups_of(push.places), push);
  }

  /// Reorders from rounds of all units to units with their rounds.
  void order_by_unit(ScheduleOnDevice& result) {
    const std::size_t rounds = round_begin_.size() - 1;
    std::vector<std::uint32_t> rows(rounds * (units_ + 1));
    stream_.download_array(rows_, rows);
    stream_.wait();
    std::vector<std::uint32_t> to(rounds * units_, 0);
    result.round_begin = {0};
    result.unit_begin = {0};
    for (std::size_t unit = 0; unit < units_; ++unit) {
      for (std::size_t round = 0; round < rounds; ++round) {
        const std::uint32_t* const begin = rows.data() + round * (units_ + 1) + unit;
        if (begin[0] == begin[1]) {
          break;
        }
        to[round * units_ + unit] = narrow(result.round_begin.back());
        result.round_begin.push_back(result.round_begin.back() + (begin[1] - begin[0]));
      }
      if (result.unit_begin.back() + 1 < result.round_begin.size()) {
        result.unit_begin.push_back(result.round_begin.size() - 1);
        result.unit.push_back(narrow(unit));
      }
    }
    const Buffer first_warp = device_.allocate_array<std::uint32_t>(to.size(), "warps by round and unit");
    stream_.upload_array(first_warp, to);
    const std::uint64_t warps = round_begin_.back();
    result.segment_at = device_.allocate_array<std::uint32_t>(warps * spec_.warp_size, "segments by place");
    result.moved = device_.allocate_array<std::uint32_t>(warps, "threads that moved");
    for (std::size_t round = 0; round < rounds; ++round) {
      PermutePush push{};
      push.places = narrow((round_begin_[round + 1] - round_begin_[round]) * spec_.warp_size);
      push.warp_size = spec_.warp_size;
      push.segment_at = segments_from(round_begin_[round]);
      push.moved = moved_.address() + round_begin_[round] * kWord;
      push.unit = units_from(round_begin_[round]);
      push.begin = rows_.address() + round * (units_ + 1) * kWord;
      push.to = first_warp.address() + round * units_ * kWord;
      push.out_segment_at = result.segment_at.address();
      push.out_moved = result.moved.address();
      stream_.run(device_.program(kPermute), groups_of(push.places), push);
    }
    stream_.wait();
  }

  Device& device_;
  Stream& stream_;
  const SegmentsOnDevice& segments_;
  const RoundsSpec& spec_;
  Summer summer_;
  Sorter sorter_;
  std::uint64_t units_;
  bool by_unit_;     ///< there are several
  bool by_stretch_;  ///< warps end at borders of units or keys
  bool waits_;       ///< how many warps a round has is known on the device alone

  std::vector<std::uint64_t> waiting_;  ///< by round: threads that have a segment for it
  Buffer starts_;                       ///< a bit by segment
  Buffer numbered_;                     ///< keys of fewer bits; or none
  std::uint64_t keys_ = 0;
  std::uint64_t key_mask_ = 0;
  uint key_bits_ = 0, unit_bits_ = 0, sort_bits_ = 0;
  bool wide_ = false;

  /// By round, for all units.
  Growing segment_at_{"segments by place"}, moved_{"threads that moved"}, unit_{"units of warps"};
  std::vector<std::uint64_t> round_begin_{0};
  Buffer rows_;  ///< by round and unit: first warp in the round

  /// The current round: warps [first_, first_ + warps_), of which threads_ continue in formed_ warps.
  std::uint64_t first_ = 0, warps_ = 0, threads_ = 0, formed_ = 0;
  std::array<Buffer, 2> places_, sort_keys_;
  Buffer givers_;
  Growing marks_{"waiting threads"}, block_count_{"threads by block"}, block_before_{"threads before blocks"};
  Growing flags_{"begins of stretches"}, number_{"stretches of threads"}, stretch_begin_{"stretches"};
  Growing stretch_warps_{"warps of stretches"}, warps_before_{"warps before stretches"};
  Growing warp_start_{"begins of warps"}, warp_fill_{"threads of warps"}, warp_unit_{"units of formed warps"};
  Growing lives_{"warps with continuing threads"}, living_rank_{"warps with continuing threads before each warp"},
      claims_{"warps that are continued"};
  Buffer unit_formed_, formed_begin_, unit_warps_, stays_;
  std::array<Buffer, 2> begin_;  ///< by unit: its first warp in the round, and in the next
};

}  // namespace

ScheduleOnDevice schedule_rounds(Device& device, Stream& stream, const SegmentsOnDevice& segments, const Buffer* keys,
                                 const Buffer& thread_at, const RoundsSpec& spec) {
  return Rounds(device, stream, segments, spec).run(keys, thread_at);
}

}  // namespace rayreplay::kernels
