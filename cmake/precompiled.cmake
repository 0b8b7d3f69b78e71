# Less time for a cold build: the presets ci and asan switch these options on, the others leave them off, so that every source
# is compiled by itself there, a compiler cache works, and clang-tidy can read the compile commands.
#
# One precompiled header is made per set of compiler options and shared by all targets that have these options (GCC refuses
# it elsewhere, and the refusal is an error).
option(RAYREPLAY_PCH "Precompiled headers: faster without a compiler cache; ccache needs sloppiness settings for them" OFF)
option(RAYREPLAY_UNITY "Several sources in one compilation" OFF)

if(RAYREPLAY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC's bug 105651 again (see rr_options): from a precompiled header it is not known to be the standard library's code.
  # The other presets keep this warning.
  target_compile_options(rr_options INTERFACE -Wno-stringop-overflow)
endif()

# rr_unity(target [APART names…]): the target's sources are compiled up to eight at a time where RAYREPLAY_UNITY is on, which
# is every library and the test programs that ask for it. What they compute is the same: nothing here lets the compiler
# change the results of arithmetic, whatever it finds to inline (see rr_options).
# A name that two of the sources define in unnamed namespaces of one namespace is told APART: each source has its own by
# the preprocessor. It must not be in a header too. A source that needs more is left out by SKIP_UNITY_BUILD_INCLUSION.
function(rr_unity target)
  cmake_parse_arguments(ARG "" "" "APART" ${ARGN})
  if(RAYREPLAY_UNITY)
    set(names "#define RR_UNITY_PASTE(name, source) name##source\n#define RR_UNITY_NAME(name, source) RR_UNITY_PASTE(name, source)\n")
    # Every model registers itself by a static object of this name.
    foreach(name IN ITEMS kRegistrar LISTS ARG_APART)
      string(APPEND names "#define ${name} RR_UNITY_NAME(${name}_, RR_UNITY_SOURCE)\n")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8
      UNITY_BUILD_UNIQUE_ID RR_UNITY_SOURCE UNITY_BUILD_CODE_BEFORE_INCLUDE "${names}")
    # Every type is of "a header" then: members from unnamed namespaces are no fault.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# rr_precompiled_holder(kind [PROGRAMS] [LINK …] [OPTIONS …]): the target rr_pch_<kind> makes cmake/pch/<kind>.hpp for
# libraries, or for PROGRAMS, that link LINK and are compiled with OPTIONS.
function(rr_precompiled_holder kind)
  cmake_parse_arguments(ARG "PROGRAMS" "" "LINK;OPTIONS" ${ARGN})
  add_library(rr_pch_${kind} STATIC ${CMAKE_SOURCE_DIR}/cmake/pch/holder.cpp)
  target_link_libraries(rr_pch_${kind} PRIVATE rr_options fmt::fmt ${ARG_LINK})
  target_compile_options(rr_pch_${kind} PRIVATE ${ARG_OPTIONS})
  if(ARG_PROGRAMS)
    set_target_properties(rr_pch_${kind} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(rr_pch_${kind} PRIVATE -fPIE)
  endif()
  target_precompile_headers(rr_pch_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch/${kind}.hpp)
endfunction()

# rr_precompiled(target kind): the target's sources begin with that header, but for those with options of their own.
function(rr_precompiled target kind)
  target_precompile_headers(${target} REUSE_FROM rr_pch_${kind})
  # fmt's own switch for its shared library, which the header was made with.
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
