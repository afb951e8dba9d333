// The writers of one pass over one context; what is made of them are kernels (codegen.cpp, async_copy_codegen.cpp,
// mirrored_rows_codegen.cpp) and halves of kernels (cluster/, persistent_two_pass/).
#pragma once
#include <cstddef>

#include "codegen/text.hpp"
#include "fft/device/pass/context.hpp"
#include "fft/device/pass/exchange_writer.hpp"
#include "fft/device/pass/load_writer.hpp"
#include "fft/device/pass/run_writer.hpp"
#include "fft/device/pass/store_writer.hpp"
#include "fft/device/pass/twiddle_writer.hpp"

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

// A group takes lines after lines, and the next are always on their way (CUDA, Hopper and later).
PassText async_copy_text(const PassDesign& design);

// The middle of a kernel whose rows are done with their mirrors (PassDesign::mirrored).
void write_mirrored_rows(PassWriters& pass);

// Where a tile begins: `column` and `array`, of the map of one side.
void tile_place(const PassContext& pass, const std::string& line, const Address& at);

}  // namespace ridge::fft::on_device
