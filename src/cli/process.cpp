#include "cli/process.hpp"

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
    // Opened the wrong way round: whoever reads from it or writes to it is told. Nobody listens to complaints anyway.
    const int mode = number == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (::open("/dev/null", mode) != number) std::_Exit(2);  // the lowest free number is this one
  }
}

// What comes out of a destructor or a thread of a library's, mostly because there is no memory.
[[noreturn]] void on_terminate() {
  base::remove_temporaries();
  try {
    if (const auto failure = std::current_exception()) std::rethrow_exception(failure);
    std::fputs("ridge: unexpected failure\n", stderr);
  } catch (const std::bad_alloc&) {
    std::fputs("ridge: not enough memory on this machine for that\n", stderr);
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
