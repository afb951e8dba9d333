#include "fft/hybrid/team.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace ridge::fft {

void Team::add(std::string device, bool is_host, std::unique_ptr<Lane> lane) {
  lanes_.push_back({std::move(device), is_host, std::move(lane)});
}

// The host's lane takes the first cores, where its pool has its threads; the others follow.
void Team::assign(const Sharing& sharing) {
  sharing_ = sharing;
  std::size_t first = 0, core = 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].is_host) core = sharing.transforms[i] > 0 ? sharing.cores[i] : 0;
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].first = first;
    first += sharing.transforms[i];
    const std::size_t count = sharing.cores[i];
    lanes_[i].lane->assign(sharing.transforms[i], {lanes_[i].is_host ? 0 : core, count});
    if (!lanes_[i].is_host && sharing.transforms[i] > 0) core += count;
  }
  // A thread for a device without work would only spin on a core that another lane has.
  std::size_t members = 1;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].member = lanes_[i].is_host ? 0 : sharing.transforms[i] > 0 ? members++ : kNobody;
  }
  if (!crew_ || crew_->members() != members) crew_ = std::make_unique<Crew>(members);
}

void Team::together(const std::function<void(std::size_t)>& task) {
  crew_->run([&](std::size_t member) {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (member == lanes_[i].member && sharing_.transforms[i] > 0) task(i);
    }
  });
}

std::vector<double> Team::run(Direction direction, const std::byte* in, std::byte* out) {
  std::vector<double> seconds(lanes_.size() + 1);
  const double start = base::now();
  together([&](std::size_t i) {
    lanes_[i].lane->run(direction, in, out, lanes_[i].first);
    seconds[i] = base::now() - start;
  });
  seconds.back() = base::now() - start;
  return seconds;
}

std::vector<double> Team::rates(const std::byte* in, std::byte* out, double seconds) {
  std::vector<double> rates(lanes_.size(), 0);
  together([&](std::size_t i) {
    const double start = base::now();
    double passed = 0, done = 0;
    for (; passed < seconds; passed = base::now() - start) {
      lanes_[i].lane->run(Direction::forward, in, out, lanes_[i].first);
      done += static_cast<double>(sharing_.transforms[i]);
    }
    rates[i] = done / passed;
  });
  return rates;
}

}  // namespace ridge::fft
