// Detection of MPI launchers from environment variables.
#include "mpi/launched.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace ridge::mpi {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

// Sets only these of all launchers' variables.
class Launched : public testing::Test {
 protected:
  static constexpr const char* kAll[] = {"OMPI_COMM_WORLD_SIZE",
                                         "OMPI_COMM_WORLD_RANK",
                                         "PMI_SIZE",
                                         "PMI_RANK",
                                         "MPI_LOCALNRANKS",
                                         "MPI_LOCALRANKID",
                                         "MV2_COMM_WORLD_SIZE",
                                         "MV2_COMM_WORLD_RANK",
                                         "PALS_SIZE",
                                         "PALS_RANKID",
                                         "SLURM_STEP_NUM_TASKS",
                                         "SLURM_NTASKS",
                                         "SLURM_PROCID",
                                         "JSM_NAMESPACE_SIZE",
                                         "JSM_NAMESPACE_RANK",
                                         "FLUX_JOB_SIZE",
                                         "FLUX_TASK_RANK",
                                         "MPI_WORLD_SIZE",
                                         "MPI_WORLD_RANK",
                                         "PMIX_RANK",
                                         "ALPS_APP_PE"};
  void SetUp() override {
    for (const char* name : kAll) {
      const char* value = std::getenv(name);
      if (value != nullptr) before_.emplace_back(name, value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : kAll) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  static Launch with(const Variables& variables) {
    for (const char* name : kAll) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    return launch();
  }

 private:
  Variables before_;
};

TEST_F(Launched, EveryLaunchersVariablesAreRecognized) {
  const Variables each[] = {{{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}},
                            {{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}},
                            {{"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}},
                            {{"MV2_COMM_WORLD_SIZE", "4"}, {"MV2_COMM_WORLD_RANK", "0"}},
                            {{"SLURM_STEP_NUM_TASKS", "2"}},
                            {{"PALS_SIZE", "2"}, {"PALS_RANKID", "1"}},
                            {{"JSM_NAMESPACE_SIZE", "6"}, {"JSM_NAMESPACE_RANK", "0"}},
                            {{"FLUX_JOB_SIZE", "2"}, {"FLUX_TASK_RANK", "0"}},
                            {{"MPI_WORLD_SIZE", "3"}, {"MPI_WORLD_RANK", "1"}},
                            {{"PMIX_RANK", "3"}},
                            {{"ALPS_APP_PE", "3"}}};
  for (const Variables& variables : each) {
    const Launch found = with(variables);
    EXPECT_TRUE(found.others()) << variables[0].first;
    EXPECT_TRUE(found.perhaps_others()) << variables[0].first;
    EXPECT_EQ(found.variable, variables[0].first + "=" + variables[0].second);
  }
}

TEST_F(Launched, OneProcessHasNoOthers) {
  EXPECT_FALSE(with({}).perhaps_others());
  EXPECT_FALSE(with({{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}).perhaps_others());
  EXPECT_FALSE(with({{"SLURM_STEP_NUM_TASKS", "1"}}).perhaps_others());
  EXPECT_FALSE(with({{"SLURM_NTASKS", "16"}, {"SLURM_PROCID", "0"}}).perhaps_others());  // a batch script
}

TEST_F(Launched, WithoutACountOthersArePossible) {
  const Launch found = with({{"ALPS_APP_PE", "0"}});
  EXPECT_FALSE(found.others());
  EXPECT_TRUE(found.perhaps_others());  // only MPI knows
}

TEST_F(Launched, InvalidNumbersAreNoLaunch) { EXPECT_FALSE(with({{"PMI_SIZE", "many"}}).perhaps_others()); }

}  // namespace
}  // namespace ridge::mpi
