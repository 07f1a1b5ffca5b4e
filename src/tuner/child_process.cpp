#include "tuner/child_process.h"

#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <set>
#include <thread>

#include "support/error.h"

extern char** environ;

namespace camshaft {
namespace {

// Folders of NVIDIA's libraries that this process has loaded, from wherever it got them.
int addFolder(dl_phdr_info* info, size_t, void* folders) {
  const std::string path = info->dlpi_name ? info->dlpi_name : "";
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return 0;
  for (const char* name : {"/libcudnn", "/libcublas", "/libnvrtc"})
    if (path.compare(slash, std::strlen(name), name) == 0)
      static_cast<std::set<std::string>*>(folders)->insert(path.substr(0, slash));
  return 0;
}

// Ours, and the same libraries from the same places.
std::vector<std::string> childEnvironment() {
  constexpr std::string_view kLibraries = "CAMSHAFT_CUDA_LIBRARIES=";
  std::set<std::string> folders;
  dl_iterate_phdr(addFolder, &folders);
  std::string libraries(kLibraries);
  for (const std::string& folder : folders) libraries += folder + ":";
  std::vector<std::string> variables;
  for (char** each = environ; *each; ++each) {
    const std::string_view variable = *each;
    if (variable.starts_with(kLibraries))
      libraries += variable.substr(kLibraries.size());
    else
      variables.emplace_back(variable);
  }
  variables.push_back(libraries);
  return variables;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What a program gets of this process: standard error as its output too, and its end of the socket
// as descriptor 3.
class FileActions {
 public:
  explicit FileActions(int socket) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, 2, 1);
    posix_spawn_file_actions_adddup2(&actions_, socket, 3);
    posix_spawn_file_actions_addclosefrom_np(&actions_, 4);  // what others left open
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Whoever waits longer than this for the program to read a message waits for nothing.
void limitSending(int socket) {
  const timeval limit{.tv_sec = 60, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program, std::vector<std::string> arguments) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    fail(ErrorKind::kIo, "no socket could be made: ", std::strerror(errno));
  channel_ = std::make_unique<TrialChannel>(sockets[0]);
  limitSending(sockets[0]);
  // The same number would keep the mark that closes it in the program.
  const int theirs = sockets[1] == 3 ? fcntl(sockets[1], F_DUPFD_CLOEXEC, 4) : sockets[1];
  const FileActions actions(theirs);
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> variables = childEnvironment();
  const std::vector<char*> argv = pointersTo(arguments), envp = pointersTo(variables);
  const int failure =
      posix_spawn(&process_, program.c_str(), actions.get(), nullptr, argv.data(), envp.data());
  close(theirs);
  if (theirs != sockets[1]) close(sockets[1]);
  if (failure != 0) {
    process_ = -1;
    fail(ErrorKind::kIo, program, " could not be started: ", std::strerror(failure));
  }
}

std::string ChildProcess::end() {
  using namespace std::chrono_literals;
  if (process_ < 0) return "before";
  kill(process_, SIGCONT);
  int status = 0;
  for (int waits = 0; waits < 500; ++waits) {
    const pid_t ended = waitpid(process_, &status, WNOHANG);
    if (ended == process_) {
      process_ = -1;
      if (WIFSIGNALED(status))
        return str("by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
      return str("with status ", WEXITSTATUS(status));
    }
    if (ended < 0) break;  // somebody else waits for all children
    if (waits == 10) kill(process_, SIGKILL);
    std::this_thread::sleep_for(10ms);
  }
  process_ = -1;
  return "in a way that is not known";
}

ChildProcess::~ChildProcess() {
  channel_.reset();  // it ends when nobody talks to it any more
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  end();
}

}  // namespace camshaft
