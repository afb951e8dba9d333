// Thread schedules of host variants: every item once, and the same bits as the automatic schedule.
#include <mutex>

#include "stencil/host/schedule.hpp"
#include "support.hpp"

namespace ridge::stencil {
namespace {

constexpr Schedule kSchedules[] = {Schedule::fixed, Schedule::dynamic, Schedule::guided};

TEST(Schedules, GiveEveryItemOnce) {
  for (const Schedule schedule : kSchedules) {
    for (const std::size_t count : {0u, 1u, 2u, 3u, 7u, 97u}) {
      for (const std::size_t threads : {1u, 2u, 3u, 8u}) {
        Shares shares(schedule, count, threads);
        for (int round = 0; round < 2; ++round) {
          std::vector<int> taken(count);
          std::mutex mutex;
          shares.refill();
          base::parallel(threads, [&](std::size_t thread, std::size_t) {
            shares.take(thread, [&](const base::Share& share) {
              const std::lock_guard lock(mutex);
              for (std::size_t i = share.begin; i < share.end; ++i) ++taken[i];
            });
          });
          EXPECT_EQ(taken, std::vector<int>(count, 1)) << to_string(schedule) << " " << count << " " << threads;
        }
      }
    }
  }
}

// Sizes of a single thread's parts show which schedule it is.
TEST(Schedules, PartsHaveTheSizesOfTheirSchedule) {
  const auto parts = [](Schedule schedule) {
    std::vector<std::size_t> sizes;
    Shares shares(schedule, 12, 2);
    shares.take(0, [&](const base::Share& share) { sizes.push_back(share.end - share.begin); });
    return sizes;
  };
  EXPECT_EQ(parts(Schedule::fixed), (std::vector<std::size_t>{6}));
  EXPECT_EQ(parts(Schedule::dynamic), std::vector<std::size_t>(12, 1));
  EXPECT_EQ(parts(Schedule::guided), (std::vector<std::size_t>{3, 2, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Schedules, VariantsEqualTheReference) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  const auto cube = linear<double>(3, weighted(von_neumann(3, 2), 0.07));
  const auto wave = update<float>(2, test::wave_function());
  for (const Schedule schedule : kSchedules) {
    for (const std::string only : {"", "overlapped_tiles"}) {
      EXPECT_GE(test::check_host_variants(star, {.shape = {37, 53}, .threads = 3, .schedule = schedule}, 5, only), 1u);
      EXPECT_GE(test::check_host_variants(cube, {.shape = {9, 8, 19}, .threads = 2, .schedule = schedule}, 3, only),
                1u);
    }
    EXPECT_GE(test::check_host_variants(wave, {.shape = {23, 45}, .threads = 3, .schedule = schedule}, 5), 2u);
    EXPECT_GE(test::check_host_variants(star, {.shape = {3, 130}, .threads = 4, .schedule = schedule}, 2), 1u);
  }
}

TEST(Schedules, AreNamedInThePlan) {
  const auto star = linear<float>(2, weighted(von_neumann(2, 1), 0.2));
  for (const Schedule schedule : kSchedules) {
    const auto made = plan(host(), star, {.shape = {64, 64}, .threads = 2, .schedule = schedule});
    EXPECT_NE(made.explain().find("schedule " + to_string(schedule)), std::string::npos) << made.explain();
    EXPECT_EQ(parse_schedule(to_string(schedule)), schedule);
  }
  EXPECT_EQ(plan(host(), star, {.shape = {64, 64}}).explain().find("schedule"), std::string::npos);
  EXPECT_THROW(parse_schedule("runtime"), Error);
}

}  // namespace
}  // namespace ridge::stencil
