#include "cuda_emulator/compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "cuda_emulator/source_rewriter.h"

extern char** environ;

namespace camshaft::emulator {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void failWith(const std::string& message) {
  throw std::runtime_error("CUDA emulator: " + message);
}

std::string readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void writeFile(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) failWith("can't write '" + path.string() + "'");
}

fs::path cacheFolder() {
  const char* chosen = std::getenv("CAMSHAFT_EMULATOR_CACHE");
  if (chosen && *chosen) {
    fs::create_directories(chosen);
    return chosen;
  }
  const fs::path folder =
      fs::temp_directory_path() / ("camshaft_emulator_" + std::to_string(getuid()));
  mkdir(folder.c_str(), 0700);
  struct stat info{};
  // Shared objects are loaded from here: nobody else may write to it.
  if (stat(folder.c_str(), &info) != 0 || info.st_uid != getuid() || (info.st_mode & 022)) {
    failWith("'" + folder.string() + "' is not a folder of this user; set CAMSHAFT_EMULATOR_CACHE");
  }
  return folder;
}

std::vector<std::string> compilerFlags() {
  std::vector<std::string> flags = {
      "-std=c++20", "-O1", "-g1", "-gdwarf-4", "-fPIC", "-shared", "-w", "-pipe",
      "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing", "-fwrapv",
      "-fno-math-errno", "-ffp-contract=off", "-fno-threadsafe-statics",
      // Trap instead of calling a library: the emulator turns the signal into a message.
      "-fsanitize=bounds,alignment", "-fsanitize-undefined-trap-on-error", "-nostartfiles"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    flags.insert(flags.end(), {"-mavx2", "-mfma", "-mf16c"});
  }
#elif defined(__aarch64__)
  // Shared memory is found through the dynamic linker, which descriptors pass by. A division by
  // zero is no fault there by itself.
  flags.insert(flags.end(), {"-mtls-dialect=trad", "-fsanitize=integer-divide-by-zero"});
#endif
  if (std::getenv("CAMSHAFT_EMULATOR_ASAN")) flags.push_back("-fsanitize=address");
  return flags;
}

std::string compilerProgram() {
  const char* chosen = std::getenv("CXX");
  return chosen && *chosen ? chosen : "g++";
}

const std::string& preludeText() {
  static const std::string text = [] {
    std::vector<fs::path> files(fs::directory_iterator(CAMSHAFT_EMULATOR_DEVICE), {});
    std::sort(files.begin(), files.end());
    std::string all;
    for (const fs::path& file : files) all += readFile(file);
    return all;
  }();
  return text;
}

std::string hashText(const std::string& text) {
  uint64_t a = 0xcbf29ce484222325u, b = 0x9e3779b97f4a7c15u;
  for (unsigned char c : text) {
    a = (a ^ c) * 0x100000001b3u;
    b = (b ^ (c + (b >> 29))) * 0xff51afd7ed558ccdu;
  }
  char name[33];
  std::snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return name;
}

// Runs the compiler with its complaints in `log`; true when it succeeded.
bool runCompiler(std::vector<std::string> arguments, const fs::path& log) {
  arguments.insert(arguments.begin(), compilerProgram());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char plainMessages[] = "LC_ALL=C";
  std::vector<char*> environment = {plainMessages};
  for (char** entry = environ; *entry; ++entry) {
    if (std::string_view(*entry).substr(0, 7) != "LC_ALL=") environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) failWith("can't start the compiler '" + arguments[0] + "'");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::string firstLines(const std::string& text, int count) {
  size_t end = 0;
  while (count-- > 0 && end != std::string::npos) end = text.find('\n', end + (end > 0));
  return text.substr(0, end);
}

// Files of one compilation, removed at its end.
struct Workspace {
  fs::path source, preprocessed, unit, log, object;

  Workspace(const fs::path& folder, const std::string& key) {
    static std::atomic<int> counter{0};
    const std::string stem = key + "." + std::to_string(getpid()) + "." + std::to_string(counter++);
    source = folder / (stem + ".cu");
    preprocessed = folder / (stem + ".ii");
    unit = folder / (stem + ".cpp");
    log = folder / (stem + ".log");
    object = folder / (stem + ".so");
  }
  ~Workspace() {
    std::error_code ignored;
    for (const fs::path& path : {source, preprocessed, unit, log, object}) {
      fs::remove(path, ignored);
    }
  }
};

std::string entryPointTable(const std::vector<std::string>& kernels) {
  std::string text =
      "\n#line 1 \"entry points\"\n"
      "#define CAMSHAFT_EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n"
      "CAMSHAFT_EXPORT camshaft::emulator::ThreadState* camshaftThreadState() "
      "{ return &camshaftThread; }\n"
      "CAMSHAFT_EXPORT const camshaft::emulator::EntryPoint camshaftEntryPoints[] = {\n";
  for (const std::string& kernel : kernels) text += "  CAMSHAFT_ENTRY_POINT(" + kernel + "),\n";
  return text + "  {nullptr, nullptr, 0, nullptr}};\n";
}

void compileInto(const std::string& source, const Workspace& files) {
  const auto check = [&](bool succeeded) {
    if (!succeeded)
      failWith("the source does not compile:\n" + firstLines(readFile(files.log), 12));
  };
  const std::string deviceFolder = CAMSHAFT_EMULATOR_DEVICE;
  writeFile(files.source, "#line 1 \"kernel.cu\"\n" + source);
  const std::string instructions = "-DCAMSHAFT_EMULATED_HOPPER=\"" + deviceFolder + "/hopper.h\"";
  check(runCompiler({"-std=c++20", "-x", "c++", "-E", "-w", "-DCAMSHAFT_EMULATOR", instructions,
                     files.source.string(), "-o", files.preprocessed.string()},
                    files.log));
  const RewrittenSource rewritten = rewriteSource(readFile(files.preprocessed));
  writeFile(files.unit, "#include \"" + deviceFolder + "/prelude.h\"\n" + rewritten.macros +
                            rewritten.text + entryPointTable(rewritten.kernels));
  std::vector<std::string> arguments = compilerFlags();
  arguments.insert(arguments.end(), {files.unit.string(), "-o", files.object.string(), "-lm"});
  check(runCompiler(arguments, files.log));
}

}  // namespace

std::string compileToFile(const std::string& source) {
  std::string identity = preludeText() + compilerProgram();
  for (const std::string& flag : compilerFlags()) identity += flag + " ";
  const std::string key = hashText(identity + source);
  const fs::path folder = cacheFolder();
  const fs::path object = folder / (key + ".so");
  if (fs::exists(object)) return object.string();
  const Workspace files(folder, key);
  compileInto(source, files);
  fs::rename(files.object, object);  // at once, for other processes that look for it
  return object.string();
}

}  // namespace camshaft::emulator
