# What `pip wheel .` packs (pyproject.toml): the package, and inside it lib/ and bin/ as an
# installation has them, with Highway's library, the only one of other packages that ours need.
set(wheelLibraries camshaft camshaft_onnxruntime)
if(TARGET camshaft_cuda_library)
  list(APPEND wheelLibraries camshaft_cuda_library)
endif()
set_target_properties(${wheelLibraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(camshaft_python PROPERTIES INSTALL_RPATH "$ORIGIN/lib")
# Wheels have no links: the library is the file that its soname names.
set_property(TARGET camshaft PROPERTY VERSION)

install(TARGETS camshaft_python LIBRARY DESTINATION camshaft COMPONENT wheel)
install(TARGETS ${wheelLibraries} trtexec camshaft_trials cpu_peaks
        RUNTIME DESTINATION camshaft/bin COMPONENT wheel
        LIBRARY DESTINATION camshaft/lib COMPONENT wheel NAMELINK_SKIP)
install(TARGETS ${CAMSHAFT_STAND_INS}
        LIBRARY DESTINATION camshaft/lib/tensorrt COMPONENT wheel NAMELINK_SKIP)
if(HIGHWAY_LIBRARY MATCHES "\\.so")
  file(REAL_PATH ${HIGHWAY_LIBRARY} highway)
  get_filename_component(soname ${highway} NAME)
  string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" soname ${soname})
  install(FILES ${highway} RENAME ${soname} DESTINATION camshaft/lib COMPONENT wheel)
endif()
install(DIRECTORY ${CMAKE_BINARY_DIR}/python/camshaft/ DESTINATION camshaft COMPONENT wheel
        FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "*.html" PATTERN "*.css" PATTERN "*.js"
        PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include DESTINATION camshaft COMPONENT wheel)
