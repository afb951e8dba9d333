// Filter banks whose stations are distributed over processes; options as in ridge::filterbank. Each process supplies
// the samples of its own stations and keeps their spectra, or the root has the whole stream. A correlator redistributes
// from stations to channels. Results are bit-identical to one process with the same variant.
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
  std::vector<std::size_t> stations = {};  // stations per process; empty: in proportion to the measured speeds
};

// Collective, with the same problem. A process may have no stations if others are faster or there are too few.
class Plan {
 public:
  Plan(const Communicator& communicator, const Device& device, const Problem& problem, const Options& options = {});
  const Problem& problem() const;            // of all stations, with designed weights
  Part stations() const;                     // this process's
  Part stations_of(std::size_t rank) const;  // any process's
  std::size_t hop() const;
  std::size_t spectrum_size() const;        // complex values per time of this process's stations
  std::size_t whole_spectrum_size() const;  // of all stations
  double flops() const;                     // per time, all processes
  std::string variant() const;              // of this process; empty if it has no stations
  std::string explain() const;
  const Device& device() const;
  const Communicator& communicator() const;

 private:
  friend class Stream;
  class Impl;
  std::shared_ptr<const Impl> impl_;
};

// A stream through the bank. start_at, set_delays and replace_weights are collective, with the same values for all
// stations. Then either each process calls push when it has samples, or all call push_from_root.
class Stream {
 public:
  explicit Stream(const Plan& plan);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Bytes of this process's own stations, laid out as a stream of those alone; nothing is sent. See filterbank::Stream.
  std::size_t due(std::size_t bytes) const;
  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out);
  // Collective: any number of bytes of all stations on the root, and its memory for all spectra; the spans of other
  // processes are ignored. Returns the number of spectra written, on every process.
  std::size_t due_from_root(std::size_t bytes) const;
  std::size_t push_from_root(std::span<const std::byte> in, std::span<std::complex<float>> out);

  std::uint64_t start_at(std::uint64_t spectrum);
  void set_delays(std::uint64_t sample,
                  std::span<const double> delays);  // one per (polarization, station), of all stations
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
  std::size_t row_size() const;        // values per summed time of this process's stations
  std::size_t whole_row_size() const;  // of all stations
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

// Correlates every pair of stations of a plan with Order::time. One exchange gives each process all stations for its
// share of the channels, which it correlates.
class Correlator {
 public:
  Correlator(const Plan& plan, const Correlation& correlation);
  ~Correlator();
  Correlator(Correlator&&) noexcept;
  Correlator& operator=(Correlator&&) noexcept;
  Part channels() const;           // this process's share, counted after neighbouring channels are summed
  std::size_t baselines() const;   // of all stations
  std::size_t size() const;        // complex values per integration of this process's channels
  std::size_t bytes_sent() const;  // by this process so far
  // Collective, with spectra of the same times. Input: this process's stations. Output: its channels as integration,
  // baseline, channel, polarization of i, polarization of j. Returns the number of integrations written.
  std::size_t due(std::size_t spectra) const;
  std::size_t push(std::span<const std::complex<float>> spectra, std::size_t times, std::span<std::complex<float>> out);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ridge::mpi::filterbank
