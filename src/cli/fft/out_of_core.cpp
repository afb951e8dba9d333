// Transforms files that are larger than memory: panels of rows and panels of columns, in work files on disk.
#include "cli/arrays/read_elements.hpp"
#include "cli/fft/cosine_line.hpp"
#include "cli/fft/files.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "base/divisors.hpp"
#include "base/number.hpp"
#include "command/disk_passes.hpp"
#include "command/options.hpp"

namespace ridge::cli {
namespace {

constexpr std::size_t kHeader = kDiskPage;  // bytes before the elements of work files: a legal .npy header
constexpr std::size_t kPanels = 5;  // in memory at once: one read, one computed, its result, one written with a tile

// T: precision. Element: of the panels and work files, std::complex<T>, or T for transforms of reals to reals.
template <class T, class Element>
class LargeTransform {
 public:
  using Complex = std::complex<T>;
  static constexpr bool kReals = std::is_same_v<Element, T>;

  LargeTransform(const FftFileOptions& options, const FftFileProblem& problem)
      : options_(options),
        problem_(problem),
        memory_(divide_memory(options.memory, kPanels)),
        cosine_(one_axis() && problem.real_to_real()
                    ? std::optional<CosineLine>(std::in_place, problem.real_kinds[0], problem.shape[0])
                    : std::nullopt),
        panels_(divide()),
        input_(options.in, O_RDONLY, memory_.chunk) {
    work_bytes_ = std::max(panels_.tiled(), kHeader + panels_.rows * panels_.columns * sizeof(Element));
    in_offset_ = std::filesystem::file_size(options.in) - problem.in_bytes();
  }

  void run() {
    if (!options_.resume) check_free_space(options_.out, 2 * work_bytes_, "two work files");
    Ledger ledger(options_.out + ".ridge-progress", identity(), options_.resume);
    const int flags = O_RDWR | (ledger.resumed() ? 0 : O_CREAT | O_TRUNC);
    first_.emplace(options_.out + ".ridge-a", flags, memory_.chunk);
    second_.emplace(options_.out + ".ridge-b", flags, memory_.chunk);
    report_direct(*first_);
    if (!ledger.resumed()) first_->resize(work_bytes_), second_->resize(work_bytes_);
    const WorkFile& result = run_passes(ledger);
    const std::string header = npy_header(header_of(problem_, 1), kHeader);
    if (header.size() != kHeader) throw Error(ErrorKind::io, "the header of the output exceeds 4096 bytes");
    result.write(header.data(), header.size(), 0);
    result.resize(kHeader + out_elements() * out_bytes());
    result.flush();
    ledger.remove();  // before the work file is gone: resuming would begin with an empty one
    result.publish(options_.out);
    std::filesystem::remove(&result == &*first_ ? second_->path() : first_->path());
  }

 private:
  bool one_axis() const { return problem_.shape.size() == 1; }
  bool inverse() const { return cosine_ ? cosine_->inverse() : problem_.inverse; }
  // Points of a complex transform of one axis.
  std::size_t line_points() const { return cosine_ ? cosine_->length() : problem_.shape[0]; }
  std::size_t out_bytes() const { return problem_.real_out() ? sizeof(T) : sizeof(Complex); }
  std::size_t out_elements() const { return problem_.out_elements; }
  // Elements of a row: the last axis, or a plane of three axes.
  std::size_t row_samples() const {
    std::size_t samples = 1;
    for (std::size_t axis = 1; axis < problem_.shape.size(); ++axis) samples *= problem_.shape[axis];
    return samples;
  }

  Panels divide() const {
    Panels panels{.element = sizeof(Element)};
    if (one_axis()) {
      if (problem_.real && problem_.inverse)
        mistake(
            "one inverse real transform larger than --memory is not supported: use more memory or a complex spectrum");
      panels.rows = base::balanced_divisor(line_points());
      panels.columns = line_points() / panels.rows;
    } else {
      panels.rows = problem_.shape[0];
      panels.columns = row_samples();
      if (problem_.real) panels.columns = panels.columns / problem_.shape.back() * (problem_.shape.back() / 2 + 1);
    }
    const std::size_t element = std::max(sizeof(Element), io::bytes_of(problem_.element));
    const std::size_t panel = memory_.panel;
    const std::size_t least = panels.least_panel(element);
    if (least > panel) {
      mistake(fmt::format("--memory {} is too little: panels of this transform need at least {} bytes{}",
                          options_.memory, limit_for(least, kPanels),
                          one_axis() && panels.rows <= 2 ? ", because its length is prime" : ""));
    }
    panels.divide(panel, element);
    return panels;
  }

  std::string identity() const {
    std::string kind = problem_.real ? "real" : "complex";
    for (const fft::RealKind one : problem_.real_kinds) kind = fmt::format("{} {}", kReals ? kind : "", to_string(one));
    return fmt::format("ridge-fft-2 input {} shape {} {}{} scale {} bytes {} panels {}x{}", file_identity(options_.in),
                       fmt::join(problem_.shape, "x"), kind, problem_.inverse ? " inverse" : "",
                       base::hexadecimal_text(problem_.scale), sizeof(T), panels_.height, panels_.width);
  }

  // --- passes -------------------------------------------------------------------------------------------------------

  using Panel = PageVector<Element>;

  void pass(Ledger& ledger, std::size_t number, std::size_t passes, std::size_t count, const WorkFile& to,
            const PanelStages<Panel>& stages) {
    run_pass<Panel>(ledger, {number, passes, count}, to, progress_, stages);
  }

  // Rows of the input as complex values, or packed real ones for a real transform.
  void read_rows(std::size_t p, Panel& panel) const {
    if constexpr (!kReals) {
      if (cosine_) return read_cosine_rows(p, panel);
    }
    const std::size_t rows = panels_.height_of(p), samples = one_axis() ? panels_.columns : in_row();
    const std::size_t from = in_offset_ + p * panels_.height * samples * io::bytes_of(problem_.element);
    panel.resize(rows * panels_.columns);
    if (problem_.real_in() && !one_axis()) {
      read_elements(input_, problem_.element, from, rows * samples, reinterpret_cast<T*>(panel.data()));
    } else {
      read_elements(input_, problem_.element, from, rows * samples, panel.data());
    }
  }
  // Rows of the complex line of a cosine or sine transform.
  void read_cosine_rows(std::size_t p, Panel& panel) const {
    const std::size_t first = p * panels_.height * panels_.columns, count = panels_.height_of(p) * panels_.columns;
    const std::size_t shift = cosine_->in_shift(), bytes = io::bytes_of(problem_.element);
    const std::size_t begin = std::max(first, shift), end = std::min(first + count, problem_.shape[0] + shift);
    panel.assign(count, Element());
    if (begin >= end) return;
    read_parts<T>(input_, problem_.element, in_offset_ + (begin - shift) * bytes, end - begin,
                  [&](std::size_t at, std::span<const T> values) {
                    for (const T value : values) {
                      const std::size_t m = begin + at++;
                      panel[m - first] = Element(static_cast<double>(value) * cosine_->before(m - shift));
                    }
                  });
  }
  std::size_t in_row() const {  // elements of the input per row
    return problem_.real_in() ? row_samples() : panels_.columns;
  }
  std::size_t out_row() const { return problem_.real_out() ? row_samples() : panels_.columns; }

  void read_tile_column(const WorkFile& from, std::size_t q, Panel& panel) const {
    const std::size_t width = panels_.width_of(q);
    panel.resize(panels_.rows * width);
    for (std::size_t p = 0; p < panels_.row_panels(); ++p) {
      from.read(panel.data() + p * panels_.height * width, panels_.height_of(p) * width * sizeof(Element),
                panels_.slot(p, q));
    }
  }
  void write_tile_column(const WorkFile& to, std::size_t q, const Panel& panel) const {
    const std::size_t width = panels_.width_of(q);
    for (std::size_t p = 0; p < panels_.row_panels(); ++p) {
      to.write(panel.data() + p * panels_.height * width, panels_.height_of(p) * width * sizeof(Element),
               panels_.slot(p, q), WorkFile::Pad::page);
    }
  }
  void read_tile_row(const WorkFile& from, std::size_t p, Panel& panel) const {
    const std::size_t rows = panels_.height_of(p), columns = panels_.columns;
    panel.resize(rows * std::max(columns, (out_row() + 1) / 2 + 1));
    Panel tile(rows * panels_.width);
    for (std::size_t q = 0; q < panels_.column_panels(); ++q) {
      const std::size_t width = panels_.width_of(q);
      from.read(tile.data(), rows * width * sizeof(Element), panels_.slot(p, q));
      for (std::size_t r = 0; r < rows; ++r)
        std::copy_n(tile.data() + r * width, width, panel.data() + r * columns + q * panels_.width);
    }
  }
  void write_tile_row(const WorkFile& to, std::size_t p, const Panel& panel) const {
    const std::size_t rows = panels_.height_of(p), columns = panels_.columns;
    Panel tile(rows * panels_.width);
    for (std::size_t q = 0; q < panels_.column_panels(); ++q) {
      const std::size_t width = panels_.width_of(q);
      for (std::size_t r = 0; r < rows; ++r)
        std::copy_n(panel.data() + r * columns + q * panels_.width, width, tile.data() + r * width);
      to.write(tile.data(), rows * width * sizeof(Element), panels_.slot(p, q), WorkFile::Pad::page);
    }
  }

  // --- transforms ---------------------------------------------------------------------------------------------------

  void run_plan(const fft::Problem& problem, Panel& data) const {
    const fft::Plan<T> plan(host(), problem, {.effort = Effort::quick});
    inverse() ? plan.inverse(std::span(data)) : plan.forward(std::span(data));
  }
  // Reals along the first axis of a panel, or along the other axes of `rows` rows, in place.
  void transform_reals(Panel& panel, std::size_t width) const {
    const auto stride = static_cast<std::ptrdiff_t>(width);
    run_tensor({.axes = {{panels_.rows, stride, stride}},
                .loops = {{width, 1, 1}},
                .real_kinds = {problem_.real_kinds.front()},
                .scale = problem_.scale},
               panel);
  }
  void transform_real_rows(Panel& panel, std::size_t rows) const {
    FftFileProblem row = problem_;
    row.scale = 1;
    row.shape.erase(row.shape.begin());
    row.real_kinds.erase(row.real_kinds.begin());
    run_tensor(tensor_problem(row, rows, 0), panel);
  }
  void run_tensor(fft::TensorProblem problem, Panel& panel) const {
    problem.kind = fft::TensorKind::real_to_real;
    problem.in_place = true;
    problem.threads = options_.threads;
    fft::TensorPlan<T>(host(), problem, {.effort = Effort::quick}).run(panel.data(), panel.data());
  }
  void transform_columns(Panel& panel, std::size_t width) const {
    if constexpr (kReals) {
      transform_reals(panel, width);
    } else {
      transform_complex_columns(panel, width);
    }
  }
  void transform_rows(Panel& panel, std::size_t rows) const {
    if constexpr (kReals) {
      transform_real_rows(panel, rows);
    } else {
      transform_complex_rows(panel, rows);
    }
  }
  void transform_complex_columns(Panel& panel, std::size_t width) const {
    fft::Problem problem{.shape = {panels_.rows},
                         .batch = width,
                         .in_place = true,
                         .scale_forward = problem_.scale,
                         .scale_inverse = problem_.scale,
                         .threads = options_.threads};
    problem.input = problem.output = {.axes = {width}, .batch = 1};
    run_plan(problem, panel);
  }
  // Rows of one or two axes, in place; real ones with their half spectra in the same memory, packed.
  void transform_complex_rows(Panel& panel, std::size_t rows) const {
    std::vector<std::size_t> shape(problem_.shape.begin() + 1, problem_.shape.end());
    if (one_axis()) shape = {panels_.columns};
    fft::Problem problem{.shape = shape, .batch = rows, .threads = options_.threads};
    if (!problem_.real || one_axis()) {
      problem.in_place = true;
      return run_plan(problem, panel);
    }
    problem.kind = fft::Kind::real;
    const fft::Plan<T> plan(host(), problem, {.effort = Effort::quick});
    const std::size_t samples = rows * row_samples(), spectrum = rows * panels_.columns;
    Panel other(std::max((samples + 1) / 2, spectrum));
    T* const numbers = reinterpret_cast<T*>(panel.data());
    if (problem_.inverse) {
      plan.inverse(std::span<const Complex>(panel.data(), spectrum),
                   std::span(reinterpret_cast<T*>(other.data()), samples));
    } else {
      plan.forward(std::span<const T>(numbers, samples), std::span(other.data(), spectrum));
    }
    panel.swap(other);
  }

  const WorkFile& run_passes(Ledger& ledger) {
    if constexpr (!kReals) {
      if (one_axis()) return run_one_axis(ledger);
    }
    return run_rows_and_columns(ledger);
  }
  const WorkFile& run_rows_and_columns(Ledger& ledger) {
    const WorkFile &a = *first_, &b = *second_;
    const bool rows_last = problem_.real_out();  // columns first: their result is then the half spectrum of real rows
    const auto rows = [&](std::size_t p, Panel& panel) { transform_rows(panel, panels_.height_of(p)); };
    const auto nothing = [](std::size_t, Panel&) {};
    using Stage = std::function<void(std::size_t, Panel&)>;
    pass(ledger, 1, 3, panels_.row_panels(), a,
         {.read = [&](std::size_t p, Panel& panel) { read_rows(p, panel); },
          .compute = rows_last ? Stage(nothing) : rows,
          .write = [&](std::size_t p, Panel& panel) { write_tile_row(a, p, panel); }});
    pass(ledger, 2, 3, panels_.column_panels(), b,
         {.read = [&](std::size_t q, Panel& panel) { read_tile_column(a, q, panel); },
          .compute = [&](std::size_t q, Panel& panel) { transform_columns(panel, panels_.width_of(q)); },
          .write = [&](std::size_t q, Panel& panel) { write_tile_column(b, q, panel); }});
    pass(ledger, 3, 3, panels_.row_panels(), a,
         {.read = [&](std::size_t p, Panel& panel) { read_tile_row(b, p, panel); },
          .compute = rows_last ? rows : Stage(nothing),
          .write =
              [&](std::size_t p, Panel& panel) {
                a.write(panel.data(), panels_.height_of(p) * out_row() * out_bytes(),
                        kHeader + p * panels_.height * out_row() * out_bytes());
              }});
    return a;
  }

  // exp(-+2 pi i k j / n) for row k of a panel of columns j, by two small tables per row.
  void multiply_twiddles(Panel& panel, std::size_t q) const {
    constexpr std::size_t kFine = 64;
    const std::size_t width = panels_.width_of(q), n = line_points();
    const double turn = (inverse() ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
    const auto root = [&](std::size_t k, std::size_t j) {  // k j < n
      return std::polar(1.0, turn * static_cast<double>(k * j % n));
    };
    for (std::size_t k = 0; k < panels_.rows; ++k) {
      std::complex<double> fine[kFine];
      for (std::size_t i = 0; i < kFine; ++i) fine[i] = root(k, i);
      for (std::size_t j = 0; j < width; ++j) {
        const std::complex<double> coarse = j % kFine == 0 ? root(k, q * panels_.width + j) : coarse_;
        coarse_ = coarse;
        panel[k * width + j] *= Complex(coarse * fine[j % kFine]);
      }
    }
  }

  const WorkFile& run_one_axis(Ledger& ledger) {
    const WorkFile &a = *first_, &b = *second_;
    const auto read_column = [&](std::size_t q, Panel& panel) { read_tile_column(a, q, panel); };
    const auto write_row = [&](std::size_t p, Panel& panel) { write_tile_row(a, p, panel); };
    pass(ledger, 1, 4, panels_.row_panels(), a,
         {.read = [&](std::size_t p, Panel& panel) { read_rows(p, panel); }, .write = write_row});
    pass(ledger, 2, 4, panels_.column_panels(), b,
         {.read = read_column,
          .compute =
              [&](std::size_t q, Panel& panel) {
                transform_columns(panel, panels_.width_of(q));
                multiply_twiddles(panel, q);
              },
          .write = [&](std::size_t q, Panel& panel) { write_tile_column(b, q, panel); }});
    pass(ledger, 3, 4, panels_.row_panels(), a,
         {.read = [&](std::size_t p, Panel& panel) { read_tile_row(b, p, panel); },
          .compute = [&](std::size_t p, Panel& panel) { transform_rows(panel, panels_.height_of(p)); },
          .write = write_row});
    pass(ledger, 4, 4, panels_.column_panels(), b,
         {.read = read_column, .write = [&](std::size_t q, Panel& panel) { write_transposed(b, q, panel); }});
    return b;
  }

  // Value (k1, k2) of the matrix is value k1 + rows * k2 of the spectrum. A real spectrum ends at n / 2.
  void write_transposed(const WorkFile& to, std::size_t q, const Panel& panel) const {
    const std::size_t width = panels_.width_of(q), rows = panels_.rows, first = q * panels_.width * rows;
    Panel turned(panel.size());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < width; ++c) turned[c * rows + r] = panel[r * width + c];
    if (cosine_) return write_cosines(to, first, turned);
    if (first >= out_elements()) return;
    to.write(turned.data(), std::min(turned.size(), out_elements() - first) * sizeof(Complex),
             kHeader + first * sizeof(Complex));
  }

  // Values of a cosine or sine transform from those of its complex line, from number `first` on.
  void write_cosines(const WorkFile& to, std::size_t first, const Panel& line) const {
    const std::size_t shift = cosine_->out_shift();
    const std::size_t begin = std::max(first, shift), end = std::min(first + line.size(), out_elements() + shift);
    if (begin >= end) return;
    std::vector<T> values(end - begin);
    for (std::size_t m = begin; m < end; ++m) {
      const auto value = cosine_->after(m - shift) * std::complex<double>(line[m - first]);
      values[m - begin] = static_cast<T>(value.real());
    }
    to.write(values.data(), values.size() * sizeof(T), kHeader + (begin - shift) * sizeof(T));
  }

  const FftFileOptions& options_;
  const FftFileProblem& problem_;
  DiskMemory memory_;
  std::optional<CosineLine> cosine_;  // one axis of reals
  Panels panels_;
  WorkFile input_;
  std::optional<WorkFile> first_, second_;
  std::size_t in_offset_ = 0, work_bytes_ = 0;
  mutable std::complex<double> coarse_;
  base::Progress progress_ = base::terminal_progress();
};

}  // namespace

bool runs_out_of_core(const FftFileOptions& options, const FftFileProblem& problem) {
  const std::size_t out = problem.out_elements * io::bytes_of(problem.out_element());
  const bool files =
      problem.npy_out && options.in != "-" && options.out != "-" && std::filesystem::is_regular_file(options.in);
  return files && options.memory_given && options.device == "host" && problem.transforms.value_or(0) == 1 &&
         !problem.pairs && problem.in_bytes() + out > options.memory;
}

void transform_out_of_core(FftFileOptions options, const FftFileProblem& problem) {
  options.out = output_of_passes(options.out, {options.in});
  const auto run = [&]<class T>(T) {
    if (problem.real_to_real() && problem.shape.size() > 1) {
      LargeTransform<T, T>(options, problem).run();
    } else {
      LargeTransform<T, std::complex<T>>(options, problem).run();
    }
  };
  problem.float64 ? run(double()) : run(float());
}

}  // namespace ridge::cli
