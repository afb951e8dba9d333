// Local variance of every pixel's window by five methods, in plain sequential C++ over float arrays.
#pragma once

namespace sequential {

// `in` has a border of window - 1 more rows and columns: in(r .. r + window - 1, c .. c + window - 1) is the window of
// out(r, c), and its rows are columns + window - 1 long.
void variance_two_pass(const float* in, int rows, int columns, int window, float* out);
void variance_koenig(const float* in, int rows, int columns, int window, float* out);
void variance_online(const float* in, int rows, int columns, int window, float* out);
void variance_pairwise(const float* in, int rows, int columns, int window, float* out);    // a power of 2
void variance_three_wise(const float* in, int rows, int columns, int window, float* out);  // a power of 3

// Pads the image by reflection without repeating the edge; the pixel is at window / 2.
void pad_reflected(const float* in, int rows, int columns, int window, float* out);

}  // namespace sequential
