// To be preloaded: the allocation that the plan names fails, counted among those that the capture layer's own library
// makes. Its C++ library is linked into it, so that all its memory is asked for from its own code.
#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstring>

#include "tests/layer-faults/plan.hpp"

namespace {

using rayreplay::test::Plan;

Plan* plan = nullptr;
std::atomic<std::uintptr_t> first{0}, last{0};  // of the layer's code
thread_local bool opening = false;              // a library, which allocates before it is known

void find_layer() {
  const auto visit = [](dl_phdr_info* info, std::size_t, void*) {
    if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, "libVkLayer_rayreplay_capture.so") == nullptr) {
      return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& part = info->dlpi_phdr[i];
      if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0) {
        first = info->dlpi_addr + part.p_vaddr;
        last = info->dlpi_addr + part.p_vaddr + part.p_memsz;
      }
    }
    return 1;
  };
  if (dl_iterate_phdr(visit, nullptr) == 0) {
    first = last = 0;
  }
}

template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool fails(const void* caller) {
  if (opening) {
    opening = false;  // Looking it up may allocate.
    find_layer();
    opening = true;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  if (at < first.load() || at >= last.load() || plan == nullptr) {
    return false;
  }
  const auto number = ++plan->allocations;
  if (plan->allocation == 0 || number < plan->allocation || number >= plan->allocation + plan->burst) {
    return false;
  }
  plan->failed = 1;
  errno = ENOMEM;
  return true;
}

__attribute__((constructor)) void begin() {
  plan = rayreplay::test::map_plan(std::getenv(rayreplay::test::kPlanVariable));
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, bytes);
}

void* realloc(void* old, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_realloc(old, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
}

void* dlopen(const char* path, int flags) {
  static const auto next = real<void* (*)(const char*, int)>("dlopen");
  const bool outer = opening;
  opening = true;
  void* library = next(path, flags);
  opening = outer;
  find_layer();
  return library;
}

int dlclose(void* library) {
  static const auto next = real<int (*)(void*)>("dlclose");
  const int result = next(library);
  find_layer();
  return result;
}

}  // extern "C"
