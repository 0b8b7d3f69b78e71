#include "kernels/sort/exclusive_sum.hpp"

#include <algorithm>

#include "BlockScan32.spv.hpp"
#include "BlockScan64.spv.hpp"
#include "BlockSums.spv.hpp"
#include "ScanSums32.spv.hpp"
#include "ScanSums64.spv.hpp"
#include "kernels/sort/sort_types.h"

namespace rayreplay::kernels {
namespace {

using sort_types::SumPush;

const Shader kSums{"sum.block_sums", kBlockSums};
const Shader kScanSumsTo32{"sum.scan_sums 32", kScanSums32};
const Shader kScanSumsTo64{"sum.scan_sums 64", kScanSums64};
const Shader kScanTo32{"sum.block_scan 32", kBlockScan32};
const Shader kScanTo64{"sum.block_scan 64", kBlockScan64};

constexpr std::uint64_t kTile = 1024;
constexpr std::uint64_t kMaxBlocks = 2048;

}  // namespace

void Summer::exclusive_sum(Stream& stream, const Buffer& from, const Buffer& to, std::uint64_t count, SumBits bits) {
  if (sums_.bytes() == 0) {
    sums_ = device_->allocate_array<std::uint64_t>(kMaxBlocks, "the blocks' sums");
  }
  const std::uint64_t tiles = (count + kTile - 1) / kTile;
  SumPush push{};
  push.count = count;
  push.block_items = kTile * std::max<std::uint64_t>(1, (tiles + kMaxBlocks - 1) / kMaxBlocks);
  push.blocks = static_cast<std::uint32_t>((count + push.block_items - 1) / push.block_items);
  push.from = from.address();
  push.to = to.address();
  push.sums = sums_.address();
  const bool wide = bits == SumBits::Of64;
  if (push.blocks > 0) {
    stream.run(device_->program(kSums), push.blocks, push);
  }
  stream.run(device_->program(wide ? kScanSumsTo64 : kScanSumsTo32), 1, push);
  if (push.blocks > 0) {
    stream.run(device_->program(wide ? kScanTo64 : kScanTo32), push.blocks, push);
  }
}

void exclusive_sum(Device& device, Stream& stream, const Buffer& from, const Buffer& to, std::uint64_t count,
                   SumBits bits) {
  Summer summer(device);
  summer.exclusive_sum(stream, from, to, count, bits);
  stream.wait();
}

}  // namespace rayreplay::kernels
