// SimpleFlow on the host: runs the stages of a pair over the thread pool.
#include "image/flow/host/host_flow.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/threads.hpp"
#include "image/flow/host/workspace.hpp"
#include "image/flow/weights.hpp"

namespace ridge::image::flow {
namespace {

constexpr int kRowsPerTask = 8;
constexpr int kSearchedRows =
    2;  // rows per task: even because blocks are; two rows already take longer than many a stage

// Dynamic scheduling of tasks [0, count) over threads.
void each_task(std::size_t threads, int count, const std::function<void(int task, std::size_t thread)>& task) {
  base::each_item(threads, static_cast<std::size_t>(count),
                  [&](std::size_t i, std::size_t thread) { task(static_cast<int>(i), thread); });
}

// Runs blocks of `grain` rows as tasks, for each direction or frame.
void each_rows(std::size_t threads, int rows, int directions, int grain,
               const std::function<void(std::size_t direction, int begin, int end)>& task) {
  const int tasks = (rows + grain - 1) / grain;
  each_task(threads, tasks * directions, [&](int i, std::size_t) {
    const int begin = i / directions * grain;
    task(static_cast<std::size_t>(i % directions), begin, std::min(begin + grain, rows));
  });
}

// Divides the rows into bands for dynamic scheduling. On sixteen cores of unequal speed, 33 bands took 1.26 times the
// ideal time and 65 bands finished nearly together. The overlap rows of a band cost a fifth of it at 6 rows.
Bands bands_of(int radius, Size size, const Kernels& kernels) {
  Bands bands;
  bands.reach = radius + 2;
  bands.rows = std::clamp(size.rows / 64 / 2 * 2, 6, 32);
  bands.pitch = kernels.filter_pitch(size.columns, radius);
  bands.each = static_cast<std::size_t>(bands.pitch) * 3 * static_cast<std::size_t>(bands.rows + bands.reach);
  return bands;
}

}  // namespace

HostFlow::HostFlow(const FlowProblem& problem, const Kernels& kernels, std::size_t threads)
    : problem_(problem), kernels_(kernels), threads_(threads == 0 ? base::hardware_threads() : threads) {
  const FlowParameters& p = problem.parameters;
  Size size{static_cast<int>(problem.rows), static_cast<int>(problem.columns)};
  bands_[0] = bands_of(p.upscale_averaging_radius, half(size), kernels);
  bands_[1] = bands_of(p.postprocess_window, size, kernels);
  for (int k = 1; k < p.layers; ++k, size = half(size)) {
    down_.push_back(halving_taps(size.rows));
    across_.push_back(halving_taps(size.columns));
  }
  free_.reserve(64);
  free_.push_back(make());
}

std::unique_ptr<Workspace> HostFlow::make() const {
  const FlowParameters& p = problem_.parameters;
  auto work = std::make_unique<Workspace>();
  const int border = std::max(kSearchBorder, p.averaging_radius + p.max_flow + 2);
  Size size{static_cast<int>(problem_.rows), static_cast<int>(problem_.columns)};
  const std::size_t finest = size.cells();
  std::size_t sums = bands_[1].each * static_cast<std::size_t>(bands_[1].count(size));
  if (p.layers > 1) sums = std::max(sums, bands_[0].each * static_cast<std::size_t>(bands_[0].count(half(size))));
  for (int k = 0; k < p.layers; ++k, size = half(size)) {
    Level level;
    level.size = size;
    level.seen = base::AlignedArray<std::uint8_t>(size.cells());
    for (std::size_t i = 0; i < 2; ++i) {
      level.frames[i] = WordPlane(size, border);
      LevelFlow& flow = level.flows[i];
      flow.u = base::AlignedArray<float>(size.cells());
      flow.v = base::AlignedArray<float>(size.cells());
      flow.mask = base::AlignedArray<std::uint8_t>(size.cells());
      flow.level = base::AlignedArray<std::uint8_t>(size.cells());
      flow.regular = base::AlignedArray<std::uint8_t>(size.cells());
    }
    work->levels.push_back(std::move(level));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    work->sums[i] = base::AlignedArray<float>(sums);
    work->smooth[i] = base::AlignedArray<float>(finest);
  }
  const std::size_t scratch =
      std::max(kernels_.filter_scratch(p.upscale_averaging_radius), kernels_.filter_scratch(p.postprocess_window));
  for (std::size_t i = 0; i < threads_; ++i) {
    work->scratch.emplace_back(scratch);
    work->lines.emplace_back(3 * problem_.columns);
  }
  return work;
}

// Computation of one pair, from its frames to its flow.
class HostFlow::Run {
 public:
  Run(const HostFlow& plan, Workspace& work) : plan_(plan), p_(plan.problem_.parameters), work_(work) {}

  void frames(const Image& first, const Image& second) {
    Level& finest = work_.levels.front();
    each_rows(plan_.threads_, finest.size.rows, 2, 32, [&](std::size_t i, int begin, int end) {
      for (int r = begin; r < end; ++r) pack_row(i == 0 ? first : second, r, finest.frames[i]);
    });
    for (WordPlane& frame : finest.frames) reflect_rows(frame);
    for (std::size_t k = 1; k < work_.levels.size(); ++k) {
      const Level& from = work_.levels[k - 1];
      Level& to = work_.levels[k];
      const int tasks = (to.size.rows + kRowsPerTask - 1) / kRowsPerTask;
      each_task(plan_.threads_, 2 * tasks, [&](int i, std::size_t thread) {
        const auto frame = static_cast<std::size_t>(i % 2);
        const int begin = i / 2 * kRowsPerTask;
        for (int r = begin; r < std::min(begin + kRowsPerTask, to.size.rows); ++r) {
          halve_row(from.frames[frame], plan_.down_[k - 1], plan_.across_[k - 1], r, to.frames[frame],
                    work_.lines[thread].data());
        }
      });
      for (WordPlane& frame : to.frames) reflect_rows(frame);
    }
  }

  void coarsest() {
    Level& level = work_.levels.back();
    for (LevelFlow& flow : level.flows) {
      std::fill(flow.u.begin(), flow.u.end(), 0.0f);
      std::fill(flow.v.begin(), flow.v.end(), 0.0f);
      std::fill(flow.mask.begin(), flow.mask.end(), std::uint8_t{1});
      std::fill(flow.level.begin(), flow.level.end(), std::uint8_t{0});
    }
    search(level);
  }

  // Selects points, sets their starts and searches level k, from the flow of the coarser level.
  void refine(std::size_t k) {
    Level &coarse = work_.levels[k + 1], &fine = work_.levels[k];
    seen(coarse);
    each_rows(plan_.threads_, coarse.size.rows, 2, kRowsPerTask, [&](std::size_t i, int begin, int end) {
      mark_regular(coarse.flows[i], coarse.size, p_.averaging_radius, p_.speed_up_threshold, begin, end);
    });
    if (p_.selection == Selection::aligned) {
      each_rows(plan_.threads_, coarse.size.rows, 2, kRowsPerTask, [&](std::size_t i, int begin, int end) {
        select_aligned_rows(coarse.flows[i], coarse.size, fine.flows[i], fine.size, begin, end);
      });
    } else {
      each_task(plan_.threads_, 2, [&](int i, std::size_t) {
        select_scan_order(coarse.flows[static_cast<std::size_t>(i)], coarse.size,
                          fine.flows[static_cast<std::size_t>(i)], fine.size);
      });
    }
    const FilterJob between = filter_job(p_.upscale_averaging_radius, p_.upscale_sigma_dist, p_.upscale_sigma_color);
    sum_bands(coarse, between, plan_.bands_[0], 2);
    each_rows(plan_.threads_, coarse.size.rows, 2, kRowsPerTask, [&](std::size_t i, int begin, int end) {
      for (int r = begin; r < end; ++r) double_row(coarse, i, between, r, fine);
    });
    search(fine);
  }

  void finish(Image& out) {
    Level& finest = work_.levels.front();
    seen(finest);
    const FilterJob last = filter_job(p_.postprocess_window, p_.sigma_dist_fix, p_.sigma_color_fix);
    sum_bands(finest, last, plan_.bands_[1], 1);
    const Size size = finest.size;
    each_rows(plan_.threads_, size.rows, 1, kRowsPerTask, [&](std::size_t, int begin, int end) {
      for (int r = begin; r < end; ++r) {
        float* to[2] = {work_.smooth[0].data() + row(size, r), work_.smooth[1].data() + row(size, r)};
        divide_row(finest, 0, last, plan_.bands_[1], r, to[0], to[1]);
      }
    });
    each_rows(plan_.threads_, size.rows, 1, kRowsPerTask, [&](std::size_t, int begin, int end) {
      for (int r = begin; r < end; ++r) gauss_row(size, r, out.row<float>(static_cast<std::size_t>(r)));
    });
  }

 private:
  static std::size_t row(Size size, int r) {
    return static_cast<std::size_t>(r) * static_cast<std::size_t>(size.columns);
  }

  void seen(Level& level) {
    each_rows(plan_.threads_, level.size.rows, 1, 64,
              [&](std::size_t, int begin, int end) { mark_seen(level, p_.occlusion_threshold, begin, end); });
  }

  void search(Level& level) {
    each_rows(plan_.threads_, level.size.rows, 2, kSearchedRows, [&](std::size_t i, int begin, int end) {
      LevelFlow& flow = level.flows[i];
      const SearchJob job{.from = level.frames[i].words(),
                          .to = level.frames[1 - i].words(),
                          .rows = level.size.rows,
                          .columns = level.size.columns,
                          .mask = flow.mask.data(),
                          .u = flow.u.data(),
                          .v = flow.v.data(),
                          .color_slope = slope_of(p_.sigma_color),
                          .space_slope = slope_of(p_.sigma_dist)};
      if (p_.averaging_radius == kSearchRadius && p_.max_flow == kSearchReach) {
        plan_.kernels_.search(job, begin, end);
      } else {
        search_general(job, p_.averaging_radius, p_.max_flow, begin, end);
      }
    });
    if (p_.selection == Selection::aligned) {
      const int grain = std::max(kRowsPerTask, 1 << (p_.layers - 1));
      each_rows(plan_.threads_, level.size.rows, 2, grain,
                [&](std::size_t i, int begin, int end) { fill_aligned_rows(level.flows[i], level.size, begin, end); });
    } else {
      each_task(plan_.threads_, 2,
                [&](int i, std::size_t) { fill_scan_order(level.flows[static_cast<std::size_t>(i)], level.size); });
    }
  }

  static FilterJob filter_job(int radius, float sigma_dist, float sigma_color) {
    FilterJob job{};
    job.radius = radius;
    job.color_slope = slope_of(sigma_color);
    job.space_slope = slope_of(sigma_dist);
    return job;
  }

  // Computes the weighted sums of a level's flow, one band at a time.
  void sum_bands(Level& level, const FilterJob& settings, const Bands& bands, int directions) {
    const int count = bands.count(level.size);
    each_task(plan_.threads_, count * directions, [&](int i, std::size_t thread) {
      const auto which = static_cast<std::size_t>(i % directions), band = static_cast<std::size_t>(i / directions);
      FilterJob job = settings;
      job.guide = level.frames[which].words();
      job.rows = level.size.rows;
      job.columns = level.size.columns;
      job.seen = level.seen.data();
      job.u = level.flows[which].u.data();
      job.v = level.flows[which].v.data();
      float* sums = work_.sums[which].data() + band * bands.each;
      std::fill_n(sums, bands.each, 0.0f);
      const int begin = static_cast<int>(band) * bands.rows;
      plan_.kernels_.filter(job, begin, std::min(begin + bands.rows, level.size.rows), {sums, bands.pitch},
                            work_.scratch[thread].data());
    });
  }

  // Computes row r of the filtered flow: adds the sums of its band and of the bands above that reach it, divides by the
  // weights.
  void divide_row(const Level& level, std::size_t which, const FilterJob& job, const Bands& bands, int r, float* u,
                  float* v) const {
    const std::ptrdiff_t pitch = bands.pitch;
    const auto sums = [&](int band) {
      return work_.sums[which].data() + static_cast<std::size_t>(band) * bands.each +
             static_cast<std::size_t>(r - band * bands.rows) * 3 * static_cast<std::size_t>(pitch) + job.radius;
    };
    float* const own = sums(r / bands.rows);
    for (int band = r / bands.rows - 1; band >= 0 && r - band * bands.rows < bands.rows + bands.reach; --band) {
      const float* const above = sums(band);
      for (std::ptrdiff_t c = 0; c < 2 * pitch + level.size.columns; ++c) own[c] += above[c];
    }
    const float least = 1e-9f * plan_.kernels_.own_weight(job);
    const float *flow_u = level.flows[which].u.data() + row(level.size, r),
                *flow_v = level.flows[which].v.data() + row(level.size, r);
    for (int c = 0; c < level.size.columns; ++c) {
      const float weight = own[2 * pitch + c], sum_u = own[c], sum_v = own[pitch + c];
      const bool empty = weight < least;  // no visible, similar neighbour: the flow is kept
      const float by = empty ? 1.0f : weight;
      u[c] = empty ? flow_u[c] : sum_u / by;
      v[c] = empty ? flow_v[c] : sum_v / by;
    }
  }

  // Upscales row r of the filtered coarse flow to the start of two rows of the finer level.
  void double_row(const Level& coarse, std::size_t which, const FilterJob& job, int r, Level& fine) const {
    LevelFlow& flow = fine.flows[which];
    const int columns = fine.size.columns;
    // The coarse row is stored in the first of the two rows, then expanded in place from its end.
    float *u = flow.u.data() + row(fine.size, 2 * r), *v = flow.v.data() + row(fine.size, 2 * r);
    divide_row(coarse, which, job, plan_.bands_[0], r, u, v);
    for (float* plane : {u, v}) {
      for (int c = columns - 1; c >= 0; --c) plane[c] = 2 * plane[c / 2];
      if (2 * r + 1 < fine.size.rows) std::copy_n(plane, columns, plane + columns);
    }
  }

  // Gaussian 3 x 3, sigma 5, reflect-101 borders; writes the flow as (x, y).
  void gauss_row(Size size, int r, float* out) const {
    const double side = std::exp(-1 / 50.0);
    const float beside = static_cast<float>(side / (1 + 2 * side)), own = static_cast<float>(1 / (1 + 2 * side));
    const auto reflected = [](int i, int n) { return static_cast<int>(border_index(Border::reflect_101, i, n)); };
    for (std::size_t plane = 0; plane < 2; ++plane) {
      const float* in = work_.smooth[plane].data();
      const float* rows[3] = {in + row(size, reflected(r - 1, size.rows)), in + row(size, r),
                              in + row(size, reflected(r + 1, size.rows))};
      const auto across = [&](int i, int before, int c, int after) {
        return own * rows[i][c] + beside * (rows[i][before] + rows[i][after]);
      };
      const auto pixel = [&](int before, int c, int after) {
        out[2 * c + 1 - static_cast<int>(plane)] =
            own * across(1, before, c, after) + beside * (across(0, before, c, after) + across(2, before, c, after));
      };
      pixel(reflected(-1, size.columns), 0, reflected(1, size.columns));
      for (int c = 1; c + 1 < size.columns; ++c) pixel(c - 1, c, c + 1);
      const int last = size.columns - 1;
      pixel(reflected(last - 1, size.columns), last, reflected(last + 1, size.columns));
    }
  }

  const HostFlow& plan_;
  const FlowParameters& p_;
  Workspace& work_;
};

void HostFlow::run(const Image& first, const Image& second, Image& out) const {
  std::unique_ptr<Workspace> work;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      work = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!work) work = make();
  Run run(*this, *work);
  run.frames(first, second);
  run.coarsest();
  for (std::size_t k = work->levels.size() - 1; k-- > 0;) run.refine(k);
  run.finish(out);
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(work));
}

}  // namespace ridge::image::flow
