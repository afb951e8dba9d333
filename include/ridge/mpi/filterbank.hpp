// Filter banks whose stations are shared out over processes, in the words of ridge::filterbank. Each process brings the
// samples of its own stations and keeps their spectra, or the root has the whole stream; a correlator turns stations
// into channels. The same bits as one process finds with the same variant.
//
//   ridge::mpi::filterbank::Plan bank(all, ridge::host(), {.channels = 256, .taps = 16, .stations = 48});
//   ridge::mpi::filterbank::Stream stream(bank);
//   std::size_t spectra = stream.push(bytes, channels);  // of the stations bank.stations() says
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>
#include <ridge/mpi/box.hpp>
#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi::filterbank {

using ridge::filterbank::Correlation;
using ridge::filterbank::Detection;
using ridge::filterbank::Problem;

struct Options {
  planner::Options planning = {};
  std::vector<std::size_t> stations = {};  // of each process; empty: as many as it is fast, which is measured
};

// By all, with the same problem. A process may have no stations, where others are faster or there are too few.
class Plan {
 public:
  Plan(const Communicator& communicator, const Device& device, const Problem& problem, const Options& options = {});
  const Problem& problem() const;            // of all stations, weights filled in
  Part stations() const;                     // this process's
  Part stations_of(std::size_t rank) const;  // any process's
  std::size_t hop() const;
  std::size_t spectrum_size() const;        // complex values of one time of this process's stations
  std::size_t whole_spectrum_size() const;  // of all
  double flops() const;                     // of one time, all processes
  std::string variant() const;              // this process's; empty where it has no stations
  std::string explain() const;
  const Device& device() const;
  const Communicator& communicator() const;

 private:
  friend class Stream;
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

// A stream through it. start_at, set_delays and replace_weights are called by all with the same numbers, of all
// stations; then either push by each process whenever it has samples, or push_from_root by all.
class Stream {
 public:
  explicit Stream(const Plan& plan);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Bytes of this process's own stations, laid out as a stream of those alone; nothing is sent. As filterbank::Stream.
  std::size_t due(std::size_t bytes) const;
  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out);
  // By all: the root's bytes of all stations, and its room for all spectra; the spans of others are not looked at. Any
  // number of bytes. Returns the spectra written, everywhere.
  std::size_t due_from_root(std::size_t bytes) const;
  std::size_t push_from_root(std::span<const std::byte> in, std::span<std::complex<float>> out);

  std::uint64_t start_at(std::uint64_t spectrum);
  void set_delays(std::uint64_t sample, std::span<const double> delays);  // one a (polarization, station) of all
  void replace_weights(std::span<const double> weights, std::uint64_t sample);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Samples in, power out; see filterbank::PowerStream.
class PowerStream {
 public:
  PowerStream(const Communicator& communicator, const Device& device, const Problem& problem,
              const Detection& detection, const Options& options = {});
  ~PowerStream();
  PowerStream(PowerStream&&) noexcept;
  PowerStream& operator=(PowerStream&&) noexcept;
  Part stations() const;
  std::size_t row_size() const;        // values of one summed time of this process's stations
  std::size_t whole_row_size() const;  // of all
  std::string variant() const;
  std::size_t due(std::size_t bytes) const;
  std::size_t push(std::span<const std::byte> in, std::span<float> out);
  std::size_t due_from_root(std::size_t bytes) const;
  std::size_t push_from_root(std::span<const std::byte> in, std::span<float> out);
  std::uint64_t start_at(std::uint64_t spectrum);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Every pair of stations behind a plan in Order::time: in one exchange each process gets all stations of its share of
// the channels, and correlates those.
class Correlator {
 public:
  Correlator(const Plan& plan, const Correlation& correlation);
  ~Correlator();
  Correlator(Correlator&&) noexcept;
  Correlator& operator=(Correlator&&) noexcept;
  Part channels() const;           // this process's, of those that are left when neighbours are summed
  std::size_t baselines() const;   // of all stations
  std::size_t size() const;        // complex values of one integration of this process's channels
  std::size_t bytes_sent() const;  // by this process so far
  // By all, with spectra of the same times: this process's stations in, its channels out: integration, baseline,
  // channel, polarization of i and of j. Returns the integrations written.
  std::size_t due(std::size_t spectra) const;
  std::size_t push(std::span<const std::complex<float>> spectra, std::size_t times, std::span<std::complex<float>> out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridge::mpi::filterbank
