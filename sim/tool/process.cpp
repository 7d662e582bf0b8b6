// SPDX-License-Identifier: Apache-2.0
#include "sim/tool/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "hw/contract/error.h"
#include "sim/tool/stop.h"

namespace npu::tool {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxOutput = size_t{1} << 20;

// Starts a program with its output going to `output`; returns an error number, 0 when it runs. posix_spawn copies no
// page tables, which fork does: with results of a gigabyte in memory that takes longer than most programs run. The
// program leads a process group, so that a signal reaches what it starts in turn.
int start(pid_t& child, char* const* arguments, char* const* environment, const char* folder, int output) {
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  posix_spawnattr_t attributes;
  if (const int error = posix_spawnattr_init(&attributes); error != 0) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  // Signals that are ignored here are not ignored there.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  sigaddset(&signals, SIGXFSZ);
  int error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  if (error == 0) error = posix_spawnattr_setsigdefault(&attributes, &signals);
  if (error == 0) error = posix_spawn_file_actions_addchdir_np(&actions, folder);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  if (error == 0) error = posix_spawn(&child, arguments[0], &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// All that the child writes, the first kMaxOutput bytes of it, until it and those that it started are done. The pipe is
// looked at for a while at a time, since any thread may get the signal that has to be passed on.
std::string read_output(int pipe, pid_t child) {
  constexpr int kPause = 50;  // ms
  std::string output;
  char buffer[4096];
  while (true) {
    if (const int signal = stop_signal(); signal != 0) kill(-child, signal);
    pollfd ready = {pipe, POLLIN, 0};
    if (poll(&ready, 1, kPause) <= 0) continue;
    const ssize_t n = read(pipe, buffer, sizeof buffer);
    if (n <= 0) return output;
    if (output.size() < kMaxOutput) output.append(buffer, static_cast<size_t>(n));
  }
}

std::vector<std::string> environment_with(const fs::path& path_prefix) {
  std::vector<std::string> environment;
  const char* old_path = std::getenv("PATH");
  environment.push_back("PATH=" + path_prefix.string() + ":" + (old_path != nullptr ? old_path : "/usr/bin:/bin"));
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "PATH=", 5) != 0) environment.emplace_back(*entry);
  }
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

bool has_all(const fs::path& folder, const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    if (access((folder / program).c_str(), X_OK) != 0) return false;
  }
  return true;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const fs::path& folder,
                          const fs::path& path_prefix) {
  NPU_CHECK(!arguments.empty());
  std::vector<std::string> argument_strings = arguments, environment_strings = environment_with(path_prefix);
  const std::vector<char*> argv = pointers(argument_strings), envp = pointers(environment_strings);
  int output[2];
  if (pipe2(output, O_CLOEXEC) != 0) {
    throw Error(contract::ErrorCode::kToolFailed, "cannot make a pipe: " + std::string(std::strerror(errno)));
  }
  pid_t child = -1;
  const int error = start(child, argv.data(), envp.data(), folder.c_str(), output[1]);
  close(output[1]);
  if (error != 0) {
    close(output[0]);
    throw Error(
        error == EAGAIN || error == ENOMEM ? contract::ErrorCode::kToolFailed : contract::ErrorCode::kToolMissing,
        "cannot start " + arguments[0] + ": " + std::strerror(error));
  }
  ProcessResult result;
  result.output = read_output(output[0], child);
  close(output[0]);
  int status = 0;
  waitpid(child, &status, 0);
  check_stopped();
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::optional<fs::path> find_tools(const std::vector<std::string>& programs) {
  std::vector<fs::path> folders;
  if (const char* given = std::getenv("NPU_PYTHON_TOOLS"); given != nullptr) folders.emplace_back(given);
  std::error_code ignored;
  // The program lies in build/<preset>/ of the project, the environment of sim/setup.sh in build/venv/.
  const fs::path self = fs::read_symlink("/proc/self/exe", ignored);
  if (!ignored) folders.push_back(self.parent_path().parent_path() / "venv" / "bin");
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::istringstream entries(path);
    for (std::string entry; std::getline(entries, entry, ':');) folders.emplace_back(entry);
  }
  for (const fs::path& folder : folders) {
    if (!folder.empty() && has_all(folder, programs)) return fs::absolute(folder);
  }
  return std::nullopt;
}

std::string last_error(const std::string& output) {
  constexpr std::string_view kStart = "npu: error: ";
  std::string text = output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t line = text.rfind('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  if (text.rfind(kStart, 0) == 0) text.erase(0, kStart.size());
  return text;
}

}  // namespace npu::tool
