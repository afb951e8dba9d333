// Tests the cost model against the printed tables of the LOFAR study (int16 samples).
#include <gtest/gtest.h>

#include "filterbank/cost_model.hpp"

namespace ridge::filterbank::cost {
namespace {

constexpr std::size_t kTaps[] = {4, 8, 16, 32, 64};
constexpr double kBatches[] = {1, 2, 4, 8, 16, 32};

TEST(CostModel, BytesOfTheFir) {  // tables 4.3 and 4.9
  const double reference[] = {60, 108, 204, 396, 780};
  const double batched[][6] = {{44, 36, 32, 30, 29, 28.5},
                               {60, 52, 48, 46, 45, 44.5},
                               {92, 84, 80, 78, 77, 76.5},
                               {156, 148, 144, 142, 141, 140.5},
                               {284, 276, 272, 270, 269, 268.5}};
  const double vectorized[][6] = {{72, 56, 48, 44, 42, 41},
                                  {88, 72, 64, 60, 58, 57},
                                  {120, 104, 96, 92, 90, 89},
                                  {184, 168, 160, 156, 154, 153},
                                  {312, 296, 288, 284, 282, 281}};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(fir(kTaps[i]).bytes, reference[i]);
    for (std::size_t b = 0; b < 6; ++b) {
      EXPECT_EQ(fir_batched(kTaps[i], kBatches[b]).bytes, batched[i][b]);
      EXPECT_EQ(fir_batched_vectorized(kTaps[i], kBatches[b]).bytes, vectorized[i][b]);
    }
  }
}

TEST(CostModel, IntensityOfTheFir) {  // tables 4.2, 4.4 and 4.10, rounded or cut to two digits there
  const double one[] = {0.23, 0.28, 0.30, 0.31, 0.33}, two[] = {0.26, 0.33, 0.36, 0.38, 0.39};
  const double best[] = {0.49, 0.67, 0.81, 0.90, 0.95}, best_vectorized[] = {0.68, 1.05, 1.39, 1.64, 1.80};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(fir(kTaps[i]).intensity(), one[i], 0.011);
    EXPECT_NEAR(fir_two_polarizations(kTaps[i]).intensity(), two[i], 0.011);
    EXPECT_NEAR(fir_batched(kTaps[i], 32).intensity(), best[i], 0.011);
    EXPECT_NEAR(fir_batched_vectorized(kTaps[i], 32).intensity(), best_vectorized[i], 0.011);
  }
}

TEST(CostModel, AttainablePerformance) {  // tables 4.2, 4.5 and 4.8, in GFLOP/s
  const double cpu[] = {6.0, 7.1, 7.8, 8.1, 8.3}, cpu_two[] = {6.9, 8.3, 9.2, 9.7, 10.0};
  const double gpu[] = {87.1, 119.6, 143.8, 159.1, 167.8}, other[] = {75.6, 103.8, 124.8, 138.1, 145.7};
  const double ffts[] = {24, 28, 32, 36, 40};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(attainable(fir(kTaps[i]), 85, 25.6), cpu[i], 0.15);
    EXPECT_NEAR(attainable(fir_two_polarizations(kTaps[i]), 85, 25.6), cpu_two[i], 0.15);
    EXPECT_NEAR(attainable(fir_batched(kTaps[i], 32), 1345, 177.4), gpu[i], 1.0);
    EXPECT_NEAR(attainable(fir_batched(kTaps[i], 32), 2720, 154), other[i], 1.0);
    EXPECT_NEAR(attainable(fft(std::size_t{64} << i), 85, 25.6), ffts[i], 0.1);
  }
  EXPECT_EQ(attainable({.flops = 100, .bytes = 1}, 85, 25.6), 85);
}

TEST(CostModel, TheFftMovesEveryValueTwiceThere) {
  EXPECT_EQ(fft(256).flops, 5 * 256 * 8);
  EXPECT_EQ(fft(256).bytes, 32 * 256);
}

TEST(CostModel, Occupancy) {  // table 4.6; its 1538 active threads of 4 taps are 1536, and 7 warps of 48 are 15 %
  const std::size_t registers[] = {18, 26, 42, 74, 138}, threads[] = {512, 512, 256, 128, 32};
  const std::size_t blocks[] = {3, 2, 3, 3, 7}, warps[] = {48, 32, 24, 12, 7};
  for (std::size_t i = 0; i < 5; ++i) {
    const Occupancy found = occupancy(kTaps[i], threads[i]);
    EXPECT_EQ(found.registers, registers[i]);
    EXPECT_EQ(found.blocks, blocks[i]) << kTaps[i];
    EXPECT_EQ(found.warps, warps[i]) << kTaps[i];
    EXPECT_NEAR(found.share, static_cast<double>(warps[i]) / 48, 1e-12);
  }
  EXPECT_EQ(blocks_per_station(256, 256).threads, 256u);
  EXPECT_EQ(blocks_per_station(256, 256).blocks, 2u);
  EXPECT_EQ(blocks_per_station(300, 256).threads, 200u);
  EXPECT_EQ(blocks_per_station(300, 256).blocks, 3u);
}

TEST(CostModel, Wavefronts) {  // table 4.7
  const std::size_t one[] = {5, 7, 11, 19, 35}, both[] = {7, 11, 19, 35, 67};
  const std::size_t one_active[] = {32, 32, 22, 13, 7}, both_active[] = {32, 22, 13, 7, 3};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(wide_registers(kTaps[i], false), one[i]);
    EXPECT_EQ(wide_registers(kTaps[i], true), both[i]);
    EXPECT_EQ(wavefronts(one[i]), one_active[i]);
    EXPECT_EQ(wavefronts(both[i]), both_active[i]);
  }
}

TEST(CostModel, FusingSavesMostOfTheTraffic) {
  EXPECT_EQ(fused_bytes(4), 12);
  EXPECT_EQ(separate_bytes(4), 44);
  EXPECT_EQ(separate_bytes(2), 42);
}

}  // namespace
}  // namespace ridge::filterbank::cost
