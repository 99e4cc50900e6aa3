# SPDX-License-Identifier: BSD-3-Clause
#
# find_package(SplitC): programs in Split-C, and libraries over active messages, with CMake.
#
#   add_splitc_executable(name a.sc b.sc c.c)   an executable like others: target_link_libraries,
#                                               target_compile_options and the like apply
#   SplitC::splitcc, SplitC::unetrun            the programs, for add_test and custom commands
#   SplitC::gam, SplitC::unet                   the C libraries below Split-C

get_filename_component(SplitC_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

foreach(program splitcc unetrun)
  if(NOT TARGET SplitC::${program})
    add_executable(SplitC::${program} IMPORTED)
    set_target_properties(SplitC::${program} PROPERTIES
      IMPORTED_LOCATION ${SplitC_PREFIX}/bin/${program})
  endif()
endforeach()

foreach(library unet gam)
  if(NOT TARGET SplitC::${library})
    add_library(SplitC::${library} STATIC IMPORTED)
    set_target_properties(SplitC::${library} PROPERTIES
      IMPORTED_LOCATION ${SplitC_PREFIX}/lib/lib${library}.a
      INTERFACE_INCLUDE_DIRECTORIES ${SplitC_PREFIX}/include)
  endif()
endforeach()
set_target_properties(SplitC::unet PROPERTIES INTERFACE_LINK_LIBRARIES -pthread)
set_target_properties(SplitC::gam PROPERTIES INTERFACE_LINK_LIBRARIES SplitC::unet)

# CMake calls the C compiler with its sources, and puts a launcher before it: splitcc,
# which then compiles with that very compiler and hands C files to it as they are.
function(add_splitc_executable name)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    message(FATAL_ERROR "add_splitc_executable(${name}): Split-C becomes C; enable that language: project(name C)")
  endif()
  set(launcher ${SplitC_PREFIX}/bin/splitcc -cc)
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES C_COMPILER_LAUNCHER "${launcher}"
    C_LINKER_LAUNCHER "${launcher}" CXX_LINKER_LAUNCHER "${launcher}"
    LINK_DEPENDS ${SplitC_PREFIX}/lib/libsplitc.a)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "\\.sc$")
      set_source_files_properties(${source} PROPERTIES LANGUAGE C
        COMPILE_OPTIONS "-x;splitc" OBJECT_DEPENDS ${SplitC_PREFIX}/bin/splitcc)
    endif()
  endforeach()
endfunction()
