// Plans of polyphase filter banks, and streams of samples through them.
//
// Spectrum t of a station and polarization, with a prototype h of channels * taps values and one spectrum every `hop`
// samples (hop = channels * denominator / numerator of the oversampling):
//
//   X[t][k] = sum over n of h[newest - n] x[n] exp(-2 pi i k n / channels),   newest = (t + 1) * hop - 1
//
// Samples before the first one are 0. With hop = channels this is a FIR of `taps` weights c[m][i] = h[i * channels +
// (channels - 1 - m)] per branch m (tap 0 is the newest block), followed by a forward FFT over the branches.
//
// Input, slowest to fastest: block of `input_block` samples, station, sample, polarization, complex. Output: time,
// polarization, station, channel, complex float; or Order::channel. int4: low nibble real, high nibble imaginary, two's
// complement.
//
// Delay correction: a station receives its signal tau samples late (x[n] = s(n - tau) exp(-2 pi i f tau), f is the sky
// frequency of the band centre in cycles per sample). The bank reads the station d = round(tau) samples later and
// applies a phase: X[t][k] of x[n + d] times exp(2 pi i (f tau + k (tau - d) / channels)), k signed. tau is taken at
// the middle of the spectrum's window. Both polarizations of a station use d = round(tau) of the first one; each has
// the phase of its own tau. The bandpass is multiplied in the same step.
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
std::size_t bytes_of(Samples samples);  // per complex sample

struct Ratio {
  std::size_t numerator = 1, denominator = 1;
};

// Order of the output, slowest to fastest.
enum class Order {
  time,     // time, polarization, station, channel
  channel,  // block of `output_times` times, channel, station, polarization, time: the input order of a correlator
};

// Correction of station delays, which Stream::set_delays supplies.
struct DelayTracking {
  bool wanted = false;
  double frequency = 0;     // sky frequency of the band centre in cycles per sample: f / sample rate
  std::size_t longest = 0;  // whole samples of delay are 0 to this; spectra are delayed by this number of samples
};

struct Problem {
  std::size_t channels = 256, taps = 16;
  std::size_t stations = 1;
  std::size_t polarizations = 2;  // 1 or 2
  Samples samples = Samples::int8;
  Ratio oversampling = {};        // at least 1; channels * denominator / numerator must be an integer
  Prototype prototype = {};       // designed if `weights` is empty
  std::vector<double> weights{};  // a prototype of channels * taps values, newest sample's weight first
  std::size_t input_block = 0;    // consecutive samples of one station; 0: channels
  bool centred = false;           // channel 0 is the lowest frequency, channels / 2 the centre; even channels only
  // Factors of the channels: none, one per channel, or one per (polarization, station, channel).
  std::vector<std::complex<float>> bandpass{};
  Order order = Order::time;
  std::size_t output_times = 16;  // Order::channel: spectra per block; only whole blocks are written
  DelayTracking delays = {};
  std::size_t threads = 0;  // host: 0 = all
};

// Samples and spectra in memory of the plan's device. `samples` begins with sample number `start` of each station: 0,
// or a multiple of the input block at or before the first sample that a spectrum needs. Spectra first .. first + count
// are written to the beginning of `spectra`.
struct Resident {
  Buffer samples{};
  std::uint64_t start = 0;
  Buffer spectra{};
  std::uint64_t first = 0;
  std::size_t count = 0;
  // Problems with delays: in samples, one per (polarization, station), the same for all spectra of the call.
  std::vector<double> delays{};
};

class Bank;
class StreamState;
class Adjoint;  // <ridge/filterbank/adjoint.hpp>

// Cheap to copy. May be shared by any number of streams and threads.
class Plan {
 public:
  Plan(const Device& device, const Problem& problem, const planner::Options& options = {});
  const Problem& problem() const;     // with designed weights
  std::size_t hop() const;            // samples from one spectrum to the next
  std::size_t spectrum_size() const;  // complex values per time: polarizations * stations * channels
  std::size_t history() const;        // samples before the newest one that a spectrum depends on
  double flops() const;               // per time: FIR and FFT, all stations
  double bytes() const;               // per time: samples read once, channels written once
  std::string variant() const;        // the chosen variant: "fused(rows=32)"
  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;  // one
  const std::vector<KernelSource>& kernels() const;         // compiled kernels; empty on the host
  const Device& device() const;
  // Processes a whole stream from its first byte, as Stream(plan).push(in, out); returns the number of spectra.
  std::size_t run(std::span<const std::byte> in, std::span<std::complex<float>> out) const;
  // Devices: enqueued, not waited for. Error{invalid_argument} if a buffer is too short.
  void enqueue(Queue& queue, const Resident& work) const;
  Adjoint adjoint() const;  // gradients with respect to samples and weights, on the host

 private:
  friend class StreamState;
  planner::Exchangeable<Bank> bank_;
};

Plan plan(const Device& device, const Problem& problem, const planner::Options& options = {});

// Every variant that exists for a device, allowed or not, for `ridge bench` and the tests.
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem);

// One stream of samples through a bank. The spectra are bit-identical for any division into pushes.
class Stream {
 public:
  explicit Stream(const Plan& plan);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Number of spectra that a push of `bytes` bytes will write; Order::channel: a multiple of output_times.
  std::size_t due(std::size_t bytes) const;
  // Accepts any number of bytes, also parts of samples, and writes due(in.size()) spectra of plan.spectrum_size()
  // values. Returns their number. Error{invalid_argument} if `out` is shorter; nothing is then consumed.
  std::size_t push(std::span<const std::byte> in, std::span<std::complex<float>> out);
  template <class T>
  std::size_t push(std::span<const T> in, std::span<std::complex<float>> out) {
    return push(std::as_bytes(in), out);
  }

  // Starts an unused stream at this spectrum (Order::channel: the first of a block). Returns the number of the first
  // sample of each station that must be pushed, a multiple of the input block; earlier samples are not used.
  std::uint64_t start_at(std::uint64_t spectrum);

  std::uint64_t bytes() const;    // position in the stream: consumed so far, or skipped by start_at
  std::uint64_t samples() const;  // complete samples of each station, consumed so far
  std::uint64_t spectra() const;  // written so far

  // Replaces the prototype from the first spectrum whose newest sample has this number or a later one. Error if such a
  // spectrum has already been written. Several replacements may be pending.
  void replace_weights(std::span<const double> weights, std::uint64_t sample);

  // Sets the delays in samples, one per (polarization, station), at a sample number. Delays are interpolated linearly
  // between such points and constant before the first and after the last. Points must be in order. Error if a spectrum
  // after the previous point has already been written, because this point would change it, or if a delay does not round
  // to 0 .. delays.longest.
  void set_delays(std::uint64_t sample, std::span<const double> delays);

  // The complete state for a later process to continue exactly: held samples, counts, weights, delays, variant.
  std::string save() const;
  // Error{io} for a damaged state, Error{invalid_argument} for a state of another problem or variant.
  void restore(std::string_view state);

 private:
  std::unique_ptr<StreamState> state_;
};

// The variant with which a saved state was made; plan the same one to restore it.
std::string variant_of_state(std::string_view state);

// Lost samples, which are zeros in the stream.
struct Hole {
  std::uint64_t first = 0, samples = 0;  // of each station
};
struct SpectrumRange {
  std::uint64_t first = 0, end = 0;
};
// The spectra whose window overlaps a hole, in order, without duplicates. `holes` must be in order. With delays: all
// spectra that may overlap, for any delay within the limits.
std::vector<SpectrumRange> flagged(const Problem& problem, std::span<const Hole> holes);

}  // namespace ridge::filterbank
