// Signal handlers, standard streams and exit of the command's process.
#include "command/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/temporaries.hpp"

namespace ridge::cli {
namespace {

bool said = false;

constexpr int kStopSignals[] = {SIGINT, SIGTERM};
std::atomic<bool> signal_came = false;
std::atomic<int> signal_number = 0;
struct sigaction before_stop[2] = {};  // actions that end the process

void restore_signals() {
  for (int i = 0; i < 2; ++i) ::sigaction(kStopSignals[i], &before_stop[i], nullptr);
}

extern "C" void on_first_signal(int number) {
  signal_number = number;
  signal_came = true;
  restore_signals();
}

void keep_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    // Opened in the opposite mode, so that reading standard input or writing standard output fails. Writes to standard
    // error are discarded.
    const int mode = number == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", mode) != number)
      std::_Exit(2);  // open() returns the lowest free descriptor, which is this one
  }
}

// Handles exceptions from destructors and library threads, mostly std::bad_alloc.
[[noreturn]] void on_terminate() {
  base::remove_temporaries();
  try {
    if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
    std::fputs("ridge: unexpected failure\n", stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("ridge: not enough memory on this machine for this problem\n", stderr);
    std::_Exit(1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ridge: unexpected failure: %s\n", error.what());
  } catch (...) {
    std::fputs("ridge: unexpected failure\n", stderr);
  }
  std::_Exit(2);
}

}  // namespace

void begin_process() {
  keep_standard_streams();
  base::remove_temporaries_on_signals();
  std::set_terminate(on_terminate);
}

StopSignals::StopSignals() {
  signal_came = false;
  signal_number = 0;
  struct sigaction action {};
  action.sa_handler = on_first_signal;
  for (int i = 0; i < 2; ++i) ::sigaction(kStopSignals[i], &action, &before_stop[i]);
}
StopSignals::~StopSignals() { restore_signals(); }
const std::atomic<bool>& StopSignals::came() { return signal_came; }
int StopSignals::number() { return signal_number; }

int standard_output_failed(int error) {
  if (!said) fmt::print(stderr, "ridge: cannot write standard output: {}\n", std::generic_category().message(error));
  said = true;
  return 1;
}

int end_process(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int failed = standard_output_failed(errno != 0 ? errno : EIO);
  return code != 0 ? code : failed;
}

// Writes the state of a running command and the schedule of its graph.

bool wants_status() {
  static const bool wanted = std::getenv("RIDGE_STATUS") != nullptr;
  return wanted;
}

void show_status(const std::function<base::Json()>& make, bool now) {
  static double last = 0;
  if (!wants_status() || (!now && base::now() - last < 0.5)) return;
  last = base::now();
  base::write_file(std::getenv("RIDGE_STATUS"), make().dump());
}

Option add_schedule_option(Command& command, std::string& file) {
  return command
      .option("--schedule", file,
              "Write when each stage (read, compute, write) was busy as a Gantt chart and print the table; - for the "
              "table only")
      .ends_in({".svg"})
      .writes();
}

void write_schedule(const std::string& file, const graph::Report& report) {
  if (file.empty()) return;
  if (file != "-") base::write_file(file, report.svg());
  fmt::print(stderr, "{}", report.text());
}

}  // namespace ridge::cli
