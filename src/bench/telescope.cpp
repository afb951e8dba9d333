// ridge bench telescope: a telescope's whole chain on one device, from voltages to candidates, and its real-time
// factor.
#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>
#include <ridge/search.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "bench/bench.hpp"
#include "device/random.hpp"
#include "device/timing.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/separate.hpp"
#include "search/device/byte_beams.hpp"
#include "search/device/pulses.hpp"

namespace ridge::cli {
namespace {

constexpr std::size_t kSum = 8, kHeld = 4, kWidest = 32;  // spectra per power; calls of voltages; samples of a boxcar
constexpr std::size_t kPlanes = 8;                        // beams per call of ByteBeams::bytes
constexpr float kLevels = 24;                             // rms of the rounded spectra
constexpr int kByteMean = 60, kByteSigma = 10;            // as ByteBeams::bytes writes them

struct TelescopeCase {
  std::size_t stations = 64, channels = 4096, taps = 8, beams = 512, trials = 4096;
  std::size_t spectra = 2048, samples = 24576;  // per call of the bank; of power per search
  double bandwidth_mhz = 400, top_mhz = 1600;
  double threshold = 8;
};

class TelescopeChain {
 public:
  TelescopeChain(const Device& device, const TelescopeCase& wanted)
      : device_(device),
        queue_(device.queue()),
        wanted_(wanted),
        shape_{
            .stations = wanted.stations, .beams = wanted.beams, .channels = wanted.channels, .times = wanted.spectra},
        bank_problem_(filterbank::complete(bank_problem(wanted))),
        geometry_(filterbank::resolve(bank_problem_)),
        beams_(device, shape_),
        dedispersion_(device, search_problem(wanted), {.most_seconds = 10, .variant = "tree"}) {
    if (wanted.samples % per_call() != 0 || wanted.samples < history()) {
      mistake(
          fmt::format("bench telescope: --samples must be a multiple of {} ({} spectra by {}) of at least {} (the "
                      "longest delay), got {}",
                      per_call(), wanted.spectra, kSum, history(), wanted.samples));
    }
    const auto widths = search::boxcar_widths(kWidest);
    const std::vector<float> limits(widths.size(), static_cast<float>(wanted.threshold));
    pulses_ = std::make_unique<search::DevicePulses>(dedispersion_, widths, limits);
    voltages_ = device.buffer((kHeld * wanted.spectra + wanted.taps) * values(), {.name = "voltages"});
    spectra_ = device.buffer(wanted.spectra * values() * 2, {.name = "spectra"});
    packed_ = device.buffer(shape_.packed_bytes(), {.name = "packed spectra"});
    weights_ = device.buffer(shape_.weight_bytes(), {.name = "beam weights"});
    power_ = device.buffer(power_bytes(), {.name = "power"});
    kept_ = device.buffer(wanted.channels * history(), {.name = "samples of the longest delay"});
    for (std::size_t b = 0; b < wanted.beams; ++b) {
      planes_.push_back(device.buffer(wanted.channels * dedispersion_.row(), {.name = "power of a beam"}));
      queue_.fill(planes_.back(), std::byte{kByteMean});
    }
    fill_voltages();
    fill_random(queue_, weights_, Numbers::bits, 2);
    set_scale();
    choose_bank();
    choose_beams();
  }

  // One block of wanted.samples power samples through all stages; adds to seconds().
  void run_block() {
    for (std::size_t done = 0; done < wanted_.samples; done += bins()) {
      for (std::size_t at = 0; at < bins(); at += per_call(), ++calls_) {
        timed("channelize", [&] { channelize(); });
        timed("pack", [&] { beams_.pack(queue_, spectra_, packed_); });
        timed("beamform", [&] { beams_.power(queue_, packed_, weights_, power_, bins(), at); });
      }
      timed("power to bytes", [&] {
        for (std::size_t b = 0; b < wanted_.beams; b += kPlanes) {
          beams_.bytes(queue_, power_, b, bins(), 1,
                       std::span(planes_).subspan(b, std::min(kPlanes, wanted_.beams - b)), dedispersion_.row(),
                       history() + done);
        }
      });
    }
    inject();
    timed("search", [&] { search_beams(); });
    timed("keep the delays' samples", [&] {
      const std::size_t row = dedispersion_.row();
      for (const Buffer& plane : planes_) {
        const ByteBox box{.bytes = history(), .rows = wanted_.channels};
        queue_.copy(plane, {.offset = wanted_.samples, .row = row}, kept_, {}, box);
        queue_.copy(kept_, {}, plane, {.row = row}, box);
      }
    });
  }

  // Compares samples of the last call with plain sums: spectra with the bank's definition on the device, power with
  // products of the spectra and the weights. Returns what differs.
  std::vector<std::string> compare() {
    constexpr std::size_t kTimes = 8;  // of the last call
    std::vector<std::string> wrong;
    const std::size_t values = this->values(), from = wanted_.spectra - kTimes, row = shape_.row_bytes();
    std::vector<std::int8_t> ours(kTimes * values * 2);
    queue_.download(spectra_, ours.data(), ours.size(), from * values * 2);
    const std::vector<float> expected =
        spectra_by_definition(wanted_.taps - 1 + (calls_ - 1) % kHeld * wanted_.spectra + from, kTimes);
    queue_.finish();
    std::size_t otherwise = 0, far = 0;  // rounded otherwise; by more than one
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const double wanted = std::rint(std::clamp(expected[i] * scale_, -127.0F, 127.0F)),
                   gap = std::abs(ours[i] - wanted);
      otherwise += gap <= 0 ? 0 : 1;  // also for NaN
      far += gap <= 1 ? 0 : 1;
    }
    if (far > 0 || otherwise > ours.size() / 1000)
      wrong.push_back(fmt::format("channelize differs from its definition in {} of {} bytes, by more than one in {}",
                                  otherwise, ours.size(), far));
    std::size_t differing = 0;
    float sum = 0;
    constexpr std::size_t kSums = 64;
    std::vector<std::int8_t> weights(2 * row);
    for (std::size_t i = 0; i < kSums; ++i) {
      const std::size_t c = i * 2654435761 % wanted_.channels, b = i * 40503 % wanted_.beams;
      double plain = 0;
      for (std::size_t p = 0; p < 2; ++p) {
        const std::size_t weight_row = (c * 2 + p) * shape_.padded() * 2 + b / 8 * 16 + b % 8;
        for (std::size_t part = 0; part < 2; ++part)
          queue_.download(weights_, weights.data() + part * row, row, (weight_row + 8 * part) * row);
        queue_.finish();
        for (std::size_t t = 0; t < kTimes; ++t) {
          double parts[2] = {0, 0};
          for (std::size_t k = 0; k < 2 * wanted_.stations; ++k) {
            const std::size_t at =
                t * values + (p * wanted_.stations + k / 2) * wanted_.channels + wanted_.channels - 1 - c;
            for (std::size_t part = 0; part < 2; ++part)
              parts[part] += static_cast<double>(ours[2 * at + k % 2]) * weights[part * row + k];
          }
          plain += parts[0] * parts[0] + parts[1] * parts[1];
        }
      }
      queue_.download(power_, &sum, sizeof(sum), ((b * wanted_.channels + c) * bins() + bins() - 1) * sizeof(float));
      queue_.finish();
      if (!(std::abs(sum - plain) <= 1e-5 * std::max(plain, 1.0))) ++differing;
    }
    if (differing != 0)
      wrong.push_back(fmt::format("power of beams differs from plain sums in {} of {} samples", differing, kSums));
    return wrong;
  }

  double sky_seconds() const { return static_cast<double>(wanted_.samples) * interval(wanted_); }
  const std::map<std::string, double>& seconds() const { return seconds_; }
  void forget_times() { seconds_.clear(); }
  const std::string& bank() const { return bank_text_; }
  const search::Plan& dedispersion() const { return dedispersion_; }
  double beam_operations() const { return shape_.operations() * static_cast<double>(wanted_.samples / per_call()); }

  bool pulse_found() const { return pulse() != candidates_.end(); }
  std::string found() const {
    const auto ours = pulse();
    std::string text = fmt::format("{} candidates above {} sigma{}; ", candidates_.size(), wanted_.threshold,
                                   crowded_ > 0 ? fmt::format(", {} crowded blocks", crowded_) : "");
    if (ours == candidates_.end()) return text + "none of them is the pulse that was added to the power of one beam";
    return text +
           fmt::format("pulse added to the power of beam {}: trial {}, S/N {:.1f}; found at trial {}, S/N {:.1f}",
                       ours->first, wanted_.trials / 2, pulse_snr_, ours->second.best.trial, ours->second.best.snr);
  }

 private:
  using Candidates = std::vector<std::pair<std::size_t, search::Cluster>>;  // of a beam
  Candidates::const_iterator pulse() const {
    return std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& one) {
      return one.first == wanted_.beams / 2 && one.second.best.begin + 4 >= pulse_at() &&
             one.second.best.begin <= pulse_at() + 4;
    });
  }
  static double interval(const TelescopeCase& wanted) {
    return static_cast<double>(kSum * wanted.channels) / (wanted.bandwidth_mhz * 1e6);
  }
  static filterbank::Problem bank_problem(const TelescopeCase& wanted) {
    return {.channels = wanted.channels,
            .taps = wanted.taps,
            .stations = wanted.stations,
            .samples = Samples::int4,
            .centred = true};
  }
  static search::Problem search_problem(const TelescopeCase& wanted) {
    const double step = wanted.bandwidth_mhz / static_cast<double>(wanted.channels);
    search::Problem problem{.band = {.channels = wanted.channels,
                                     .first_mhz = wanted.top_mhz,
                                     .step_mhz = -step,
                                     .interval = interval(wanted)},
                            .times = wanted.samples + kWidest};
    const double whole = search::delay_seconds(1, problem.band.lowest_mhz(), wanted.top_mhz);
    for (std::size_t i = 0; i < wanted.trials; ++i)
      problem.dms.push_back(whole > 0 ? static_cast<double>(i) * problem.band.interval / whole : 0);
    return problem;
  }
  std::size_t values() const { return 2 * wanted_.stations * wanted_.channels; }  // per spectrum
  std::size_t power_bytes() const { return wanted_.beams * wanted_.channels * bins() * sizeof(float); }
  std::size_t per_call() const { return wanted_.spectra / kSum; }
  // Sums of power that are normalized together, at most 2048.
  std::size_t bins() const {
    const std::size_t eight = 8 * per_call();
    return eight <= 2048 && wanted_.samples % eight == 0 ? eight : per_call();
  }
  std::size_t history() const { return dedispersion_.row() - wanted_.samples; }
  std::size_t pulse_at() const { return wanted_.samples / 2; }

  template <class Do>
  void timed(const char* stage, const Do& call) {
    const double begin = base::now();
    call();
    queue_.finish();
    seconds_[stage] += base::now() - begin;
  }
  void channelize() {
    bank_->enqueue(queue_,
                   {.samples = voltages_,
                    .spectra = spectra_,
                    .first = wanted_.taps - 1 + calls_ % kHeld * wanted_.spectra,
                    .count = wanted_.spectra},
                   *bank_weights_);
  }
  // Each beam's results are read while the next one is searched.
  void search_beams() {
    const std::vector<std::uint32_t> starts(wanted_.trials, static_cast<std::uint32_t>(wanted_.samples));
    const std::vector<std::uint32_t> lengths(wanted_.trials, static_cast<std::uint32_t>(wanted_.samples + kWidest));
    std::vector<search::Normal> normals(wanted_.trials);
    candidates_.clear();
    for (std::size_t b = 0; b <= wanted_.beams; ++b) {
      if (b < wanted_.beams) pulses_->begin(planes_[b], {.starts = starts, .lengths = lengths});
      if (b == 0) continue;
      std::vector<search::Detection> found;
      if (!pulses_->end(normals, found)) ++crowded_;
      for (const auto& group : search::friends(std::move(found)))
        candidates_.emplace_back(b - 1, search::cluster_of(group));
    }
  }
  std::vector<float> spectra_by_definition(std::size_t first, std::size_t count) {
    const filterbank::Plan definition(device_, bank_problem(wanted_), only("reference"));
    std::vector<float> values(2 * count * this->values());
    const Buffer some = device_.buffer(values.size() * sizeof(float), {.name = "spectra by definition"});
    definition.enqueue(queue_, {.samples = voltages_, .spectra = some, .first = first, .count = count});
    queue_.download(some, std::span(values));
    queue_.finish();
    return values;
  }
  // Fills the voltages with random bits that do not repeat: the search would find repetitions as pulses.
  void fill_voltages() {
    std::vector<std::byte> some(std::min<std::size_t>(voltages_.size(), std::size_t{1} << 28));
    for (std::size_t at = 0; at < voltages_.size(); at += some.size()) {
      fill_random(std::span(some), Numbers::bits, at + 1);
      queue_.upload(some.data(), voltages_, std::min(some.size(), voltages_.size() - at), at);
      queue_.finish();
    }
  }
  // Selects the fastest filter-bank kernel that writes bytes. scale_ is a factor of its weights.
  void choose_bank() {
    std::vector<double> prototype = bank_problem_.weights;
    for (double& weight : prototype) weight *= scale_;
    double least = 0;
    for (const auto& design : filterbank::on_device::byte_designs(device_, bank_problem_, geometry_)) {
      const auto before = std::pair(bank_, bank_weights_);
      bank_ = std::make_shared<filterbank::on_device::CompiledBank>(device_, design, bank_problem_.bandpass);
      bank_weights_ = bank_->prepare(prototype);
      const double seconds =
          best_device_seconds(queue_, {[&] { channelize(); }}, {.seconds = 0.01, .at_least = 2}).front();
      if (least == 0 || seconds < least) {
        least = seconds;
        bank_text_ = fmt::format("filter bank to bytes: fir {}, {} work-items, {} spectra at once", design.fir->name,
                                 design.items, design.steps);
      } else {
        std::tie(bank_, bank_weights_) = before;
      }
    }
    if (!bank_) mistake(fmt::format("bench telescope: no filter bank of {} channels writes bytes", wanted_.channels));
  }
  // Selects the beam kernel by warp groups if it gives the same powers in less time.
  void choose_beams() {
    if (!search::ByteBeams::warp_group_refusal(device_, shape_).empty()) return;
    const search::ByteBeams others(device_, shape_, true);
    const auto power_by = [&](const search::ByteBeams& one) {
      one.pack(queue_, spectra_, packed_);
      one.power(queue_, packed_, weights_, power_, bins(), 0);
      std::vector<float> some(std::min<std::size_t>(power_.size() / sizeof(float), std::size_t{1} << 24));
      queue_.download(power_, std::span(some));
      queue_.finish();
      return some;
    };
    channelize();
    const std::vector<float> expected = power_by(beams_);
    queue_.fill(power_, std::byte{0});
    const std::vector<float> found = power_by(others);
    const double apart = distance(std::span<const float>(found), std::span<const float>(expected));
    const std::vector<double> seconds =
        best_device_seconds(queue_,
                            {[&] { beams_.power(queue_, packed_, weights_, power_, bins(), 0); },
                             [&] { others.power(queue_, packed_, weights_, power_, bins(), 0); }},
                            {.seconds = 0.02, .at_least = 2});
    bank_text_ += fmt::format("\nbeams: {:.2f} ms per call, by warp groups {:.2f} ms, apart {:.1e}", 1e3 * seconds[0],
                              1e3 * seconds[1], apart);
    if (apart < 1e-5 && seconds[1] < seconds[0]) beams_ = others;
  }
  void set_scale() {
    const std::vector<float> some = spectra_by_definition(wanted_.taps - 1, 1);
    double square = 0;
    for (const float value : some) square += static_cast<double>(value) * value;
    scale_ = square > 0 ? static_cast<float>(kLevels / std::sqrt(square / static_cast<double>(some.size()))) : 1;
  }
  // Adds a dispersed pulse of two samples to the power of the middle beam, which the search has to find.
  void inject() {
    const std::size_t row = dedispersion_.row(), channels = wanted_.channels, width = 2;
    const Buffer& plane = planes_[wanted_.beams / 2];
    std::vector<std::uint8_t> bytes(channels * row);
    queue_.download(plane, std::span(bytes));
    queue_.finish();
    const double per_level = std::sqrt(static_cast<double>(channels * width)) / kByteSigma;
    const int height = std::max(1, static_cast<int>(std::lround(20 / per_level)));
    pulse_snr_ = height * per_level;
    const std::vector<std::int32_t> delays = dedispersion_.delays(wanted_.trials / 2);
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t t = 0; t < width; ++t) {
        std::uint8_t& value = bytes[c * row + pulse_at() + t + static_cast<std::size_t>(delays[c])];
        value = static_cast<std::uint8_t>(std::min(255, value + height));
      }
    }
    queue_.upload(std::span<const std::uint8_t>(bytes), plane);
    queue_.finish();
  }

  Device device_;
  Queue queue_;
  TelescopeCase wanted_;
  search::ByteBeamProblem shape_;
  filterbank::Problem bank_problem_;
  filterbank::Geometry geometry_;
  std::shared_ptr<const filterbank::on_device::CompiledBank> bank_;
  std::shared_ptr<const filterbank::on_device::DeviceWeights> bank_weights_;
  std::string bank_text_;
  search::ByteBeams beams_;
  search::Plan dedispersion_;
  std::unique_ptr<search::DevicePulses> pulses_;
  Buffer voltages_, spectra_, packed_, weights_, power_, kept_;
  std::vector<Buffer> planes_;
  float scale_ = 1;
  std::size_t calls_ = 0, crowded_ = 0;
  double pulse_snr_ = 0;
  std::map<std::string, double> seconds_;
  Candidates candidates_;
};

// Before anything is planned; trials are one sample apart, so the longest delay is their number.
void check_memory(const Device& device, const TelescopeCase& wanted) {
  const search::ByteBeamProblem shape{
      .stations = wanted.stations, .beams = wanted.beams, .channels = wanted.channels, .times = wanted.spectra};
  const std::size_t values = 2 * wanted.stations * wanted.channels, planes = wanted.beams * wanted.channels;
  const std::size_t needed = (kHeld + 2) * wanted.spectra * values + shape.packed_bytes() + shape.weight_bytes() +
                             planes * (wanted.spectra * 4 + wanted.samples + wanted.trials);
  if (needed <= device.limits().memory) return;
  mistake(fmt::format("bench telescope: needs {} of device memory, {} has {}: lower --beams, --samples or --channels",
                      base::human_bytes(static_cast<double>(needed)), device.id(),
                      base::human_bytes(static_cast<double>(device.limits().memory))));
}

BenchResult bench_telescope(const Device& device, const TelescopeCase& wanted) {
  check_memory(device, wanted);
  TelescopeChain chain(device, wanted);
  chain.run_block();  // compiles, and fills the history
  chain.forget_times();
  chain.run_block();
  BenchResult result{.explanation = chain.bank() + "\n" + chain.dedispersion().explain()};
  result.notes.push_back(chain.bank());
  double total = 0;
  for (const auto& [stage, seconds] : chain.seconds()) {
    total += seconds;
    const std::string problem = fmt::format("telescope {} stations, {} channels, {} beams, {} trials", wanted.stations,
                                            wanted.channels, wanted.beams, wanted.trials);
    const double operations = stage == "beamform" ? chain.beam_operations() : 0;
    result.rows.push_back(row_of(device, problem, stage, seconds, operations, 0));
    result.rows.back().more = {{"per_second_of_sky", seconds / chain.sky_seconds()}};
    result.notes.push_back(
        fmt::format("{} {}: {:.3f} s per second of sky", device.id(), stage, seconds / chain.sky_seconds()));
  }
  result.notes.push_back(fmt::format("{} all stages: {:.3f} s of sky in {:.3f} s, {:.3f} times real time; {}",
                                     device.id(), chain.sky_seconds(), total, chain.sky_seconds() / total,
                                     chain.found()));
  result.disagreements = chain.compare();
  if (!chain.pulse_found()) result.disagreements.push_back("the pulse added to the power of one beam was not found");
  return result;
}

}  // namespace

Workload bench_of_telescope() {
  auto wanted = std::make_shared<TelescopeCase>();
  Workload bench{.name = "telescope", .about = "Time a telescope's chain on a device, from voltages to candidates"};
  bench.footer =
      "\nExamples:\n"
      "  ridge bench telescope --device cuda:0\n"
      "  ridge bench telescope --device cuda:0 --stations 16 --channels 1024 --beams 64 --trials 1024 --samples 8192\n"
      "\nVoltages (random, 4 bits per real and imaginary part, two polarizations) are in device memory. Stages:\n"
      "polyphase filter bank with spectra rounded to bytes; reordering for the matrix units; beams and their power\n"
      "over 8 spectra and both polarizations; bytes of power; for every beam dedispersion, boxcars and a list of\n"
      "detections. Only detections are copied to the host. Weights are random.\n"
      "Trials are one sample of delay apart. After timing, samples of spectra and power are compared with plain sums.\n"
      "Between two stages, untimed, a pulse is added to the power of one beam; it must be found.";
  bench.add_options = [=](Command& command) {
    command.option("--stations", wanted->stations, "Stations, of two polarizations").shows_default().between(1, 128);
    command.option("--bandwidth", wanted->bandwidth_mhz, "Bandwidth, in MHz").shows_default().between(0.001, 1e3);
    command.option("--channels", wanted->channels, "Channels of the filter bank").shows_default().between(2, 65536);
    command.option("--taps", wanted->taps, "Taps of the filter bank").shows_default().between(1, 64);
    command.option("--beams", wanted->beams, "Beams").shows_default().between(1, 65536);
    command.option("--trials", wanted->trials, "Trial dispersion measures").shows_default().between(1, 65535);
    command.option("--spectra", wanted->spectra, "Spectra per call, a multiple of 128")
        .shows_default()
        .between(128, 1 << 20);
    command.option("--samples", wanted->samples, "Samples of power per search").shows_default().between(16, 1 << 24);
  };
  bench.tables = [=](const BenchOptions& options, const mpi::Communicator&) {
    if (wanted->spectra % 128 != 0)
      mistake(fmt::format("bench telescope: --spectra must be a multiple of 128, got {}", wanted->spectra));
    BenchTable table("Telescope", "Voltages to candidates on one device.");
    table.at_end = table.notes_first = true;
    add_accelerators(table, options, "telescope",
                     [=](const Device& device) { return bench_telescope(device, *wanted); });
    return std::vector{table};
  };
  return bench;
}

}  // namespace ridge::cli
