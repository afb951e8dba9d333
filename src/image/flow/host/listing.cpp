// Lists the host variants of the flow.
#include <string>

#include "base/threads.hpp"
#include "image/flow/host/host_flow.hpp"
#include "image/flow/plane.hpp"
#include "image/variant.hpp"

namespace ridge::image {
namespace {

class Simd final : public HostVariant {
 public:
  Simd(const FlowProblem& problem, const flow::Kernels& kernels, std::size_t threads)
      : flow_(problem, kernels, threads) {}
  void run(std::span<const Image> in, Image& out) const override { flow_.run(in[0], in[1], out); }

 private:
  flow::HostFlow flow_;
};

}  // namespace

void list_host_flow(const Device&, const FlowProblem& problem, std::vector<Entry>& entries) {
  const std::size_t threads = problem.threads == 0 ? base::hardware_threads() : problem.threads;
  double efficiency = 0.9;  // of the plain operation count: shared computations save more than the overhead costs
  for (const flow::Kernels* kernels : flow::host_kernels()) {
    entries.push_back(
        {.candidate =
             planner::Candidate{.variant = "simd",
                                .parameters = {{"kernels", kernels->name}, {"threads", std::to_string(threads)}},
                                .refusal = {},
                                .cost = {.flops = flow::plain_operations(problem),
                                         .bytes = 60.0 * static_cast<double>(problem.rows * problem.columns),
                                         .launches = 30,
                                         .efficiency = efficiency,
                                         .threads = threads}},
         .build = [problem, kernels, threads] { return std::make_shared<Simd>(problem, *kernels, threads); }});
    efficiency /= 2;
  }
}

}  // namespace ridge::image
