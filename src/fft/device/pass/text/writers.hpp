// The writers of one pass with their common context. codegen.cpp, async_copy_codegen.cpp and mirrored_rows_codegen.cpp
// combine them to kernels; cluster/ and l2_ring/ combine two passes in one kernel.
#pragma once
#include <cstddef>

#include "codegen/text.hpp"
#include "fft/device/pass/text/context.hpp"
#include "fft/device/pass/text/exchange_writer.hpp"
#include "fft/device/pass/text/load_writer.hpp"
#include "fft/device/pass/text/run_writer.hpp"
#include "fft/device/pass/text/store_writer.hpp"

namespace ridge::fft::on_device {

struct PassWriters {
  explicit PassWriters(const PassDesign& design, codegen::Text& text, std::size_t first_table = 0)
      : context(design, text, first_table),
        runs(context),
        load(context, runs),
        exchange(context),
        twiddle(context),
        store(context, runs, twiddle) {}
  PassWriters(const PassWriters&) = delete;
  PassWriters& operator=(const PassWriters&) = delete;

  PassContext context;
  RunWriter runs;
  LoadWriter load;
  ExchangeWriter exchange;
  TwiddleWriter twiddle;
  StoreWriter store;
};

// Persistent kernel that prefetches the next lines asynchronously (CUDA, Hopper and later).
PassText async_copy_text(const PassDesign& design);

// Body of a kernel that transforms rows together with their mirrors (MirroredRows).
void write_mirrored_rows(PassWriters& pass);

// Emits the coordinates of a tile in the tensor map: `column` and `array`.
void tile_place(const PassContext& pass, const std::string& line, const Address& at);

}  // namespace ridge::fft::on_device
