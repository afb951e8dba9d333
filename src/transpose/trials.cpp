// Times transpose variants and compares their output with the reference.
#include "transpose/trials.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/threads.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"

namespace ridge::transpose {
namespace {

// Time limit and repetitions of one timed candidate.
constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 3, .at_most = 1000, .round = 2e-4};
constexpr std::byte kUnstored{0xff};

// Describes an output byte: its batch, row and column, or its offset if it is in a gap.
std::string place_of(const Layout& layout, std::size_t byte) {
  std::size_t left = byte / layout.element_bytes;
  const Strides& to = layout.output;
  struct Axis {
    const char* name;
    std::size_t stride, count, at;
  } axes[3] = {
      {"batch", to.batch, layout.batch, 0}, {"row", to.row, layout.columns, 0}, {"column", to.column, layout.rows, 0}};
  Axis* order[3] = {&axes[0], &axes[1], &axes[2]};
  std::stable_sort(std::begin(order), std::end(order),
                   [](const Axis* a, const Axis* b) { return a->stride > b->stride; });
  for (Axis* axis : order) {
    axis->at = std::min(left / axis->stride, axis->count - 1);
    left -= axis->at * axis->stride;
  }
  return left == 0 ? fmt::format("batch {}, row {}, column {}", axes[0].at, axes[1].at, axes[2].at)
                   : fmt::format("byte {}, in a gap that must not be written", byte);
}

}  // namespace

double Trials::seconds(const Variant& variant) { return device_.is_host() ? on_host(variant) : on_device(variant); }

void Trials::fill_host() {
  if (host_in_.size() != 0) return;
  host_in_ = Memory(layout_.input_bytes());
  fill_random(host_in_.span(), Numbers::bits);
  if (layout_.in_place) return;
  host_out_ = Memory(layout_.output_bytes());
  fill_random(host_out_.span(), Numbers::bits, 2);
}

double Trials::on_host(const Variant& variant) {
  fill_host();
  std::byte* out = layout_.in_place ? host_in_.data() : host_out_.data();
  return base::best_seconds([&] { variant.run(host_in_.data(), out); }, kTrial);
}

double Trials::on_device(const Variant& variant) {
  if (!queue_) {
    queue_ = device_.queue();
    in_ = device_.buffer(layout_.input_bytes(), {.name = "transpose trial input"});
    fill_random(*queue_, in_, Numbers::bits);
    out_ = layout_.in_place ? in_ : device_.buffer(layout_.output_bytes(), {.name = "transpose trial output"});
    if (!layout_.in_place) queue_->fill(out_, kUnstored);
  }
  return best_device_seconds(*queue_, {[&] { variant.enqueue(*queue_, in_, out_); }}, kTrial).front();
}

// Compares all bytes, including the gaps between rows.
planner::Comparison Trials::compare(const Variant& variant) {
  if (expected_.size() == 0) {
    input_ = Memory(layout_.input_bytes());
    fill_random(input_.span(), Numbers::bits, 3);
    expected_ = Memory(layout_.output_bytes());
    answer_ = Memory(layout_.output_bytes());
    before(expected_);
    reference(layout_, input_.data(), expected_.data());
  }
  before(answer_);
  variant.run(layout_.in_place ? answer_.data() : input_.data(), answer_.data());
  return planner::compare_bytes(answer_.span(), expected_.span(),
                                [&](std::size_t byte) { return place_of(layout_, byte); });
}

void Trials::before(Memory& output) const {
  if (layout_.in_place) {
    std::memcpy(output.data(), input_.data(), input_.size());
  } else {
    std::memset(output.data(), static_cast<int>(kUnstored), output.size());
  }
}

// Plain loops that define the transpose.

void reference(const Layout& layout, const std::byte* in, std::byte* out) {
  const std::size_t bytes = layout.element_bytes;
  base::parallel(layout.threads, [&](std::size_t thread, std::size_t threads) {
    const base::Share share = base::share(layout.batch * layout.columns, thread, threads);
    for (std::size_t line = share.begin; line < share.end; ++line) {
      const std::size_t b = line / layout.columns, c = line % layout.columns;
      for (std::size_t r = 0; r < layout.rows; ++r) {
        const std::size_t from = b * layout.input.batch + r * layout.input.row + c * layout.input.column;
        const std::size_t to = b * layout.output.batch + c * layout.output.row + r * layout.output.column;
        std::memcpy(out + to * bytes, in + from * bytes, bytes);
      }
    }
  });
}

}  // namespace ridge::transpose
