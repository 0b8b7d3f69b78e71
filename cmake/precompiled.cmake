# Options that shorten a cold build. The presets ci and asan switch them on. The other presets compile every source
# separately, so that a compiler cache works and clang-tidy can read the compile commands.
#
# Targets with the same compiler options share one precompiled header, because GCC rejects a header that was compiled
# with other options; the rejection is an error.
option(RAYREPLAY_PCH "Precompiled headers: faster without a compiler cache; ccache needs sloppiness settings for them" OFF)
option(RAYREPLAY_UNITY "Several sources in one compilation" OFF)

if(RAYREPLAY_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC bug 105651 again (see rr_options): GCC does not recognise code from a precompiled header as the standard
  # library's. The other presets keep this warning.
  target_compile_options(rr_options INTERFACE -Wno-stringop-overflow)
endif()

if(RAYREPLAY_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects its garbage from 128 MiB on, which takes 5 to 8 % of the time of joined sources.
  target_compile_options(rr_options INTERFACE --param=ggc-min-heapsize=524288)
endif()

# rr_unity(target [COLD] [APART names…]): with RAYREPLAY_UNITY the target's sources are compiled together, in parts of
# equal size with at most 24 sources, or 48 of COLD targets, where the optimiser has less to do. All libraries and the
# joined test programs use it. Results are the same, because rr_options forbids transformations that change arithmetic.
# APART lists names that several sources define in unnamed namespaces of the same namespace: a macro gives each source
# its own name. Such a name must not occur in a header. The property SKIP_UNITY_BUILD_INCLUSION leaves a source out.
function(rr_unity target)
  cmake_parse_arguments(ARG "COLD" "" "APART" ${ARGN})
  if(RAYREPLAY_UNITY)
    set(names "#define RR_UNITY_PASTE(name, source) name##source\n#define RR_UNITY_NAME(name, source) RR_UNITY_PASTE(name, source)\n")
    # Every model registers itself by a static object of this name.
    foreach(name IN ITEMS kRegistrar LISTS ARG_APART)
      string(APPEND names "#define ${name} RR_UNITY_NAME(${name}_, RR_UNITY_SOURCE)\n")
    endforeach()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    list(LENGTH sources number)
    set(most 24)
    if(ARG_COLD)
      set(most 48)
    endif()
    math(EXPR parts "(${number} + ${most} - 1) / ${most}")
    math(EXPR size "(${number} + ${parts} - 1) / ${parts}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size}
      UNITY_BUILD_UNIQUE_ID RR_UNITY_SOURCE UNITY_BUILD_CODE_BEFORE_INCLUDE "${names}")
    # GCC treats joined sources as headers and would warn about members whose types are in unnamed namespaces.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# rr_precompiled_holder(kind [PROGRAMS] [COLD] [LINK …] [OPTIONS …]): the target rr_pch_<kind> makes cmake/pch/<kind>.hpp
# for libraries, or for PROGRAMS, that link LINK and are compiled with OPTIONS, or are COLD.
function(rr_precompiled_holder kind)
  cmake_parse_arguments(ARG "PROGRAMS;COLD" "" "LINK;OPTIONS" ${ARGN})
  add_library(rr_pch_${kind} STATIC ${CMAKE_SOURCE_DIR}/cmake/pch/holder.cpp)
  target_link_libraries(rr_pch_${kind} PRIVATE rr_options fmt::fmt ${ARG_LINK})
  target_compile_options(rr_pch_${kind} PRIVATE ${ARG_OPTIONS})
  if(ARG_COLD)
    rr_cold(rr_pch_${kind})
  endif()
  if(ARG_PROGRAMS)
    set_target_properties(rr_pch_${kind} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(rr_pch_${kind} PRIVATE -fPIE)
  endif()
  target_precompile_headers(rr_pch_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch/${kind}.hpp)
endfunction()

# rr_precompiled(target kind): the target's sources use rr_pch_<kind>, except sources with compile options of their own.
function(rr_precompiled target kind)
  target_precompile_headers(${target} REUSE_FROM rr_pch_${kind})
  # The header was compiled with fmt's definitions for its shared library, so the target needs the same.
  target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
