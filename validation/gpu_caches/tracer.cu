// A software ray tracer on the GPU (Aila and Laine 2009) with the visits of rayreplay's warp traversals at the same
// addresses: its cache counters and recorded accesses validate our models.
//
//   tracer IMAGE [--form while-while|if-if] [--launch persistent|grid] [--schedule scanline|scanline-per-sm]
//          [--warps N] [--repeat N] [--trace OUT.rrm]
//
// --repeat: runs of the kernel `traced`. --launch persistent: N warps on each SM take one piece of work after another from a queue. grid: a warp for each
// piece, in blocks of four that the GPU itself distributes; at most N of them are on an SM, by their shared memory.
//
// Runs the kernel `traced` (the one to be measured with a profiler), compares every hit with the image's, then a
// kernel that counts node visits and triangle tests. --trace runs a third that writes down each memory instruction in
// the order in which the GPU issued them (a ticket a warp instruction), and writes a memory trace (text form of
// docs/memory-traces.md). The stacks of the traversal lie in shared memory, so that global memory is all that the L1
// holds: the L1 has 256 KB less the carve-out that the program asks for, which it prints. Exit codes: 0; 1 if a hit
// differs; 2 for anything else. Needs compute capability 9.0: nvcc -O3 -arch=sm_90 -fmad=false -std=c++17 -o tracer
// tracer.cu
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "image.hpp"

namespace {

constexpr int kBlockWarps = 4;
constexpr int kStack = 32;  // entries a lane
constexpr unsigned kNone = 0xFFFFFFFFu;
constexpr unsigned kAll = 0xFFFFFFFFu;

enum class Mode { Plain, Count, Record };

struct Entry {
  float t;
  unsigned index;  // bit 31: a leaf
};

struct Record {
  unsigned sm, warp, mask, bytes;  // bytes: bit 31: a store
};

struct Scene {
  const char* base;  // of memory; rays and the frame buffer lie behind it
  ImageHeader image;
  unsigned long long rays, pixels;  // offsets from base
  unsigned items, sms;
};

struct How {
  bool if_if = false, per_sm = false, grid = false;
};

struct Shared {
  unsigned* queue;             // next item: [0] or by SM
  unsigned long long* counts;  // nodes, tests
  unsigned long long* ticket;
  Record* records;
  unsigned long long* addresses;  // 32 a record
  unsigned long long room;
};

__device__ unsigned sm_id() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

template <Mode M>
struct Memory {
  const Scene& scene;
  const Shared& shared;
  unsigned warp;

  __device__ void note(unsigned mask, unsigned long long offset, unsigned bytes) const {
    if constexpr (M == Mode::Record) {
      const unsigned lane = threadIdx.x & 31;
      const int leader = __ffs(static_cast<int>(mask)) - 1;
      unsigned long long row = 0;
      if (static_cast<int>(lane) == leader) {
        row = atomicAdd(shared.ticket, 1ull);
        if (row < shared.room) {
          shared.records[row] = {sm_id(), warp, mask, bytes};
        }
      }
      row = __shfl_sync(mask, row, leader);
      if (row < shared.room) {
        shared.addresses[row * 32 + static_cast<unsigned>(__popc(mask & ((1u << lane) - 1)))] = offset;
      }
    }
  }
  __device__ unsigned load(unsigned mask, unsigned long long offset) const {
    note(mask, offset, 4);
    unsigned value;
    asm volatile("ld.global.b32 %0, [%1];" : "=r"(value) : "l"(scene.base + offset));
    return value;
  }
  __device__ float4 load4(unsigned mask, unsigned long long offset) const {
    note(mask, offset, 16);
    float4 value;
    asm volatile("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(value.x), "=f"(value.y), "=f"(value.z), "=f"(value.w)
                 : "l"(scene.base + offset));
    return value;
  }
  __device__ void store4(unsigned mask, unsigned long long offset, float4 value) const {
    note(mask, offset, 16u | 0x80000000u);
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(scene.base + offset), "f"(value.x), "f"(value.y),
                 "f"(value.z), "f"(value.w)
                 : "memory");
  }
};

struct Ray {
  float o[3], d[3], t_min, limit;
  float inverse_near[3], inverse_far[3];
  unsigned hit;
};

__device__ bool meet(const Ray& ray, const float* low, const float* high, float& entry) {
  float near = ray.t_min;
  float far = ray.limit;
  for (int axis = 0; axis < 3; ++axis) {
    const bool negative = signbit(ray.d[axis]);
    const float enter = ((negative ? high[axis] : low[axis]) - ray.o[axis]) * ray.inverse_near[axis];
    const float leave = ((negative ? low[axis] : high[axis]) - ray.o[axis]) * ray.inverse_far[axis];
    near = near < enter ? enter : near;
    far = leave < far ? leave : far;
  }
  entry = near;
  return near <= far;
}

__device__ void prepare(Ray& ray) {
  constexpr double kSlack = 1.0 / (1 << 21);
  constexpr double kLargest = 3.40282346638528859811704183484516925e+38;
  for (int axis = 0; axis < 3; ++axis) {
    const double d = ray.d[axis];
    const double inverse = 1.0 / d;
    const double lesser = d == 0 ? inverse : fmin(fmax(inverse * (1 - kSlack), -kLargest), kLargest);
    ray.inverse_near[axis] = static_cast<float>(lesser);
    ray.inverse_far[axis] = static_cast<float>(inverse * (1 + kSlack));
  }
}

__device__ double edge_function(const Ray& ray, const double* p, const double* q) {
  const double e[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  const double s[3] = {p[0] + q[0], p[1] + q[1], p[2] + q[2]};
  const double c[3] = {e[1] * s[2] - e[2] * s[1], e[2] * s[0] - e[0] * s[2], e[0] * s[1] - e[1] * s[0]};
  return double(ray.d[0]) * c[0] + double(ray.d[1]) * c[1] + double(ray.d[2]) * c[2];
}

__device__ double along(const Ray& ray, const double* p) {
  return double(ray.d[0]) * p[0] + double(ray.d[1]) * p[1] + double(ray.d[2]) * p[2];
}

__device__ void test_triangle(Ray& ray, const float (*corner)[3], unsigned primitive) {
  double p[3][3];
  float low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < 3; ++i) {
      p[i][axis] = double(corner[i][axis]) - double(ray.o[axis]);
    }
    low[axis] = fminf(fminf(corner[0][axis], corner[1][axis]), corner[2][axis]);
    high[axis] = fmaxf(fmaxf(corner[0][axis], corner[1][axis]), corner[2][axis]);
  }
  const double wa = edge_function(ray, p[2], p[1]);
  const double wb = edge_function(ray, p[0], p[2]);
  const double wc = edge_function(ray, p[1], p[0]);
  const double sum = wa + wb + wc;
  if (!((wa <= 0 && wb <= 0 && wc <= 0) || (wa >= 0 && wb >= 0 && wc >= 0)) || sum == 0) {
    return;
  }
  const double length2 =
      double(ray.d[0]) * double(ray.d[0]) + double(ray.d[1]) * double(ray.d[1]) + double(ray.d[2]) * double(ray.d[2]);
  float t =
      static_cast<float>((wa * along(ray, p[0]) + wb * along(ray, p[1]) + wc * along(ray, p[2])) / (sum * length2));
  float entry;
  if (!(t <= ray.limit) || !(t >= ray.t_min) || !meet(ray, low, high, entry)) {
    return;
  }
  t = t < entry ? entry : t;
  if (t < ray.limit || (t == ray.limit && (ray.hit == kNone || primitive < ray.hit))) {
    ray.limit = t;
    ray.hit = primitive;
  }
}

// One lane, in the states of rayreplay's traversal/warp/lane.hpp. The top level is one leaf with the one instance.
template <Mode M>
struct Lane {
  const Memory<M>& memory;
  Entry* stack;  // kBlockWarps · 32 apart
  int depth = 0;
  unsigned node = kNone;
  unsigned leaf = kNone;
  bool top = true;  // before the instance has been read
  Ray ray;

  __device__ void push(float t, unsigned index) {
    if (depth >= kStack) {
      __trap();
    }
    stack[depth++ * kBlockWarps * 32] = {t, index};
  }
  __device__ void settle() {
    while (node == kNone && leaf == kNone && depth > 0) {
      const Entry next = stack[--depth * kBlockWarps * 32];
      if (next.t <= ray.limit) {
        if ((next.index & 0x80000000u) != 0) {
          leaf = next.index & 0x7FFFFFFFu;
        } else {
          node = next.index;
        }
      }
    }
  }
  __device__ void step_node(unsigned mask) {
    const ImageHeader& image = memory.scene.image;
    const unsigned long long at = (top ? image.top_nodes : image.bottom_nodes) + 64ull * node;
    node = kNone;
    const float4 xy0 = memory.load4(mask, at);
    const float4 xy1 = memory.load4(mask, at + 16);
    const float4 z = memory.load4(mask, at + 32);
    const float4 links = memory.load4(mask, at + 48);
    const float low0[3] = {xy0.x, xy0.z, z.x}, high0[3] = {xy0.y, xy0.w, z.y};
    const float low1[3] = {xy1.x, xy1.z, z.z}, high1[3] = {xy1.y, xy1.w, z.w};
    const unsigned index0 = __float_as_uint(links.x) | (__float_as_uint(links.z) != 0 ? 0x80000000u : 0u);
    const unsigned index1 = __float_as_uint(links.y) | (__float_as_uint(links.w) != 0 ? 0x80000000u : 0u);
    float entry0, entry1;
    const bool met0 = meet(ray, low0, high0, entry0);
    const bool met1 = __float_as_uint(links.y) != kNone && meet(ray, low1, high1, entry1);
    if (met0 && met1) {
      const bool second_nearer = entry1 < entry0;
      push(second_nearer ? entry0 : entry1, second_nearer ? index0 : index1);
      push(second_nearer ? entry1 : entry0, second_nearer ? index1 : index0);
    } else if (met0 || met1) {
      push(met0 ? entry0 : entry1, met0 ? index0 : index1);
    }
    settle();
  }
  __device__ void step_leaf(unsigned mask) {
    const ImageHeader& image = memory.scene.image;
    const unsigned primitive = leaf;
    leaf = kNone;
    // A warp's lanes enter their instance together: the top level is the same for all.
    if (top) {
      for (int i = 0; i < 4; ++i) {
        (void)memory.load4(mask, image.instances + 16u * i);
      }
      top = false;
      node = 0;
      return;
    }
    unsigned index[3];
    float corner[3][3];
    for (int i = 0; i < 3; ++i) {
      index[i] = memory.load(mask, image.indices + 12ull * primitive + 4u * i);
    }
    for (int i = 0; i < 3; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        corner[i][axis] = __uint_as_float(memory.load(mask, image.vertices + 12ull * index[i] + 4u * axis));
      }
    }
    test_triangle(ray, corner, primitive);
    settle();
  }
};

// `per_sm`: every SM has its own band of the image.
__device__ unsigned take_item(const Scene& scene, const Shared& shared, bool per_sm) {
  unsigned item = 0;
  if ((threadIdx.x & 31) == 0) {
    if (per_sm) {
      const unsigned long long sm = sm_id();
      const unsigned first = static_cast<unsigned>(sm * scene.items / scene.sms);
      const unsigned last = static_cast<unsigned>((sm + 1) * scene.items / scene.sms);
      item = first + atomicAdd(&shared.queue[sm], 1u);
      item = item < last ? item : kNone;
    } else {
      item = atomicAdd(&shared.queue[0], 1u);
      item = item < scene.items ? item : kNone;
    }
  }
  return __shfl_sync(kAll, item, 0);
}

template <Mode M>
__device__ void trace_all(const Scene& scene, const Shared& shared, const How how) {
  __shared__ Entry stacks[kStack * kBlockWarps * 32];
  const unsigned lane_number = threadIdx.x & 31;
  const Memory<M> memory{scene, shared, blockIdx.x * kBlockWarps + threadIdx.x / 32};
  const unsigned long long count = 1ull * scene.image.width * scene.image.height;
  unsigned item = how.grid ? memory.warp : take_item(scene, shared, how.per_sm);
  while (item < scene.items) {
    const unsigned long long pixel = 32ull * item + lane_number;
    const unsigned alive = __ballot_sync(kAll, pixel < count);
    Lane<M> lane{memory, stacks + threadIdx.x};
    if (pixel < count) {
      float value[8];
      for (int i = 0; i < 8; ++i) {
        value[i] = __uint_as_float(memory.load(alive, scene.rays + 4 * (count * i + pixel)));
      }
      for (int axis = 0; axis < 3; ++axis) {
        lane.ray.o[axis] = value[axis];
        lane.ray.d[axis] = value[3 + axis];
      }
      lane.ray.t_min = value[6];
      lane.ray.limit = fminf(value[7], 3.402823466e+38f);
      lane.ray.hit = kNone;
      prepare(lane.ray);
      lane.node = 0;
    }
    bool node_is_next = true;
    unsigned long long nodes = 0, tests = 0;
    while (true) {
      const unsigned wants_node = __ballot_sync(kAll, lane.node != kNone);
      const unsigned wants_leaf = __ballot_sync(kAll, lane.leaf != kNone);
      if ((wants_node | wants_leaf) == 0) {
        break;
      }
      // While-while: search until no lane wants a node, then test until none has a leaf. If-if: in turns.
      const bool node_now = wants_leaf == 0 || (node_is_next && wants_node != 0);
      node_is_next = how.if_if ? !node_now : (node_now ? true : wants_leaf == 0);
      if (node_now) {
        if (lane.node != kNone) {
          lane.step_node(wants_node);
        }
        nodes += static_cast<unsigned>(__popc(wants_node));
      } else {
        const bool was_top = lane.top;
        if (lane.leaf != kNone) {
          lane.step_leaf(wants_leaf);
        }
        tests += static_cast<unsigned>(__popc(wants_leaf & ~__ballot_sync(kAll, was_top)));
        if (!how.if_if) {
          node_is_next = __ballot_sync(kAll, lane.leaf != kNone) == 0;
        }
      }
      __syncwarp();
    }
    if (pixel < count) {
      memory.store4(alive, scene.pixels + 16 * pixel, make_float4(lane.ray.limit, __uint_as_float(lane.ray.hit), 0, 0));
    }
    if (M == Mode::Count && lane_number == 0) {
      atomicAdd(&shared.counts[0], nodes);
      atomicAdd(&shared.counts[1], tests);
    }
    item = how.grid ? kNone : take_item(scene, shared, how.per_sm);
  }
}

__global__ void __launch_bounds__(kBlockWarps * 32) traced(Scene scene, Shared shared, How how) {
  trace_all<Mode::Plain>(scene, shared, how);
}
__global__ void __launch_bounds__(kBlockWarps * 32) counted(Scene scene, Shared shared, How how) {
  trace_all<Mode::Count>(scene, shared, how);
}
__global__ void __launch_bounds__(kBlockWarps * 32) recorded(Scene scene, Shared shared, How how) {
  trace_all<Mode::Record>(scene, shared, how);
}

void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "tracer: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(2);
  }
}

struct Options {
  std::string image, trace;
  How how;
  int warps = 16, repeat = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--form") {
      options.how.if_if = value() == "if-if";
    } else if (word == "--schedule") {
      options.how.per_sm = value() == "scanline-per-sm";
    } else if (word == "--launch") {
      options.how.grid = value() == "grid";
    } else if (word == "--warps") {
      options.warps = std::atoi(value().c_str());
    } else if (word == "--repeat") {
      options.repeat = std::atoi(value().c_str());
    } else if (word == "--trace") {
      options.trace = value();
    } else {
      options.image = word;
    }
  }
  if (options.image.empty() || options.warps < kBlockWarps || options.warps % kBlockWarps != 0 ||
      options.repeat < 1) {
    std::fprintf(stderr, "usage: tracer IMAGE [--form F] [--launch L] [--schedule S] [--warps N] [--repeat N] [--trace OUT]\n");
    std::exit(2);
  }
  return options;
}

void write_trace(const Options& options, const Scene& scene, const std::vector<Record>& records,
                 const std::vector<unsigned long long>& addresses, const char* device) {
  std::FILE* out = std::fopen(options.trace.c_str(), "wb");
  if (out == nullptr) {
    std::fprintf(stderr, "tracer: %s cannot be written\n", options.trace.c_str());
    std::exit(2);
  }
  std::vector<char> buffer(1 << 24);
  std::setvbuf(out, buffer.data(), _IOFBF, buffer.size());
  const ImageHeader& image = scene.image;
  const unsigned long long count = 1ull * image.width * image.height;
  std::fprintf(out, "rayreplay-memory-trace 1\ntool tracer.cu\ndevice %s\nwarp-size 32\nsms %u\nframe %u %u\n", device,
               scene.sms, image.width, image.height);
  const auto allocation = [&](const char* kind, unsigned long long start, unsigned long long bytes, unsigned element,
                              const char* name) {
    std::fprintf(out, "allocation %s 0x%llx %llu %u %s\n", kind, start, bytes, element, name);
  };
  allocation("node", image.top_nodes, image.top_bytes, 64, "top nodes");
  allocation("instance", image.instances, 64, 64, "instances");
  allocation("node", image.bottom_nodes, image.bottom_bytes, 64, "blas 0 nodes");
  allocation("index", image.indices, image.triangles * 12, 12, "indices");
  allocation("vertex", image.vertices, image.vertex_count * 12, 12, "vertices");
  allocation("other", scene.rays, 32 * count, 4, "rays");
  allocation("frame-buffer", scene.pixels, 16 * count, 16, "pixels");
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    std::fprintf(out, "%u %u %s %u 0x%x", record.sm, record.warp, (record.bytes & 0x80000000u) != 0 ? "store" : "load",
                 record.bytes & 0x7FFFFFFFu, record.mask);
    unsigned lanes = 0;
    for (unsigned mask = record.mask; mask != 0; mask &= mask - 1) {
      ++lanes;
    }
    for (unsigned lane = 0; lane < lanes; ++lane) {
      std::fprintf(out, " 0x%llx", addresses[i * 32 + lane]);
    }
    std::fputc('\n', out);
  }
  std::fprintf(out, "end %zu\n", records.size());
  if (std::fclose(out) != 0) {
    std::fprintf(stderr, "tracer: %s cannot be written\n", options.trace.c_str());
    std::exit(2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::FILE* file = std::fopen(options.image.c_str(), "rb");
  ImageHeader image{};
  if (file == nullptr || std::fread(&image, sizeof(image), 1, file) != 1 || image.magic != kImageMagic) {
    std::fprintf(stderr, "tracer: %s is no image\n", options.image.c_str());
    return 2;
  }
  const std::size_t count = std::size_t{image.width} * image.height;
  std::vector<float> rays(count * 8);
  std::vector<unsigned> expected(count);
  std::vector<char> memory(image.bytes);
  if (std::fread(rays.data(), 4, rays.size(), file) != rays.size() ||
      std::fread(expected.data(), 4, count, file) != count ||
      std::fread(memory.data(), 1, memory.size(), file) != memory.size()) {
    std::fprintf(stderr, "tracer: %s is cut off\n", options.image.c_str());
    return 2;
  }
  std::fclose(file);

  cudaDeviceProp device{};
  must(cudaGetDeviceProperties(&device, 0), "device");
  const auto aligned = [](unsigned long long bytes) { return (bytes + 255) / 256 * 256; };
  Scene scene{};
  scene.image = image;
  scene.rays = aligned(image.bytes);
  scene.pixels = scene.rays + aligned(32 * count);
  scene.items = static_cast<unsigned>((count + 31) / 32);
  scene.sms = static_cast<unsigned>(device.multiProcessorCount);
  char* base = nullptr;
  must(cudaMalloc(&base, scene.pixels + 16 * count), "memory");
  must(cudaMemcpy(base, memory.data(), memory.size(), cudaMemcpyHostToDevice), "copy");
  must(cudaMemcpy(base + scene.rays, rays.data(), rays.size() * 4, cudaMemcpyHostToDevice), "copy");
  scene.base = base;
  Shared shared{};
  must(cudaMalloc(&shared.queue, scene.sms * sizeof(unsigned)), "memory");
  must(cudaMalloc(&shared.counts, 2 * sizeof(unsigned long long)), "memory");
  must(cudaMalloc(&shared.ticket, sizeof(unsigned long long)), "memory");

  const int blocks = options.warps / kBlockWarps;
  const int stack_bytes = kStack * kBlockWarps * 32 * static_cast<int>(sizeof(Entry));
  // Rounded down: the driver takes the next larger of its sizes.
  const int carve_out = static_cast<int>(blocks * (stack_bytes + 1024) * 100ull / device.sharedMemPerMultiprocessor);
  const auto run = [&](auto* kernel, const char* name) {
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, carve_out), "carve-out");
    int fit = 0;
    must(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, kBlockWarps * 32, 0), "occupancy");
    if (fit < blocks) {
      std::fprintf(stderr, "tracer: only %d of %d blocks fit an SM\n", fit, blocks);
      std::exit(2);
    }
    must(cudaMemset(shared.queue, 0, scene.sms * sizeof(unsigned)), "queue");
    must(cudaMemset(shared.counts, 0, 2 * sizeof(unsigned long long)), "counts");
    must(cudaMemset(shared.ticket, 0, sizeof(unsigned long long)), "ticket");
    const unsigned grid = options.how.grid ? (scene.items + kBlockWarps - 1) / kBlockWarps
                                           : static_cast<unsigned>(blocks) * scene.sms;
    kernel<<<grid, kBlockWarps * 32>>>(scene, shared, options.how);
    must(cudaGetLastError(), name);
    must(cudaDeviceSynchronize(), name);
  };

  for (int i = 0; i < options.repeat; ++i) {
    run(traced, "traced");
  }
  std::vector<float4> pixels(count);
  must(cudaMemcpy(pixels.data(), base + scene.pixels, 16 * count, cudaMemcpyDeviceToHost), "copy");
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    unsigned hit;
    std::memcpy(&hit, &pixels[i].y, 4);
    wrong += hit != expected[i] ? 1 : 0;
  }
  run(counted, "counted");
  unsigned long long counts[2];
  must(cudaMemcpy(counts, shared.counts, sizeof(counts), cudaMemcpyDeviceToHost), "copy");
  std::printf(
      "%s: %s, %s, %s, %d warps an SM, carve-out %d %%, %zu of %zu hits differ, %llu node visits, %llu triangle tests\n",
      options.image.c_str(), options.how.if_if ? "if-if" : "while-while", options.how.grid ? "grid" : "persistent",
      options.how.per_sm ? "scanline-per-sm" : "scanline",
      options.warps, carve_out, wrong, count, counts[0], counts[1]);
  if (!options.trace.empty()) {
    shared.room = 0;
    run(recorded, "recorded");  // how many?
    unsigned long long total = 0;
    must(cudaMemcpy(&total, shared.ticket, sizeof(total), cudaMemcpyDeviceToHost), "copy");
    shared.room = total + total / 8;  // the order of work differs from run to run, and with it nothing else
    must(cudaMalloc(&shared.records, shared.room * sizeof(Record)), "memory");
    must(cudaMalloc(&shared.addresses, shared.room * 32 * sizeof(unsigned long long)), "memory");
    run(recorded, "recorded");
    must(cudaMemcpy(&total, shared.ticket, sizeof(total), cudaMemcpyDeviceToHost), "copy");
    if (total > shared.room) {
      std::fprintf(stderr, "tracer: %llu records, room for %llu\n", total, shared.room);
      return 2;
    }
    std::vector<Record> records(total);
    std::vector<unsigned long long> addresses(total * 32);
    must(cudaMemcpy(records.data(), shared.records, total * sizeof(Record), cudaMemcpyDeviceToHost), "copy");
    must(cudaMemcpy(addresses.data(), shared.addresses, addresses.size() * 8, cudaMemcpyDeviceToHost), "copy");
    write_trace(options, scene, records, addresses, device.name);
    std::printf("%s: %llu warp instructions\n", options.trace.c_str(), total);
  }
  return wrong == 0 ? 0 : 1;
}
