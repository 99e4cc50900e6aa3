# `cpack -G DEB` and `cpack -G RPM` (./dev package) make packages of what is installed:
#
#   splitc        unetrun and unetsock: what a host needs that runs programs
#   splitc-dev    splitcc with its headers and archives: what compiles them
#   splitc-doc    documentation and examples
#   unet-fe-dkms  the source of the kernel module, which dkms builds for each kernel
#
# splitcc is in splitc-dev, as mpicc is in libmpich-dev: it can do nothing without its headers and
# archives, and hosts that only run programs need no C compiler.

set(CPACK_PACKAGE_NAME split-c)
set(package_release 1)
set(CPACK_PACKAGE_VENDOR "the Split-C maintainers")
set(CPACK_PACKAGE_CONTACT "Split-C maintainers <maintainers@split-c.invalid>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_COMPONENTS_ALL run dev doc dkms)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_THREADS 0)

# What a package has and an installed tree has not.
set(PACKAGE_OF_run splitc)
set(PACKAGE_OF_dev splitc-dev)
set(PACKAGE_OF_doc splitc-doc)
set(PACKAGE_OF_dkms unet-fe-dkms)
foreach(component ${CPACK_COMPONENTS_ALL})
  install(FILES debian/copyright DESTINATION share/doc/${PACKAGE_OF_${component}}
    COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md RENAME changelog
    DESTINATION share/doc/${PACKAGE_OF_${component}} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian
    DESTINATION share/doc/${PACKAGE_OF_${component}} COMPONENT ${component} EXCLUDE_FROM_ALL)
endforeach()
string(TIMESTAMP changelog_date "%a, %d %b %Y 00:00:00 +0000" UTC) # SOURCE_DATE_EPOCH, if that is set
configure_file(debian/changelog.Debian.in debian/changelog.Debian @ONLY)

# ---- the kernel module ----

set(module ${PROJECT_SOURCE_DIR}/unet-backends/fe/module)
set(module_source src/unet_fe-${PROJECT_VERSION})
file(READ ${module}/packaging/dkms.conf dkms_conf)
string(REPLACE "PACKAGE_VERSION=\"1\"" "PACKAGE_VERSION=\"${PROJECT_VERSION}\"" dkms_conf "${dkms_conf}")
file(CONFIGURE OUTPUT dkms/dkms.conf CONTENT "${dkms_conf}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${module}/packaging/dkms.conf)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dkms/dkms.conf DESTINATION ${module_source}
  COMPONENT dkms EXCLUDE_FROM_ALL)
install(DIRECTORY ${module} DESTINATION ${module_source}/fe COMPONENT dkms EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN *.[ch] PATTERN Kbuild PATTERN Makefile PATTERN packaging EXCLUDE)
foreach(header unet_abi unet_fe unet_frame)
  install(FILES ${PROJECT_SOURCE_DIR}/unet-backends/include/unet/${header}.h
    DESTINATION ${module_source}/include/unet COMPONENT dkms EXCLUDE_FROM_ALL)
endforeach()
install(FILES ${module}/packaging/60-unet.rules DESTINATION lib/udev/rules.d
  COMPONENT dkms EXCLUDE_FROM_ALL)
install(FILES ${module}/packaging/unet_fe.conf DESTINATION share/doc/unet-fe-dkms/examples
  COMPONENT dkms EXCLUDE_FROM_ALL)
foreach(script postinst prerm)
  configure_file(dkms/${script}.in dkms/${script} @ONLY FILE_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()

# ---- what packages are called and say of themselves ----

# describe(component summary text): for both kinds of packages.
macro(describe component summary text)
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${PACKAGE_OF_${component}})
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${summary}\n${text}")
  set(CPACK_RPM_${name}_PACKAGE_NAME ${PACKAGE_OF_${component}})
  set(CPACK_RPM_${name}_PACKAGE_SUMMARY "${summary}")
  set(CPACK_RPM_${name}_PACKAGE_DESCRIPTION "${text}")
endmacro()
describe(run "launcher and runtime of Split-C, a C for parallel machines" "\
unetrun starts the ranks of programs in Split-C, or over active messages,
on this machine and on others; unetsock runs programs whose TCP connections
to others on the same machine go by shared memory.")
describe(dev "compiler and libraries of Split-C, a C for parallel machines" "\
splitcc compiles Split-C: C with global pointers into the memory of all
processors, spread arrays and split-phase access.  With it come its
headers and libraries, also those of the layers below for programs in C:
active messages (gam), virtual memory-mapped communication (vmmc),
U-Net endpoints (unet) and reliable ones (reliable).")
describe(doc "documentation and examples of Split-C, a C for parallel machines" "\
The language, the compiler, the launcher, each layer, and why they are as
they are; examples and larger programs.")
describe(dkms "user-level access to Ethernet cards (kernel module, source)" "\
unet_fe lends a network card to many processes, protected from one
another, for programs in Split-C and others over U-Net.  dkms builds it
for each kernel that is installed.")

# ---- Debian ----
# package_options.cmake adds the shared libraries to what packages depend on.

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${package_release})

set(CPACK_DEBIAN_RUN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_RUN_PACKAGE_RECOMMENDS openssh-client)
set(CPACK_DEBIAN_RUN_PACKAGE_SUGGESTS "splitc-dev, libfabric1, unet-fe-dkms, gdbserver, valgrind")

set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "splitc (= ${PROJECT_VERSION}-${package_release}), gcc | clang | c-compiler, binutils, libc6-dev, \
libpmix-dev, libmimalloc-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "splitc-doc, gdb")

set(CPACK_DEBIAN_DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_DOC_PACKAGE_ARCHITECTURE all)

set(CPACK_DEBIAN_DKMS_PACKAGE_SECTION kernel)
set(CPACK_DEBIAN_DKMS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DKMS_PACKAGE_DEPENDS "dkms (>= 2.1.0.0), adduser")
set(CPACK_DEBIAN_DKMS_PACKAGE_RECOMMENDS "linux-headers-generic | linux-headers")
set(CPACK_DEBIAN_DKMS_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_BINARY_DIR}/dkms/postinst ${CMAKE_CURRENT_BINARY_DIR}/dkms/prerm)

# ---- Fedora and its kin ----

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_PACKAGE_LICENSE BSD-3-Clause)
set(CPACK_RPM_PACKAGE_RELEASE ${package_release})
set(CPACK_RPM_RUN_PACKAGE_REQUIRES mimalloc)
set(CPACK_RPM_DEV_PACKAGE_REQUIRES
  "splitc = ${PROJECT_VERSION}-${package_release}, gcc, binutils, glibc-devel, pmix-devel, mimalloc-devel")
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none")
set(CPACK_RPM_DOC_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_DKMS_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_DKMS_PACKAGE_REQUIRES dkms)
set(CPACK_RPM_DKMS_PACKAGE_AUTOREQ OFF)
set(CPACK_RPM_DKMS_POST_INSTALL_SCRIPT_FILE ${CMAKE_CURRENT_BINARY_DIR}/dkms/post.rpm)
set(CPACK_RPM_DKMS_PRE_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_BINARY_DIR}/dkms/preun.rpm)
foreach(script post preun)
  configure_file(dkms/${script}.rpm.in dkms/${script}.rpm @ONLY)
endforeach()
# These are other packages' folders.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
  /usr/lib /usr/lib/cmake /usr/lib/pkgconfig /usr/lib/udev /usr/lib/udev/rules.d /usr/src
  /usr/share/man /usr/share/man/man1 /usr/share/man/man4)

set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/package_options.cmake)
configure_file(package_options.cmake.in package_options.cmake @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/finish_packages.cmake)
include(CPack)
