"""Spack recipe: `spack repo add` a repository with packages/ridge/package.py, then `spack install ridge +mpi`."""
from spack.package import *  # noqa: F403


class Ridge(CMakePackage, CudaPackage):  # noqa: F405
    """Transforms, filter banks, stencils and image operators close to the limit of the machine they run on."""

    license("Apache-2.0")  # noqa: F405
    version("0.1.0")  # noqa: F405

    variant("mpi", default=False, description="Distributed transforms and stencils")  # noqa: F405
    variant("opencl", default=True, description="OpenCL devices")  # noqa: F405
    variant("python", default=False, description="The Python package")  # noqa: F405
    variant("images", default=True, description="PNG, JPEG and TIFF images")  # noqa: F405
    variant("shared", default=True, description="Shared libraries")  # noqa: F405

    depends_on("cxx", type="build")  # noqa: F405
    depends_on("cmake@3.25:", type="build")  # noqa: F405
    depends_on("ninja", type="build")  # noqa: F405
    depends_on("fmt@9:")  # noqa: F405
    depends_on("highway@1.0:")  # noqa: F405
    depends_on("nlohmann-json", type="build")  # noqa: F405
    depends_on("cli11@2:", type="build")  # noqa: F405
    depends_on("mpi", when="+mpi")  # noqa: F405
    depends_on("opencl-c-headers", when="+opencl", type="build")  # noqa: F405
    depends_on("libpng", when="+images")  # noqa: F405
    depends_on("libjpeg-turbo", when="+images")  # noqa: F405
    depends_on("libtiff", when="+images")  # noqa: F405
    extends("python", when="+python")  # noqa: F405
    depends_on("py-pybind11", when="+python", type="build")  # noqa: F405
    depends_on("py-numpy", when="+python", type=("build", "run"))  # noqa: F405

    generator("ninja")  # noqa: F405

    def cmake_args(self):
        return [
            self.define_from_variant("RIDGE_MPI", "mpi"),
            self.define_from_variant("RIDGE_OPENCL", "opencl"),
            self.define_from_variant("RIDGE_CUDA", "cuda"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("RIDGE_TESTS", self.run_tests),
            self.define("RIDGE_PLACE", False),
            self.define("RIDGE_IMAGE_PEERS", False),
        ]

    @run_after("install")  # noqa: F405
    def install_python(self):
        if self.spec.satisfies("+python"):
            cmake = which("cmake")  # noqa: F405
            cmake("--install", self.build_directory, "--component", "python")
