// Starts MPI if needed, compares the processes' command lines and reports errors once.
#include "command/process.hpp"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "command/command.hpp"
#include "mpi/launched.hpp"

namespace ridge::cli {

namespace {

constexpr double kDeadline = 600;  // seconds to wait for another process

// Command line of this process without --device and --threads, which may differ between processes.
std::string shared_command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string text, word;
  bool skip = true;  // the program's name
  while (std::getline(file, word, '\0')) {
    const bool own = word == "--device" || word == "--threads";
    if (!skip && !own && !word.starts_with("--device=") && !word.starts_with("--threads=")) {
      text += (text.empty() ? "" : " ") + word;
    }
    skip = own;
  }
  // Long lines are shown truncated, so a hash of the whole line is compared too.
  return text.size() < 400 ? text : fmt::format("{:x}: {}", std::hash<std::string>()(text), text);
}

}  // namespace

void with_processes(const std::function<void(const mpi::Communicator&)>& work) {
  const mpi::Communicator processes = mpi::Communicator::world();
  mpi::divide_cores(processes);
  processes.set_deadline(kDeadline);
  if (processes.count() == 1) {
    work(processes);
    return;
  }
  const auto fail = [&](int code, const std::string& message) {
    if (!processes.root()) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (!message.empty()) fmt::print(stderr, "ridge: {}\n", message);
    std::fflush(nullptr);
    processes.abort(code);
  };
  try {
    processes.must_be_equal(shared_command_line());
    work(processes);
  } catch (const ExitWith&) {  // all processes have stopped
    throw;
  } catch (const Error& error) {
    fail(error.callers_mistake() ? 1 : 2, error.what());
  } catch (const std::bad_alloc&) {
    fail(1, "not enough memory on this machine for this problem");
  } catch (const std::exception& error) {
    fail(2, error.what());
  }
}

}  // namespace ridge::cli
