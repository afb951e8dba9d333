// Correlator over processes: one exchange gives each process all stations of its channels.
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/mpi/filterbank.hpp>

#include "filterbank/geometry.hpp"
#include "mpi/route.hpp"

namespace ridge::mpi::filterbank {

class Correlator::Impl {
 public:
  Impl(const Plan& plan, const Correlation& correlation) : plan_(plan), all_(plan.communicator()) {
    const Problem& problem = plan.problem();
    all_.must_be_equal(
        fmt::format("correlations of {} times and {} channels", correlation.times, correlation.channels));
    if (problem.order != ridge::filterbank::Order::time) {
      throw Error(ErrorKind::invalid_argument, "filterbank: a distributed correlator needs spectra in Order::time");
    }
    if (correlation.channels == 0 || problem.channels % correlation.channels != 0 || correlation.times == 0) {
      throw Error(
          ErrorKind::invalid_argument,
          fmt::format("filterbank: a correlation needs at least 1 time and a number of summed channels that divides "
                      "{}, got {} times and {} channels",
                      problem.channels, correlation.times, correlation.channels));
    }
    ridge::filterbank::check_summed(ridge::filterbank::resolve(problem), correlation.channels, "a correlation");
    const std::size_t summed = problem.channels / correlation.channels;
    for (std::size_t rank = 0; rank < all_.count(); ++rank) {
      const Part share = part(summed, rank, all_.count());
      shares_.push_back({share.begin * correlation.channels, share.end * correlation.channels});
    }
    channels_ = part(summed, all_.rank(), all_.count());
    baselines_ = problem.stations * (problem.stations + 1) / 2;
    times_ = correlation.times;
    if (channels_.end == channels_.begin) return;
    // The correlator sees this process's channels as a bank of their own.
    Problem own{.channels = mine().end - mine().begin,
                .taps = 1,
                .stations = problem.stations,
                .polarizations = problem.polarizations,
                .threads = problem.threads};
    all_rows_ = own.channels * own.stations * own.polarizations;
    if (plan.device().is_host()) {
      own_.emplace(own, correlation);
    } else {
      own_.emplace(plan.device(), own, correlation);
    }
  }

  Part channels() const { return channels_; }
  std::size_t baselines() const { return baselines_; }
  std::size_t size() const { return own_ ? own_->size() : 0; }
  std::size_t bytes_sent() const { return sent_; }
  std::size_t due(std::size_t spectra) const { return (carried_ + spectra) / times_; }

  std::size_t push(std::span<const std::complex<float>> spectra, std::size_t times,
                   std::span<std::complex<float>> out) {
    all_.must_be_equal(fmt::format("{} spectra to correlate", times));
    all_.agree([&] {
      if (spectra.size() < times * plan_.spectrum_size() || out.size() < due(times) * size()) {
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("filterbank: {} spectra need {} input and {} output values, got {} and {}", times,
                                times * plan_.spectrum_size(), due(times) * size(), spectra.size(), out.size()));
      }
    });
    const std::size_t written = due(times);
    if (times == 0) return 0;
    // From [time and polarization][stations of mine][channel] to [...][station][channels of mine].
    const Problem& problem = plan_.problem();
    std::vector<Box> from(all_.count()), to(all_.count());
    for (std::size_t rank = 0; rank < all_.count(); ++rank) {
      const Part stations = plan_.stations_of(rank);
      from[rank] = {{0, stations.begin, 0}, {times * problem.polarizations, stations.end, problem.channels}};
      to[rank] = {{0, 0, shares_[rank].begin}, {times * problem.polarizations, problem.stations, shares_[rank].end}};
    }
    transposed_.resize(times * all_rows_);
    const Route route(all_, from, to, sizeof(std::complex<float>), 1);
    route.run(spectra.data(), transposed_.data());
    sent_ += route.bytes_sent();
    all_.agree([&] {
      if (own_) own_->push(transposed_, out);
    });
    carried_ = (carried_ + times) % times_;
    return written;
  }

 private:
  Part mine() const { return shares_[all_.rank()]; }

  Plan plan_;
  Communicator all_;
  std::vector<Part> shares_;  // channels of each process
  Part channels_{};           // this process's channels, after summing neighbours
  std::size_t baselines_ = 0, times_ = 1, carried_ = 0, sent_ = 0, all_rows_ = 0;
  std::optional<ridge::filterbank::Correlator> own_;
  std::vector<std::complex<float>> transposed_;
};

Correlator::Correlator(const Plan& plan, const Correlation& correlation)
    : impl_(std::make_unique<Impl>(plan, correlation)) {}
Correlator::~Correlator() = default;
Correlator::Correlator(Correlator&&) noexcept = default;
Correlator& Correlator::operator=(Correlator&&) noexcept = default;
Part Correlator::channels() const { return impl_->channels(); }
std::size_t Correlator::baselines() const { return impl_->baselines(); }
std::size_t Correlator::size() const { return impl_->size(); }
std::size_t Correlator::bytes_sent() const { return impl_->bytes_sent(); }
std::size_t Correlator::due(std::size_t spectra) const { return impl_->due(spectra); }
std::size_t Correlator::push(std::span<const std::complex<float>> spectra, std::size_t times,
                             std::span<std::complex<float>> out) {
  return impl_->push(spectra, times, out);
}

}  // namespace ridge::mpi::filterbank
