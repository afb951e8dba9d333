#include "cli/with_processes.hpp"

#include <chrono>
#include <cstdio>
#include <new>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "cli/command.hpp"
#include "mpi/launched.hpp"

namespace ridge::cli {

namespace {

constexpr double kDeadline = 600;  // seconds that one waits for another

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
    work(processes);
  } catch (const ExitWith&) {  // all of them have stopped
    throw;
  } catch (const Error& error) {
    fail(error.callers_mistake() ? 1 : 2, error.what());
  } catch (const std::bad_alloc&) {
    fail(1, "not enough memory on this machine for that");
  } catch (const std::exception& error) {
    fail(2, error.what());
  }
}

}  // namespace ridge::cli
