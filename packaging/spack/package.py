# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe.  From a checkout:

    spack repo create split-c-repo && mkdir split-c-repo/packages/split-c
    cp packaging/spack/package.py split-c-repo/packages/split-c && spack repo add split-c-repo
    spack dev-build split-c@0.1.0
"""
from spack.package import *


class SplitC(CMakePackage):
    """Split-C, a C for parallel machines: compiler, runtime over user-level networking, launcher."""

    license("BSD-3-Clause")
    maintainers()

    version("0.1.0")

    variant("ofi", default=True, description="Build the backend for fabrics that libfabric drives")

    depends_on("c", type=("build", "run"))  # splitcc calls it
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("catch2@2.13:2", type="build")
    depends_on("binutils", type=("build", "run"))
    depends_on("pmix@4.2:")
    depends_on("hwloc@2.9:")
    depends_on("mimalloc@2:")
    depends_on("libfabric", when="+ofi")

    build_targets = ["installable"]

    def cmake_args(self):
        if self.spec.satisfies("+ofi"):
            return []
        return [self.define("LIBFABRIC_INCLUDE_DIR", "")]

    def install(self, spec, prefix):
        # The target `install` would build the tests first.
        cmake("--install", self.build_directory, "--strip")

    def setup_run_environment(self, env):
        # Programs that splitcc links have the allocator from here.
        for folder in self.spec["mimalloc"].libs.directories:
            env.prepend_path("LIBRARY_PATH", folder)
            env.prepend_path("LD_LIBRARY_PATH", folder)
        if self.spec.satisfies("+ofi"):  # which is loaded when it is used
            env.prepend_path("LD_LIBRARY_PATH", self.spec["libfabric"].prefix.lib)
