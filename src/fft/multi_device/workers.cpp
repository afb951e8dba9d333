// Divides the batch among the workers of a hybrid plan by their rates, and runs all of them.
#include "fft/multi_device/workers.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace ridge::fft {

void Workers::add(std::string device, bool is_host, std::unique_ptr<Worker> worker) {
  workers_.push_back({std::move(device), is_host, std::move(worker)});
}

// The host's worker gets the first cores, to which its pool is bound; the others follow.
void Workers::assign(const Sharing& sharing) {
  sharing_ = sharing;
  std::size_t first = 0, core = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].is_host) core = sharing.transforms[i] > 0 ? sharing.cores[i] : 0;
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].first = first;
    first += sharing.transforms[i];
    const std::size_t count = sharing.cores[i];
    workers_[i].worker->assign(sharing.transforms[i], {workers_[i].is_host ? 0 : core, count});
    if (!workers_[i].is_host && sharing.transforms[i] > 0) core += count;
  }
  // A thread for a device without work would only occupy a core of another worker.
  std::size_t members = 1;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].member = workers_[i].is_host ? 0 : sharing.transforms[i] > 0 ? members++ : kNoMember;
  }
  if (!pool_ || pool_->members() != members) pool_ = std::make_unique<SpinningPool>(members);
}

void Workers::together(const std::function<void(std::size_t)>& task) {
  pool_->run([&](std::size_t member) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (member == workers_[i].member && sharing_.transforms[i] > 0) task(i);
    }
  });
}

std::vector<double> Workers::run(Direction direction, const std::byte* in, std::byte* out) {
  std::vector<double> seconds(workers_.size() + 1);
  const double start = base::now();
  together([&](std::size_t i) {
    workers_[i].worker->run(direction, in, out, workers_[i].first);
    seconds[i] = base::now() - start;
  });
  seconds.back() = base::now() - start;
  return seconds;
}

std::vector<double> Workers::rates(const std::byte* in, std::byte* out, double seconds) {
  std::vector<double> rates(workers_.size(), 0);
  together([&](std::size_t i) {
    const double start = base::now();
    double passed = 0, done = 0;
    for (; passed < seconds; passed = base::now() - start) {
      workers_[i].worker->run(Direction::forward, in, out, workers_[i].first);
      done += static_cast<double>(sharing_.transforms[i]);
    }
    rates[i] = done / passed;
  });
  return rates;
}

}  // namespace ridge::fft
