// ridge machine --study: transforms of 1024 points on chosen cores, as in the thesis on FFTs.
#include <atomic>
#include <complex>
#include <thread>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "cli/machine/machine.hpp"
#include "machine/studies/studies.hpp"

namespace ridge::cli {
namespace {

constexpr double kSeconds = 0.3;

// GFLOP/s of one thread per CPU, each with its own data in its L2 cache.
double transform_rate(const fft::Plan<float>& plan, const std::vector<int>& cpus) {
  const std::vector<int>& allowed = base::allowed_cores();
  std::atomic<std::size_t> ready = 0;
  std::vector<double> rates(cpus.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t core = 0; core < allowed.size(); ++core) {
        if (allowed[core] == cpus[i]) base::pin_to_core(core);
      }
      std::vector<std::complex<float>> in(plan.input_size(), {1, 0}), out(plan.output_size());
      plan.forward(in, out);
      for (++ready; ready < cpus.size();) base::relax();
      const double begun = base::now();
      double done = 0, taken = 0;
      while ((taken = base::now() - begun) < kSeconds) {
        plan.forward(in, out);
        ++done;
      }
      rates[i] = done * plan.flops() / taken * 1e-9;
    });
  }
  threads.clear();  // joins
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace

void run_core_study(const std::string& which) {
  const fft::Plan<float> plan(host(), {.shape = {1024}, .batch = 16, .threads = 1}, {.effort = Effort::quick});
  const machine::CoreStudy study{.allowed = base::allowed_cores(),
                                 .load = [&](const std::vector<int>& cpus) { return transform_rate(plan, cpus); }};
  const bool all = which == "all";
  if (all || which == "hyperthreads") fmt::print("{}", machine::study_hyperthreads(study));
  if (all || which == "far-cores") fmt::print("{}", machine::study_far_cores(study));
  if (all || which == "temperature") fmt::print("{}", machine::study_temperature(study));
  if (all || which == "clock") fmt::print("{}", machine::study_clock(study));
}

}  // namespace ridge::cli
