// Divides stations among processes, and plans the banks of each of them.
#include "mpi/filterbank/plan.hpp"

#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/text.hpp"
#include "mpi/filterbank/shares.hpp"

namespace ridge::mpi::filterbank {
namespace {

// Text of all parameters that must agree between processes, with a checksum of weights and bandpass.
std::string bank_text(const Problem& problem) {
  std::uint64_t sum = 14695981039346656037u;
  const auto add = [&](const void* from, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      sum = (sum ^ static_cast<const unsigned char*>(from)[i]) * 1099511628211u;
    }
  };
  add(problem.weights.data(), problem.weights.size() * sizeof problem.weights[0]);
  add(problem.bandpass.data(), problem.bandpass.size() * sizeof problem.bandpass[0]);
  return fmt::format("a bank of {}, {} weights and {} factors ({:x}), a sky frequency of {}",
                     ridge::filterbank::resolve(problem).key(), problem.weights.size(), problem.bandpass.size(), sum,
                     problem.delays.frequency);
}

}  // namespace

std::vector<Part> share_out(const Communicator& all, const Device& device, const Problem& problem,
                            const std::optional<Detection>& detection, const Options& options) {
  all.must_be_equal(
      fmt::format("stations {}, variant \"{}\"", fmt::join(options.stations, " + "), options.planning.variant));
  if (!options.stations.empty()) {
    std::vector<Part> shares;
    std::size_t at = 0;
    for (const std::size_t count : options.stations) {
      shares.push_back({at, at + count});
      at += count;
    }
    if (shares.size() != all.count() || at != problem.stations) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("filterbank: needs {} stations distributed over {} processes, got {} over {}",
                              problem.stations, all.count(), at, shares.size()));
    }
    return shares;
  }
  if (all.count() == 1) return {Part{0, problem.stations}};
  double seconds = 0;
  all.agree([&] {
    seconds = seconds_of_station(device, problem, detection, options.planning,
                                 std::max<std::size_t>(1, problem.stations / all.count()));
  });
  std::vector<double> all_seconds(all.count());
  all.gather(&seconds, sizeof seconds, all_seconds.data());
  return shares_by_speed(all_seconds, problem.stations);  // identical input on all processes, so identical results
}

Plan::Impl::Impl(const Communicator& communicator, const Device& on, const Problem& given, const Options& options)
    : all(communicator), device(on) {
  all.agree([&] {
    problem = ridge::filterbank::complete(given);
    if (problem.threads == 0) problem.threads = all.threads();
    geometry = ridge::filterbank::resolve(problem);
  });
  all.must_be_equal(bank_text(problem));
  shares = share_out(all, device, problem, std::nullopt, options);
  all.agree([&] {
    if (any()) own.emplace(device, problem_of(problem, mine()), options.planning);
  });
}

Plan::Plan(const Communicator& communicator, const Device& device, const Problem& problem, const Options& options)
    : impl_(std::make_shared<const Impl>(communicator, device, problem, options)) {}

const Problem& Plan::problem() const { return impl_->problem; }
Part Plan::stations() const { return impl_->mine(); }
Part Plan::stations_of(std::size_t rank) const { return impl_->shares.at(rank); }
std::size_t Plan::hop() const { return impl_->geometry.hop; }
std::size_t Plan::spectrum_size() const { return impl_->own ? impl_->own->spectrum_size() : 0; }
std::size_t Plan::whole_spectrum_size() const { return impl_->geometry.spectrum_size(); }
double Plan::flops() const { return impl_->geometry.flops(); }
std::string Plan::variant() const { return impl_->own ? impl_->own->variant() : std::string(); }
const Device& Plan::device() const { return impl_->device; }
const Communicator& Plan::communicator() const { return impl_->all; }

std::string Plan::explain() const {
  std::vector<std::size_t> stations;
  for (const Part& share : impl_->shares) stations.push_back(share.end - share.begin);
  const auto bytes = static_cast<double>(spectrum_size() * sizeof(std::complex<float>));
  const double others = 1 - 1 / static_cast<double>(impl_->all.count());
  return fmt::format(
      "{} stations over {} processes as {}\n"
      "  rank {} has stations {} to {}; a correlator sends {} per time from this rank to the others\n{}",
      impl_->problem.stations, impl_->all.count(), fmt::join(stations, " + "), impl_->all.rank(), impl_->mine().begin,
      impl_->mine().end, base::human_bytes(bytes * others), impl_->own ? impl_->own->explain() : std::string());
}

}  // namespace ridge::mpi::filterbank
