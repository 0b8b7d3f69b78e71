// An NVBit tool that writes a labelled memory trace (docs/memory-traces.md) of a CUDA program.
//
// NOT BUILT WITH RAYREPLAY, and not run by its tests: NVBit is NVIDIA's and comes from github.com/NVlabs/NVBit under
// its own license. It follows the interface of NVBit 1.5 to 1.7 (nvbit.h, utils/channel.hpp) as that release's own tool
// mem_trace uses it. README.md says how to build it.
//
// Contract: every load, store and atomic of global memory becomes a record: SM, warp of the grid, lanes whose guard
// predicate holds, bytes, addresses. Shared, local and constant memory are left out: they have no addresses that an
// allocation could have. Records are in the order in which the device's channel has them: a warp's own are in its
// order, those of different warps nearly in the order of execution. Allocations are the driver's (cuMemAlloc and its
// kin). The program labels them, or parts of them, by calling
//
//   extern "C" __attribute__((weak)) void rayreplay_label(const void* start, std::uint64_t bytes, int kind,
//                                                         std::uint32_t element_bytes, const char* name);
//   if (rayreplay_label != nullptr) rayreplay_label(nodes, size, 0 /* RR_NODE */, 64, "the BVH's nodes");
//
// (kinds: rr_kind in rayreplay_memory_trace.h; no effect without this tool). What has no label is of the kind `other`
// with elements of one byte; `rayreplay cache --guess-labels` suggests a kind. A freed range that is allocated again
// keeps its first label; a note counts such ranges.
//
// Environment: RAYREPLAY_TRACE: the file to write (memory.rrm.txt); RAYREPLAY_FRAME: "WIDTH HEIGHT" of the frame
// buffer. One context; kernels run one after the other, and every launch waits for its records.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "nvbit.h"
#include "nvbit_tool.h"
#include "utils/channel.hpp"

#include "rayreplay_memory_trace.h"
#include "warp_access.h"

namespace {

constexpr int kChannelBytes = 1 << 20;

enum class Receiver { Working, Stop, Finished };

struct Range {
  uint64_t start = 0, bytes = 0;
  int kind = RR_OTHER;
  uint32_t element_bytes = 1;
  std::string name;
};

std::mutex table_mutex;        // of `labels` and `allocated`
std::vector<Range> labels;     // told by the program
std::vector<Range> allocated;  // told by the driver
std::set<CUfunction> instrumented;
CUcontext traced = nullptr;
bool own_work = false;  // this tool's own calls of the driver
rr_trace trace;
ChannelDev* channel = nullptr;  // managed memory
ChannelHost receiver;
volatile Receiver receiver_state = Receiver::Working;

__global__ void flush_channel(ChannelDev* device_channel) {
  device_channel->flush();
}

void write_record(const WarpAccess& access) {
  uint64_t addresses[32];
  int lanes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if ((access.mask >> lane & 1U) != 0) {
      addresses[lanes++] = access.address[lane];
    }
  }
  rr_trace_record(&trace, access.sm, access.warp, access.store, access.bytes, access.mask, addresses);
}

/// The receiver's thread: the only one that writes records.
void* receive(void* /*context*/) {
  std::vector<char> buffer(kChannelBytes);
  for (;;) {
    const bool last = receiver_state == Receiver::Stop;  // asked before the channel is: nothing is lost
    const uint32_t size = receiver.recv(buffer.data(), kChannelBytes);
    for (uint32_t at = 0; at + sizeof(WarpAccess) <= size; at += sizeof(WarpAccess)) {
      write_record(*reinterpret_cast<const WarpAccess*>(buffer.data() + at));
    }
    if (last && size == 0) {
      break;
    }
  }
  receiver_state = Receiver::Finished;
  return nullptr;
}

void instrument(CUcontext context, CUfunction kernel) {
  std::vector<CUfunction> functions = nvbit_get_related_functions(context, kernel);
  functions.push_back(kernel);
  for (CUfunction function : functions) {
    if (!instrumented.insert(function).second) {
      continue;
    }
    for (Instr* instruction : nvbit_get_instrs(context, function)) {
      const InstrType::MemorySpace space = instruction->getMemorySpace();
      if (space != InstrType::MemorySpace::GLOBAL && space != InstrType::MemorySpace::GENERIC) {
        continue;
      }
      // An atomic both loads and stores; the format has it as a store.
      const bool store = instruction->isStore();
      int reference = 0;
      for (int operand = 0; operand < instruction->getNumOperands(); ++operand) {
        if (instruction->getOperand(operand)->type != InstrType::OperandType::MREF) {
          continue;
        }
        nvbit_insert_call(instruction, "tell_warp_access", IPOINT_BEFORE);
        nvbit_add_call_arg_guard_pred_val(instruction);
        nvbit_add_call_arg_mref_addr64(instruction, reference++);
        nvbit_add_call_arg_const_val32(instruction, static_cast<uint32_t>(instruction->getSize()));
        nvbit_add_call_arg_const_val32(instruction, store ? 1 : 0);
        nvbit_add_call_arg_const_val64(instruction, reinterpret_cast<uint64_t>(channel));
      }
    }
  }
}

/// The kernel of a launch; null for other calls.
CUfunction launched(nvbit_api_cuda_t call, void* parameters) {
  switch (call) {
    case API_CUDA_cuLaunchKernel:
    case API_CUDA_cuLaunchKernel_ptsz:
    case API_CUDA_cuLaunchCooperativeKernel:
    case API_CUDA_cuLaunchCooperativeKernel_ptsz:
      return static_cast<cuLaunchKernel_params*>(parameters)->f;
    case API_CUDA_cuLaunchKernelEx:
    case API_CUDA_cuLaunchKernelEx_ptsz:
      return static_cast<cuLaunchKernelEx_params*>(parameters)->f;
    default:
      return nullptr;
  }
}

/// Remembers what a successful call allocated.
void note_allocation(nvbit_api_cuda_t call, void* parameters) {
  Range range;
  if (call == API_CUDA_cuMemAlloc_v2) {
    const auto* given = static_cast<cuMemAlloc_v2_params*>(parameters);
    range.start = *given->dptr;
    range.bytes = given->bytesize;
  } else if (call == API_CUDA_cuMemAllocManaged) {
    const auto* given = static_cast<cuMemAllocManaged_params*>(parameters);
    range.start = *given->dptr;
    range.bytes = given->bytesize;
  } else if (call == API_CUDA_cuMemAllocAsync || call == API_CUDA_cuMemAllocAsync_ptsz) {
    const auto* given = static_cast<cuMemAllocAsync_params*>(parameters);
    range.start = *given->dptr;
    range.bytes = given->bytesize;
  } else if (call == API_CUDA_cuMemAllocPitch_v2) {
    const auto* given = static_cast<cuMemAllocPitch_v2_params*>(parameters);
    range.start = *given->dptr;
    range.bytes = *given->pPitch * given->Height;
  } else {
    return;
  }
  const std::lock_guard<std::mutex> lock(table_mutex);
  allocated.push_back(range);
}

bool overlaps(const Range& a, const Range& b) {
  return a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

/// The allocation table: labels first, then what of the driver's allocations no label covers.
void write_table() {
  const std::lock_guard<std::mutex> lock(table_mutex);
  std::vector<Range> rows;
  std::size_t again = 0;
  for (const Range& label : labels) {
    const bool taken = std::any_of(rows.begin(), rows.end(), [&](const Range& row) { return overlaps(row, label); });
    again += taken ? 1 : 0;
    if (!taken && label.bytes > 0) {
      rows.push_back(label);
    }
  }
  for (const Range& whole : allocated) {
    // The gaps between the rows inside the allocation.
    std::vector<Range> inside;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(inside),
                 [&](const Range& row) { return overlaps(row, whole); });
    std::sort(inside.begin(), inside.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
    uint64_t from = whole.start;
    for (const Range& row : inside) {
      if (row.start > from) {
        rows.push_back({from, row.start - from, RR_OTHER, 1, ""});
      }
      from = std::max(from, row.start + row.bytes);
    }
    if (from < whole.start + whole.bytes) {
      rows.push_back({from, whole.start + whole.bytes - from, RR_OTHER, 1, ""});
    }
  }
  for (const Range& row : rows) {
    rr_trace_allocation(&trace, static_cast<rr_kind>(row.kind), row.start, row.bytes, row.element_bytes,
                        row.name.c_str());
  }
  if (again > 0) {
    fprintf(stderr, "rayreplay: labels over ranges that have one already, and left out: %zu\n", again);
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void rayreplay_label(const void* start, uint64_t bytes, int kind,
                                                                       uint32_t element_bytes, const char* name) {
  const std::lock_guard<std::mutex> lock(table_mutex);
  labels.push_back({reinterpret_cast<uint64_t>(start), bytes, kind, element_bytes, name == nullptr ? "" : name});
}

// NVBit's callbacks.

void nvbit_at_init() {
  // Keeps managed memory, and with it the channel, on the device.
  setenv("CUDA_MANAGED_FORCE_DEVICE_ALLOC", "1", 1);
}

void nvbit_tool_init(CUcontext context) {
  if (traced != nullptr) {
    return;
  }
  traced = context;
  own_work = true;
  CUdevice device = 0;
  int sms = 1;
  char name[256] = "";
  cuCtxGetDevice(&device);
  cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  cuDeviceGetName(name, sizeof(name), device);
  rr_trace_header header = {
      "rayreplay's NVBit tool", name, program_invocation_name, 32, static_cast<uint32_t>(sms), 0, 0};
  if (const char* frame = getenv("RAYREPLAY_FRAME")) {
    unsigned width = 0, height = 0;
    if (sscanf(frame, "%u %u", &width, &height) == 2) {
      header.width = width;
      header.height = height;
    }
  }
  const char* file = getenv("RAYREPLAY_TRACE");
  rr_trace_open(&trace, file == nullptr ? "memory.rrm.txt" : file, &header);
  cudaMallocManaged(&channel, sizeof(ChannelDev));
  receiver.init(0, kChannelBytes, channel, receive, nullptr);
  nvbit_set_tool_pthread(receiver.get_thread());
  own_work = false;
}

void nvbit_at_cuda_event(CUcontext context, int is_exit, nvbit_api_cuda_t call, const char* /*name*/, void* parameters,
                         CUresult* status) {
  if (own_work || context != traced) {
    return;
  }
  if (is_exit != 0 && *status == CUDA_SUCCESS) {
    note_allocation(call, parameters);
  }
  CUfunction kernel = launched(call, parameters);
  if (kernel == nullptr) {
    return;
  }
  own_work = true;
  if (is_exit == 0) {
    instrument(context, kernel);
    nvbit_enable_instrumented(context, kernel, true);
  } else {
    cudaDeviceSynchronize();
    flush_channel<<<1, 1>>>(channel);
    cudaDeviceSynchronize();
  }
  own_work = false;
}

void nvbit_at_ctx_term(CUcontext context) {
  if (context != traced) {
    return;
  }
  own_work = true;
  receiver_state = Receiver::Stop;
  while (receiver_state != Receiver::Finished) {
  }
  receiver.destroy(false);
  cudaFree(channel);
  write_table();
  if (rr_trace_close(&trace) != 0) {
    fprintf(stderr, "rayreplay: %s\n", trace.error);
  }
  own_work = false;
}
