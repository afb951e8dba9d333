// ridge convolve: convolution along the last axis of a .npy file of any size.
#include <fcntl.h>

#include <complex>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/fft/convolution.hpp>

#include "cli/arrays/arrays.hpp"
#include "cli/arrays/read_elements.hpp"

namespace ridge::cli {
namespace {

struct ConvolveOptions : ArrayOptions {
  std::string filter, mode = "full";
};

// Values of the result in panels: several lines, or a part of one. A part reads the samples that its filter covers.
template <class Element>
class ArrayConvolution {
  using Panel = PageVector<Element>;
  // In memory at once: one read, one computed with its result and scratch of the plan, one written.
  static constexpr std::size_t kPanels = 8;

 public:
  ArrayConvolution(const ConvolveOptions& options, io::ElementType type)
      : options_(options), memory_(divide_memory(options.memory, kPanels)), input_(options.in, memory_.chunk) {
    const ArrayFile filter(options.filter, kDiskPage);
    read_values(filter, 0, filter.header.elements(), filter_);
    samples_ = input_.header.shape.back();
    header_ = {type, input_.header.shape};
    const std::size_t k = filter_.size();
    if (options.mode == "valid" && samples_ < k)
      mistake(fmt::format("--mode valid needs at least the {} values of the filter per line, got {}", k, samples_));
    values_ = options.mode == "same" ? samples_ : options.mode == "valid" ? samples_ - k + 1 : samples_ + k - 1;
    skipped_ = options.mode == "same" ? (k - 1) / 2 : options.mode == "valid" ? k - 1 : 0;
    header_.shape.back() = values_;
    lines_ = input_.header.elements() / samples_;
    const std::size_t held = memory_.panel / sizeof(Element);
    if (held < 2 * k && held < samples_ + k) {
      mistake(fmt::format("--memory {} is too little: a filter of {} values needs at least {} bytes", options.memory, k,
                          2 * k * sizeof(Element) * kPanels + 2 * memory_.chunk));
    }
    together_ = held / (samples_ + k);
    part_ = together_ > 0 ? values_ : held - k;
    together_ = std::max<std::size_t>(together_, 1);
  }

  void run() {
    const std::size_t bytes = kDiskPage + header_.elements() * sizeof(Element);
    const fft::Convolution<Element> plan(host(), filter_, {.threads = options_.threads});
    if (!options_.resume) check_free_space(options_.out, bytes, "the work file");
    Ledger ledger(options_.out + ".ridge-progress",
                  fmt::format("ridge-convolve-1 input {} filter {} {} panels {}x{}", file_identity(options_.in),
                              file_identity(options_.filter), options_.mode, together_, part_),
                  options_.resume);
    const WorkFile result(options_.out + ".ridge-a", O_RDWR | (ledger.resumed() ? 0 : O_CREAT | O_TRUNC),
                          memory_.chunk);
    report_direct(result);
    if (!ledger.resumed()) result.resize(bytes);
    const std::size_t parts = (values_ + part_ - 1) / part_, groups = (lines_ + together_ - 1) / together_;
    run_pass<Panel>(ledger, {1, 1, parts * groups}, result, progress_,
                    {.read =
                         [&](std::size_t p, Panel& panel) {
                           const Piece piece = piece_of(p / parts, p % parts);
                           read_values(input_, piece.line * samples_ + piece.from,
                                       (piece.lines - 1) * samples_ + piece.to - piece.from, panel);
                         },
                     .compute =
                         [&](std::size_t p, Panel& panel) {
                           const Piece piece = piece_of(p / parts, p % parts);
                           const std::size_t read = piece.to - piece.from;
                           Panel all(read + filter_.size() - 1), out(piece.lines * piece.count);
                           for (std::size_t l = 0; l < piece.lines; ++l) {
                             plan.run(std::span<const Element>(panel.data() + l * samples_, read), all);
                             std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(piece.first - piece.from),
                                         piece.count, out.begin() + static_cast<std::ptrdiff_t>(l * piece.count));
                           }
                           panel.swap(out);
                         },
                     .write =
                         [&](std::size_t p, Panel& panel) {
                           const Piece piece = piece_of(p / parts, p % parts);
                           result.write(panel.data(), panel.size() * sizeof(Element),
                                        kDiskPage + (piece.line * values_ + piece.first - skipped_) * sizeof(Element));
                         }});
    finish_array(result, header_, ledger, options_.out);
  }

 private:
  // Values first ... first + count - 1 of the full convolution of some lines. They need the samples `from` to `to` - 1.
  struct Piece {
    std::size_t line, lines, first, count, from, to;
  };
  Piece piece_of(std::size_t group, std::size_t part) const {
    Piece piece{};
    piece.line = group * together_;
    piece.lines = std::min(together_, lines_ - piece.line);
    piece.first = skipped_ + part * part_;
    piece.count = std::min(part_, values_ - part * part_);
    const std::size_t before = filter_.size() - 1;
    piece.from = std::min(piece.first < before ? 0 : piece.first - before, samples_ - 1);
    piece.to = std::min(samples_, piece.first + piece.count);
    if (together_ > 1) piece.from = 0, piece.to = samples_;  // whole lines
    return piece;
  }

  static void read_values(const ArrayFile& array, std::size_t first, std::size_t count, Panel& to) {
    to.resize(count);
    const std::size_t offset = array.offset + first * io::bytes_of(array.header.type);
    read_elements(array.file, array.header.type, offset, count, to.data());
  }

  const ConvolveOptions& options_;
  DiskMemory memory_;
  ArrayFile input_;
  io::NpyHeader header_{};  // of the output
  Panel filter_{};
  std::size_t samples_ = 0, values_ = 0, lines_ = 0, skipped_ = 0;  // per line of the input and of the output
  std::size_t together_ = 0, part_ = 0;                             // lines per panel, values per line and panel
  base::Progress progress_ = base::terminal_progress();
};

void convolve_files(const ConvolveOptions& options) {
  using io::ElementType;
  const io::NpyHeader signal = ArrayFile(options.in, kDiskPage).header;
  const io::NpyHeader filter = ArrayFile(options.filter, kDiskPage).header;
  if (signal.shape.empty() || signal.elements() == 0) mistake(fmt::format("{} has no values", options.in));
  if (filter.shape.size() != 1 || filter.elements() == 0)
    mistake(fmt::format("{} has the shape {}; a filter has one axis of at least 1 value", options.filter,
                        fmt::join(filter.shape, "x")));
  if (filter.elements() > options.memory / sizeof(std::complex<double>)) {
    mistake(fmt::format("--memory {} is too little for a filter of {} values", options.memory, filter.elements()));
  }
  const bool complex = io::is_complex(signal.type) || io::is_complex(filter.type);
  const bool float64 = needs_float64(signal.type) || needs_float64(filter.type);
  if (complex) {
    float64 ? ArrayConvolution<std::complex<double>>(options, ElementType::complex128).run()
            : ArrayConvolution<std::complex<float>>(options, ElementType::complex64).run();
  } else {
    float64 ? ArrayConvolution<double>(options, ElementType::float64).run()
            : ArrayConvolution<float>(options, ElementType::float32).run();
  }
}

}  // namespace

void add_convolve(Command& program) {
  Command& command = program.subcommand("convolve", "Convolve the lines of a .npy file of any size with a filter");
  command.footer(
      "\nExamples:\n"
      "  ridge convolve signal.npy filter.npy out.npy               along the last axis, as numpy.convolve\n"
      "  ridge convolve signal.npy filter.npy out.npy --mode same   as many values as samples, centered\n"
      "  ridge convolve big.npy filter.npy out.npy --memory 256M    a signal larger than memory\n"
      "  ridge convolve big.npy filter.npy out.npy --memory 256M --resume    continues after an interruption\n"
      "\nReal arrays give real results. float64, complex128 and int32 are computed in double, other types in float.");
  auto options = std::make_shared<ConvolveOptions>();
  command.option("IN", options->in, "A .npy file; every line along its last axis is convolved").required().reads();
  command.option("FILTER", options->filter, "A .npy file with one axis").required().reads();
  command.option("OUT", options->out, "The .npy file to write").required().writes().ends_in({".npy"});
  command.option("--mode", options->mode, "Values of the result: full (n + k - 1), same (n) or valid (n - k + 1)")
      .one_of({"full", "same", "valid"})
      .shows_default();
  add_array_options(command, *options);
  command.runs([options] {
    take_output(*options, {options->in, options->filter});
    convolve_files(*options);
  });
}

}  // namespace ridge::cli
