// Decisions shared by many plans, computed and copied only on request.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <ridge/plan.hpp>

namespace ridge::planner {

class SharedDecision {
 public:
  SharedDecision() = default;
  SharedDecision(Decision&& decision) : SharedDecision([] { return Decision(); }) {
    std::call_once(state_->made, [&] { state_->decision = std::move(decision); });
  }
  // `later` computes a decision that needs no measurement, on first use.
  explicit SharedDecision(std::function<Decision()> later) : state_(std::make_shared<State>()) {
    state_->later = std::move(later);
  }
  const Decision& get() const {
    std::call_once(state_->made, [this] { state_->decision = state_->later(); });
    return state_->decision;
  }

 private:
  struct State {
    std::function<Decision()> later;
    std::once_flag made;
    Decision decision;
  };
  std::shared_ptr<State> state_;
};

class SharedDecisions {
 public:
  void add(SharedDecision decision) { shared_.push_back(std::move(decision)); }
  const std::vector<SharedDecision>& shared() const { return shared_; }
  const std::vector<Decision>& all() const {
    std::call_once(copied_, [this] {
      for (const SharedDecision& one : shared_) copies_.push_back(one.get());
    });
    return copies_;
  }

 private:
  std::vector<SharedDecision> shared_;
  mutable std::once_flag copied_;
  mutable std::vector<Decision> copies_;
};

}  // namespace ridge::planner
