// The LOFAR study's form for its many-core machine: a family of threads over the stations; each of them creates, per
// spectrum, a family over the channels that computes the FIR, and then runs the station's FFT. Block size and thread
// table size are parameters.
#include <algorithm>

#include <fmt/format.h>

#include "filterbank/host/output.hpp"
#include "filterbank/host/plain_rows.hpp"
#include "filterbank/host/thread_table.hpp"

namespace ridge::filterbank {
namespace {

class Families final : public Variant {
 public:
  Families(const Problem& problem, const Geometry& g, std::size_t block, std::size_t entries)
      : geometry_(g),
        bandpass_(problem.bandpass),
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
      rows.load(job.raw, station, row);
      const std::size_t newest = rows.slot_of(row);
      table.create(core, g.channels, block_, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t m = begin; m < end; ++m) filter_channel(g, rows, newest, weights, m);
      });
      for (std::size_t p = 0; p < g.polarizations; ++p) {
        line_->run(fft::Direction::forward, reinterpret_cast<const std::complex<float>*>(rows.branches(p)),
                   output.row(t, p), rows.fft());
        output.finish(t, p);
      }
    }
  }

  Geometry geometry_;
  std::vector<std::complex<float>> bandpass_;
  std::size_t block_, entries_;
  std::shared_ptr<const fft::LineKernel<float>> line_;
  std::size_t scratch_;
  mutable fft::ScratchPool<float> pool_;
};

}  // namespace

void list_host_families(const Device&, const Problem& problem, const Geometry& geometry, std::vector<Entry>& entries) {
  double efficiency = 0.04;
  for (const auto& [block, table] : {std::pair<std::size_t, std::size_t>{64, 256}, {16, 64}}) {
    entries.push_back(
        {{.variant = "families",
          .parameters = {{"block", fmt::format("{}", block)}, {"table", fmt::format("{}", table)}},
          .refusal = needs_critical(geometry),
          .cost = host_cost(geometry, efficiency)},
         {},
         [problem, geometry, b = block, n = table] { return std::make_shared<Families>(problem, geometry, b, n); }});
    efficiency *= 0.9;
  }
}

}  // namespace ridge::filterbank
