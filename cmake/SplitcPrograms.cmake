# The compiler's view of the build tree, and programs built with it.
#
# splitcc looks for its header and library at ../include and ../lib from where it
# is itself.  Installed, that is <prefix>; here it is the build folder, so its
# include/ gets links to the layers' headers.

foreach(package unet-backends/include/unet reliable/include/reliable gam/include/gam vmmc/include/vmmc ip/include/ip runtime/include/split-c)
  get_filename_component(name ${package} NAME)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/include)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${package} ${CMAKE_BINARY_DIR}/include/${name} SYMBOLIC)
endforeach()

# splitc_program(name SOURCES ... [HEADERS ...] [OPTIONS ...] [USES ...]): a Split-C program
# in the current binary folder; USES are libraries of ours besides those of every program.  A header named in HEADERS rebuilds everything.
function(splitc_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;HEADERS;OPTIONS;USES" ${ARGN})
  file(GLOB language_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/include/split-c/*.h)
  set(libraries ${ARG_USES})
  list(TRANSFORM libraries PREPEND -l)
  list(TRANSFORM ARG_HEADERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(objects)
  foreach(source ${ARG_SOURCES})
    get_filename_component(stem ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir
      COMMAND $<TARGET_FILE:splitcc> ${ARG_OPTIONS} -c ${CMAKE_CURRENT_SOURCE_DIR}/${source}
              -o ${object}
      DEPENDS splitcc ${source} ${ARG_HEADERS} ${language_headers}
      COMMENT "Compiling Split-C ${name}/${stem}" VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(program ${CMAKE_CURRENT_BINARY_DIR}/${name})
  add_custom_command(OUTPUT ${program}
    COMMAND $<TARGET_FILE:splitcc> ${ARG_OPTIONS} ${objects} ${libraries} -o ${program}
    DEPENDS splitcc splitc gam reliable unet ${ARG_USES} ${objects}
    COMMENT "Linking Split-C ${name}" VERBATIM)
  add_custom_target(${name}-program ALL DEPENDS ${program})
endfunction()
