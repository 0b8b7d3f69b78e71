// The peer of the radix sort: CUB's DeviceRadixSort on the same kind of keys. Not part of the build: it needs CUDA.
//
//   nvcc -O3 -o cub_sort bench/gpu/peer/cub_sort.cu && ./cub_sort [items]
//
// Random 64-bit keys with 32-bit payload, then keys alone, then 32-bit keys with payload; the best of ten runs each, by
// the device's clock.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cub/cub.cuh>

namespace {

template <class Key>
__global__ void fill(Key* keys, std::uint32_t* values, std::size_t items) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < items) {
    std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    keys[i] = static_cast<Key>(z ^ (z >> 31U));
    values[i] = static_cast<std::uint32_t>(i);
  }
}

template <class Key>
void measure(const char* name, std::size_t items, bool with_values) {
  Key *keys, *sorted;
  std::uint32_t *values, *sorted_values;
  cudaMalloc(&keys, items * sizeof(Key));
  cudaMalloc(&sorted, items * sizeof(Key));
  cudaMalloc(&values, items * sizeof(std::uint32_t));
  cudaMalloc(&sorted_values, items * sizeof(std::uint32_t));
  fill<<<static_cast<unsigned>((items + 255) / 256), 256>>>(keys, values, items);
  void* scratch = nullptr;
  std::size_t bytes = 0;
  const auto sort = [&] {
    if (with_values) {
      cub::DeviceRadixSort::SortPairs(scratch, bytes, keys, sorted, values, sorted_values, items);
    } else {
      cub::DeviceRadixSort::SortKeys(scratch, bytes, keys, sorted, items);
    }
  };
  sort();
  cudaMalloc(&scratch, bytes);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float best = 1e30F;
  for (int i = 0; i < 11; ++i) {
    cudaEventRecord(begin);
    sort();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float time = 0;
    cudaEventElapsedTime(&time, begin, end);
    best = i > 0 && time < best ? time : best;
  }
  std::printf("%-44s %12zu items %8.3f ms %8.2f G/s  %s\n", name, items, best, static_cast<double>(items) / best / 1e6,
              cudaGetErrorString(cudaGetLastError()));
  cudaFree(keys);
  cudaFree(sorted);
  cudaFree(values);
  cudaFree(sorted_values);
  cudaFree(scratch);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t items = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 100'000'000;
  measure<std::uint64_t>("CUB, 64-bit keys, 32-bit payload", items, true);
  measure<std::uint64_t>("CUB, 64-bit keys", items, false);
  measure<std::uint32_t>("CUB, 32-bit keys, 32-bit payload", items, true);
  return 0;
}
