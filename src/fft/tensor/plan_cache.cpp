#include <algorithm>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include <ridge/fft/tensor.hpp>

#include "base/fork_gate.hpp"
#include "fft/tensor/problem_key.hpp"

namespace ridge::fft {
namespace {

// Programs that plan at every call are common, and must not pay for it: plans made before are kept.
template <class T>
class Cache {
 public:
  static Cache& instance() {
    static Cache* const cache = new Cache;  // never destroyed: plans are executed while a process ends
    return *cache;
  }

  std::optional<TensorPlan<T>> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->second;
  }

  void put(const std::string& key, const TensorPlan<T>& plan) {
    const std::lock_guard lock(mutex_);
    if (places_.contains(key)) return;
    entries_.emplace_front(key, plan);
    places_[key] = entries_.begin();
    points_ += points(plan);
    while (entries_.size() > 1 && (entries_.size() > kMostEntries || points_ > kMostPoints)) {
      points_ -= points(entries_.back().second);
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    places_.clear();
    entries_.clear();
    points_ = 0;
  }

 private:
  // Tables and scratch grow with the points of a transform: 64 MB of them in all.
  static constexpr std::size_t kMostEntries = 4096, kMostPoints = (std::size_t{64} << 20) / (2 * sizeof(T));
  static std::size_t points(const TensorPlan<T>& plan) {
    std::size_t product = 64;
    for (const Dimension& axis : plan.problem().axes) product *= std::max<std::size_t>(axis.length, 1);
    return product;
  }

  std::mutex mutex_;
  std::list<std::pair<std::string, TensorPlan<T>>> entries_;
  std::unordered_map<std::string, typename std::list<std::pair<std::string, TensorPlan<T>>>::iterator> places_;
  std::size_t points_ = 0;
};

}  // namespace

template <class T>
TensorPlan<T> cached_tensor_plan(const TensorProblem& problem, const planner::Options& options) {
  std::string key = problem_key<T>(problem) + (options.effort == Effort::quick ? " q" : " m");
  if (options.effort != Effort::quick) {  // which bounds of trials say nothing to
    key += std::to_string(options.most_trials) + "," + std::to_string(options.most_seconds) + ",";
  }
  key += options.variant;
  const base::ForkGate gate;
  if (auto known = Cache<T>::instance().find(key)) return *known;
  TensorPlan<T> plan(host(), problem, options);
  Cache<T>::instance().put(key, plan);
  return plan;
}

void forget_cached_plans() {
  const base::ForkGate gate;
  Cache<float>::instance().clear();
  Cache<double>::instance().clear();
}

template TensorPlan<float> cached_tensor_plan(const TensorProblem&, const planner::Options&);
template TensorPlan<double> cached_tensor_plan(const TensorProblem&, const planner::Options&);

}  // namespace ridge::fft
