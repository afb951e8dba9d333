#include "fft/device/compiled_route.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace ridge::fft::on_device {
namespace {

constexpr std::uint64_t kMostGroups = 0x7fffffff;

CompiledStep compiled(const Device& device, const Step& step) {
  if (const auto* pass = std::get_if<PassDesign>(&step.design))
    return CompiledPass(device, *pass, step.load, step.store, step.filter);
  if (const auto* cluster = std::get_if<ClusterDesign>(&step.design)) return CompiledCluster(device, *cluster);
  if (const auto* stages = std::get_if<papers::StagePlan>(&step.design)) return papers::CompiledStages(device, *stages);
  if (const auto* unit = std::get_if<papers::UnitDesign>(&step.design)) return papers::CompiledUnit(device, *unit);
  if (const auto* ring = std::get_if<RingDesign>(&step.design)) return CompiledRing(device, *ring);
  return CompiledSpectrum(device, std::get<SpectrumDesign>(step.design), step.load);
}

// Work-groups for each value of the last digit.
double groups_each(const Step& step) {
  if (const auto* pass = std::get_if<PassDesign>(&step.design)) {
    return static_cast<double>(step.lines) / static_cast<double>(pass->lines);
  }
  if (const auto* cluster = std::get_if<ClusterDesign>(&step.design)) {
    return static_cast<double>(step.lines) * static_cast<double>(cluster->groups);
  }
  if (const auto* ring = std::get_if<RingDesign>(&step.design)) {  // tickets, which are counted in 32 bits
    return static_cast<double>(step.lines) * static_cast<double>(2 * (ring->first_tiles() + ring->second_tiles()));
  }
  if (const auto* spectrum = std::get_if<SpectrumDesign>(&step.design)) {
    return static_cast<double>(step.lines) * static_cast<double>(spectrum->length) / 512;
  }
  return 1;  // the papers' variants bound themselves
}

}  // namespace

CompiledRoute::CompiledRoute(const Device& device, const Route& route, bool float64) : route_(route) {
  at_once_ = route.at_once == 0 ? route.outer : std::min(route.at_once, route.outer);
  double most = static_cast<double>(at_once_);
  for (const Step& step : route.steps) {
    most = std::min(most, static_cast<double>(kMostGroups) / std::max(groups_each(step), 1.0));
    most = std::min(most, 4.0e9 / static_cast<double>(std::max<std::uint64_t>(step.lines, 1)));
  }
  // An even number keeps what is moved 16 bytes at a time aligned.
  if (most < static_cast<double>(at_once_))
    at_once_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(most) / 64 * 64, 1);
  for (const Step& step : route.steps) {
    stages_.push_back({compiled(device, step), step.from, step.to, step.lines, step.from_stride, step.to_stride});
    has_ring_ = has_ring_ || std::holds_alternative<RingDesign>(step.design);
  }
  const auto array = [&](std::uint64_t elements, const char* name) {
    if (elements == 0) return Buffer();
    return device.buffer(static_cast<std::size_t>(elements * at_once_) * (float64 ? 16 : 8), {.name = name});
  };
  scratch_ = array(route.scratch, "fft scratch");
  work_ = array(route.work, "fft work");
  spare_ = array(route.spare, "fft spare");
}

const Buffer& CompiledRoute::at(Place place, const Buffer& in, const Buffer& out) const {
  switch (place) {
    case Place::input:
      return in;
    case Place::output:
      return out;
    case Place::scratch:
      return scratch_;
    case Place::work:
      return work_;
    case Place::spare:
      break;
  }
  return spare_;
}

void CompiledRoute::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  const bool shares = scratch_ || work_ || spare_ || has_ring_;
  std::unique_lock lock(mutex_, std::defer_lock);
  if (shares) {
    lock.lock();
    if (last_ && last_queue_ != queue.native()) queue.wait_for(last_);
  }
  for (std::uint64_t first = 0; first < route_.outer; first += at_once_) {
    const std::uint64_t count = std::min(at_once_, route_.outer - first);
    for (const Stage& stage : stages_) {
      const std::uint64_t from = stage.from == Place::input ? first * stage.from_stride : 0;
      const std::uint64_t to = stage.to == Place::output ? first * stage.to_stride : 0;
      const Buffer &source = at(stage.from, in, out), &target = at(stage.to, in, out);
      std::visit([&](const auto& pass) { pass.enqueue(queue, source, from, target, to, stage.lines * count); },
                 stage.pass);
    }
  }
  if (shares) {
    last_ = queue.record();
    last_queue_ = queue.native();
  }
}

std::string CompiledRoute::describe() const {
  std::string text;
  for (const Stage& stage : stages_) {
    const auto* pass = std::get_if<CompiledPass>(&stage.pass);
    if (!text.empty()) text += "; ";
    if (const auto* cluster = std::get_if<CompiledCluster>(&stage.pass)) {
      const ClusterDesign& design = cluster->design();
      text += fmt::format("clusters of {} groups of {} work-items: columns of {} by {}, rows of {} by {}, {} registers",
                          design.groups, design.columns.items(), design.columns.length, radices_text(design.columns),
                          design.rows.length, radices_text(design.rows), cluster->kernel().registers());
      continue;
    }
    if (const auto* stages = std::get_if<papers::CompiledStages>(&stage.pass)) {
      text += stages->describe();
      continue;
    }
    if (const auto* unit = std::get_if<papers::CompiledUnit>(&stage.pass)) {
      text += unit->describe();
      continue;
    }
    if (const auto* ring = std::get_if<CompiledRing>(&stage.pass)) {
      const RingDesign& design = ring->design();
      text += fmt::format(
          "{} points by {} and {} points by {} in one launch of {} groups of {} work-items, through a ring of {} "
          "chunks "
          "of {} points, {} registers",
          design.first.length, radices_text(design.first), design.second.length, radices_text(design.second),
          design.groups, design.first.items(), design.slots, design.slot, ring->kernel().registers());
      if (ring->kernel().private_bytes() > 0) text += fmt::format(", {} bytes spilled", ring->kernel().private_bytes());
      continue;
    }
    if (pass == nullptr) {
      text += "between a real signal's spectrum and a complex one";
      continue;
    }
    const PassDesign& design = pass->design();
    text += fmt::format("{} points by {}, {} work-items a line, {} lines a group", design.points, radices_text(design),
                        design.threads, design.lines);
    if (design.ahead) text += ", the next line ahead";
    if (design.tiles_ahead) text += ", the next tile ahead";
    if (design.method == PrimeMethod::rader) text += ", Rader there and back";
    if (design.method == PrimeMethod::bluestein) text += ", Bluestein there and back";
    if (design.method == PrimeMethod::filter) text += ", there, times a filter, and back";
    if (pass->kernel().registers() > 0) text += fmt::format(", {} registers", pass->kernel().registers());
    if (pass->kernel().private_bytes() > 0) text += fmt::format(", {} bytes spilled", pass->kernel().private_bytes());
  }
  return text;
}

}  // namespace ridge::fft::on_device
