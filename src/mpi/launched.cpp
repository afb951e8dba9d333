// Detects the MPI launcher by its environment variables, and binds processes to their share of the cores.
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "mpi/launched.hpp"

namespace ridge::mpi {
namespace {

std::optional<std::size_t> number_in(const char* name) {
  const char* value = std::getenv(name);
  std::size_t number = 0;
  if (value == nullptr || std::from_chars(value, value + std::strlen(value), number).ec != std::errc{})
    return std::nullopt;
  return number;
}

// Variables of each launcher with the number of processes and this one's rank. SLURM_NTASKS is set in batch scripts
// too, so only the variables that srun sets for a step count.
struct Variables {
  const char *count, *rank;
};
constexpr Variables kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},  // Open MPI
    {"PMI_SIZE", "PMI_RANK"},                          // MPICH, Intel MPI, Slurm with PMI
    {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"},            // Hydra
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},    // MVAPICH2
    {"SLURM_STEP_NUM_TASKS", nullptr},                 // srun, with or without MPI
    {"PALS_SIZE", "PALS_RANKID"},                      // Cray's aprun and mpiexec
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},      // jsrun
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},               // Flux
    {"MPI_WORLD_SIZE", "MPI_WORLD_RANK"},              // names of the MPI standard, in newer launchers
    {nullptr, "PMIX_RANK"},                            // any PMIx launcher: the count is known to MPI only
    {nullptr, "ALPS_APP_PE"},                          // older Crays
};

}  // namespace

// The first entry found wins: an MPI's own launcher may run inside a task of another one.
Launch launch() {
  for (const auto& [count_name, rank_name] : kLaunchers) {
    const auto count = count_name != nullptr ? number_in(count_name) : std::nullopt;
    const auto rank = rank_name != nullptr ? number_in(rank_name) : std::nullopt;
    if (!count && !rank) continue;
    return {.variable = fmt::format("{}={}", count ? count_name : rank_name, count ? *count : *rank),
            .count = count.value_or(0),
            .rank = rank.value_or(0)};
  }
  return {};
}

}  // namespace ridge::mpi
