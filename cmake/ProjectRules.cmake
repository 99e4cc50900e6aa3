# What every folder of the project shares: language standards, warnings,
# sanitizers, and the shape of a library and of a test.

set(CMAKE_INSTALL_LIBDIR lib) # and no multiarch folder: splitcc looks in ../lib
include(GNUInstallDirs)
find_package(Catch2 2.13 REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

set(PROJECT_WARNINGS -Wall -Wextra -Wvla -Wpointer-arith)
# Not -Wshadow in C++: there a function of a struct's name, as C APIs have them, is one.
set(PROJECT_C_WARNINGS -Wshadow -Wstrict-prototypes -Wmissing-prototypes)

add_library(project_rules INTERFACE)
target_compile_options(project_rules INTERFACE
  ${PROJECT_WARNINGS} $<$<COMPILE_LANGUAGE:C>:${PROJECT_C_WARNINGS}>
  $<$<BOOL:${SPLITC_WERROR}>:-Werror>)
if(SPLITC_SANITIZE)
  target_compile_options(project_rules INTERFACE -fsanitize=${SPLITC_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(project_rules INTERFACE -fsanitize=${SPLITC_SANITIZE})
  # gcc says that it does not see fences.  Ours order a flag of who sleeps, never data.
  if(SPLITC_SANITIZE STREQUAL "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    target_compile_options(project_rules INTERFACE -Wno-tsan)
  endif()
endif()

# One allocator serves a whole process, and it need not be libc's.
set(PROJECT_ALLOCATOR malloc calloc realloc free aligned_alloc memalign posix_memalign)

# project_library(name SOURCES ... [USES ...]): a static library whose public
# headers live in its include/ folder.  USES are the libraries of its interface.
# It becomes part of programs whose names may be those of libc, so its own references
# to libc are bound to that (sanitizers need them as they are).  Its code is in a section
# of its own, so that it is told from the program's (runtime/src/observe/caller.c).
function(project_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name}
    PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE project_rules PUBLIC ${ARG_USES})
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM
    COMMAND ${CMAKE_OBJCOPY} --rename-section .text=splitc_text
            --rename-section .text.unlikely=splitc_text --rename-section .text.hot=splitc_text
            --rename-section .text.startup=splitc_text $<TARGET_FILE:${name}>)
  if(NOT SPLITC_SANITIZE)
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND ${PROJECT_SOURCE_DIR}/cmake/bind_libc.sh $<TARGET_FILE:${name}>
              ${CMAKE_C_COMPILER} ${CMAKE_NM} ${CMAKE_OBJCOPY} ${PROJECT_ALLOCATOR})
  endif()
endfunction()

# Programs that are started again and again have the C++ library within, where there is an archive of
# it: to load it takes 1.5 ms, and a job starts two of them.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
check_cxx_source_compiles("#include <string>\nint main(int n, char **v) { return std::string(v[0]).size() == n; }"
  PROJECT_HAS_STATIC_LIBSTDCXX)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

function(project_starts_fast name)
  if(PROJECT_HAS_STATIC_LIBSTDCXX AND NOT SPLITC_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# The C++ library's headers that most files of a target include, parsed once for all of them.
# Each file includes what it uses all the same.
function(project_precompile name)
  list(TRANSFORM ARGN REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:<\\0$<ANGLE-R>>"
    OUTPUT_VARIABLE headers)
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

if(NOT TARGET catch_main)
  file(WRITE ${CMAKE_BINARY_DIR}/catch_main.cc
    "#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n")
  add_library(catch_main STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/catch_main.cc)
  if(SPLITC_SANITIZE)
    target_compile_options(catch_main PUBLIC -fsanitize=${SPLITC_SANITIZE})
    target_link_options(catch_main PUBLIC -fsanitize=${SPLITC_SANITIZE})
  endif()
  target_compile_options(catch_main PRIVATE -O0 -g0)
  target_link_libraries(catch_main PUBLIC Catch2::Catch2)
endif()

# Catch2 takes long to parse and to optimise, and what is tested lives in libraries.
set(PROJECT_TEST_OPTIONS -O0 -g1)

# Catch2's header, parsed once for all tests.  A source that defines something before it includes
# that header has to have SKIP_PRECOMPILE_HEADERS.
if(NOT TARGET catch_header)
  file(WRITE ${CMAKE_BINARY_DIR}/catch_header.cc "")
  add_library(catch_header OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/catch_header.cc)
  target_link_libraries(catch_header PRIVATE project_rules Catch2::Catch2)
  target_compile_options(catch_header PRIVATE ${PROJECT_TEST_OPTIONS})
  project_precompile(catch_header catch2/catch.hpp)
endif()
include(Catch)

# tests/quoted.h, for tests of any layer, also where there is nothing else of tests/.
add_library(test_quoted INTERFACE)
target_include_directories(test_quoted INTERFACE ${PROJECT_SOURCE_DIR}/tests)

# project_test(name SOURCES ... [USES ...] [TIMEOUT s] [LABEL l] [SERIAL] [LOCK name] [ONLY spec] [LONG s]
# [GUEST] [WITHIN command...]): a Catch2 program whose cases, or those of that Catch2 test spec, CTest runs one by one.
# SERIAL cases run alone: they count processes, kill some, or need both cores.  Of those with one LOCK
# one runs at a time, beside others.  LONG is the time of
# cases tagged [long], which get that label.  A case that cannot run here says "not run: " and why, one
# that does without a part says "left out: ".  A GUEST program is for tests/kernel to run in a
# virtual machine; CTest knows nothing of it.  WITHIN: CTest runs it as the last argument of that
# command, a target and its arguments.
function(project_test name)
  cmake_parse_arguments(ARG "SERIAL;GUEST" "TIMEOUT;LABEL;LOCK;ONLY;LONG" "SOURCES;USES;WITHIN" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  if(PROJECT_TEST_TIMEOUT AND PROJECT_TEST_TIMEOUT LESS ARG_TIMEOUT)
    set(ARG_TIMEOUT ${PROJECT_TEST_TIMEOUT}) # tests/mutants/: with a fault in, many tests hang
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE project_rules catch_main ${ARG_USES})
  target_compile_options(${name} PRIVATE ${PROJECT_TEST_OPTIONS})
  target_precompile_headers(${name} REUSE_FROM catch_header)
  foreach(source IN LISTS ARG_SOURCES)
    if(source MATCHES "\\.c$") # is in C, for which nothing is precompiled
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  if(ARG_GUEST)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    return()
  endif()
  if(ARG_WITHIN)
    list(POP_FRONT ARG_WITHIN within)
    add_dependencies(${name} ${within})
    set_target_properties(${name} PROPERTIES
      CROSSCOMPILING_EMULATOR "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${within};${ARG_WITHIN}")
  endif()
  set(properties SKIP_REGULAR_EXPRESSION "not run: ")
  if(ARG_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(ARG_LOCK)
    list(APPEND properties RESOURCE_LOCK ${ARG_LOCK} COST 100) # begins early, to have others beside it
  endif()
  if(ARG_LONG)
    catch_discover_tests(${name} TEST_PREFIX "${name}: " TEST_SPEC "${ARG_ONLY}[long]"
      EXTRA_ARGS --warn NoTests
      PROPERTIES ${properties} TIMEOUT ${ARG_LONG} LABELS long DISCOVERY_MODE PRE_TEST)
    string(APPEND ARG_ONLY "~[long]")
  endif()
  # A name that CTest cannot hand over, such as one with a semicolon, selects no test.
  catch_discover_tests(${name} TEST_PREFIX "${name}: " TEST_SPEC ${ARG_ONLY}
    EXTRA_ARGS --warn NoTests
    PROPERTIES ${properties} TIMEOUT ${ARG_TIMEOUT} LABELS ${ARG_LABEL} DISCOVERY_MODE PRE_TEST)
endfunction()

# project_fuzz(name SOURCES ... [USES ...]): a libFuzzer program, built by preset
# `fuzz` alone.  Inputs to start from are in fuzz/seeds/<name> of its layer.
add_custom_target(fuzzers)
function(project_fuzz name)
  if(NOT SPLITC_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE project_rules ${ARG_USES} -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${name})
endfunction()
