# A toolchain of the distribution's for another machine: CAMSHAFT_ARCH is x86_64 or aarch64.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CAMSHAFT_ARCH)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CAMSHAFT_ARCH})
set(CMAKE_CXX_COMPILER ${CAMSHAFT_ARCH}-linux-gnu-g++)
# Headers of PyPI's and the distribution's packages are the same for all machines; libraries come
# from the folder of the other machine's, which its compiler names.
set(CMAKE_LIBRARY_ARCHITECTURE ${CAMSHAFT_ARCH}-linux-gnu)
