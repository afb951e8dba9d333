// Streams of spectra and of power sums with the stations distributed over processes.
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "mpi/filterbank/from_root.hpp"
#include "mpi/filterbank/plan.hpp"
#include "mpi/filterbank/shares.hpp"

namespace ridge::mpi::filterbank {

class Stream::Impl {
 public:
  explicit Impl(const Plan& plan)
      : plan_(plan),
        whole_(plan.communicator(), plan.impl_->geometry, plan.impl_->shares, 2 * plan.impl_->geometry.spectrum_size(),
               plan.impl_->geometry.by_channel ? 2 * plan.impl_->geometry.polarizations * plan.impl_->geometry.times
                                               : 2 * plan.impl_->geometry.channels,
               1) {
    plan.communicator().agree([&] {
      if (plan.impl_->own) own_.emplace(*plan.impl_->own);
    });
  }

  std::size_t due(std::size_t bytes) const { return own_ ? own_->due(bytes) : 0; }
  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out) {
    if (own_) return own_->push(in, out);
    if (in.empty()) return 0;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: rank {} has no stations but got {} bytes of samples",
                            plan_.communicator().rank(), in.size()));
  }
  std::size_t due_from_root(std::size_t bytes) const { return whole_.due(bytes); }
  std::size_t push_from_root(std::span<const std::byte> in, std::span<std::complex<float>> out) {
    return whole_.push(in, std::span(reinterpret_cast<float*>(out.data()), 2 * out.size()),
                       [&](std::span<const std::byte> mine, std::vector<float>& to) {
                         if (!own_) return;
                         const std::size_t values = own_->due(mine.size()) * plan_.spectrum_size(), at = to.size();
                         to.resize(at + 2 * values);
                         own_->push(mine, std::span(reinterpret_cast<std::complex<float>*>(to.data() + at), values));
                       });
  }

  std::uint64_t start_at(std::uint64_t spectrum) {
    std::uint64_t sample = 0;
    plan_.communicator().agree([&] {
      if (own_) sample = own_->start_at(spectrum);
    });
    // Equal for all stations, but a process may have none and hold 0.
    sample = static_cast<std::uint64_t>(plan_.communicator().largest(static_cast<double>(sample)));
    whole_.start_at(spectrum, sample);
    return sample;
  }
  void set_delays(std::uint64_t sample, std::span<const double> delays) {
    const ridge::filterbank::Geometry& g = plan_.impl_->geometry;
    plan_.communicator().agree([&] {
      if (delays.size() != g.polarizations * g.stations) {
        throw Error(ErrorKind::invalid_argument,
                    fmt::format("filterbank: got {} delays; one per polarization and station is {}", delays.size(),
                                g.polarizations * g.stations));
      }
      std::vector<double> mine;
      for (std::size_t p = 0; p < g.polarizations; ++p) {
        for (std::size_t s = plan_.stations().begin; s < plan_.stations().end; ++s) {
          mine.push_back(delays[p * g.stations + s]);
        }
      }
      if (own_) own_->set_delays(sample, mine);
    });
  }
  void replace_weights(std::span<const double> weights, std::uint64_t sample) {
    plan_.communicator().agree([&] {
      if (own_) own_->replace_weights(weights, sample);
    });
  }

 private:
  Plan plan_;
  std::optional<ridge::filterbank::Stream> own_;
  FromRoot whole_;
};

Stream::Stream(const Plan& plan) : impl_(std::make_unique<Impl>(plan)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
std::size_t Stream::due(std::size_t bytes) const { return impl_->due(bytes); }
std::size_t Stream::push(std::span<const std::byte> in, std::span<std::complex<float>> out) {
  return impl_->push(in, out);
}
std::size_t Stream::due_from_root(std::size_t bytes) const { return impl_->due_from_root(bytes); }
std::size_t Stream::push_from_root(std::span<const std::byte> in, std::span<std::complex<float>> out) {
  return impl_->push_from_root(in, out);
}
std::uint64_t Stream::start_at(std::uint64_t spectrum) { return impl_->start_at(spectrum); }
void Stream::set_delays(std::uint64_t sample, std::span<const double> delays) { impl_->set_delays(sample, delays); }
void Stream::replace_weights(std::span<const double> weights, std::uint64_t sample) {
  impl_->replace_weights(weights, sample);
}

class PowerStream::Impl {
 public:
  Impl(const Communicator& communicator, const Device& device, const Problem& given, const Detection& detection,
       const Options& options)
      : all_(communicator) {
    Problem problem;
    ridge::filterbank::Geometry geometry{};
    all_.agree([&] {
      problem = ridge::filterbank::complete(given);
      if (problem.threads == 0) problem.threads = all_.threads();
      geometry = ridge::filterbank::resolve(problem);
      values_ = ridge::filterbank::Detector(problem, detection).row_size();
    });
    all_.must_be_equal(fmt::format("power of {}, products {}, {} times and {} channels summed", geometry.key(),
                                   static_cast<int>(detection.products), detection.times, detection.channels));
    shares_ = share_out(all_, device, problem, detection, options);
    all_.agree([&] {
      if (stations().end > stations().begin) {
        own_.emplace(device, problem_of(problem, stations()), detection, options.planning);
      }
    });
    whole_.emplace(all_, geometry, shares_, values_, values_ / geometry.stations, detection.times);
  }

  Part stations() const { return shares_[all_.rank()]; }
  std::size_t row_size() const { return own_ ? own_->row_size() : 0; }
  std::size_t whole_row_size() const { return values_; }
  std::string variant() const { return own_ ? own_->variant() : std::string(); }
  std::size_t due(std::size_t bytes) const { return own_ ? own_->due(bytes) : 0; }
  std::size_t push(std::span<const std::byte> in, std::span<float> out) {
    if (own_) return own_->push(in, out);
    if (in.empty()) return 0;
    throw Error(ErrorKind::invalid_argument,
                fmt::format("filterbank: rank {} has no stations but got {} bytes of samples", all_.rank(), in.size()));
  }
  std::size_t due_from_root(std::size_t bytes) const { return whole_->due(bytes); }
  std::size_t push_from_root(std::span<const std::byte> in, std::span<float> out) {
    return whole_->push(in, out, [&](std::span<const std::byte> mine, std::vector<float>& to) {
      if (!own_) return;
      const std::size_t values = own_->due(mine.size()) * own_->row_size(), at = to.size();
      to.resize(at + values);
      own_->push(mine, std::span(to).subspan(at));
    });
  }
  std::uint64_t start_at(std::uint64_t spectrum) {
    std::uint64_t sample = 0;
    all_.agree([&] {
      if (own_) sample = own_->start_at(spectrum);
    });
    sample = static_cast<std::uint64_t>(all_.largest(static_cast<double>(sample)));
    whole_->start_at(spectrum, sample);
    return sample;
  }

 private:
  Communicator all_;
  std::vector<Part> shares_;
  std::size_t values_ = 0;
  std::optional<ridge::filterbank::PowerStream> own_;
  std::optional<FromRoot> whole_;
};

PowerStream::PowerStream(const Communicator& communicator, const Device& device, const Problem& problem,
                         const Detection& detection, const Options& options)
    : impl_(std::make_unique<Impl>(communicator, device, problem, detection, options)) {}
PowerStream::~PowerStream() = default;
PowerStream::PowerStream(PowerStream&&) noexcept = default;
PowerStream& PowerStream::operator=(PowerStream&&) noexcept = default;
Part PowerStream::stations() const { return impl_->stations(); }
std::size_t PowerStream::row_size() const { return impl_->row_size(); }
std::size_t PowerStream::whole_row_size() const { return impl_->whole_row_size(); }
std::string PowerStream::variant() const { return impl_->variant(); }
std::size_t PowerStream::due(std::size_t bytes) const { return impl_->due(bytes); }
std::size_t PowerStream::push(std::span<const std::byte> in, std::span<float> out) { return impl_->push(in, out); }
std::size_t PowerStream::due_from_root(std::size_t bytes) const { return impl_->due_from_root(bytes); }
std::size_t PowerStream::push_from_root(std::span<const std::byte> in, std::span<float> out) {
  return impl_->push_from_root(in, out);
}
std::uint64_t PowerStream::start_at(std::uint64_t spectrum) { return impl_->start_at(spectrum); }

}  // namespace ridge::mpi::filterbank
