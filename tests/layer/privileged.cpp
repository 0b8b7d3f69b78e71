// To be preloaded: the program looks like one with the rights of another user, as set-user-id programs have.
#include <dlfcn.h>
#include <sys/auxv.h>

extern "C" unsigned long getauxval(unsigned long type) noexcept {
  static const auto next = reinterpret_cast<unsigned long (*)(unsigned long)>(dlsym(RTLD_NEXT, "getauxval"));
  return type == AT_SECURE ? 1 : next(type);
}
