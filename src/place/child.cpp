// Runs the plugin in a child process with limits on CPU time and memory, so that a source that crashes Clang or isl
// still gives a report.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/place.hpp>

#include "base/library.hpp"
#include "place/report/report.hpp"

namespace ridge::place {
namespace {

namespace fs = std::filesystem;

// Path of the plugin: RIDGE_PLACE_PLUGIN, else next to the program, next to the library, or in the install folders.
std::string find_plugin() {
  if (const char* named = std::getenv("RIDGE_PLACE_PLUGIN"); named != nullptr && *named != '\0') return named;
  if (const fs::path file = base::find_plugin("libridge-place.so"); !file.empty()) return file.string();
  throw Error(ErrorKind::unavailable,
              "this build has no placement compiler (libridge-place.so): it needs libclang-19-dev, libclang-cpp19-dev, "
              "llvm-19-dev and libisl-dev when Ridgeline is built");
}

void bound(int what, std::size_t most) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(what), &limit);
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? most : std::min<rlim_t>(most, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(what), &limit);
}

[[noreturn]] void work(const std::string& plugin, const std::string& request, const Options& options, int to) {
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) signal(number, SIG_DFL);
  bound(RLIMIT_AS, options.memory);
  bound(RLIMIT_CPU, static_cast<std::size_t>(std::ceil(options.seconds)) + 1);
  bound(RLIMIT_CORE, 0);
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null >= 0) dup2(null, STDERR_FILENO);  // Clang prints long stack traces when it crashes
  const auto say = [&](const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(to, text.data() + done, text.size() - done);
      if (n <= 0) _exit(3);
      done += static_cast<std::size_t>(n);
    }
  };
  void* library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    say(std::string("!") + dlerror());
    _exit(4);
  }
  const auto run = reinterpret_cast<char* (*)(const char*)>(dlsym(library, "ridge_place_work"));
  if (run == nullptr) _exit(5);
  say(run(request.c_str()));
  _exit(0);
}

}  // namespace

Report analyze(const std::string& file, const Options& options) {
  const std::string plugin = find_plugin();
  std::error_code ignored;
  nlohmann::json request;
  request["file"] = file;
  request["function"] = options.function;
  request["flags"] = options.flags;
  request["pins"] = options.pins;
  request["models"] = options.models;
  request["emit"] = options.emit;
  request["without"] = options.without;
  request["threads"] = options.threads;
  request["session"] = options.session;
  request["memories"] = {{"cached", options.memories.cached},
                         {"local", options.memories.local},
                         {"local_bytes", options.memories.local_bytes},
                         {"constant", options.memories.constant},
                         {"tiles", options.memories.tiles},
                         {"strips", options.memories.strips}};
  const std::string text = request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::internal, "cannot create a pipe to the placement compiler");
  const pid_t child = fork();
  if (child < 0) throw Error(ErrorKind::out_of_memory, "cannot start a process for the placement compiler");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // the child ends with its caller
    close(ends[0]);
    work(plugin, text, options, ends[1]);
  }
  close(ends[1]);
  std::string answer;
  std::vector<char> chunk(1 << 16);
  // The child's CPU time is limited; this wall-clock limit of 20 times as much ends a child that waits forever.
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(20 * options.seconds);
  bool late = false;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    pollfd waiting{ends[0], POLLIN, 0};
    const int ready = left > 0 ? poll(&waiting, 1, static_cast<int>(left)) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || answer.size() > (std::size_t{256} << 20)) {
      late = true;
      break;
    }
    const ssize_t n = read(ends[0], chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    answer.append(chunk.data(), static_cast<std::size_t>(n));
  }
  close(ends[0]);
  if (late) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!answer.empty() && answer[0] == '!')
    throw Error(ErrorKind::unavailable, "cannot load the placement compiler: " + answer.substr(1));
  Report report;
  report.file = file;
  report.function = options.function;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    try {
      return report_from_json(nlohmann::json::parse(answer));
    } catch (const std::exception&) {
      report.errors.push_back(file + ": the placement compiler returned a malformed report");
      return report;
    }
  }
  if (late || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)))
    report.errors.push_back(file + ": parsing and analysis took longer than " +
                            std::to_string(static_cast<int>(options.seconds)) + " s (--seconds); nothing is placed");
  else
    report.errors.push_back(file +
                            ": parsing and analysis ran out of memory or crashed on this source; nothing is placed");
  return report;
}

}  // namespace ridge::place
