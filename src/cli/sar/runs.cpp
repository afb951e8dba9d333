// Runs a SAR stream and measures times and energy.
#include "cli/sar/runs.hpp"

#include <algorithm>
#include <deque>
#include <thread>

#include <ridge/graph.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "command/process.hpp"
#include "device/timing.hpp"
#include "machine/energy.hpp"

namespace ridge::cli {
namespace {

// Measures the energy from construction until stop().
class Meter {
 public:
  explicit Meter(const Device& device) : counter_(machine::EnergyCounter::open(device)) {
    if (counter_.readable()) before_ = counter_.joules();
  }
  void stop(SarTimes& times) {
    times.counter = counter_.counter();
    times.why_not = counter_.why_not();
    if (counter_.readable()) times.joules = counter_.joules() - before_;
  }

 private:
  machine::EnergyCounter counter_;
  double before_ = 0;
};

// Copies the simulated frame into every slot of the stream and runs each once as a warm-up.
void fill_and_warm(sar::Stream& stream, std::span<const sar::Complex> frame) {
  stream.fill(frame);
  while (!stream.full()) stream.submit();
  while (!stream.take().empty()) {
  }
}

}  // namespace

SarTimes run_as_fast_as_possible(const SarOptions& options, sar::Stream& stream, const Device& device,
                                 SarFrames& frames, const HaveImage& have) {
  SarTimes times;
  std::vector<sar::Complex> image(options.copies ? options.problem.pulses * options.problem.samples : 0), echoes;
  if (options.copies) echoes.assign(frames.frame().begin(), frames.frame().end());
  fill_and_warm(stream, frames.frame());
  const auto progress = base::terminal_progress();
  Meter meter(device);
  const double start = base::now();
  double before = start;
  const auto done = [&](std::span<const sar::Complex> finished) {
    const double now = base::now();
    times.frames.push_back(now - before);
    before = now;
    have(finished);
    progress(static_cast<double>(times.frames.size()) / static_cast<double>(options.frames), "focusing");
  };
  for (std::size_t i = 0; i < options.frames; ++i) {
    if (options.copies) {
      if (stream.push(echoes, image)) done(image);
    } else {
      stream.submit();
      if (stream.full()) done(stream.take());
    }
  }
  if (options.copies) {
    while (stream.finish(image)) done(image);
  } else {
    while (stream.in_flight() > 0) done(stream.take());
  }
  times.total = base::now() - start;
  meter.stop(times);
  return times;
}

SarTimes run_files(const SarOptions& options, sar::Stream& stream, const Device& device,
                   const std::shared_ptr<SarFrames>& frames, const HaveImage& have) {
  SarTimes times;
  const std::size_t bytes = options.problem.pulses * options.problem.samples * sizeof(sar::Complex);
  const auto all = [](graph::Block& block) {
    return std::span(reinterpret_cast<sar::Complex*>(block.bytes.data()), block.bytes.size() / sizeof(sar::Complex));
  };
  graph::Graph graph;
  const auto echoes = graph.stage(
      "read", {}, {.bytes = bytes, .may_block = true},
      [frames, bytes, all](graph::Step& step) -> std::size_t { return frames->read(all(*step.out)) ? bytes : 0; });
  // The stream returns the image of an earlier frame while the device works on this one.
  const auto images = graph.stage("focus", {echoes}, {.bytes = bytes, .finish = true}, [&](graph::Step& step) {
    const bool made = step.ended ? stream.finish(all(*step.out)) : stream.push(all(*step.in[0]), all(*step.out));
    return made ? bytes : 0;
  });
  Meter meter(device);
  double before = base::now();
  const double start = before;
  graph.stage("write", {images}, {.in_caller = true}, [&](graph::Step& step) -> std::size_t {
    have(step.in[0]->host<sar::Complex>());
    times.frames.push_back(base::now() - before);
    before = base::now();
    return 0;
  });
  write_schedule(options.schedule, graph.run());
  times.total = base::now() - start;
  meter.stop(times);
  return times;
}

SarTimes run_at_a_rate(const SarOptions& options, sar::Stream& stream, const Device& device) {
  SarTimes times;
  std::deque<double> came;
  Meter meter(device);
  const double start = base::now();
  const auto take = [&] {
    stream.take();
    times.frames.push_back(base::now() - came.front());
    came.pop_front();
  };
  for (std::size_t i = 0; i < options.frames; ++i) {
    const double due = start + static_cast<double>(i) / options.rate;
    while (base::now() < due) {
      if (stream.ready()) take();
      if (due - base::now() > 1e-3 && stream.in_flight() == 0)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (stream.full()) take();
    came.push_back(due);
    stream.submit();
  }
  while (stream.in_flight() > 0) take();
  times.total = base::now() - start;
  meter.stop(times);
  return times;
}

SarTimes run_in_place(const sar::Plan& focus, std::span<const sar::Complex> frame) {
  constexpr double kSeconds = 1;
  SarTimes times;
  const Device& device = focus.device();
  std::vector<sar::Complex> image_here;
  Buffer echoes, image;
  Queue queue = device.queue();
  std::function<void()> call;
  if (device.is_host()) {
    image_here.resize(frame.size());
    call = [&] { focus.run(frame, image_here); };
  } else {
    echoes = device.buffer(frame.size_bytes(), {.name = "echoes"});
    image = device.buffer(frame.size_bytes(), {.name = "image"});
    queue.upload(frame, echoes);
    call = [&] { focus.enqueue(queue, echoes, image); };
  }
  times.frames = best_device_seconds(queue, {call}, {.seconds = 0.5});
  // Long enough for energy counters, which update only a few times per second.
  Meter meter(device);
  const double start = base::now();
  std::size_t count = 0;
  for (; base::now() - start < kSeconds; count += 20) {
    for (int i = 0; i < 20; ++i) call();
    queue.finish();
  }
  meter.stop(times);
  times.joules /= static_cast<double>(count);
  times.total = times.frames.front();
  return times;
}

}  // namespace ridge::cli
