# Writes OUTPUT, a C++ file that defines camshaft::cuda::deviceSource() over the texts of INPUTS
# (a list of files), by their paths below ROOT, or by their names where they lie elsewhere. Lines
# that include headers are left out: the texts are compiled at run time, where there are none.
# Run as a script: cmake -DINPUTS=... -DROOT=... -DOUTPUT=... -P EmbedText.cmake
set(text "#include \"backends/cuda/codegen/kernel_text.h\"\n\n#include \"support/error.h\"\n\nnamespace camshaft::cuda {\n\nstd::string_view deviceSource(std::string_view file) {\n")
foreach(input ${INPUTS})
  file(RELATIVE_PATH name ${ROOT} ${input})
  if(name MATCHES "^\\.\\.")
    get_filename_component(name ${input} NAME)
  endif()
  file(READ ${input} content)
  string(REGEX REPLACE "(^|\n)#(include [<\"]|pragma once)[^\n]*" "\\1" content "${content}")
  # Compilers limit the length of one literal; adjacent ones are joined.
  string(LENGTH "${content}" length)
  string(APPEND text "  if (file == \"${name}\")\n    return\n")
  set(position 0)
  while(position LESS length)
    string(SUBSTRING "${content}" ${position} 8000 piece)
    string(APPEND text "        R\"~~~(${piece})~~~\"\n")
    math(EXPR position "${position} + 8000")
  endwhile()
  string(APPEND text "        ;\n")
endforeach()
string(APPEND text "  CAMSHAFT_CHECK(false, \"no device source '\", file, \"'\");\n  return {};\n}\n\n}  // namespace camshaft::cuda\n")
file(WRITE ${OUTPUT} "${text}")
