// Polyphase filter banks: a stream of samples in, channels out, state carried exactly.
//
//   auto bank = ridge::filterbank::plan(ridge::host(), {.channels = 256, .taps = 16, .stations = 16});
//   ridge::filterbank::Stream stream(bank);
//   std::size_t spectra = stream.push(bytes, channels);        // any number of bytes; writes the spectra that are due
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
// of the spectrum's window. The bandpass is multiplied in with it.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::filterbank {

// --- the prototype -------------------------------------------------------------------------------------------------

enum class Window { kaiser, hamming, blackman, gaussian };

// A windowed sinc, -6 dB at `width` / 2 channels from the centre, with the sum 1: a tone of amplitude 1 in the centre
// of a channel has amplitude 1 there.
struct Prototype {
  Window window = Window::kaiser;
  double shape = 0;  // kaiser: beta, 0 means 10.61; gaussian: sigma in half lengths, 0 means 0.22; others: none
  double width = 1;  // channels
};

std::vector<double> design(std::size_t channels, std::size_t taps, const Prototype& prototype = {});

// c[m * taps + i] of a prototype, and back.
std::vector<double> branch_weights(std::span<const double> prototype, std::size_t channels);
std::vector<double> prototype_of(std::span<const double> weights, std::size_t channels);

// The gain at `offset` channels from a channel's centre, in dB of the gain there.
double response_db(std::span<const double> prototype, std::size_t channels, double offset);

struct Quality {
  double leakage_db = 0;  // the worst response beyond `beyond` channels from the centre
  double ripple_db = 0;   // highest less lowest response within a quarter of a channel
  double edge_db = 0;     // half a channel from the centre
  double beyond = 0;
};
Quality quality(std::span<const double> prototype, std::size_t channels, double beyond = 1.5);

// --- analysis ------------------------------------------------------------------------------------------------------

enum class Samples { int4, int8, int16, float32 };
std::size_t bytes_of(Samples samples);  // of one complex sample
const char* to_string(Samples samples);

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

class Bank;  // a decided, ready bank (src/filterbank/bank.hpp)

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
  // Devices: enqueued, not waited for. Error{invalid_argument} where a buffer does not hold what it must.
  void enqueue(Queue& queue, const Resident& work) const;
  const std::shared_ptr<const Bank>& bank() const { return bank_; }

 private:
  std::shared_ptr<const Bank> bank_;
};

Plan plan(const Device& device, const Problem& problem, const planner::Options& options = {});

// Every variant that exists for a device, allowed or not, for `ridge bench` and the tests.
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem);

class StreamState;

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

// --- synthesis -----------------------------------------------------------------------------------------------------

// The prototype that undoes `prototype` best in the sense of least squares: `length` times as long, one value a
// sample. At critical sampling no short filter comes below about -35 dB; from 8/7 up 1.5 reaches -90 dB.
std::vector<double> dual(std::span<const double> prototype, std::size_t channels, std::size_t hop, double length = 1.5);

class SynthesisState;

// The inverse of a bank, for one stream of spectra: time, polarization, station, channel in; steps of `hop` samples
// out: step, station, sample, polarization. Nothing but a delay of delay() samples is between the input of the analysis
// and this output.
class Synthesis {
 public:
  Synthesis(const Problem& analysis, double length = 1.5);
  ~Synthesis();
  Synthesis(Synthesis&&) noexcept;
  Synthesis& operator=(Synthesis&&) noexcept;
  std::size_t hop() const;
  std::size_t delay() const;
  std::size_t step_size() const;  // complex values of one step: stations * hop * polarizations
  // As many steps as there are whole spectra in `in`; Error{invalid_argument} where `out` is shorter.
  std::size_t push(std::span<const std::complex<float>> in, std::span<std::complex<float>> out);

 private:
  std::unique_ptr<SynthesisState> state_;
};

// --- power ---------------------------------------------------------------------------------------------------------

enum class Products {
  total,   // |X|^2 + |Y|^2 (or |X|^2 of one polarization)
  powers,  // |X|^2, |Y|^2
  stokes,  // I, Q, U, V: two linear polarizations
};

struct Detection {
  Products products = Products::total;
  std::size_t times = 1;     // spectra summed
  std::size_t channels = 1;  // neighbouring channels summed; divides the number of channels
};

// Power of spectra, summed over times and channels; what is left of a sum is carried to the next push. Output: time,
// station, product, channel.
class Detector {
 public:
  Detector(const Problem& problem, const Detection& detection);
  std::size_t products() const;
  std::size_t channels() const;
  std::size_t row_size() const;  // values of one summed time
  std::size_t due(std::size_t spectra) const;
  std::size_t push(std::span<const std::complex<float>> spectra, std::span<float> out);

 private:
  std::size_t channels_, stations_, polarizations_;
  Detection detection_;
  std::size_t held_ = 0;  // spectra in the sum
  std::vector<double> sum_;
};

class PowerState;

// Samples in, power out: a bank and a detector behind it. On OpenCL and CUDA devices one kernel does both, and spectra
// are never written. However the stream is cut into pushes, the sums are the same to the last bit. No delays.
class PowerStream {
 public:
  PowerStream(const Device& device, const Problem& problem, const Detection& detection,
              const planner::Options& options = {});
  ~PowerStream();
  PowerStream(PowerStream&&) noexcept;
  PowerStream& operator=(PowerStream&&) noexcept;
  std::size_t row_size() const;  // values of one summed time: station, product, channel
  std::string variant() const;
  std::size_t due(std::size_t bytes) const;  // summed times that a push of so many bytes will write
  // Any number of bytes. Error{invalid_argument} where `out` is shorter than what is due, and nothing is taken.
  std::size_t push(std::span<const std::byte> in, std::span<float> out);

 private:
  std::unique_ptr<PowerState> state_;
};

// --- correlation ---------------------------------------------------------------------------------------------------

struct Correlation {
  std::size_t times = 256;   // spectra of one integration
  std::size_t channels = 1;  // neighbouring channels summed; divides the number of channels
};

class CorrelatorState;

// Every pair of stations behind a bank, a station with itself among them, and every pair of polarizations:
//
//   V[b][k][p][q] = sum over the times of an integration of X_i,p[k] conj(X_j,q[k]),  b = j (j + 1) / 2 + i,  i <= j
//
// Output, slowest to fastest: integration, baseline b, channel, polarization of i, polarization of j, complex float.
// Spectra come in the order of the problem. However they are cut into pushes, and however many threads work on them,
// the sums are the same to the last bit: floats over a few times, doubles over those. What is left of an integration is
// carried to the next push.
class Correlator {
 public:
  Correlator(const Problem& problem, const Correlation& correlation);
  // On a device; Order::channel is what it reads at full speed.
  Correlator(const Device& device, const Problem& problem, const Correlation& correlation);
  ~Correlator();
  Correlator(Correlator&&) noexcept;
  Correlator& operator=(Correlator&&) noexcept;
  std::size_t baselines() const;  // stations * (stations + 1) / 2
  std::size_t channels() const;
  std::size_t size() const;  // complex values of one integration
  double flops() const;      // of one time: 8 for each product
  std::size_t due(std::size_t spectra) const;
  // Returns how many integrations it wrote. Error{invalid_argument} where `out` is shorter than those due.
  std::size_t push(std::span<const std::complex<float>> spectra, std::span<std::complex<float>> out);
  // Devices: `times` spectra that are there already, whole integrations, to as many in `out`; enqueued, not waited for.
  // Apart from what push() carries.
  void enqueue(Queue& queue, const Buffer& spectra, std::size_t times, const Buffer& out);

 private:
  std::unique_ptr<CorrelatorState> state_;
};

}  // namespace ridge::filterbank
