// Exact integer sums for the variance: column sums run down the rows, totals along each row.
#pragma once
#include <cstdint>

namespace ridge::image {

// Adds a row of values and subtracts an old one (null: none) in the sums and squares of n columns. Narrow: 8-bit values
// minus 128, and windows of at most 255 rows.
void exchange_narrow(const std::uint8_t* fresh, const std::uint8_t* old, std::int16_t* sums, std::int32_t* squares,
                     int n);
void exchange_wide(const std::int32_t* fresh, const std::int32_t* old, std::int64_t* sums, std::int64_t* squares,
                   int n);

// Variances of `count` adjacent windows of `window` columns and `cells` values each, from the sums of count + window -
// 1 columns. Narrow: 8-bit values minus 128 and at most 1024 cells, so that every number fits the 24 bits of a float;
// `running` holds 2 (count + window + 64).
void finish_narrow(const std::int16_t* sums, const std::int32_t* squares, int window, int count, int cells,
                   std::int32_t* running, float* out);
void finish_wide(const std::int64_t* sums, const std::int64_t* squares, int window, int count, int cells, float* out);

}  // namespace ridge::image
