// Decisions that many plans share: copied for those who ask, which most never do.
#pragma once
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <ridge/plan.hpp>

namespace ridge::planner {

using SharedDecision = std::shared_ptr<const Decision>;

class SharedDecisions {
 public:
  void add(SharedDecision decision) { shared_.push_back(std::move(decision)); }
  void add(Decision&& decision) { add(std::make_shared<const Decision>(std::move(decision))); }
  const std::vector<SharedDecision>& shared() const { return shared_; }
  const std::vector<Decision>& all() const {
    std::call_once(copied_, [this] {
      for (const SharedDecision& one : shared_) copies_.push_back(*one);
    });
    return copies_;
  }

 private:
  std::vector<SharedDecision> shared_;
  mutable std::once_flag copied_;
  mutable std::vector<Decision> copies_;
};

}  // namespace ridge::planner
