// Cache of plans, limited in memory, for callers that plan at every call.
#include <malloc.h>

#include <algorithm>
#include <mutex>
#include <string>

#include <ridge/fft/tensor.hpp>

#include "base/aligned.hpp"
#include "base/fork_gate.hpp"
#include "base/lru_cache.hpp"
#include "fft/tensor/problem_key.hpp"

namespace ridge::fft {
namespace {

// Limits per precision: tables and scratch as allocated, and an estimate for the objects of a plan. Two plans are
// always kept, because programs alternate forward and inverse.
constexpr std::size_t kMostBytes = std::size_t{32} << 20, kLeastPlans = 2;
constexpr std::size_t kPlanBytes = 3 << 10;
constexpr std::size_t kTrimBytes = std::size_t{16} << 20;  // bytes of freed plans between two calls of malloc_trim()

template <class T>
struct Cache {
  std::mutex mutex;
  base::LruCache<std::string, TensorPlan<T>> plans{kMostBytes, kLeastPlans};
  std::size_t dropped = 0;  // bytes freed since the last malloc_trim()
  static Cache& instance() {
    static Cache* const cache = new Cache;  // never destroyed: plans are executed while a process ends
    return *cache;
  }
};

// Tables of longer lines do not fit where shorter ones were freed: without this the heap grows by fragmentation.
void give_back_pages() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

// Bytes of a new plan. Tables shared with an older plan are not in the tally but may outlive that plan here, so at
// least one table of all points is counted.
template <class T>
std::size_t plan_bytes(const TensorProblem& problem, const base::AllocationTally& tally) {
  std::size_t points = 1;
  for (const Dimension& axis : problem.axes) points *= std::max<std::size_t>(axis.length, 1);
  return kPlanBytes + std::max(tally.bytes(), points * 2 * sizeof(T));
}

}  // namespace

template <class T>
TensorPlan<T> cached_tensor_plan(const TensorProblem& problem, const planner::Options& options) {
  std::string key = problem_key<T>(problem) + (options.effort == Effort::quick ? " q" : " m");
  if (options.effort != Effort::quick) {  // trial limits do not affect quick plans
    key += std::to_string(options.most_trials) + "," + std::to_string(options.most_seconds) + ",";
  }
  key += options.variant;
  const base::ForkGate gate;
  Cache<T>& cache = Cache<T>::instance();
  {
    const std::lock_guard lock(cache.mutex);
    if (const TensorPlan<T>* const known = cache.plans.find(key)) return *known;
  }
  const base::AllocationTally tally;
  TensorPlan<T> plan(host(), problem, options);
  const std::size_t bytes = plan_bytes<T>(problem, tally);
  bool trim = false;
  {
    const std::lock_guard lock(cache.mutex);
    cache.dropped += cache.plans.put(key, plan, bytes);
    if ((trim = cache.dropped >= kTrimBytes)) cache.dropped = 0;
  }
  if (trim) give_back_pages();
  return plan;
}

template <class T>
void forget_plans_of() {
  const std::lock_guard lock(Cache<T>::instance().mutex);
  Cache<T>::instance().plans.clear();
}

void forget_cached_plans() {
  const base::ForkGate gate;
  forget_plans_of<float>();
  forget_plans_of<double>();
}

template TensorPlan<float> cached_tensor_plan(const TensorProblem&, const planner::Options&);
template TensorPlan<double> cached_tensor_plan(const TensorProblem&, const planner::Options&);

}  // namespace ridge::fft
