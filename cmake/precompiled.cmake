# Precompiled headers, for builds without a compiler cache: `./rr` switches them on, a plain `cmake --preset` does not. One
# header is made per set of compiler options and shared by all targets that have these options (GCC refuses it elsewhere,
# and the refusal is an error).
option(RAYREPLAY_PCH "Precompiled headers: faster without a compiler cache; ccache needs sloppiness settings for them" OFF)

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
