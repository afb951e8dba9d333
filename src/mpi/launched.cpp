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

// By launcher: how many processes, and which one this is. Slurm's allocation (SLURM_NTASKS) is not enough, it is there
// in a batch script too: only what srun sets for a step counts.
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
    {"MPI_WORLD_SIZE", "MPI_WORLD_RANK"},              // newer launchers by the standard's name
    {nullptr, "PMIX_RANK"},                            // any launcher that speaks PMIx: MPI knows how many
    {nullptr, "ALPS_APP_PE"},                          // older Crays
};

}  // namespace

// The first in the list: an MPI's own launcher may run within a task of another.
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
