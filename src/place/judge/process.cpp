// Starts child processes, enforces their time limit and finds the first error in a log.
#include "place/judge/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <ridge/error.hpp>

#include "base/files.hpp"

namespace ridge::place::judge {

namespace fs = std::filesystem;

// Kept folders have another prefix, because the next run removes folders of processes that have ended.
Folder::Folder() : folder_(std::getenv("RIDGE_PLACE_KEEP") != nullptr ? "ridge-place-kept" : "ridge-place") {
  if (std::getenv("RIDGE_PLACE_KEEP") != nullptr) folder_.keep();
}

int run(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment,
        const fs::path& log, double seconds) {
  const pid_t child = fork();
  if (child < 0) throw Error(ErrorKind::out_of_memory, "cannot start a process for " + command[0]);
  if (child == 0) {
    base::lead_own_group();
    // A background process that reads from the terminal would be stopped.
    if (isatty(STDIN_FILENO) != 0) dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    setenv("TMPDIR", log.parent_path().c_str(), 1);  // a killed compiler leaves its files there
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  const base::ChildGroup group(child);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string first_lines(const fs::path& log) {
  const auto text = base::read_file(log, std::size_t{16} << 20).value_or("");
  // The linker names the symbol before the compiler reports "error: ld returned 1 exit status".
  const auto error = std::min({text.find("undefined reference"), text.find("undefined symbol"),
                               text.find("multiple definition"), text.find("cannot find -l"), text.find("error")});
  const auto from = error == std::string::npos ? 0 : text.rfind('\n', error) + 1;
  return text.substr(from, std::min<std::size_t>(text.find('\n', from) - from, 300));
}

}  // namespace ridge::place::judge
