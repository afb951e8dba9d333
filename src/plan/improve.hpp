// Improves quick plans in the background.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include <ridge/plan.hpp>

namespace ridge::planner {

// Calls `work` with measuring options in the background thread, or never if there is too much to do. The options'
// progress function waits while a Hold exists and throws when the work must end.
void in_background(const Options& options, std::function<void(const Options& measuring)> work);
Improve improvement_of(const Options& options);  // the improvement of a plan with these options

// The current object of a plan; the returned pointer keeps it alive.
template <class V>
std::shared_ptr<const V> current(const Exchangeable<V>& plan) {
  const auto kept = std::make_shared<const Exchangeable<V>>(plan);
  return {kept, kept->get()};
}

// To be called by the constructor of a plan. make(options) makes the measured plan's object.
template <class V>
void improve(const Exchangeable<V>& plan, const Options& options,
             std::function<std::shared_ptr<const V>(const Options&)> make) {
  const Improve how = improvement_of(options);
  if (how == Improve::never) return;
  in_background(options, [plan, how, make = std::move(make)](const Options& measuring) {
    if (how == Improve::now && !plan.has_copies()) return;  // the plan no longer exists
    std::shared_ptr<const V> better = make(measuring);
    if (how != Improve::now) return;
    measuring.progress({});
    plan.exchange(std::move(better));
  });
}

}  // namespace ridge::planner
