# What users find after `cmake --install`: headers, the libraries, trtexec, camshaft-slim,
# camshaft-trials, find_package(Camshaft) with targets Camshaft::camshaft and Camshaft::runtime, and
# camshaft.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(camshaft_runtime_lib PROPERTIES EXPORT_NAME runtime)
foreach(library camshaft camshaft_runtime_lib)
  target_include_directories(
    ${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/camshaft>)
endforeach()
install(TARGETS camshaft camshaft_runtime_lib trtexec camshaft-slim EXPORT CamshaftTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS camshaft_trials RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Where programs of ONNX Runtime's take it from.
install(TARGETS camshaft_onnxruntime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET camshaft_cuda_library)  # found beside the others when there is a GPU
  install(TARGETS camshaft_cuda_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
# For tritonserver's --backend-directory.
install(TARGETS triton_camshaft LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/triton/camshaft)
# TensorRT's sonames. Their plain names lead to the libraries that have the functions: linkers look
# for these there, and so do programs that load a library by such a name.
foreach(name ${CAMSHAFT_STAND_INS} ${CAMSHAFT_RUNTIME_STAND_INS})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tensorrt NAMELINK_SKIP)
  set(own camshaft)
  if(name IN_LIST CAMSHAFT_RUNTIME_STAND_INS)
    set(own camshaft_runtime)
  endif()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tensorrt)
  file(CREATE_LINK ../lib${own}.so ${CMAKE_BINARY_DIR}/tensorrt/lib${name}.so SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/tensorrt/lib${name}.so
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/tensorrt)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/camshaft)

set(packageDir ${CMAKE_INSTALL_LIBDIR}/cmake/Camshaft)
install(EXPORT CamshaftTargets NAMESPACE Camshaft:: DESTINATION ${packageDir})
configure_package_config_file(cmake/CamshaftConfig.cmake.in ${CMAKE_BINARY_DIR}/CamshaftConfig.cmake
                              INSTALL_DESTINATION ${packageDir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/CamshaftConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
configure_file(cmake/camshaft.pc.in ${CMAKE_BINARY_DIR}/camshaft.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/CamshaftConfig.cmake
              ${CMAKE_BINARY_DIR}/CamshaftConfigVersion.cmake
        DESTINATION ${packageDir})
install(FILES ${CMAKE_BINARY_DIR}/camshaft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(CAMSHAFT_TESTS)
  add_test(NAME consumer COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/check.sh
                                 ${CMAKE_BINARY_DIR} ${CMAKE_CXX_COMPILER})
  camshaft_slow_tests(consumer)
  if(TARGET camshaft_python)
    add_test(NAME wheel COMMAND ${PROJECT_SOURCE_DIR}/tests/consumer/wheel.sh
                                ${PROJECT_SOURCE_DIR} ${Python_EXECUTABLE} ${CMAKE_CXX_COMPILER})
    camshaft_slow_tests(wheel)
  endif()
endif()
