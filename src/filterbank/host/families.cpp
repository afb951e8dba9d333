// The LOFAR study's forms for its many-core machine (thesis, section 4.8): a family of threads over the stations; each
// of them creates, per spectrum, families that compute the FIR, and then runs the station's FFT. Block size and thread
// table size are parameters. Forms: a thread per channel; a thread per tap (the study's first version); two stages, a
// thread per channel that converts its samples and then one that filters.
#include <algorithm>

#include <fmt/format.h>

#include "filterbank/host/kernels.hpp"
#include "filterbank/host/output.hpp"
#include "filterbank/host/plain_rows.hpp"
#include "filterbank/host/thread_table.hpp"

namespace ridge::filterbank {
namespace {

enum class Form { channels, taps, two_stages };

class Families final : public Variant {
 public:
  Families(const Problem& problem, const Geometry& g, Form form, std::size_t block, std::size_t entries)
      : geometry_(g),
        bandpass_(problem.bandpass),
        form_(form),
        block_(block),
        entries_(entries),
        line_(channel_fft(g.channels)),
        scratch_(whole_lines(PlainScratch::floats(g, *line_))),
        pool_(g.threads, (scratch_ + Output::floats(g) + 1) / 2, 0, 1) {}

  std::shared_ptr<const Weights> prepare(std::span<const double> prototype) const override {
    return std::make_shared<TapWeights>(geometry_, prototype);
  }

  void run(const Job& job) const override {
    if (job.spectra == 0) return;
    const auto loan = pool_.lend();
    ThreadTable table(geometry_.threads, entries_);
    // A core processes one station at a time, whose rows stay in its cache.
    table.run(geometry_.stations, 1, [&](std::size_t core, std::size_t begin, std::size_t end) {
      auto* const scratch = reinterpret_cast<float*>(loan->of_thread[core]);
      for (std::size_t station = begin; station < end; ++station) one_station(job, station, table, core, scratch);
    });
  }

 private:
  void one_station(const Job& job, std::size_t station, ThreadTable& table, std::size_t core, float* scratch) const {
    const Geometry& g = geometry_;
    const Piece piece{.raw = job.raw,
                      .station = station,
                      .first = job.first,
                      .spectra = job.spectra,
                      .weights = job.weights,
                      .out = job.out,
                      .job_first = job.first,
                      .job_spectra = job.spectra,
                      .phases = job.phases};
    Output output(g, bandpass_, piece, scratch + scratch_);
    PlainScratch rows(g, scratch);
    const auto& weights = static_cast<const TapWeights&>(job.weights);
    const auto first = static_cast<std::int64_t>(job.first);
    for (std::int64_t row = g.oldest_row(job.first); row < first; ++row) rows.load(job.raw, station, row);
    for (std::size_t t = 0; t < job.spectra; ++t) {
      const std::int64_t row = first + static_cast<std::int64_t>(t);
      const std::size_t newest = rows.slot_of(row);
      if (form_ == Form::two_stages) {
        const std::byte* const from = rows.bytes(job.raw, station, row);
        table.create(core, g.channels, block_, [&](std::size_t, std::size_t begin, std::size_t end) {
          plain_row(g, from, rows.slot(newest), begin * g.polarizations, end * g.polarizations);
        });
      } else {
        rows.load(job.raw, station, row);
      }
      if (form_ == Form::taps) {
        for (std::size_t m = 0; m < g.channels; m += kBlock)
          filter_by_taps(table, core, rows, newest, weights, m, std::min(kBlock, g.channels - m));
      } else {
        table.create(core, g.channels, block_, [&](std::size_t, std::size_t begin, std::size_t end) {
          for (std::size_t m = begin; m < end; ++m) filter_channel(g, rows, newest, weights, m);
        });
      }
      for (std::size_t p = 0; p < g.polarizations; ++p) {
        line_->run(fft::Direction::forward, reinterpret_cast<const std::complex<float>*>(rows.branches(p)),
                   output.row(t, p), rows.fft());
        output.finish(t, p);
      }
    }
  }

  // A thread per channel and tap multiplies; then a thread per channel adds the products of its taps, newest first.
  void filter_by_taps(ThreadTable& table, std::size_t core, const PlainScratch& rows, std::size_t newest,
                      const TapWeights& weights, std::size_t first, std::size_t channels) const {
    const Geometry& g = geometry_;
    const std::size_t values = 2 * g.polarizations;  // per channel and tap
    const auto product = [&](std::size_t channel, std::size_t tap) {
      return rows.block() + (channel * g.taps + tap) * values;
    };
    table.create(core, channels * g.taps, block_, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t channel = i / g.taps, tap = i % g.taps, slot = (newest + g.taps - tap) % g.taps;
        const float* const x = rows.slot(slot) + (first + channel) * values;
        const float w = weights.tap(tap)[first + channel];
        for (std::size_t v = 0; v < values; ++v) product(channel, tap)[v] = w * x[v];
      }
    });
    table.create(core, channels, block_, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t channel = begin; channel < end; ++channel) {
        for (std::size_t v = 0; v < values; ++v) {
          float sum = 0;
          for (std::size_t tap = 0; tap < g.taps; ++tap) sum += product(channel, tap)[v];
          rows.branches(v / 2)[2 * (first + channel) + v % 2] = sum;
        }
      }
    });
  }

  Geometry geometry_;
  std::vector<std::complex<float>> bandpass_;
  Form form_;
  std::size_t block_, entries_;
  std::shared_ptr<const fft::LineKernel<float>> line_;
  std::size_t scratch_;
  mutable fft::ScratchPool<float> pool_;
};

}  // namespace

void list_host_families(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  struct Choice {
    Form form;
    const char* name;
    std::size_t block, table;
    double efficiency;
  };
  for (const Choice& one :
       {Choice{Form::channels, "", 64, 256, 0.04}, Choice{Form::channels, "", 16, 64, 0.036},
        Choice{Form::two_stages, "two_stages", 64, 256, 0.03}, Choice{Form::taps, "taps", 256, 256, 0.005}}) {
    std::vector<std::pair<std::string, std::string>> parameters;
    if (one.form != Form::channels) parameters.emplace_back("form", one.name);
    parameters.emplace_back("block", fmt::format("{}", one.block));
    parameters.emplace_back("table", fmt::format("{}", one.table));
    entries.push_back({planner::Candidate{.variant = "families",
                                          .parameters = std::move(parameters),
                                          .refusal = needs_critical(geometry),
                                          .cost = host_cost(geometry, one.efficiency)},
                       {},
                       [problem, geometry, one] {
                         return std::make_shared<Families>(problem, geometry, one.form, one.block, one.table);
                       }});
  }
}

}  // namespace ridge::filterbank
