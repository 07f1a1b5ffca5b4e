# `make test` runs these folders' tests again under the sanitizers (`make asan`): where bytes from
# outside are read, and where what they say is planned and run.
set(CAMSHAFT_SANITIZED onnx_wire onnx plan tuner engine runtime compiler calibration api)
add_custom_target(sanitized_tests)
function(camshaft_sanitized_test NAME)
  add_dependencies(sanitized_tests ${NAME})
  set_property(TEST ${NAME} APPEND PROPERTY LABELS sanitized)
endfunction()

# `make check` leaves these out.
function(camshaft_slow_tests)
  foreach(name ${ARGN})
    if(TEST ${name})
      set_property(TEST ${name} APPEND PROPERTY LABELS slow)
    endif()
  endforeach()
endfunction()

# camshaft_batches(VARIABLE NAME DIR sources...): the sources in files of eight that include them by
# their paths below DIR, made in the build folder. Small files of one library spend most of a
# compiler's time on what their headers instantiate, so a build of everything takes a third less.
# CMake's own unity builds name the sources by their paths, which other clones' caches of objects do
# not know.
option(CAMSHAFT_BATCHES "Compile the sources of a library eight at a time" ON)
function(camshaft_batches VARIABLE NAME DIR)
  if(NOT CAMSHAFT_BATCHES)
    set(${VARIABLE} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  list(LENGTH ARGN count)
  math(EXPR last "${count} - 1")
  set(batches)
  foreach(first RANGE 0 ${last} 8)
    list(SUBLIST ARGN ${first} 8 sources)
    list(LENGTH batches number)
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${NAME}_${number}.cpp)
    list(TRANSFORM sources REPLACE "^${DIR}/(.*)" "#include \"\\1\"\n")
    list(JOIN sources "" includes)
    file(CONFIGURE OUTPUT ${batch} CONTENT "${includes}" @ONLY)
    list(APPEND batches ${batch})
  endforeach()
  # GCC 12 sees reads past the end in what it inlines of std::vector.
  set_source_files_properties(${batches} PROPERTIES
                              COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)
  set(${VARIABLE} ${batches} PARENT_SCOPE)
endfunction()

function(camshaft_optimize TARGET)
  set(level -O2)
  if(ARGN)
    set(level ${ARGN})
  endif()
  target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:${level}>)
  if(level STREQUAL "-O1")
    # At that level GCC 12 does not see what is initialised.
    set(isGccRelease $<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>)
    target_compile_options(${TARGET} PRIVATE $<${isGccRelease}:-Wno-maybe-uninitialized>)
  endif()
endfunction()

# camshaft_folder(NAME [DIR dir] [RECURSE] [BATCHES] [APART regex] [EXCLUDE regex]
#                 [OPTIMIZE level] [DEPS folders...] [LINK targets...])
#
# One folder of src/ as one static library, camshaft_NAME, with its tests (x_test.cpp beside
# x.cpp) as one program, NAME_test. DEPS are the folders this one may include, as
# docs/ARCHITECTURE.md rules and scripts/check_includes.py checks. Releases are compiled with
# OPTIMIZE, which is -O3 where the time of a run is spent, -O1 where nobody waits for anything but
# the compiler, else -O2.
function(camshaft_folder NAME)
  cmake_parse_arguments(ARG "RECURSE;BATCHES" "DIR;APART;EXCLUDE;OPTIMIZE" "DEPS;LINK" ${ARGN})
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${NAME})
  if(ARG_DIR)
    set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_DIR})
  endif()
  set(glob GLOB)
  if(ARG_RECURSE)
    set(glob GLOB_RECURSE)
  endif()
  file(${glob} sources CONFIGURE_DEPENDS ${dir}/*.cpp)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")

  set(target camshaft_${NAME})
  if(ARG_BATCHES)
    # Sources of which a smaller library is linked make batches of their own.
    set(apart)
    if(ARG_APART)
      set(apart ${sources})
      list(FILTER apart INCLUDE REGEX "${ARG_APART}")
      list(FILTER sources EXCLUDE REGEX "${ARG_APART}")
      camshaft_batches(apart ${NAME}_apart ${PROJECT_SOURCE_DIR}/src ${apart})
    endif()
    camshaft_batches(sources ${NAME} ${PROJECT_SOURCE_DIR}/src ${sources})
    list(APPEND sources ${apart})
  endif()
  add_library(${target} STATIC ${sources})
  camshaft_optimize(${target} ${ARG_OPTIMIZE})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <functional> <map> <memory>
                            <optional> <set> <span> <string> <string_view> <unordered_map>
                            <variant> <vector>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK})
  foreach(dep ${ARG_DEPS})
    target_link_libraries(${target} PUBLIC camshaft_${dep})
  endforeach()
  if(CAMSHAFT_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${CAMSHAFT_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${CAMSHAFT_SANITIZE})
  endif()

  if(CAMSHAFT_TESTS AND tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE ${target} GTest::gtest_main GTest::gmock)
    add_test(NAME ${NAME}_test COMMAND ${NAME}_test)
    if(NAME IN_LIST CAMSHAFT_SANITIZED)
      camshaft_sanitized_test(${NAME}_test)
    endif()
  endif()
endfunction()

# Generates NAME_generated.h from NAME.fbs for one folder's sources; without flatc it is taken as
# generated elsewhere.
function(camshaft_generate_flatbuffer TARGET SCHEMA)
  target_include_directories(${TARGET} SYSTEM PRIVATE ${FLATBUFFERS_INCLUDE})
  if(NOT FLATC)
    target_include_directories(${TARGET} SYSTEM PRIVATE ${FLATBUFFERS_GENERATED})
    return()
  endif()
  get_filename_component(name ${SCHEMA} NAME_WE)
  set(dir ${CMAKE_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${dir}/${name}_generated.h
    COMMAND ${FLATC} --cpp --scoped-enums -o ${dir} ${CMAKE_CURRENT_SOURCE_DIR}/${SCHEMA}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${SCHEMA})
  target_sources(${TARGET} PRIVATE ${dir}/${name}_generated.h)
  target_include_directories(${TARGET} SYSTEM PRIVATE ${dir})
endfunction()

# Makes the device code below a folder, and the definitions of the scalar operations, available to
# the target as text: deviceSource(file).
function(camshaft_embed_device_code TARGET DIR)
  set(root ${CMAKE_CURRENT_SOURCE_DIR}/${DIR})
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS ${root}/*.cuh)
  list(APPEND texts ${CMAKE_CURRENT_SOURCE_DIR}/ir/scalar_math.h)
  set(output ${CMAKE_BINARY_DIR}/generated/device_source.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DINPUTS=${texts}" -DROOT=${root} -DOUTPUT=${output} -P ${script}
    DEPENDS ${texts} ${script} VERBATIM)
  target_sources(${TARGET} PRIVATE ${output})
endfunction()
