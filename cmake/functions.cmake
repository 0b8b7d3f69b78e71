# Functions for the rooms' CMakeLists.txt: compiler options, libraries, shaders, tests, benchmarks.

# Eigen: a new vector is zero, not undefined. No packets: for three components they cost more than they save, and their
# minimum treats signed zeros and NaN differently from scalar code. The definitions apply to every target, because
# precompiled headers require equal definitions.
set(rr_eigen_definitions EIGEN_INITIALIZE_MATRICES_BY_ZERO EIGEN_DONT_VECTORIZE EIGEN_MPL2_ONLY)

# Warnings, sanitizers and the floating-point rules that make results the same on every machine.
add_library(rr_options INTERFACE)
target_compile_options(rr_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Woverloaded-virtual
  -Wnon-virtual-dtor -Wdouble-promotion -Wimplicit-fallthrough
  # No contraction to fused multiply-add: results must not depend on the expressions that a compiler fuses.
  -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports the memcpy inside std::string as overlapping (GCC bug 105651, fixed in 13).
  target_compile_options(rr_options INTERFACE -Wno-restrict)
endif()
if(RAYREPLAY_WERROR)
  target_compile_options(rr_options INTERFACE -Werror)
endif()
target_include_directories(rr_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(rr_options INTERFACE RAYREPLAY_VERSION="${PROJECT_VERSION}" ${rr_eigen_definitions})
if(RAYREPLAY_SANITIZE)
  # With sanitizers GCC 12 reports moves inside the standard library (std::function, regex) as reads of uninitialised
  # memory.
  target_compile_options(rr_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(rr_options INTERFACE -fsanitize=${RAYREPLAY_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  # -g1: sanitizer reports name functions and lines only; -g makes compiling a third slower.
  target_compile_options(rr_options INTERFACE $<$<NOT:$<CONFIG:RelWithDebInfo,Debug>>:-g1>)
  target_link_options(rr_options INTERFACE -fsanitize=${RAYREPLAY_SANITIZE})
endif()

# Options of libraries in RAYREPLAY_SANITIZE_EXCEPT: rr_options without sanitizers, warnings and optimisation. These
# libraries are only linked, not tested, so compile time counts.
add_library(rr_unchecked_options INTERFACE)
target_compile_options(rr_unchecked_options INTERFACE -w -O0 -g0 -ffp-contract=off
  # Tables computed at compile time exceed Clang's default limit of constexpr steps.
  $<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=100000000>)
target_include_directories(rr_unchecked_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_definitions(rr_unchecked_options INTERFACE RAYREPLAY_VERSION="${PROJECT_VERSION}" ${rr_eigen_definitions})

# With libFuzzer only the fuzzers and their libraries are built, because the other programs are not compiled with Clang.
set(rr_not_in_all "")
if(RAYREPLAY_SANITIZE MATCHES "fuzzer")
  set(rr_not_in_all EXCLUDE_FROM_ALL)
endif()

# rr_add_room(folder): adds a room; with libFuzzer its targets are not part of "all".
function(rr_add_room folder)
  add_subdirectory(${CMAKE_SOURCE_DIR}/${folder} ${rr_not_in_all})
endfunction()

# rr_cold(target): a run spends little of its time in this code, so builds that shorten compilation (RAYREPLAY_UNITY)
# use -Og, GCC's -O1 without the passes that gain little for what they cost: a fifth less than -O1, which takes half of
# -O3. Targets with the header of xxhash stay at -O1: its functions must be inlined, which -Og does not. The others have
# a precompiled header of their own, because GCC optimises its functions at the level that it was compiled with.
function(rr_cold target)
  if(RAYREPLAY_UNITY)
    # At -O1 and -Og GCC 12 reports values of std::optional and std::variant as uninitialised.
    set(level "$<IF:$<IN_LIST:rr_xxhash_headers,$<TARGET_PROPERTY:LINK_LIBRARIES>>,-O1,-Og>")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# rr_library(name SOURCES … LINK … [PRIVATE …] [APART …] [MODELS] [COLD] [COLD_SOURCES …]): static library rr_<name> with
# alias rayreplay::<name>. LINK is part of the interface, PRIVATE is not. APART: see rr_unity. MODELS: files of the
# library register models by static objects, so the whole archive is linked wherever the alias is used. COLD: see
# rr_cold; COLD_SOURCES: the same for these sources of a library that is not COLD.
function(rr_library name)
  cmake_parse_arguments(ARG "MODELS;COLD" "" "SOURCES;LINK;PRIVATE;APART;COLD_SOURCES" ${ARGN})
  if(ARG_COLD_SOURCES AND NOT RAYREPLAY_UNITY)
    list(APPEND ARG_SOURCES ${ARG_COLD_SOURCES})
  endif()
  add_library(rr_${name} STATIC ${ARG_SOURCES})
  set(options rr_options)
  if(name IN_LIST RAYREPLAY_SANITIZE_EXCEPT)
    set(options rr_unchecked_options)
  endif()
  target_link_libraries(rr_${name} PUBLIC ${ARG_LINK} PRIVATE ${options} ${ARG_PRIVATE})
  if(ARG_COLD)
    rr_cold(rr_${name})
  endif()
  # The capture layer and its libraries have no precompiled header: they link neither fmt nor these rooms, and hide
  # their symbols.
  set(kind library)
  if(ARG_COLD AND RAYREPLAY_UNITY)
    set(kind cold)
  endif()
  set(links "${ARG_LINK};${ARG_PRIVATE}")
  if(TARGET rr_pch_${kind} AND links MATCHES "fmt::fmt|TBB::tbb|rayreplay::(base|trace|scenes)" AND NOT (kind STREQUAL "cold" AND links MATCHES "rr_xxhash_headers"))
    rr_precompiled(rr_${name} ${kind})
  endif()
  set(cold)
  if(ARG_COLD)
    set(cold COLD)
  endif()
  rr_unity(rr_${name} ${cold} APART ${ARG_APART})
  if(ARG_COLD_SOURCES AND RAYREPLAY_UNITY)
    add_library(rr_${name}_cold OBJECT ${ARG_COLD_SOURCES})
    target_link_libraries(rr_${name}_cold PRIVATE ${options} ${ARG_LINK} ${ARG_PRIVATE})
    rr_cold(rr_${name}_cold)
    if(TARGET rr_pch_cold)
      rr_precompiled(rr_${name}_cold cold)
    endif()
    rr_unity(rr_${name}_cold COLD APART ${ARG_APART})
    target_sources(rr_${name} PRIVATE $<TARGET_OBJECTS:rr_${name}_cold>)
  endif()
  if(ARG_MODELS)
    add_library(rr_${name}_models INTERFACE)
    target_link_libraries(rr_${name}_models INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,rr_${name}>" ${ARG_LINK})
    add_library(rayreplay::${name} ALIAS rr_${name}_models)
  else()
    add_library(rayreplay::${name} ALIAS rr_${name})
  endif()
endfunction()

# rr_shader(variable source stage name [DEPENDS …] [DEFINES …] [TARGET_ENV vulkan1.2]): compiles a GLSL file at build time, checks the
# result with spirv-val, and makes a header <name>.spv.hpp (in the current binary folder, which must be an include
# directory) that holds it as `inline constexpr std::uint32_t k<name>[]`. The header's path is put into `variable`.
find_program(GLSLANG glslangValidator REQUIRED)
find_program(SPIRV_VAL spirv-val REQUIRED)
function(rr_shader variable source stage name)
  cmake_parse_arguments(ARG "" "TARGET_ENV" "DEPENDS;DEFINES" ${ARGN})
  if(NOT ARG_TARGET_ENV)
    set(ARG_TARGET_ENV vulkan1.2)
  endif()
  set(spirv ${CMAKE_CURRENT_BINARY_DIR}/${name}.spv)
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}.spv.hpp)
  list(TRANSFORM ARG_DEFINES PREPEND -D)
  add_custom_command(OUTPUT ${header}
    COMMAND ${GLSLANG} -V --quiet --target-env ${ARG_TARGET_ENV} -S ${stage} ${ARG_DEFINES}
      -I${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${spirv}
    COMMAND ${SPIRV_VAL} --target-env ${ARG_TARGET_ENV} ${spirv}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${spirv} -DOUTPUT=${header} -DNAME=${name} -P ${CMAKE_SOURCE_DIR}/cmake/embed_spirv.cmake
    DEPENDS ${source} ${ARG_DEPENDS} ${CMAKE_SOURCE_DIR}/cmake/embed_spirv.cmake
    COMMENT "Compiling ${source} (${name})" VERBATIM)
  set(${variable} ${header} PARENT_SCOPE)
endfunction()

# rr_test(name SOURCES … LINK …): a GoogleTest program; ctest runs each of its tests by name.
include(GoogleTest)
# -O1 compiles tests in a third of the time; the libraries under test keep the release options.
set(rr_test_options $<$<CONFIG:Release>:-O1>)
function(rr_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE rr_options ${ARG_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE RAYREPLAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_compile_options(${name} PRIVATE ${rr_test_options})
  if(TARGET rr_pch_test)
    rr_precompiled(${name} test)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600)
endfunction()

# rr_test_files(name LINK … [APART …]): each *_test.cpp of the folder as a program named after it. With RAYREPLAY_UNITY
# and without sanitizers they are one program, `name`; sanitizer builds need only few of them. APART: see rr_unity.
function(rr_test_files name)
  cmake_parse_arguments(ARG "" "" "LINK;APART" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *_test.cpp)
  if(RAYREPLAY_UNITY AND NOT RAYREPLAY_SANITIZE)
    rr_test(${name} SOURCES ${sources} LINK ${ARG_LINK})
    rr_unity(${name} APART ${ARG_APART})
    return()
  endif()
  foreach(source IN LISTS sources)
    get_filename_component(program ${source} NAME_WE)
    rr_test(${program} SOURCES ${source} LINK ${ARG_LINK})
  endforeach()
endfunction()

# rr_bench(name SOURCES … LINK …): a Google Benchmark program.
function(rr_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE rr_options ${ARG_LINK} benchmark::benchmark)
endfunction()
