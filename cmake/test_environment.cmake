# Read by ctest. lavapipe compiles a shader without optimizing it: most shaders of a test run for less time than LLVM's
# passes take. The numbers are the same; the environment may say otherwise.
if(NOT DEFINED ENV{GALLIVM_PERF})
  set(ENV{GALLIVM_PERF} nopt)
endif()
