// Predicted times from the machine model.
#include "plan/predict.hpp"

#include <gtest/gtest.h>

namespace {

using ridge::machine::Ceilings;
using ridge::planner::Cost;
using ridge::planner::predict;
using ridge::planner::Prediction;
using ridge::planner::Problem;
using ridge::planner::roof;

// A host with round figures: 4 cores and two caches.
Ceilings host() {
  Ceilings ceilings;
  ceilings.measured = true;
  ceilings.flops_float = 400e9;
  ceilings.flops_double = 200e9;
  ceilings.flops_float_one = 100e9;
  ceilings.flops_double_one = 50e9;
  ceilings.levels = {
      {.name = "L1", .capacity = 1000, .all = {.copy = 1000e9}, .one = {.copy = 250e9}},
      {.name = "L2", .capacity = 100'000, .all = {.copy = 400e9}, .one = {.copy = 100e9}},
      {.name = "memory", .capacity = 0, .all = {.copy = 40e9, .copy_streaming = 50e9}, .one = {.copy = 20e9}}};
  ceilings.launch_seconds = 1e-5;
  return ceilings;
}

Problem problem_of(double bytes, double flops = 0) {
  return {.workload = "test", .key = "test", .flops = flops, .bytes = bytes};
}

void expect(const Prediction& prediction, double seconds, const char* bound) {
  EXPECT_NEAR(prediction.seconds, seconds, 1e-9 * seconds);
  EXPECT_EQ(prediction.bound, bound);
}

TEST(Predict, BoundByMemory) {
  expect(predict(host(), problem_of(1e9), {.flops = 1e9, .bytes = 1e9}), 0.02, "memory copy 50.0 GB/s");
}

TEST(Predict, BoundByArithmetic) {
  expect(predict(host(), problem_of(1e9), {.flops = 1e12, .bytes = 1e9}), 2.5, "float peak 400 GFLOP/s");
  expect(predict(host(), problem_of(1e9), {.flops = 1e12, .bytes = 1e9, .float64 = true}), 5,
         "double peak 200 GFLOP/s");
}

TEST(Predict, BoundByLaunches) {
  expect(predict(host(), problem_of(1e6), {.bytes = 1e6, .launches = 10}), 2e-5 + 1e-4, "launch latency 10.0 us");
  expect(predict(host(), problem_of(1e6), {.bytes = 1e6, .launches = 1}), 2e-5 + 1e-5, "memory copy 50.0 GB/s");
}

TEST(Predict, EfficiencyDividesTheWorkAndNotTheLaunches) {
  expect(predict(host(), problem_of(1e6), {.bytes = 1e6, .launches = 1, .efficiency = 0.5}), 4e-5 + 1e-5,
         "memory copy 50.0 GB/s");
}

// A candidate's arithmetic may be far from its peak while its traffic is not.
TEST(Predict, TrafficHasAnEfficiencyOfItsOwn) {
  const Cost slow{.flops = 1e9, .bytes = 1e9, .efficiency = 0.1, .memory_efficiency = 1};
  expect(predict(host(), problem_of(1e9), slow), 0.025, "float peak 400 GFLOP/s");
  const Cost moving{.flops = 1e9, .bytes = 2e9, .efficiency = 0.1, .memory_efficiency = 0.8};
  expect(predict(host(), problem_of(1e9), moving), 0.05, "memory copy 50.0 GB/s");
}

TEST(Predict, TheNearestLevelThatHoldsTheProblem) {
  expect(predict(host(), problem_of(1000), {.bytes = 1e6}), 1e-6, "L1 copy 1.00 TB/s");
  expect(predict(host(), problem_of(1001), {.bytes = 1e6}), 2.5e-6, "L2 copy 400 GB/s");
  expect(predict(host(), problem_of(100'000), {.bytes = 1e6}), 2.5e-6, "L2 copy 400 GB/s");
  expect(predict(host(), problem_of(100'001), {.bytes = 1e6}), 2e-5, "memory copy 50.0 GB/s");
}

TEST(Predict, FewThreadsHaveOnlyTheirCores) {
  const Cost copy{.bytes = 1e9, .threads = 1};
  expect(predict(host(), problem_of(1e9), copy), 0.05, "memory copy 20.0 GB/s of 1 thread");
  Cost two = copy;
  two.threads = 2;
  expect(predict(host(), problem_of(1e9), two), 0.025, "memory copy 40.0 GB/s of 2 threads");
  two.threads = 3;  // three cores reach 60 GB/s, but the memory has 50
  expect(predict(host(), problem_of(1e9), two), 0.02, "memory copy 50.0 GB/s of 3 threads");
  expect(predict(host(), problem_of(1e9), {.flops = 1e12, .threads = 1}), 10, "float peak 100 GFLOP/s of 1 thread");
  expect(predict(host(), problem_of(1e9), {.flops = 1e12, .float64 = true, .threads = 2}), 10,
         "double peak 100 GFLOP/s of 2 threads");
}

TEST(Predict, ADeviceHasNoFiguresOfOneCore) {
  Ceilings gpu;
  gpu.flops_float = 60e12;
  gpu.levels = {{.name = "local", .capacity = 30'000'000, .all = {.copy = 30e12}},
                {.name = "L2", .capacity = 50'000'000, .all = {.copy = 8e12}},
                {.name = "memory", .all = {.copy = 4e12}}};
  expect(predict(gpu, problem_of(1e9), {.bytes = 1e9, .threads = 1}), 2.5e-4, "memory copy 4.00 TB/s of 1 thread");
  // The kernel fills local memory itself: at best the problem starts in the cache.
  expect(predict(gpu, problem_of(1e6), {.bytes = 1e6}), 1.25e-7, "L2 copy 8.00 TB/s");
}

TEST(Predict, UnknownCeilingsDoNotBind) {
  Ceilings ceilings = host();
  ceilings.levels[1].all = {};
  ceilings.levels[1].one = {};
  expect(predict(ceilings, problem_of(50'000), {.bytes = 1e6}), 2e-5,
         "memory copy 50.0 GB/s");  // the next larger level
  expect(predict({}, problem_of(1e9), {.flops = 1e9, .bytes = 1e9, .launches = 3}), 1e-9, "no known ceiling");
  Ceilings arithmetic;
  arithmetic.flops_float = 1e9;
  expect(predict(arithmetic, problem_of(1e9), {.flops = 1e9, .bytes = 1e12}), 1, "float peak 1.00 GFLOP/s");
}

TEST(Roof, UsefulWorkAtFullEfficiencyWithoutLaunches) {
  expect(roof(host(), problem_of(1e9, 1e9), false), 0.02, "memory copy 50.0 GB/s");
  expect(roof(host(), problem_of(1e9, 1e12), false), 2.5, "float peak 400 GFLOP/s");
  expect(roof(host(), problem_of(1e9, 1e12), true), 5, "double peak 200 GFLOP/s");
  expect(roof(host(), problem_of(500), false), 1e-9, "L1 copy 1.00 TB/s");
}

TEST(Roof, EstimatesAreMarked) {
  Ceilings guess = host();
  guess.measured = false;
  expect(roof(guess, problem_of(1e9), false), 0.02, "memory copy 50.0 GB/s (estimated; ridge machine measures it)");
}

}  // namespace
