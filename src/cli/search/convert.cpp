// ridge search convert: SIGPROC filterbank files and PSRFITS files of search mode, from one to the other.
#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/search/power_file.hpp"
#include "command/command.hpp"
#include "command/options.hpp"
#include "io/telescopes/fits/psrfits.hpp"

namespace ridge::cli {
namespace {

struct ConvertOptions {
  std::string in, out;
  std::size_t number = 0;
};

bool is_fits(const std::string& name) { return name.ends_with(".fits") || name.ends_with(".sf"); }

void convert(const ConvertOptions& options) {
  PowerFile in(options.in, options.number);
  io::SigprocHeader header = in.header();
  header.nifs = 1, header.nsamples = 0;
  std::optional<io::PsrfitsWriter> fits;
  std::optional<io::OutputStream> plain;
  if (is_fits(options.out)) {
    fits.emplace(options.out, header);
  } else {
    const std::string text = io::sigproc_header(header);
    plain.emplace(options.out).write(text.data(), text.size());
  }
  const std::size_t at_once = std::max<std::size_t>(1, (std::size_t{4} << 20) / in.row_bytes());
  std::vector<std::byte> rows;
  std::uint64_t all = 0;
  while (const std::size_t got = in.read(rows, at_once)) {
    if (fits) fits->write(rows);
    if (plain) plain->write(rows.data(), rows.size());
    all += got;
  }
  if (all == 0) throw Error(ErrorKind::io, fmt::format("{}: has no samples", options.in));
  if (fits) fits->finish();
  if (plain) plain->finish();
}

}  // namespace

void add_search_convert(Command& search) {
  Command& command = search.subcommand("convert", "Convert filterbank files to PSRFITS and back");
  command.footer(
      "\nExamples:\n"
      "  ridge search convert day.fil day.fits     PSRFITS of search mode, with the bits of the .fil file\n"
      "  ridge search convert day.sf day.fil       32 bits: scales, offsets and weights are applied\n"
      "\nSamples of weight 0 and missing rows become NaN, which every command flags.");
  auto options = std::make_shared<ConvertOptions>();
  command.option("in", options->in, "Filterbank file (.fil) or PSRFITS file of search mode").required().reads();
  command.option("out", options->out, "File to write: .fits or .sf for PSRFITS, else .fil").required().writes();
  command.option("--if", options->number, "IF or polarization, from 0").shows_default();
  command.runs([options] { convert(*options); });
}

}  // namespace ridge::cli
