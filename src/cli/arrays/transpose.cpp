// ridge transpose: exchanges the last two axes of a .npy file of any size.
#include <fcntl.h>

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/transpose.hpp>

#include "cli/arrays/arrays.hpp"

namespace ridge::cli {

void add_array_options(Command& command, ArrayOptions& options) {
  command.bytes("--memory", options.memory, "Memory limit (default 64M); larger files are processed in panels on disk");
  command.threads(options.threads);
  command.flag("--resume", options.resume, "Continue an interrupted run");
}

ArrayFile::ArrayFile(const std::string& path, std::size_t chunk) : file(path, O_RDONLY | O_NONBLOCK, chunk) {
  if (!std::filesystem::is_regular_file(path))
    mistake(fmt::format("{} is not a regular file: pipes and folders cannot be read at any position", path));
  io::InputStream stream(path);
  header = io::read_npy_header(stream);
  offset = static_cast<std::size_t>(stream.position());
}

void take_output(ArrayOptions& options, const std::vector<std::string>& inputs) {
  if (options.out == "-") mistake("OUT must be a .npy file: standard output cannot be written at any position");
  options.out = output_of_passes(options.out, inputs);
}

void finish_array(const WorkFile& result, const io::NpyHeader& header, const Ledger& ledger, const std::string& out) {
  const std::string text = io::npy_header(header, kDiskPage);
  if (text.size() != kDiskPage) throw Error(ErrorKind::io, "the header of the output exceeds 4096 bytes");
  result.write(text.data(), text.size(), 0);
  result.resize(kDiskPage + header.elements() * io::bytes_of(header.type));
  result.flush();
  ledger.remove();  // before the work file is gone: resuming would begin with an empty one
  result.publish(out);
}

namespace {

using Panel = PageVector<std::byte>;

// Whole matrices in one pass where one fits in memory. Otherwise per matrix: rows are cut into transposed tiles, and
// columns of tiles are joined to rows of the result.
class ArrayTranspose {
 public:
  explicit ArrayTranspose(const ArrayOptions& options)
      : options_(options), memory_(divide_memory(options.memory, kPanels)), input_(options.in, memory_.chunk) {
    header_ = input_.header;
    const std::size_t axes = header_.shape.size();
    if (axes < 2) mistake(fmt::format("{} has {} axes; a transpose needs at least 2", options.in, axes));
    std::swap(header_.shape[axes - 1], header_.shape[axes - 2]);
    panels_.rows = input_.header.shape[axes - 2], panels_.columns = input_.header.shape[axes - 1];
    panels_.element = io::bytes_of(header_.type);
    matrix_ = panels_.rows * panels_.columns * panels_.element;
    matrices_ = matrix_ == 0 ? 0 : header_.elements() * panels_.element / matrix_;
    if (matrix_ == 0) mistake(fmt::format("{} has an axis of length 0, nothing to transpose", options.in));
    tiled_ = matrix_ > memory_.panel;
    if (!tiled_) return;
    const std::size_t least = panels_.least_panel(panels_.element);
    if (least > memory_.panel) {
      mistake(fmt::format("--memory {} is too little: panels of this matrix need at least {} bytes", options.memory,
                          limit_for(least, kPanels)));
    }
    panels_.divide(memory_.panel, panels_.element);
  }

  void run() {
    const std::size_t out_bytes = kDiskPage + matrices_ * matrix_, tile_bytes = tiled_ ? panels_.tiled() : 0;
    if (!options_.resume) check_free_space(options_.out, out_bytes + tile_bytes, "the work files");
    Ledger ledger(options_.out + ".ridge-progress",
                  fmt::format("ridge-transpose-1 input {} panels {}x{}", file_identity(options_.in), panels_.height,
                              panels_.width),
                  options_.resume);
    const int flags = O_RDWR | (ledger.resumed() ? 0 : O_CREAT | O_TRUNC);
    const WorkFile result(options_.out + ".ridge-a", flags, memory_.chunk);
    report_direct(result);
    if (!ledger.resumed()) result.resize(out_bytes);
    if (tiled_) {
      const WorkFile tiles(options_.out + ".ridge-b", flags | O_CREAT, memory_.chunk);  // gone after the last pass
      if (!ledger.resumed()) tiles.resize(tile_bytes);
      for (std::size_t m = 0; m < matrices_; ++m) run_tiles(ledger, m, tiles, result);
      std::filesystem::remove(tiles.path());
    } else {
      run_whole(ledger, result);
    }
    finish_array(result, header_, ledger, options_.out);
  }

 private:
  // In memory at once: one read, one rearranged, its result or a tile, one written.
  static constexpr std::size_t kPanels = 4;

  void transpose(const transpose::Problem& problem, const std::byte* in, std::byte* out) {
    if (!plan_ || plan_->problem().rows != problem.rows || plan_->problem().columns != problem.columns ||
        plan_->problem().batch != problem.batch) {
      plan_.emplace(host(), problem, panels_.element, planner::Options{.effort = Effort::quick});
    }
    const std::size_t bytes = problem.batch * problem.rows * problem.columns * panels_.element;
    const std::size_t row = problem.input.row == 0 ? problem.columns : problem.input.row;
    const std::size_t in_bytes =
        problem.batch > 1 ? bytes : ((problem.rows - 1) * row + problem.columns) * panels_.element;
    plan_->run_bytes(in, in_bytes, out, bytes);
  }

  void run_whole(Ledger& ledger, const WorkFile& result) {
    const std::size_t each = std::min(matrices_, memory_.panel / matrix_), count = (matrices_ + each - 1) / each;
    const auto matrices_of = [&](std::size_t p) { return std::min(each, matrices_ - p * each); };
    run_pass<Panel>(
        ledger, {1, 1, count}, result, progress_,
        {.read =
             [&](std::size_t p, Panel& panel) {
               panel.resize(matrices_of(p) * matrix_);
               input_.file.read(panel.data(), panel.size(), input_.offset + p * each * matrix_);
             },
         .compute =
             [&](std::size_t p, Panel& panel) {
               Panel out(panel.size());
               transpose({.rows = panels_.rows,
                          .columns = panels_.columns,
                          .batch = matrices_of(p),
                          .threads = options_.threads},
                         panel.data(), out.data());
               panel.swap(out);
             },
         .write = [&](std::size_t p,
                      Panel& panel) { result.write(panel.data(), panel.size(), kDiskPage + p * each * matrix_); }});
  }

  void run_tiles(Ledger& ledger, std::size_t m, const WorkFile& tiles, const WorkFile& result) {
    const std::size_t e = panels_.element, rows = panels_.rows, columns = panels_.columns;
    run_pass<Panel>(
        ledger, {2 * m + 1, 2 * matrices_, panels_.row_panels()}, tiles, progress_,
        {.read =
             [&](std::size_t p, Panel& panel) {
               panel.resize(panels_.height_of(p) * columns * e);
               input_.file.read(panel.data(), panel.size(),
                                input_.offset + m * matrix_ + p * panels_.height * columns * e);
             },
         .write =
             [&](std::size_t p, Panel& panel) {
               Panel tile(panels_.height * panels_.width * e);
               for (std::size_t q = 0; q < panels_.column_panels(); ++q) {
                 const std::size_t height = panels_.height_of(p), width = panels_.width_of(q);
                 transpose({.rows = height, .columns = width, .input = {.row = columns}, .threads = options_.threads},
                           panel.data() + q * panels_.width * e, tile.data());
                 tiles.write(tile.data(), height * width * e, panels_.slot(p, q), WorkFile::Pad::page);
               }
             }});
    run_pass<Panel>(
        ledger, {2 * m + 2, 2 * matrices_, panels_.column_panels()}, result, progress_,
        {.read =
             [&](std::size_t q, Panel& panel) {
               const std::size_t width = panels_.width_of(q);
               panel.resize(rows * width * e);
               Panel tile(panels_.height * width * e);
               for (std::size_t p = 0; p < panels_.row_panels(); ++p) {
                 const std::size_t row = panels_.height_of(p) * e;
                 tiles.read(tile.data(), width * row, panels_.slot(p, q));
                 for (std::size_t c = 0; c < width; ++c)
                   std::copy_n(tile.data() + c * row, row, panel.data() + (c * rows + p * panels_.height) * e);
               }
             },
         .write =
             [&](std::size_t q, Panel& panel) {
               result.write(panel.data(), panel.size(), kDiskPage + m * matrix_ + q * panels_.width * rows * e);
             }});
  }

  const ArrayOptions& options_;
  DiskMemory memory_;
  ArrayFile input_;
  io::NpyHeader header_{};  // of the output
  Panels panels_{};
  std::size_t matrix_ = 0, matrices_ = 0;  // bytes of a matrix; number of matrices
  bool tiled_ = false;
  std::optional<transpose::AnyPlan> plan_{};
  base::Progress progress_ = base::terminal_progress();
};

}  // namespace

void add_transpose(Command& program) {
  Command& command = program.subcommand("transpose", "Exchange the last two axes of a .npy file of any size");
  command.footer(
      "\nExamples:\n"
      "  ridge transpose a.npy b.npy                           b[..., j, i] = a[..., i, j]\n"
      "  ridge transpose big.npy turned.npy --memory 512M      larger than memory, in two passes on disk\n"
      "  ridge transpose big.npy turned.npy --memory 512M --resume    continues after an interruption\n"
      "\nA matrix that exceeds --memory is cut into tiles in a work file beside the output.");
  auto options = std::make_shared<ArrayOptions>();
  command.option("IN", options->in, "A .npy file with at least two axes").required().reads();
  command.option("OUT", options->out, "The .npy file to write").required().writes().ends_in({".npy"});
  add_array_options(command, *options);
  command.runs([options] {
    take_output(*options, {options->in});
    ArrayTranspose(*options).run();
  });
}

}  // namespace ridge::cli
