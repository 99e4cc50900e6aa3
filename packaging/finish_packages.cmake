# What packages of a distribution have otherwise than an installed tree.
set(tree "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")

# Debian's policy has manuals and changelogs compressed, without a name or a time inside, and
# Fedora's manuals are, too.
if(CPACK_GENERATOR STREQUAL "RPM")
  file(GLOB_RECURSE unknown "${tree}/changelog.Debian")
  file(REMOVE ${unknown})
endif()
file(GLOB_RECURSE documents "${tree}/*.[1-9]" "${tree}/changelog*")
execute_process(COMMAND gzip -9nf -- ${documents} COMMAND_ERROR_IS_FATAL ANY)

# Where Debian's zsh looks for what packages bring.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB folders "${tree}/*/usr/share/zsh/site-functions")
  foreach(folder ${folders})
    file(RENAME "${folder}" "${folder}/../vendor-completions")
  endforeach()
endif()
