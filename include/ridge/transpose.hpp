// Matrix transpose (corner turn): out[b][c][r] = in[b][r][c], at copy speed.
//
//   auto turn = ridge::transpose::plan<std::complex<float>>(ridge::host(), {.rows = 8192, .columns = 8192});
//   turn.run(in, out);
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::transpose {

// Distances between neighbours, in elements; 0 means packed.
struct Strides {
  std::size_t row = 0;     // from one row to the next
  std::size_t column = 0;  // from one column to the next, normally 1
  std::size_t batch = 0;   // from one matrix to the next
};

struct Problem {
  std::size_t rows = 0, columns = 0;  // of the input
  std::size_t batch = 1;
  Strides input = {}, output = {};
  bool in_place = false;    // square matrices only: run(data, data)
  std::size_t threads = 0;  // host: 0 = all
};

// The problem of the transpose back, which is both the inverse and the adjoint.
Problem adjoint(const Problem& problem);

struct PlanState;  // src/transpose/plan.cpp

// A cheap handle to a plan. Runs are const and thread-safe.
class AnyPlan {
 public:
  AnyPlan(const Device& device, const Problem& problem, std::size_t element_bytes, const planner::Options& options);
  // Host memory; other devices copy it in both directions. Error for short or overlapping spans.
  void run_bytes(const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes) const;
  // Buffers of this plan's device; enqueued, not waited for.
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // one
  const std::vector<KernelSource>& kernels() const;         // device kernels; empty on the host
  const Device& device() const;
  const Problem& problem() const;
  double flops() const;  // 0: no arithmetic
  double bytes() const;  // read and written

 private:
  planner::Exchangeable<PlanState> state_;
};

template <class T>
class Plan : public AnyPlan {
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "elements of 1, 2, 4, 8 or 16 bytes: integers, float, double and their complex numbers");

 public:
  Plan(const Device& device, const Problem& problem, const planner::Options& options = {})
      : AnyPlan(device, problem, sizeof(T), options) {}
  void run(std::span<const T> in, std::span<T> out) const {
    run_bytes(in.data(), in.size_bytes(), out.data(), out.size_bytes());
  }
  void run(std::span<T> data) const { run_bytes(data.data(), data.size_bytes(), data.data(), data.size_bytes()); }
  Plan adjoint(const planner::Options& options = {}) const {
    return Plan(device(), transpose::adjoint(problem()), options);
  }
};

template <class T>
Plan<T> plan(const Device& device, const Problem& problem, const planner::Options& options = {}) {
  return Plan<T>(device, problem, options);
}

// Every variant that exists for a device, allowed or not, for `ridge bench` and the tests.
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem, std::size_t element_bytes);

}  // namespace ridge::transpose
