// Lines too long for one work-group, by every route of a CUDA device: each line of each batch against the host's
// transform in double precision.
#include <cmath>

#include "device_support.hpp"

namespace ridge::fft::device_tests {
namespace {

class LongLines : public ::testing::Test {
 protected:
  void SetUp() override {
    cuda_ = test::devices_of(Backend::cuda);
    if (cuda_.empty()) GTEST_SKIP() << "no CUDA device on this machine";
  }

  // The largest error of any line, relative to the limit for the length. For double it includes the host's own error.
  template <class T>
  double worst_error(const Device& device, const Problem& problem, const std::string& variant, bool inverse) {
    const std::size_t n = problem.shape[0], batch = problem.batch;
    const auto in = reference::random_points<T>(n * batch, static_cast<unsigned>(n + batch));
    const std::vector<std::complex<double>> wide(in.begin(), in.end());
    const Plan<double> host(ridge::host(), {.shape = {n}, .batch = batch}, {.effort = Effort::quick});
    const auto expected = run(host, wide, inverse, n * batch);
    const Plan<T> plan(device, problem, only(variant));
    EXPECT_NE(plan.explain().find(variant), std::string::npos) << plan.explain();
    test::Worst worst;
    for (int again = 0; again < 2; ++again) {  // state left by a run must not disturb the next
      const auto out = run(plan, in, inverse, n * batch);
      for (std::size_t line = 0; line < batch; ++line) {
        double difference = 0, norm = 0;
        for (std::size_t i = line * n; i < (line + 1) * n; ++i) {
          difference += std::norm(std::complex<double>(out[i]) - expected[i]);
          norm += std::norm(expected[i]);
        }
        worst.add(std::sqrt(difference / norm) / reference::error_gate<T>(n));
      }
    }
    return worst.value();
  }

  std::vector<Device> cuda_;
};

struct Long {
  std::size_t n, batch;
};

TEST_F(LongLines, RingsOfAnyBatch) {
  for (const Device& device : cuda_) {
    for (const auto [n, batch] :
         {Long{1 << 16, 1}, Long{1 << 16, 2}, Long{1 << 16, 301}, Long{1 << 17, 67}, Long{1 << 18, 33},
          Long{1 << 20, 7}, Long{100000, 41}, Long{24576, 130}, Long{30030, 61}}) {
      EXPECT_LE(worst_error<float>(device, {.shape = {n}, .batch = batch}, "l2_ring", false), 1) << n << " x " << batch;
    }
    EXPECT_LE(worst_error<float>(device, {.shape = {1 << 17}, .batch = 19}, "l2_ring", true), 1);
    EXPECT_LE(worst_error<double>(device, {.shape = {1 << 16}, .batch = 77}, "l2_ring", false), 1.5);
    EXPECT_LE(worst_error<double>(device, {.shape = {1 << 19}, .batch = 5}, "l2_ring", true), 1.5);
  }
}

TEST_F(LongLines, RowsThroughARing) {
  for (const Device& device : cuda_) {
    for (const auto [n, batch] : {Long{1 << 21, 3}, Long{1 << 22, 1}, Long{1 << 23, 2}, Long{3 << 21, 1}}) {
      EXPECT_LE(worst_error<float>(device, {.shape = {n}, .batch = batch}, "l2_ring", batch > 1), 1)
          << n << " x " << batch;
    }
    EXPECT_LE(worst_error<double>(device, {.shape = {1 << 21}, .batch = 2}, "l2_ring", false), 1.5);
  }
}

TEST_F(LongLines, PrefetchedTiles) {
  for (const Device& device : cuda_) {
    for (const auto [n, batch] : {Long{1 << 18, 5}, Long{1 << 19, 3}, Long{1 << 20, 7}, Long{1 << 21, 3},
                                  Long{1 << 22, 2}, Long{1 << 23, 1}, Long{1 << 24, 1}}) {
      EXPECT_LE(worst_error<float>(device, {.shape = {n}, .batch = batch}, "two_pass_tma", batch == 3), 1)
          << n << " x " << batch;
    }
    EXPECT_LE(worst_error<double>(device, {.shape = {1 << 20}, .batch = 3}, "two_pass_tma", false), 1.5);
    EXPECT_LE(worst_error<double>(device, {.shape = {1 << 18}, .batch = 4}, "two_pass_tma", true), 1.5);
  }
}

TEST_F(LongLines, TilesOfColumns) {
  struct Columns {
    std::size_t rows, columns, batch;
  };
  for (const Device& device : cuda_) {
    for (const auto [rows, columns, batch] :
         {Columns{512, 96, 3}, Columns{1024, 64, 1}, Columns{2048, 48, 2}, Columns{4096, 40, 1}}) {
      const auto in = reference::random_points<float>(rows * columns * batch, 9);
      const Problem problem{.shape = {rows, columns}, .batch = batch, .scale_inverse = 0.25};
      const Plan<double> host(ridge::host(), problem, {.effort = Effort::quick});
      const Plan<float> plan(device, problem, only("two_pass_tma"));
      EXPECT_NE(plan.explain().find("tiles=in,out"), std::string::npos) << plan.explain();
      for (const bool inverse : {false, true}) {
        const auto expected = run(host, std::vector<std::complex<double>>(in.begin(), in.end()), inverse, in.size());
        const auto out = run(plan, in, inverse, in.size());
        double difference = 0, norm = 0;
        for (std::size_t i = 0; i < in.size(); ++i) {
          difference += std::norm(std::complex<double>(out[i]) - expected[i]);
          norm += std::norm(expected[i]);
        }
        EXPECT_LE(std::sqrt(difference / norm), reference::error_gate<float>(rows * columns)) << rows;
      }
    }
  }
}

TEST_F(LongLines, ClustersOfAnyBatch) {
  for (const Device& device : cuda_) {
    for (const auto [n, batch] : {Long{1 << 15, 1}, Long{1 << 15, 301}, Long{1 << 16, 77}, Long{1 << 17, 5}}) {
      EXPECT_LE(worst_error<float>(device, {.shape = {n}, .batch = batch}, "cluster", n == 1 << 17), 1)
          << n << " x " << batch;
    }
  }
}

TEST_F(LongLines, RingsInPlace) {
  for (const Device& device : cuda_) {
    const std::size_t n = 1 << 16, batch = 50;
    const Plan<float> apart(device, {.shape = {n}, .batch = batch}, only("l2_ring"));
    const Plan<float> same(device, {.shape = {n}, .batch = batch, .in_place = true}, only("l2_ring"));
    auto data = reference::random_points<float>(n * batch, 5);
    const auto expected = run(apart, data, false, n * batch);
    const Buffer buffer = device.buffer(n * batch * sizeof(data[0]));
    Queue queue = device.queue();
    queue.upload(std::span<const std::complex<float>>(data), buffer);
    same.enqueue_forward(queue, buffer, buffer);
    queue.download(buffer, std::span<std::complex<float>>(data));
    queue.finish();
    EXPECT_EQ(data, expected);
  }
}

// Error of an array transformed along both axes, in both directions, its columns by that variant; relative to the
// limit.
template <class T>
double columns_error(const Device& device, std::size_t rows, std::size_t columns, const std::string& variant,
                     const std::string& said) {
  const auto in = reference::random_points<T>(rows * columns, 7);
  const Plan<double> host(ridge::host(), {.shape = {rows, columns}}, {.effort = Effort::quick});
  const Plan<T> plan(device, {.shape = {rows, columns}}, only(variant));
  EXPECT_NE(plan.explain().find(said), std::string::npos) << plan.explain();
  test::Worst worst;
  for (const bool inverse : {false, true}) {
    const auto expected = run(host, std::vector<std::complex<double>>(in.begin(), in.end()), inverse, in.size());
    worst.add(distance(run(plan, in, inverse, in.size()), expected) / reference::error_gate<T>(in.size()));
  }
  return worst.value();
}

TEST_F(LongLines, ColumnsThroughARing) {
  for (const Device& device : cuda_) {
    for (const std::size_t rows : {2048, 3072, 8192}) {
      EXPECT_LE(columns_error<float>(device, rows, 48, "l2_ring", "through a ring"), 1) << rows;
    }
  }
}

// Also sets of columns of which the last is incomplete.
TEST_F(LongLines, ColumnsThroughClusters) {
  for (const Device& device : cuda_) {
    for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{4096, 77}, {2048, 128}, {8192, 21}}) {
      EXPECT_LE(columns_error<float>(device, rows, columns, "cluster", "clusters of"), 1) << rows << "x" << columns;
    }
    EXPECT_LE(columns_error<double>(device, 2048, 35, "cluster", "clusters of"), 1);
  }
}

TEST_F(LongLines, PlanesInOneLaunch) {
  for (const Device& device : cuda_) {
    for (const std::vector<std::size_t>& shape :
         {std::vector<std::size_t>{64, 64}, {256, 128}, {5, 128, 256}, {1024, 1024}}) {
      const std::size_t batch = shape[0] == 1024 ? 5 : 61;
      std::size_t points = batch;
      for (const std::size_t side : shape) points *= side;
      const auto in = reference::random_points<float>(points, 8);
      const Problem problem{.shape = shape, .batch = batch, .scale_inverse = 0.5};
      const Plan<double> host(ridge::host(), problem, {.effort = Effort::quick});
      const Plan<float> plan(device, problem, only("plane"));
      EXPECT_NE(plan.explain().find("through a ring"), std::string::npos) << plan.explain();
      for (const bool inverse : {false, true}) {
        const auto expected = run(host, std::vector<std::complex<double>>(in.begin(), in.end()), inverse, points);
        const auto out = run(plan, in, inverse, points);
        double difference = 0, norm = 0;
        for (std::size_t i = 0; i < points; ++i) {
          difference += std::norm(std::complex<double>(out[i]) - expected[i]);
          norm += std::norm(expected[i]);
        }
        EXPECT_LE(std::sqrt(difference / norm), reference::error_gate<float>(points / batch)) << shape[0] << inverse;
      }
    }
  }
}

// One plan in two queues: they share its ring, so the second run waits for the first.
TEST_F(LongLines, RingsAreSharedByQueues) {
  for (const Device& device : cuda_) {
    const std::size_t n = 1 << 16, batch = 200;
    const Plan<float> plan(device, {.shape = {n}, .batch = batch}, only("l2_ring"));
    const auto data = reference::random_points<float>(n * batch, 6);
    const auto expected = run(plan, data, false, n * batch);
    const std::size_t bytes = n * batch * sizeof(data[0]);
    const Buffer in = device.buffer(bytes), one = device.buffer(bytes), two = device.buffer(bytes);
    Queue first = device.queue(), second = device.queue();
    first.upload(std::span<const std::complex<float>>(data), in);
    first.finish();
    for (int turn = 0; turn < 4; ++turn) {
      plan.enqueue_forward(first, in, one);
      plan.enqueue_forward(second, in, two);
    }
    std::vector<std::complex<float>> a(n * batch), b(n * batch);
    first.download(one, std::span<std::complex<float>>(a));
    second.download(two, std::span<std::complex<float>>(b));
    first.finish();
    second.finish();
    EXPECT_EQ(a, expected);
    EXPECT_EQ(b, expected);
  }
}

}  // namespace
}  // namespace ridge::fft::device_tests
