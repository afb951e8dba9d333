// Pass of kernels that run any number of steps in one launch and whose work-groups send each other values
// (codegen/mailbox.cl).
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/device.hpp>
#include <ridge/error.hpp>

#include "stencil/device/cells/cell_codegen.hpp"
#include "stencil/device/pass.hpp"

namespace ridge::stencil {

// True if new values are results of float arithmetic, whose NaNs have other bits than values that have not arrived
// (codegen/mailbox.cl). Copies and changes of sign may have any bits.
bool results_differ_from_empty(const CellText& text);

// Design: source(), launch(), groups(), work_items(), local_bytes(), mail_bytes() and scalars().
template <class Design>
class MailPass : public Pass {
 public:
  // The first `silent_steps` of a launch send nothing.
  MailPass(const Device& device, const Design& design, const char* name, std::size_t silent_steps)
      : design_(design), silent_steps_(silent_steps), kernel_(device.compile(design.source()).kernel(name)) {
    const std::size_t resident = resident_groups(device, kernel_, design.work_items(), design.local_bytes());
    if (resident < design.groups())
      throw Error(ErrorKind::unavailable,
                  fmt::format("needs {} work-groups at the same time, the device runs {}", design.groups(), resident));
  }
  void enqueue(Queue&, const Buffer&, const Buffer&, const Buffer&) const override {}
  std::size_t scratch() const override { return 1; }
  std::size_t scratch_bytes(std::size_t) const override { return design_.mail_bytes(); }
  bool any_steps() const override { return true; }
  bool enqueue_steps(Queue& queue, const Buffer& in, const Buffer& out, const std::vector<Buffer>& scratch,
                     std::size_t steps) const override {
    constexpr std::size_t kMostSteps = std::size_t{1} << 16;  // per launch, so that it ends within a second
    bool in_out = false;
    for (std::size_t some; steps > 0; steps -= some, in_out = !in_out) {
      some = std::min(steps, kMostSteps);
      if (some > silent_steps_) queue.fill(scratch[0], std::byte{255});  // empty
      std::vector<Argument> arguments{in_out ? out : in, in_out ? in : out, scratch[0], static_cast<int>(some)};
      for (const Argument& scalar : design_.scalars()) arguments.push_back(scalar);
      queue.launch(kernel_, design_.launch(), arguments);
    }
    return in_out;
  }

 private:
  Design design_;
  std::size_t silent_steps_;
  Kernel kernel_;
};

}  // namespace ridge::stencil
