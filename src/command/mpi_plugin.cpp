// Opens the MPI plugin and defines the two functions that libridge_mpi's users get from src/mpi/communicator_mpi.cpp.
#include "command/process.hpp"

#include <dlfcn.h>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/library.hpp"
#include "mpi/communicator_state.hpp"
#include "mpi/launched.hpp"

namespace ridge::cli {

void* mpi_function(const char* name) {
  static void* const plugin = [] {
    const std::string started = mpi::launch().variable;
    const auto file = base::find_plugin("libridge-mpi.so");
    if (file.empty()) {
      throw Error(ErrorKind::unavailable,
                  fmt::format("several processes were started ({}), but this ridge was built without MPI: apt-get "
                              "install libopenmpi-dev openmpi-bin, then build again",
                              started));
    }
    void* opened = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      throw Error(ErrorKind::unavailable,
                  fmt::format("several processes were started ({}), but MPI cannot be used ({}): apt-get install "
                              "openmpi-bin",
                              started, dlerror()));
    }
    return opened;
  }();
  return dlsym(plugin, name);
}

}  // namespace ridge::cli

namespace ridge::mpi {

std::shared_ptr<Communicator::State> mpi_world(const Services& services) {
  const Launch launched = launch();
  if (!launched.perhaps_others()) return nullptr;
  // Only MPI knows the number of processes if the launcher does not say: without the plugin this one runs alone.
  if (!launched.others() && base::find_plugin("libridge-mpi.so").empty()) return nullptr;
  std::shared_ptr<Communicator::State> state;
  using World = void (*)(const Services*, std::shared_ptr<Communicator::State>*);
  reinterpret_cast<World>(cli::mpi_function("ridge_mpi_world"))(&services, &state);
  return state;
}

std::shared_ptr<Communicator::State> mpi_from(int, const Services&) {
  throw Error(ErrorKind::internal, "the command has no communicator but that of all its processes");
}

}  // namespace ridge::mpi
