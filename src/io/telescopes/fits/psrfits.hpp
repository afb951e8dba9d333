// PSRFITS files of search mode: power by time, polarization and channel in the rows of a FITS table. They are read
// through cfitsio, which is opened by the first file, and written without it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/telescopes/sigproc.hpp"

namespace ridge::io {

bool looks_like_fits(std::string_view first_bytes);  // nine bytes are enough
bool have_psrfits();                                 // true if cfitsio was found

// Values are those of the file with its offset, scale and weight applied: value = (data - ZERO_OFF) * DAT_SCL +
// DAT_OFFS. Samples of weight 0 and rows that the file lacks are NaN.
class PsrfitsReader {
 public:
  // Error{io} names the keyword or column that is wrong; Error{unavailable} without cfitsio.
  explicit PsrfitsReader(const std::string& path);
  ~PsrfitsReader();
  PsrfitsReader(PsrfitsReader&&) noexcept;

  // Floats in SIGPROC's order: time, IF (polarization), channel.
  const SigprocHeader& header() const;
  std::uint64_t rows_left() const;
  std::size_t read(float* to, std::size_t rows);  // fewer at the end

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes rows of a SIGPROC file's bits: 1, 2, 4, 8 (signed or not), 16 (unsigned) or 32 (float).
class PsrfitsWriter {
 public:
  PsrfitsWriter(const std::string& path, const SigprocHeader& header);
  void write(std::span<const std::byte> rows);  // whole rows
  void finish();                                // gives the complete file its name

 private:
  std::string head() const;
  void write_block();

  SigprocHeader header_;
  OutputStream out_;
  std::size_t block_rows_, row_bytes_;
  std::uint64_t rows_ = 0, blocks_ = 0;
  std::vector<std::byte> block_;
};

}  // namespace ridge::io
