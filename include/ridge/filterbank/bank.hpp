// The bank itself: plans, and streams of samples through them.
//
// Spectrum t of a station and polarization, with a prototype h of channels * taps values and one spectrum every `hop`
// samples (hop = channels * denominator / numerator of the oversampling):
//
//   X[t][k] = sum over n of h[newest - n] x[n] exp(-2 pi i k n / channels),   newest = (t + 1) * hop - 1
//
// Samples before the stream's first are 0. With hop = channels this is a FIR of `taps` weights c[m][i] = h[i * channels
// + (channels - 1 - m)] a branch m (tap 0 is the newest block) and a forward FFT over the branches.
//
// Input, slowest to fastest: block of `input_block` samples, station, sample, polarization, complex. Output: time,
// polarization, station, channel, complex float; or Order::channel. int4: low nibble real, high nibble imaginary, two's
// complement.
//
// A station whose signal comes tau samples late (x[n] = s(n - tau) exp(-2 pi i f tau), f the frequency of the band's
// middle on the sky in cycles a sample) is put right by d = round(tau) whole samples, which are read further on, and by
// a phase: X[t][k] of x[n + d] times exp(2 pi i (f tau + k (tau - d) / channels)), k signed. tau is that of the middle
// of the spectrum's window. Both polarizations of a station are read d samples further on, d = round(tau) of the first;
// each has the phase of its own tau. The bandpass is multiplied in with it.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/filterbank/prototype.hpp>
#include <ridge/plan.hpp>
#include <ridge/samples.hpp>

namespace ridge::filterbank {

using ridge::Samples;                   // int4, int8, int16, float32; same is float32
std::size_t bytes_of(Samples samples);  // of one complex sample

struct Ratio {
  std::size_t numerator = 1, denominator = 1;
};

// Order of the output, slowest to fastest.
enum class Order {
  time,     // time, polarization, station, channel
  channel,  // block of `output_times` times, channel, station, polarization, time: what a correlator reads
};

// Delays of the stations that are undone; Stream::set_delays tells them.
struct DelayTracking {
  bool wanted = false;
  double frequency = 0;     // of the band's middle on the sky, in cycles a sample: f / sample rate
  std::size_t longest = 0;  // whole samples of delay are 0 to this; spectra wait for so many samples more
};

struct Problem {
  std::size_t channels = 256, taps = 16;
  std::size_t stations = 1;
  std::size_t polarizations = 2;  // 1 or 2
  Samples samples = Samples::int8;
  Ratio oversampling = {};        // at least 1; channels * denominator / numerator must be whole
  Prototype prototype = {};       // designed where `weights` is empty
  std::vector<double> weights{};  // a prototype of channels * taps values, in order of age
  std::size_t input_block = 0;    // samples of one station that lie together; 0: channels
  bool centred = false;           // channel 0 is the lowest frequency, channels / 2 the centre; even channels only
  // Factors of the channels: none, one a channel, or one a (polarization, station, channel).
  std::vector<std::complex<float>> bandpass{};
  Order order = Order::time;
  std::size_t output_times = 16;  // Order::channel: spectra of one block; only whole blocks are written
  DelayTracking delays = {};
  std::size_t threads = 0;  // host: 0 = all
};

// Samples and spectra in memory of the plan's device. `samples` holds the stream from sample number `start` of each
// station on (a multiple of the input block, at or before the first sample a spectrum depends on, or 0); spectra first
// .. first + count are written from the beginning of `spectra` on.
struct Resident {
  Buffer samples{};
  std::uint64_t start = 0;
  Buffer spectra{};
  std::uint64_t first = 0;
  std::size_t count = 0;
  // Problems with delays: in samples, one a (polarization, station), the same for all spectra of the call.
  std::vector<double> delays{};
};

class Bank;
class StreamState;

// Cheap to copy. May be shared by any number of streams and threads.
class Plan {
 public:
  Plan(const Device& device, const Problem& problem, const planner::Options& options = {});
  const Problem& problem() const;     // weights filled in
  std::size_t hop() const;            // samples from a spectrum to the next
  std::size_t spectrum_size() const;  // complex values of one time: polarizations * stations * channels
  std::size_t history() const;        // samples before the newest that a spectrum depends on
  double flops() const;               // of one time: FIR and FFT, all stations
  double bytes() const;               // of one time: samples read once, channels written once
  std::string variant() const;        // what was chosen: "fused(rows=32)"
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // one
  const std::vector<KernelSource>& kernels() const;         // what was compiled for it; none on the host
  const Device& device() const;
  // A stream by itself, from its first byte on: what Stream(plan).push(in, out) writes, and how many spectra.
  std::size_t run(std::span<const std::byte> in, std::span<std::complex<float>> out) const;
  // Devices: enqueued, not waited for. Error{invalid_argument} where a buffer does not hold what it must.
  void enqueue(Queue& queue, const Resident& work) const;

 private:
  friend class StreamState;
  std::shared_ptr<const Bank> bank_;
};

Plan plan(const Device& device, const Problem& problem, const planner::Options& options = {});

// Every variant that exists for a device, allowed or not, for `ridge bench` and the tests.
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem);

// One stream of samples through a bank. However it is cut into pushes, the spectra are the same to the last bit.
class Stream {
 public:
  explicit Stream(const Plan& plan);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Spectra a push of so many bytes will write; Order::channel: a multiple of output_times.
  std::size_t due(std::size_t bytes) const;
  // Takes any number of bytes, half samples included, and writes due(in.size()) spectra of plan.spectrum_size() values;
  // returns how many. Error{invalid_argument} where `out` is shorter, and nothing is taken.
  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out);
  template <class T>
  std::size_t push(std::span<const T> in, std::span<std::complex<float>> out) {
    return push(std::as_bytes(in), out);
  }

  // For a stream nothing was pushed to: it begins with this spectrum (Order::channel: the first of a block). Returns
  // the number of the first sample (of each station, a multiple of the input block) that is to be pushed; those before
  // are not looked at.
  std::uint64_t start_at(std::uint64_t spectrum);

  std::uint64_t bytes() const;    // position in the stream: taken so far, or skipped by start_at
  std::uint64_t samples() const;  // of each station, whole ones, taken so far
  std::uint64_t spectra() const;  // written so far

  // Another prototype, from the first spectrum whose newest sample has this number or a later one. Error where such a
  // spectrum has been written already. Several may wait.
  void replace_weights(std::span<const double> weights, std::uint64_t sample);

  // Delays in samples, one a (polarization, station), at a sample number: linear from one such point to the next,
  // constant before the first and behind the last. Points come in order; Error where a spectrum behind the point before
  // has been written already, which this one would change, or where a delay does not round to 0 .. delays.longest.
  void set_delays(std::uint64_t sample, std::span<const double> delays);

  // Everything a later process needs to go on exactly: samples held, counts, weights, delays, the variant.
  std::string save() const;
  // Error{io} for a damaged state, Error{invalid_argument} for one of another problem or variant.
  void restore(std::string_view state);

 private:
  std::unique_ptr<StreamState> state_;
};

// The variant a saved state was made with, to plan the same one.
std::string variant_of_state(std::string_view state);

// Samples that were lost and are zeros in the stream.
struct Hole {
  std::uint64_t first = 0, samples = 0;  // of each station
};
struct SpectrumRange {
  std::uint64_t first = 0, end = 0;
};
// The spectra whose window touches a hole, in order, none twice. Holes in order. With delays those that might, whatever
// the whole samples of delay are.
std::vector<SpectrumRange> flagged(const Problem& problem, std::span<const Hole> holes);

}  // namespace ridge::filterbank
