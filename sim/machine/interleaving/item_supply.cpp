#include "sim/machine/interleaving/item_supply.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace rayreplay::machine {
namespace {

/// The flags, on which the engine relies, mark the first transaction of each instruction and no other.
bool has_instructions(const memory::WarpStream& stream) {
  if (stream.first.empty()) {
    return stream.transactions.empty();
  }
  const std::size_t instructions = stream.instructions();
  std::size_t begun = 0;
  for (std::size_t i = 0; i < stream.transactions.size(); ++i) {
    if ((stream.transactions[i].flags & memory::kFirst) != 0) {
      if (begun == instructions || stream.first[begun] != i) {
        return false;
      }
      ++begun;
    }
  }
  return begun == instructions && stream.first.front() == 0 && stream.first.back() == stream.transactions.size();
}

/// Rows that follow are empty otherwise, lie between instructions, and are of the stage of the one before; rays begin
/// when the warp's earlier ones have ended, and all end. Otherwise warps could wait for the ray-tracing unit for ever.
bool is_sound(const std::vector<memory::WarpWork>& work) {
  std::uint32_t rays = 0;
  memory::RowStages following;
  for (const memory::WarpWork& row : work) {
    const bool is_outer = &row == &work.front() || &row == &work.back();
    if (row.follows && (is_outer || row != memory::WarpWork{.follows = true, .stages = following})) {
      return false;
    }
    following = {memory::WorkStage::RayGeneration, row.stages.access()};
    if (row.rays_end > rays) {
      return false;
    }
    rays -= row.rays_end;
    if (row.rays_begin != 0 && rays != 0) {
      return false;
    }
    rays += row.rays_begin;
  }
  return rays == 0;
}

}  // namespace

void ItemSupply::generate(std::uint32_t item) {
  items_.assign(1, item);
  dispatcher_->append_next(ahead_, items_);
  items_.erase(
      std::remove_if(items_.begin() + 1, items_.end(), [&](std::uint32_t next) { return place_[next] != kNone; }),
      items_.end());
  streams_.resize(items_.size());
  source_->generate(items_, streams_);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    check(streams_[i], items_[i]);
    calls_.add(streams_[i].calls);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(held_.size()));
      held_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    held_[place] = std::move(streams_[i]);
    place_[items_[i]] = place;
  }
}

void ItemSupply::check(const memory::WarpStream& stream, std::uint32_t item) const {
  if (!has_instructions(stream)) {
    throw Error(ErrorKind::Internal, {"the stream of a warp breaks its contract", fmt::format("item {}", item), "",
                                      "instructions of one transaction or more", ""});
  }
  if (raw_ && stream.raw.rows.size() != stream.instructions()) {
    throw Error(ErrorKind::Usage, {"the raw instructions of a warp are wanted, but not kept",
                                   fmt::format("item {}", item), fmt::format("{} rows", stream.raw.rows.size()),
                                   fmt::format("{}, one an instruction", stream.instructions()), "set keep_raw"});
  }
  if (!work_) {
    return;
  }
  if (stream.work.empty()) {
    throw Error(ErrorKind::Usage, {"the work of a warp is wanted, but not kept", fmt::format("item {}", item), "",
                                   "a row of work before each instruction and after the last", ""});
  }
  if (stream.work.size() != stream.instructions() + 1 || !is_sound(stream.work)) {
    throw Error(ErrorKind::Internal,
                {"the work of a warp breaks its contract", fmt::format("item {}", item),
                 fmt::format("{} rows for {} instructions", stream.work.size(), stream.instructions()),
                 "one row before each instruction and after the last, whose rays begin and end", ""});
  }
}

}  // namespace rayreplay::machine
