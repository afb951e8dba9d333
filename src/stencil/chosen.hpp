// The variant chosen for a problem, with its layers: what plans and shots run.
#pragma once
#include <memory>
#include <vector>

#include "stencil/layers/layers.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil {

template <class T>
struct Chosen {
  Layout layout{};
  std::shared_ptr<const Variant<T>> variant{};
  std::shared_ptr<const Layers<T>> layers{};  // null: none
  planner::Decision decision{};
  std::vector<KernelSource> kernels{};
  bool aligned = false;  // rows of the grid on the device start at multiples of four cells
};

// Lists the variants, predicts or measures their times and builds the winner. `single_steps`: only variants that are as
// fast one step at a time; implied by layers.
template <class T>
Chosen<T> choose_variant(const Device& device, const Update<T>& update, const Problem& problem,
                         const planner::Options& options, bool single_steps = false);

template <class T>
void step_with_layers(Running<T>& running, LayerState<T>* layers) {
  layers != nullptr ? layers->step(running) : running.single();
}

}  // namespace ridge::stencil
