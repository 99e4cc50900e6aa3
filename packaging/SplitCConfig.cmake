# SPDX-License-Identifier: BSD-3-Clause
#
# find_package(SplitC): programs in Split-C, and libraries over active messages, with CMake.
#
#   add_executable(name a.sc b.c)        works as it does for C, and so do add_library,
#   add_library(name STATIC c.sc)        target_link_libraries, target_compile_options and the like
#   add_splitc_executable(name b.c)      for an executable whose Split-C is all in libraries
#   SplitC::splitcc, SplitC::unetrun     the programs, for add_test and custom commands
#   SplitC::vmmc, SplitC::gam,
#   SplitC::reliable, SplitC::unet       the C libraries below Split-C
#   SplitC::unet-ip                      TCP and UDP over U-Net, where it was built with lwIP
cmake_minimum_required(VERSION 3.19) # cmake_language(DEFER)

get_filename_component(SplitC_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set_property(GLOBAL PROPERTY SplitC_PREFIX ${SplitC_PREFIX}) # for every folder of the project

foreach(program splitcc unetrun)
  if(NOT TARGET SplitC::${program})
    add_executable(SplitC::${program} IMPORTED)
    set_target_properties(SplitC::${program} PROPERTIES
      IMPORTED_LOCATION ${SplitC_PREFIX}/bin/${program})
  endif()
endforeach()

foreach(library unet reliable gam vmmc)
  if(NOT TARGET SplitC::${library})
    add_library(SplitC::${library} STATIC IMPORTED)
    set_target_properties(SplitC::${library} PROPERTIES
      IMPORTED_LOCATION ${SplitC_PREFIX}/lib/lib${library}.a
      INTERFACE_INCLUDE_DIRECTORIES ${SplitC_PREFIX}/include)
  endif()
endforeach()
set_target_properties(SplitC::unet PROPERTIES INTERFACE_LINK_LIBRARIES -pthread)
foreach(library reliable gam)
  set_target_properties(SplitC::${library} PROPERTIES INTERFACE_LINK_LIBRARIES SplitC::unet)
endforeach()
set_target_properties(SplitC::vmmc PROPERTIES INTERFACE_LINK_LIBRARIES SplitC::gam)
if(EXISTS ${SplitC_PREFIX}/lib/libunet-ip.a AND NOT TARGET SplitC::unet-ip)
  add_library(SplitC::unet-ip STATIC IMPORTED)
  set_target_properties(SplitC::unet-ip PROPERTIES
    IMPORTED_LOCATION ${SplitC_PREFIX}/lib/libunet-ip.a
    INTERFACE_INCLUDE_DIRECTORIES ${SplitC_PREFIX}/include
    INTERFACE_LINK_LIBRARIES "SplitC::unet;-llwip")
endif()

# CMake calls the C compiler with its sources, and puts a launcher before it: splitcc,
# which then compiles with that very compiler and hands C files to it as they are.
function(_splitc_compile_and_link target)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    message(FATAL_ERROR
      "${target}: Split-C becomes C; enable that language: project(name C)")
  endif()
  get_property(prefix GLOBAL PROPERTY SplitC_PREFIX)
  set(launcher ${prefix}/bin/splitcc -cc)
  set_target_properties(${target} PROPERTIES C_COMPILER_LAUNCHER "${launcher}"
    C_LINKER_LAUNCHER "${launcher}" CXX_LINKER_LAUNCHER "${launcher}"
    LINK_DEPENDS ${prefix}/lib/libsplitc.a)
  # splitcc finds its headers by itself; what reads compile_commands.json does not.
  target_include_directories(${target} PRIVATE ${prefix}/include)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.sc$")
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE BASE_DIR ${folder})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE C
      COMPILE_OPTIONS "-x;splitc" OBJECT_DEPENDS ${prefix}/bin/splitcc)
  endforeach()
endfunction()

# The linker looks for where Split-C begins in libraries, too.
function(add_splitc_executable name)
  add_executable(${name} ${ARGN})
  _splitc_compile_and_link(${name})
  target_link_options(${name} PRIVATE LINKER:-u,splitc_entry)
endfunction()

# Every target with a source in Split-C, in this folder and those below it.
function(_splitc_adopt_targets folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    if(sources MATCHES "\\.sc(;|$)")
      _splitc_compile_and_link(${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    _splitc_adopt_targets(${below})
  endforeach()
endfunction()

get_property(deferred GLOBAL PROPERTY SplitC_DEFERRED)
if(NOT deferred)
  set_property(GLOBAL PROPERTY SplitC_DEFERRED TRUE)
  cmake_language(DEFER DIRECTORY ${CMAKE_SOURCE_DIR}
    CALL _splitc_adopt_targets ${CMAKE_SOURCE_DIR})
endif()
