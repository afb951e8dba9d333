// ridge fftw: runs a program built for FFTW with Ridgeline's plans by LD_PRELOAD.
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "cli/fftw/program.hpp"
#include "command/command.hpp"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string trace;
  bool where = false;
  std::vector<std::string> command;
};

// Path of the drop-in library: next to the command, as in a build folder, or in the library folder of an installation.
std::string drop_in() {
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* const name = "libridge_fftw3.so.0";
  for (const fs::path& place : {folder / name, folder / ".." / RIDGE_LIBRARY_FOLDER / name, folder / "../lib" / name}) {
    if (fs::exists(place, ignored)) return fs::canonical(place, ignored).string();
  }
  throw Error(ErrorKind::unavailable, fmt::format("{} is neither in {} nor in the library folder beside it: build or "
                                                  "install the target ridge_fftw3",
                                                  name, folder.string()));
}

// Creates the file; if it stays empty, no plan was made.
void check_can_be_written(const std::string& file) {
  std::FILE* const opened = std::fopen(file.c_str(), "a");
  if (opened == nullptr)
    throw Error(ErrorKind::io, fmt::format("--trace {}: cannot be written: {}", file, std::strerror(errno)));
  std::fclose(opened);
}

void run(const Options& options) {
  const std::string library = drop_in();
  if (options.where) {
    fmt::print("{}\n", library);
    return;
  }
  if (options.command.empty())
    throw Error(ErrorKind::invalid_argument, "no program given: write for example ridge fftw -- octave script.m");
  if (library.find_first_of(" :") != std::string::npos) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("LD_PRELOAD does not support paths with a space or a colon: {}", library));
  }
  check_preload_reaches(options.command[0]);
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string preload = before == nullptr || *before == 0 ? library : library + ":" + before;
  setenv("LD_PRELOAD", preload.c_str(), 1);
  if (!options.trace.empty()) {
    const std::string trace = fs::absolute(options.trace);  // absolute, because the program may change its folder
    check_can_be_written(trace);
    setenv("RIDGE_FFTW_TRACE", trace.c_str(), 1);
  }
  std::vector<char*> words;
  for (const std::string& word : options.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // The program does not inherit ignored or blocked signals.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  execvp(words[0], words.data());
  throw Error(ErrorKind::io, fmt::format("{}: {}", options.command[0], std::strerror(errno)));
}

}  // namespace

void add_fftw(Command& program) {
  Command& command = program.subcommand("fftw", "Run a program built for FFTW with Ridgeline's plans");
  auto options = std::make_shared<Options>();
  command.option("--trace", options->trace, "Write one line per plan to this file").writes();
  command.flag("--where", options->where, "Print the library's path and run nothing");
  command.option("command", options->command, "The program and its arguments, after --");
  command.footer(
      "\nExamples:\n"
      "  ridge fftw -- octave-cli program.m                  only sets LD_PRELOAD for the program\n"
      "  ridge fftw --trace plans.txt -- bart fft -i 3 kspace image\n"
      "  LD_PRELOAD=$(ridge fftw --where) ./a.out             the same by hand\n"
      "\nLD_PRELOAD has no effect on statically linked and setuid programs: an error. A program that contains\n"
      "libfftw3.a keeps using it: a warning. docs/fftw.md lists the supported functions.\n"
      "The exit code is that of the program, or 1 if it cannot be started.");
  command.runs([options] { run(*options); });
}

}  // namespace ridge::cli
