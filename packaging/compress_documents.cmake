# Debian's policy has manuals and changelogs compressed, without a name or a time inside, and
# Fedora's manuals are, too.
set(tree "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
if(CPACK_GENERATOR STREQUAL "RPM")
  file(GLOB_RECURSE unknown "${tree}/changelog.Debian")
  file(REMOVE ${unknown})
endif()
file(GLOB_RECURSE documents "${tree}/*.[1-9]" "${tree}/changelog*")
execute_process(COMMAND gzip -9nf -- ${documents} COMMAND_ERROR_IS_FATAL ANY)
