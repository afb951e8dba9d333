// Files of power as rows: one IF of a SIGPROC file or pipe (.fil), in the file's own bits, or one polarization of a
// PSRFITS file of search mode, as floats.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/search.hpp>

#include "io/telescopes/fits/psrfits.hpp"
#include "io/telescopes/sigproc.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {

class PowerFile {
 public:
  // Error{io} for files of another format; `number` is the IF, from 0.
  explicit PowerFile(const std::string& name, std::size_t number = 0);
  const io::SigprocHeader& header() const { return header_; }
  search::Band band() const;
  std::size_t bits() const { return static_cast<std::size_t>(header_.nbits); }
  std::size_t row_bytes() const;  // of one IF
  // Reads up to `rows` rows to `to`, which is resized; returns how many. Error{io} if another header follows the rows.
  // Warns of bytes at the end that are not read: an incomplete row, or rows beyond nsamples.
  std::size_t read(std::vector<std::byte>& to, std::size_t rows);
  // True if the input knows which rows hold lost samples. `bits` has a bit per value of the rows that were read last.
  bool knows_losses() const { return in_.from_ring(); }
  void flag_lost(std::vector<std::byte>& bits);
  std::uint64_t rows_lost() const { return rows_lost_; }
  std::optional<std::uint64_t> rows_left() const;
  // Drops the next rows; fewer at the end.
  void skip(std::uint64_t rows);
  const std::string& name() const { return in_.name(); }

 private:
  void look_for_header(std::span<const std::byte> bytes);
  void warn_of_rest(std::size_t incomplete);
  [[noreturn]] void fail_joined(std::uint64_t rows) const;
  std::size_t read_bytes(std::vector<std::byte>& to, std::size_t rows);

  io::InputStream in_;
  std::optional<io::PsrfitsReader> fits_;  // else in_ is a SIGPROC file
  io::SigprocHeader header_;
  std::size_t number_;
  std::uint64_t left_ = UINT64_MAX;        // rows, from nsamples
  bool warned_ = false;                    // that they are missing
  std::uint64_t begin_ = 0;                // position of the first row
  std::uint64_t row_ = 0, rows_lost_ = 0;  // first row that was read last
  std::size_t rows_ = 0;                   // rows that were read last
  std::vector<io::LostBytes> lost_;
  std::vector<std::byte> piece_;
  std::string before_;  // the last bytes of the previous read
};

// Error if the rows that are left, where their number is known, are fewer than the sweep of a dispersion measure needs.
// Otherwise the largest dispersion measure whose sweep they hold; infinite if their number is not known.
double largest_dm(const PowerFile& in, double dm);

// "0..3000", "0:3000" or a single number.
struct Range {
  double begin = 0, end = 0;
};
Range parse_range(const std::string& option, const std::string& text);

}  // namespace ridge::cli
