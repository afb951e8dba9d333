// Search for dispersed pulses in filterbank data: trial dispersion measures, dedispersion, boxcar matched filters,
// clustered candidates.
//
//   ridge::search::Stream stream(ridge::host(), {.channels = 1024, .first_mhz = 1500, .step_mhz = -0.3,
//                                                .interval = 1e-4}, {.dm_end = 500, .bits = 8});
//   stream.push(rows);                                   // times x channels, as in a .fil file; any number of bytes
//   for (const auto& found : stream.finish()) use(found.dm, found.time, found.snr, found.width);
//
// A pulse of dispersion measure DM (pc/cm^3) arrives at frequency f (MHz) later than at infinite frequency by
// kDispersion * DM / f^2 seconds. All times are those at the centre of the band's highest channel.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

namespace ridge::search {

inline constexpr double kDispersion = 4148.808;  // s MHz^2 cm^3 / pc

struct Band {
  std::size_t channels = 0;
  double first_mhz = 0;  // centre of the first channel
  double step_mhz = 0;   // to the next channel; negative: highest frequency first
  double interval = 0;   // seconds per sample

  double highest_mhz() const;  // centres of the outermost channels
  double lowest_mhz() const;
};

// Seconds by which a pulse arrives later at `mhz` than at `reference_mhz`.
double delay_seconds(double dm, double mhz, double reference_mhz);

// Trials of one sample interval: `factor` input samples are added to one.
struct Segment {
  std::size_t factor = 1;
  std::vector<double> dms = {};  // ascending
};

struct TrialOptions {
  double dm_begin = 0, dm_end = 1000;
  // Between two trials a pulse is at most this many times as wide as at its own dispersion measure.
  double tolerance = 1.05;
  double pulse_seconds = 40e-6;  // intrinsic width that the tolerance refers to
  std::size_t most_factor = 64;
  double smear_per_sample = 1;  // samples are added in pairs where a channel's smearing exceeds this many samples
};
// The last trial is dm_end. Adds samples in pairs as the channels' own smearing allows. Error{invalid_argument} for a
// band or a range that is impossible.
std::vector<Segment> plan_trials(const Band& band, const TrialOptions& options);

// Dedispersion: sums of one byte per channel, each channel delayed, for many dispersion measures.
struct Problem {
  Band band = {};                // highest frequency first
  std::vector<double> dms = {};  // ascending, not negative
  std::size_t times = 0;         // samples of each output series
  std::size_t row = 0;           // input samples per channel; 0: as many as needed
  std::size_t threads = 0;       // host: 0 = all
  bool exact = false;            // only variants whose delays are off by at most half a sample
};

struct PlanState;

// Cheap to copy; any number of threads may run one plan.
class Plan {
 public:
  Plan(const Device& device, const Problem& problem, const planner::Options& options = {.effort = Effort::quick});

  std::size_t row() const;  // input samples per channel: at least times and the longest delay
  // in: channels x row() bytes. out: trials x times sums: whole numbers, except those of `fourier`, which interpolates.
  void run(std::span<const std::uint8_t> in, std::span<float> out) const;
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const;

  // Delays in samples per channel that the variant applies to a trial. Brute force rounds to the nearest sample; the
  // tree's delays differ from these by about one; `fourier` applies exact delays, of which this returns the rounded
  // ones.
  std::vector<std::int32_t> delays(std::size_t trial) const;
  // 0: delays are whole samples. Else (`fourier`) they are exact: each channel is extended by its mean and interpolated
  // by the periodic sinc of this many samples.
  std::size_t interpolates() const;
  // Mean share of brute force's S/N that the variant keeps for pulses of this many samples.
  double kept(std::size_t width) const;

  std::string explain() const;
  const std::vector<planner::Decision>& decisions() const;
  const std::vector<KernelSource>& kernels() const;
  const Device& device() const;
  const Problem& problem() const;
  double flops() const;  // additions of brute force
  double bytes() const;

 private:
  std::shared_ptr<const PlanState> state_;
};

inline Plan plan(const Device& device, const Problem& problem,
                 const planner::Options& options = {.effort = Effort::quick}) {
  return Plan(device, problem, options);
}
std::vector<planner::Candidate> candidates(const Device& device, const Problem& problem);

struct Candidate {
  double time = 0;                   // seconds from the first sample to the middle of the pulse
  double dm = 0;                     // pc/cm^3
  double snr = 0;                    // boxcar sum / (sigma * sqrt(width))
  double width = 0;                  // seconds
  std::size_t samples = 0;           // width in input samples
  std::uint64_t sample = 0;          // first input sample of the pulse at the highest frequency
  std::size_t members = 0;           // detections joined in this candidate
  double dm_first = 0, dm_last = 0;  // range of the members
};

// Excision of interference, before the search. Flagged samples are replaced by their channel's mean.
struct Flagging {
  double threshold = 0;         // SumThreshold along time and frequency: first limit in sigma; 0: off
  double channel_sigma = 0;     // flags channels that differ from their neighbours by this many sigma; 0: off
  std::size_t kurtosis = 0;     // generalized spectral kurtosis over this many samples; 0: off
  double shape = 1;             // kurtosis: powers per sample times 1 (complex) or 1/2 (real)
  double false_alarm = 0.0027;  // kurtosis: share of noise flagged
};

struct Settings {
  double dm_begin = 0, dm_end = 1000, tolerance = 1.05;
  double threshold = 7;                       // S/N of the weakest candidate
  std::size_t widest = 256;                   // widest boxcar, in input samples
  std::size_t bits = 8;                       // per value: 1, 2, 4, 8, 16 (unsigned) or 32 (float)
  bool is_signed = false;                     // 8 bits: signed bytes
  std::size_t block = 0;                      // input samples per block; 0: from the delays, the widths and `memory`
  std::size_t memory = std::size_t{1} << 30;  // bytes that a block's arrays should not exceed
  std::size_t most_per_block = 1000;          // candidates per block; more are reported as interference
  std::size_t threads = 0;
  // Finds narrow pulses near the threshold too: exact delays, and samples are added in pairs only where the smearing
  // exceeds two. Takes two to ten times as long.
  bool exact = false;
  Flagging flagging = {};
};

struct Report {
  std::uint64_t samples = 0;            // of the input
  std::uint64_t flagged = 0;            // values replaced by the mean
  std::uint64_t not_numbers = 0;        // NaN and infinite values, which are flagged
  std::uint64_t constant_channels = 0;  // of all blocks
  std::size_t crowded_blocks = 0;       // blocks with more than `most_per_block` candidates
  double seconds_dedispersion = 0, seconds_boxcars = 0, seconds_input = 0;
};

struct StreamState;

class Stream {
 public:
  Stream(const Device& device, const Band& band, const Settings& settings,
         const planner::Options& options = {.effort = Effort::quick});
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Appends rows of samples, one value per channel in the band's order. Any number of bytes.
  void push(std::span<const std::byte> bytes);
  // Mask of the block being searched: one bit per value, in the input's order of rows and channels, 1 = flagged. Called
  // once per block, in order.
  void on_mask(std::function<void(std::span<const std::byte> bits, std::size_t rows)> take);
  // Flags for the values to be pushed, in the same form; added to those found here. A stream has them for all of its
  // rows or for none.
  void push_mask(std::span<const std::byte> bits);

  std::vector<Candidate> take();    // candidates that no later sample can change, in the order of time
  std::vector<Candidate> finish();  // ends the input; the remaining candidates

  const std::vector<Segment>& segments() const;
  std::size_t trials() const;
  std::size_t block() const;  // input samples
  std::vector<Plan> plans() const;
  std::string explain() const;
  const Report& report() const;

 private:
  std::unique_ptr<StreamState> state_;
};

// Noise with pulses of known dispersion measure, width and S/N, for tests and lessons.
struct Pulse {
  double dm = 0, time = 0;  // at the highest frequency: the pulse's first sample contains `time`
  std::size_t samples = 1;  // width
  double snr = 0;           // after quantization, over all channels, of the best boxcar at the nearest delays
};
struct Simulation {
  Band band = {};
  std::size_t bits = 8;
  std::uint64_t seed = 1;
  std::vector<Pulse> pulses = {};
  // Pulses begin between samples and are smeared within each channel, as dispersed signals are. False: their samples
  // are whole, at the delays of brute force.
  bool smeared = false;
};
// Writes rows [first, first + rows) to `out`, rows * channels * bits / 8 bytes. Every value depends on the seed, its
// channel and its sample alone.
void simulate(const Simulation& simulation, std::uint64_t first, std::size_t rows, std::span<std::byte> out);

}  // namespace ridge::search
