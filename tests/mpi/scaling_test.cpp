// Predicted times of distributed transforms, and parts of a filter bank.
#include "mpi/scaling.hpp"
#include "mpi/filterbank/shares.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace ridge::mpi {
namespace {

// A cube of 1024 points per axis, complex float: values computed by hand from latency, bandwidth and rate.
Rates cluster(std::size_t here) { return {.flops = 11e9, .between = {2e-6, 1e9}, .within = {0, 4e9}, .here = here}; }
const Shape kCube{1024, 1024, 1024};

TEST(Scaling, TransformsDivideEvenly) {
  EXPECT_NEAR(predict(kCube, 8, 64, cluster(1)).transform, 0.229, 0.001);
  EXPECT_NEAR(predict(kCube, 8, 1024, cluster(1)).transform, 0.0143, 0.0001);
}

TEST(Scaling, SlabsSendAlmostAllOnce) {
  const Prediction found = predict(kCube, 8, 64, cluster(1));
  EXPECT_EQ(found.decomposition, "slabs");
  EXPECT_NEAR(found.exchange, 0.132, 0.001);
  EXPECT_NEAR(found.bytes_sent, 8.0 * 1024 * 1024 * 1024 / 64 * 63 / 64, 1);
}

TEST(Scaling, PencilsWhereSlabsEnd) {
  const Prediction square = predict(kCube, 8, 4096, cluster(1));
  EXPECT_EQ(square.decomposition, "pencils 64x64");
  EXPECT_NEAR(square.exchange, 4.4e-3, 0.1e-3);
  EXPECT_LT(predict(kCube, 8, 4096, cluster(16)).exchange, 3.2e-3);  // rows within a machine
  EXPECT_TRUE(predict({8, 8, 8}, 8, 4096, cluster(16)).decomposition.empty());
}

TEST(Scaling, OneGridInMemoryIsNotSent) {
  Rates rates = cluster(16);
  rates.array = true;
  rates.within.latency = 1e-6;
  EXPECT_LT(predict(kCube, 8, 16, rates).exchange, 1e-4);
  EXPECT_GT(predict(kCube, 8, 32, rates).exchange, 1e-2);  // two machines
}

TEST(Scaling, OneProcessSendsNothing) {
  const Prediction alone = predict(kCube, 8, 1, cluster(16));
  EXPECT_EQ(alone.exchange, 0);
  EXPECT_EQ(alone.bytes_sent, 0);
}

TEST(Scaling, TheLargestPartDecidesTheTime) {
  const double even = predict({8, 8}, 8, 4, cluster(4)).transform, uneven = predict({6, 6}, 8, 4, cluster(4)).transform;
  const double work = 36 * std::log2(36.0) / (64 * 6.0);
  EXPECT_NEAR(uneven, even * work * 8 / 6, 1e-12);  // two of six lines, where 1.5 would be balanced
}

// Each worker gets the gains of its own stations, of both polarizations.
TEST(Bank, APartHasItsOwnBandpass) {
  ridge::filterbank::Problem whole;
  whole.channels = 2;
  whole.stations = 3;
  whole.polarizations = 2;
  for (int i = 0; i < 12; ++i) whole.bandpass.push_back(static_cast<float>(i));  // [polarization][station][channel]
  const ridge::filterbank::Problem part = filterbank::problem_of(whole, {1, 3});
  EXPECT_EQ(part.stations, 2u);
  EXPECT_EQ(part.bandpass, (decltype(part.bandpass){2, 3, 4, 5, 8, 9, 10, 11}));
}

TEST(Bank, EveryStationBelongsToOneWorker) {
  for (std::size_t n = 0; n < 20; ++n) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      const Part mine = part(n, i, 7);
      EXPECT_EQ(mine.begin, next);
      EXPECT_LE(mine.end - mine.begin, n / 7 + 1);
      next = mine.end;
    }
    EXPECT_EQ(next, n);
  }
}

}  // namespace
}  // namespace ridge::mpi
