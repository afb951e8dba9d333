// Signal handlers, standard streams and exit of the command's process.
#include "command/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "base/temporaries.hpp"

namespace ridge::cli {
namespace {

bool said = false;

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

}  // namespace ridge::cli
