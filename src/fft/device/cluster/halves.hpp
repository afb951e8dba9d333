// The two halves of a cluster's kernel.
#pragma once
#include <cstddef>

#include "fft/device/pass/writers.hpp"

namespace ridge::fft::on_device {

// The rows from local memory, as the columns left them, transformed in registers.
void rows_received(PassWriters& pass, std::size_t pitch, std::size_t side = 1);

// Where the columns were of pairs of samples: what is stored is the spectrum of the samples. A group has rows and their
// mirrors (real_codegen.cpp).
void to_row_or_mirror(PassWriters& pass, std::size_t lines, std::size_t pitch, std::size_t slot);
// `landing`: exchanges were where the rows were received.
void write_real_rows(PassWriters& pass, std::size_t pitch, std::size_t groups, bool landing);

}  // namespace ridge::fft::on_device
