// The device code that NVBit calls before every memory instruction of a traced kernel. See labelled_trace.cu.
//
// Not compiled with rayreplay: NVBit's headers (utils/) come with its release.
#include "warp_access.h"

#include "utils/channel.hpp"
#include "utils/utils.h"

/// One record a warp. `holds`: the lane's guard predicate; lanes where it does not hold access nothing.
extern "C" __device__ __noinline__ void tell_warp_access(int holds, std::uint64_t address, std::uint32_t bytes,
                                                         std::uint32_t store, std::uint64_t channel) {
  const unsigned here = __activemask();
  const unsigned mask = __ballot_sync(here, holds != 0);
  if (mask == 0) {
    return;
  }
  WarpAccess access;
  for (int lane = 0; lane < 32; ++lane) {
    access.address[lane] = __shfl_sync(here, address, lane);
  }
  if (get_laneid() != __ffs(static_cast<int>(here)) - 1) {
    return;
  }
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  access.mask = mask;
  access.sm = static_cast<std::uint32_t>(get_smid());
  access.warp = block * ((threads + 31) / 32) + thread / 32;
  access.bytes = static_cast<std::uint16_t>(bytes);
  access.store = static_cast<std::uint16_t>(store);
  reinterpret_cast<ChannelDev*>(channel)->push(&access, sizeof(access));
}
