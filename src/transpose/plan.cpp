// The way of one call: check, list, decide, build; then run.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/threads.hpp"
#include "device/timing.hpp"
#include "transpose/variant.hpp"

namespace ridge::transpose {
namespace {

// What a candidate that is timed may take.
constexpr base::Repeat kTrial{.seconds = 0.06, .at_least = 3, .at_most = 1000, .round = 2e-4};

// Memory to time candidates in, made when the first is timed and shared by all.
class Trials {
 public:
  Trials(const Device& device, const Layout& layout) : device_(device), layout_(layout) {}

  double seconds(const Variant& variant) { return device_.is_host() ? on_host(variant) : on_device(variant); }

 private:
  double on_host(const Variant& variant) {
    if (host_in_.size() == 0) {
      host_in_ = base::AlignedArray<std::byte>(layout_.input_bytes());
      if (!layout_.in_place) host_out_ = base::AlignedArray<std::byte>(layout_.output_bytes());
      touch(host_in_);
      touch(host_out_);
    }
    std::byte* out = layout_.in_place ? host_in_.data() : host_out_.data();
    return base::best_seconds([&] { variant.run(host_in_.data(), out); }, kTrial);
  }

  static void touch(base::AlignedArray<std::byte>& array) {
    base::parallel(0, [&array](std::size_t thread, std::size_t threads) {
      const base::Share share = base::share(array.size(), thread, threads, 4096);
      std::fill(array.data() + share.begin, array.data() + share.end, std::byte{1});
    });
  }

  double on_device(const Variant& variant) {
    if (!queue_) {
      queue_ = device_.queue();
      in_ = device_.buffer(layout_.input_bytes(), {.name = "transpose trial input"});
      if (!layout_.in_place) out_ = device_.buffer(layout_.output_bytes(), {.name = "transpose trial output"});
      queue_->fill(in_, std::byte{1});
    }
    const Buffer& out = layout_.in_place ? in_ : out_;
    return best_device_seconds(*queue_, {[&] { variant.enqueue(*queue_, in_, out); }}, kTrial).front();
  }

  const Device& device_;
  const Layout& layout_;
  base::AlignedArray<std::byte> host_in_, host_out_;
  std::optional<Queue> queue_;
  Buffer in_, out_;
};

planner::Problem describe(const Device& device, const Layout& layout) {
  std::string key = layout.key();
  if (device.is_host()) key += fmt::format(" threads {}", layout.threads);
  return {.workload = "transpose",
          .key = key,
          .flops = 0,
          .bytes = 2.0 * static_cast<double>(layout.elements()) * static_cast<double>(layout.element_bytes)};
}

std::vector<planner::Candidate> only_candidates(const std::vector<Entry>& entries) {
  std::vector<planner::Candidate> candidates;
  for (const Entry& entry : entries) candidates.push_back(entry.candidate);
  return candidates;
}

void check_length(const char* what, std::size_t given, std::size_t needed) {
  if (given < needed) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("transpose: the {} has {} bytes, this plan needs {}", what, given, needed));
  }
}

bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(a), second = reinterpret_cast<std::uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

void check_buffer(const char* what, const Buffer& buffer, const Device& device, std::size_t needed) {
  if (&buffer.device().state() != &device.state()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("transpose: {} buffer \"{}\" belongs to {}, the plan to {}",
                                                         what, buffer.name(), buffer.device().id(), device.id()));
  }
  check_length(what, buffer.size(), needed);
}

}  // namespace

AnyPlan::AnyPlan(const Device& device, const Problem& problem, std::size_t element_bytes,
                 const planner::Options& options)
    : device_(device), problem_(problem), element_bytes_(element_bytes) {
  const Layout layout = resolve(problem, element_bytes);
  const std::vector<Entry> entries = list_variants(device, layout);
  // Built once: what was timed is what will run.
  std::vector<std::shared_ptr<const Variant>> built(entries.size());
  const auto build = [&](std::size_t i) -> const Variant& {
    if (!built[i]) built[i] = entries[i].build();
    return *built[i];
  };
  Trials trials(device, layout);
  decision_ = planner::decide(device, describe(device, layout), only_candidates(entries), options,
                              [&](std::size_t i) { return trials.seconds(build(i)); });
  build(decision_.winner);
  variant_ = built[decision_.winner];
}

void AnyPlan::run_bytes(const void* in, std::size_t in_bytes, void* out, std::size_t out_bytes) const {
  const Layout layout = resolve(problem_, element_bytes_);
  check_length("input", in_bytes, layout.input_bytes());
  check_length("output", out_bytes, layout.output_bytes());
  if (layout.in_place && in != out) {
    throw Error(ErrorKind::invalid_argument, "transpose: a plan made in place was given two different memories");
  }
  if (!layout.in_place && overlap(in, layout.input_bytes(), out, layout.output_bytes())) {
    throw Error(ErrorKind::invalid_argument,
                "transpose: input and output overlap; plan with in_place (squares) or give separate memory");
  }
  variant_->run(static_cast<const std::byte*>(in), static_cast<std::byte*>(out));
}

void AnyPlan::run(Queue& queue, const Buffer& in, const Buffer& out) const {
  const Layout layout = resolve(problem_, element_bytes_);
  check_buffer("input", in, device_, layout.input_bytes());
  check_buffer("output", out, device_, layout.output_bytes());
  const bool same = &in.state() == &out.state();
  if (layout.in_place != same) {
    throw Error(ErrorKind::invalid_argument,
                layout.in_place ? "transpose: a plan made in place was given two different buffers"
                                : "transpose: input and output are the same buffer; plan with in_place");
  }
  if (&queue.device().state() != &device_.state()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("transpose: the queue belongs to {}, the plan to {}", queue.device().id(), device_.id()));
  }
  variant_->enqueue(queue, in, out);
}

std::string AnyPlan::explain() const { return decision_.explain(); }

double AnyPlan::bytes() const { return decision_.problem.bytes; }

std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem, std::size_t element_bytes) {
  return only_candidates(list_variants(device, resolve(problem, element_bytes)));
}

}  // namespace ridge::transpose
