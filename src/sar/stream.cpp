// Focuses a stream of frames: upload, focusing and download of different frames overlap on a device. Several devices
// take whole frames in proportion to their rates, which are measured while all of them run.
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <ridge/sar.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "device/random.hpp"
#include "sar/shares.hpp"

namespace ridge::sar {
namespace {

// One frame each is uploaded, focused and downloaded, and one is with the caller.
constexpr std::size_t kFramesAtOnce = 4;
// The host together with other devices: one frame is focused and one is with the caller.
constexpr std::size_t kHostFramesAtOnce = 2;
constexpr double kMeasureSeconds = 0.2;
constexpr std::size_t kMeasureFrames = 4;  // at least
// Eight threads fill a bus of 50 GB/s per direction; more threads slow each other down.
constexpr std::size_t kCopyingThreads = 8;

std::size_t points(const Problem& problem) { return problem.pulses * problem.samples; }

// A frame or an image in host memory, page-locked if a device transfers it.
class HostFrame {
 public:
  HostFrame(const Device& device, std::size_t count) : count_(count) {
    if (device.is_host()) {
      plain_.resize(count);
      data_ = plain_.data();
      return;
    }
    buffer_ = device.buffer(count * sizeof(Complex), {.kind = MemoryKind::pinned, .name = "sar frame in host memory"});
    mapping_.emplace(buffer_.map());
    data_ = mapping_->as<Complex>().data();
    std::fill_n(data_, count, Complex{});
  }
  std::span<Complex> span() const { return {data_, count_}; }

 private:
  std::size_t count_;
  std::vector<Complex> plain_;
  Buffer buffer_;
  std::optional<Mapping> mapping_;
  Complex* data_ = nullptr;
};

struct Copy {
  const Complex* from;
  Complex* to;
};

void copy_all(std::size_t threads, std::size_t count, std::initializer_list<Copy> copies) {
  base::parallel(threads, [&](std::size_t thread, std::size_t all) {
    const auto [begin, end] = base::share(count, thread, all, 512);
    for (const Copy& copy : copies) std::copy_n(copy.from + begin, end - begin, copy.to + begin);
  });
}

// One queue each for upload, computation and download, so that they overlap and wait only for the data they need. One
// frame is focused at a time, in work buffers that stay in the device's cache.
struct Queues {
  explicit Queues(const Device& device) : up(device.queue()), work(device.queue()), down(device.queue()) {}
  Queue up, work, down;
};

struct Slot {
  Slot(const Device& device, std::size_t count) : frame(device, count), image(device, count) {
    if (device.is_host()) return;
    echoes_there = device.buffer(count * sizeof(Complex), {.name = "sar echoes"});
    image_there = device.buffer(count * sizeof(Complex), {.name = "sar image"});
  }
  HostFrame frame, image;
  Buffer echoes_there, image_there;
  Event done;
};

}  // namespace

std::vector<std::string> left_out(const std::vector<DeviceRates>& devices) {
  constexpr double kSlowest = 1.0 / 16;  // a slower device would delay images for little gain
  double together = 0;
  const DeviceRates *best = &devices.front(), *fastest = best;
  for (const DeviceRates& device : devices) {
    together += device.together;
    if (device.alone > best->alone) best = &device;
    if (device.together > fastest->together) fastest = &device;
  }
  std::vector<std::string> reasons(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const DeviceRates& device = devices[i];
    if (together <= best->alone && &device != best) {
      reasons[i] = fmt::format("all devices together focus {:.1f} frames per second, {} alone {:.1f}", together,
                               best->device, best->alone);
    } else if (together > best->alone && device.together < kSlowest * fastest->together) {
      reasons[i] = fmt::format("its {:.1f} frames per second are less than 1/{:.0f} of the {:.1f} of {}",
                               device.together, 1 / kSlowest, fastest->together, fastest->device);
    }
  }
  return reasons;
}

// The part of a stream that one device focuses, in order. The host alone focuses in submit(); with other devices it
// does so in a thread of its own.
struct Stream::Lane {
  Lane(const Device& device, const Problem& problem, const planner::Options& options, bool alone)
      : plan(device, problem, options) {
    if (!device.is_host()) queues.emplace(device);
    resize(!device.is_host() ? kFramesAtOnce : alone ? 1 : kHostFramesAtOnce);
    if (device.is_host() && !alone) thread = std::thread([this] { work(); });
  }
  ~Lane() {
    if (thread.joinable()) {
      std::unique_lock lock(mutex);
      over = true;
      lock.unlock();
      changed.notify_all();
      thread.join();
    }
    if (queues) {
      for (; given < taken; ++given) at(given).done.wait();
    }
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  Slot& at(std::size_t frame) { return *slots[frame % slots.size()]; }
  void resize(std::size_t frames) {
    while (slots.size() < frames) slots.push_back(std::make_unique<Slot>(plan.device(), points(plan.problem())));
  }
  bool full() const { return taken - given == slots.size(); }
  bool ready() {
    if (given == taken) return false;
    if (queues) return at(given).done.done();
    std::lock_guard lock(mutex);
    return given < finished;
  }

  void submit() {
    Slot& slot = at(taken);
    if (queues) {
      const std::span<Complex> echoes = slot.frame.span();
      queues->up.upload(echoes.data(), slot.echoes_there, echoes.size_bytes());
      queues->work.wait_for(queues->up.record());
      plan.enqueue(queues->work, slot.echoes_there, slot.image_there);
      queues->down.wait_for(queues->work.record());
      queues->down.download(slot.image_there, slot.image.span().data(), echoes.size_bytes());
      slot.done = queues->down.record();
    } else if (!thread.joinable()) {
      plan.run(slot.frame.span(), slot.image.span());
    }
    std::lock_guard lock(mutex);
    ++taken;
    if (!queues && !thread.joinable()) finished = taken;
    changed.notify_all();
  }

  std::span<const Complex> take() {
    Slot& slot = at(given);
    if (queues) {
      slot.done.wait();
    } else {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return given < finished || failure; });
      if (failure) std::rethrow_exception(failure);
    }
    ++given;
    return slot.image.span();
  }

  // The host's thread.
  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return over || finished < taken; });
      if (over) return;
      Slot& slot = at(finished);
      lock.unlock();
      std::exception_ptr thrown;
      try {
        plan.run(slot.frame.span(), slot.image.span());
      } catch (...) {
        thrown = std::current_exception();
      }
      lock.lock();
      if (thrown) failure = thrown;
      ++finished;
      changed.notify_all();
    }
  }

  Plan plan;
  std::optional<Queues> queues{};  // empty on the host
  std::vector<std::unique_ptr<Slot>> slots{};
  std::size_t taken = 0, given = 0;  // frames submitted and returned
  double share = 1, rate = 0, alone_rate = 0;
  std::string left_out{};  // why it gets no frames; empty: it gets some, or the caller gave it a share of 0

  std::thread thread{};
  std::mutex mutex{};  // guards the numbers below, and `taken` for the thread
  std::condition_variable changed{};
  std::size_t finished = 0;  // on the host
  bool over = false;
  std::exception_ptr failure{};
};

namespace {

void check_devices(const std::vector<Device>& devices, const std::vector<double>& shares) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::invalid_argument, "sar: " + why); };
  if (devices.empty()) refuse("a stream needs at least one device, got none");
  std::set<std::string> seen;
  for (const Device& device : devices) {
    if (!seen.insert(device.id()).second) refuse(device.id() + " was given twice: name each device once");
  }
  if (shares.empty()) return;
  if (shares.size() != devices.size())
    refuse(fmt::format("needs one share per device, {}, got {}", devices.size(), shares.size()));
  double sum = 0;
  for (const double share : shares) sum += share >= 0 ? share : std::numeric_limits<double>::quiet_NaN();
  if (!(sum > 0 && std::isfinite(sum))) refuse("shares of devices must not be negative, and one must be positive");
}

}  // namespace

Stream::Stream(const Device& device, const Problem& problem, const planner::Options& options)
    : Stream(std::vector{device}, problem, options) {}

Stream::Stream(const std::vector<Device>& devices, const Problem& problem, const planner::Options& options,
               const std::vector<double>& shares)
    : copying_threads_(problem.threads > 0 ? problem.threads : std::min(kCopyingThreads, base::hardware_threads())) {
  check_devices(devices, shares);
  const bool alone = devices.size() == 1;
  Problem everywhere = problem;
  // Results of variants differ by 1e-3 of the signal. All devices use a variant that each of them has, so that
  // successive images do not differ by the device that focused them.
  if (!alone && problem.migration.empty()) everywhere.migration = "taps";
  Problem of_host = everywhere;  // leaves a core to each other device
  if (problem.threads == 0 && !alone) {
    const std::size_t most = base::hardware_threads(), others = devices.size() - 1;
    of_host.threads = most > others ? most - others : 1;
  }
  for (const Device& device : devices)
    lanes_.push_back(std::make_unique<Lane>(device, device.is_host() ? of_host : everywhere, options, alone));
  capacity_ = lanes_.front()->slots.size();
  if (alone) return;
  if (shares.empty()) measure_rates();
  for (std::size_t i = 0; i < shares.size(); ++i) lanes_[i]->share = shares[i];
  set_capacity();
}

// Images are returned in the order of frames, so every device needs memory for the images it finishes while the slowest
// focuses two frames.
void Stream::set_capacity() {
  double sum = 0, least = std::numeric_limits<double>::infinity(), largest = 0;
  for (const auto& lane : lanes_) {
    sum += lane->share;
    largest = std::max(largest, lane->share);
    if (lane->share > 0) least = std::min(least, lane->share);
  }
  capacity_ =
      static_cast<std::size_t>(std::ceil(std::max(kHostFramesAtOnce * sum / least, kFramesAtOnce * sum / largest)));
  for (const auto& lane : lanes_) {
    if (lane->share == 0) continue;
    const double most = std::ceil(static_cast<double>(capacity_) * lane->share / sum);
    lane->resize(static_cast<std::size_t>(most) + 2);  // of any `capacity_` frames in order, a device has at most these
  }
}

Stream::~Stream() = default;

// Frames per second of the given lanes while all of them are busy.
void Stream::measure(const std::vector<Lane*>& busy, double Lane::*rate) {
  struct Seen {
    std::size_t frames = 0;
    double first = 0, last = 0;
  };
  std::vector<Seen> seen(busy.size());
  const double start = base::now();
  for (bool enough = false; !enough;) {
    enough = base::now() - start > kMeasureSeconds;
    bool any = false;
    for (std::size_t i = 0; i < busy.size(); ++i) {
      while (!busy[i]->full()) busy[i]->submit();
      if (busy[i]->ready()) {
        busy[i]->take();
        any = true;
        seen[i].last = base::now();
        if (seen[i].frames++ == 0) seen[i].first = seen[i].last;
      }
      enough = enough && seen[i].frames > kMeasureFrames;
    }
    if (!any) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  for (std::size_t i = 0; i < busy.size(); ++i) {
    while (busy[i]->given < busy[i]->taken) busy[i]->take();
    busy[i]->*rate = static_cast<double>(seen[i].frames - 1) / std::max(1e-9, seen[i].last - seen[i].first);
  }
}

void Stream::measure_rates() {
  std::vector<Lane*> all;
  for (const auto& lane : lanes_) {
    all.push_back(lane.get());
    for (const auto& slot : lane->slots) fill_random(std::as_writable_bytes(slot->frame.span()), Numbers::float32);
    measure({lane.get()}, &Lane::alone_rate);
  }
  measure(all, &Lane::rate);
  std::vector<DeviceRates> rates;
  for (const Lane* lane : all) rates.push_back({lane->plan.device().id(), lane->alone_rate, lane->rate});
  const std::vector<std::string> reasons = left_out(rates);
  std::vector<Lane*> used;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i]->left_out = reasons[i];
    if (reasons[i].empty()) used.push_back(all[i]);
  }
  if (used.size() == 1) used.front()->rate = used.front()->alone_rate;
  if (used.size() > 1 && used.size() < all.size()) measure(used, &Lane::rate);
  for (Lane* lane : all) lane->share = lane->left_out.empty() ? lane->rate : 0;
}

// The device that would finish its next frame first if all frames so far were in proportion to the shares.
Stream::Lane& Stream::next() const {
  Lane* best = nullptr;
  const auto finish = [](const Lane& lane) { return static_cast<double>(lane.taken + 1) / lane.share; };
  for (const auto& lane : lanes_) {
    if (lane->share > 0 && (best == nullptr || finish(*lane) < finish(*best))) best = lane.get();
  }
  return *best;
}

const Problem& Stream::problem() const { return lanes_.front()->plan.problem(); }

double Stream::ideal_rate() const {
  double sum = 0;
  for (const auto& lane : lanes_) sum += lane->share > 0 ? lane->rate : 0;
  return sum;
}

std::string Stream::explain() const {
  double sum = 0;
  for (const auto& lane : lanes_) sum += lane->share;
  std::vector<std::vector<std::string>> rows{
      {"device", "share of the frames", "frames per second, together", "alone", "frames at once"}};
  const auto rate = [](double value) { return value > 0 ? fmt::format("{:.1f}", value) : std::string("-"); };
  for (const auto& lane : lanes_) {
    rows.push_back({lane->plan.device().id(), fmt::format("{:.3f}", lane->share / sum), rate(lane->rate),
                    rate(lane->alone_rate), fmt::format("{}", lane->slots.size())});
  }
  std::string text = base::table(rows);
  for (const auto& lane : lanes_) {
    if (!lane->left_out.empty())
      text += fmt::format("{} gets no frames: {}\n", lane->plan.device().id(), lane->left_out);
  }
  return text;
}

bool Stream::full() const { return order_.size() == capacity_; }
bool Stream::ready() const { return !order_.empty() && order_.front()->ready(); }

std::span<Complex> Stream::frame() {
  if (full()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("sar: all {} frames of the stream are in use: call take() for an image first", capacity_));
  }
  Lane& lane = next();
  return lane.at(lane.taken).frame.span();
}

void Stream::fill(std::span<const Complex> echoes) {
  check_sizes(echoes.size(), echoes.size());
  for (const auto& lane : lanes_) {
    for (const auto& slot : lane->slots)
      std::copy_n(echoes.begin(), slot->frame.span().size(), slot->frame.span().begin());
  }
}

void Stream::submit() {
  frame();  // an error if the stream is full
  Lane& lane = next();
  lane.submit();
  order_.push_back(&lane);
}

std::span<const Complex> Stream::take() {
  if (order_.empty()) return {};
  Lane& lane = *order_.front();
  order_.pop_front();
  return lane.take();
}

void Stream::check_sizes(std::size_t echoes, std::size_t image) const {
  const std::size_t wanted = points(problem());
  if (echoes < wanted || image < wanted) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("sar: echoes and image need {} values each, got {} and {}", wanted, echoes, image));
  }
}

bool Stream::push(std::span<const Complex> echoes, std::span<Complex> image) {
  check_sizes(echoes.size(), image.size());
  if (lanes_.size() == 1 && lanes_.front()->plan.device().is_host()) {
    lanes_.front()->plan.run(echoes, image);
    return true;
  }
  const std::size_t count = points(problem());
  const bool ready = full();
  if (ready) {
    const Complex* done = take().data();
    copy_all(copying_threads_, count, {{done, image.data()}, {echoes.data(), frame().data()}});
  } else {
    copy_all(copying_threads_, count, {{echoes.data(), frame().data()}});
  }
  submit();
  return ready;
}

bool Stream::finish(std::span<Complex> image) {
  check_sizes(image.size(), image.size());
  const auto done = take();
  if (done.empty()) return false;
  copy_all(copying_threads_, done.size(), {{done.data(), image.data()}});
  return true;
}

}  // namespace ridge::sar
