// The two phases of a cluster kernel: columns, then rows.
#pragma once
#include <cstddef>

#include "fft/device/pass/writers.hpp"

namespace ridge::fft::on_device {

// Loads the rows that the column phase stored in local memory, and transforms them in registers.
void load_received_rows(PassWriters& pass, std::size_t pitch, std::size_t side = 1);

// Real lines: after columns of sample pairs, the row phase stores the spectrum of the samples. A group holds rows and
// their mirrors (real_codegen.cpp).
void send_to_row_or_mirror(PassWriters& pass, std::size_t lines, std::size_t pitch, std::size_t slot);
// `landing`: exchanges use the memory in which the rows were received.
void write_real_rows(PassWriters& pass, std::size_t pitch, std::size_t groups, bool landing);

}  // namespace ridge::fft::on_device
