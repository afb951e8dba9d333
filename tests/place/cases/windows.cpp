// Windows around each work-item's point, which become tiles in local memory, and weights that all work-items share.
// "tiles=" is the number of arrays with a tile, "constants=" the number in constant memory.
#include <vector>

//: window_of_nine l1=parallel l2=parallel kernels=1 run tiles=1
void window_of_nine(const float* in, float* out, int h, int w) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      float sum = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) sum += in[(y + j) * w + x + i];
      out[y * w + x] = sum;
    }
}

//: window_of_any_radius l1=parallel l2=parallel kernels=1 run tiles=1
void window_of_any_radius(const unsigned char* in, unsigned char* out, int h, int w, int radius) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int least = 255;
      for (int j = (y - radius > 0 ? y - radius : 0); j <= y + radius && j < h; ++j)
        for (int i = (x - radius > 0 ? x - radius : 0); i <= x + radius && i < w; ++i)
          if (in[j * w + i] < least) least = in[j * w + i];
      out[y * w + x] = static_cast<unsigned char>(least);
    }
}

//: window_with_weights l1=parallel l2=parallel kernels=1 run tiles=1 constants=1
void window_with_weights(const float* in, const float* weights, float* out, int h, int w) {
  for (int y = 2; y < h - 2; ++y)
    for (int x = 2; x < w - 2; ++x) {
      float sum = 0;
      for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i) sum += weights[j * 5 + i] * in[(y + j - 2) * w + x + i - 2];
      out[y * w + x] = sum;
    }
}

//: window_of_a_line l1=parallel kernels=1 run tiles=1
void window_of_a_line(const double* in, double* out, int n) {
  for (int i = 3; i < n - 3; ++i) out[i] = in[i - 3] + in[i - 1] - in[i + 1] - in[i + 3] + in[i];
}

//: window_of_colors l1=parallel l2=parallel l3=parallel kernels=1 run tiles=1
void window_of_colors(const unsigned char* in, unsigned char* out, int h, int w) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x)
      for (int c = 0; c < 3; ++c) {
        int sum = 0;
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) sum += in[((y + j) * w + x + i) * 3 + c];
        out[(y * w + x) * 3 + c] = static_cast<unsigned char>(sum / 9);
      }
}

//: window_in_a_volume l1=parallel l2=parallel l3=parallel kernels=1 run tiles=1
void window_in_a_volume(const float* in, float* out, int d, int h, int w) {
  for (int z = 1; z < d - 1; ++z)
    for (int y = 1; y < h - 1; ++y)
      for (int x = 1; x < w - 1; ++x)
        out[(z * h + y) * w + x] = in[(z * h + y) * w + x - 1] + in[(z * h + y) * w + x + 1] +
                                   in[(z * h + y - 1) * w + x] + in[(z * h + y + 1) * w + x] +
                                   in[((z - 1) * h + y) * w + x] + in[((z + 1) * h + y) * w + x];
}

//: window_at_places_in_data l1=parallel kernels=1 run tiles=1
void window_at_places_in_data(const std::vector<float>& in, const int* where, float* out, int n) {
  for (int i = 1; i < n - 1; ++i) out[i] = in[where[i]] + in[where[i] + 1];
}

//: window_of_itself l1=sequential kernels=0 tiles=0
void window_of_itself(float* a, int n) {
  for (int i = 1; i < n - 1; ++i) a[i] = a[i - 1] + a[i + 1];
}

//: weights_of_any_number l1=parallel kernels=1 run tiles=1 constants=0
void weights_of_any_number(const float* in, const float* weights, float* out, int n, int taps) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) sum += weights[k] * in[i + k];
    out[i] = sum;
  }
}

//: names_that_kernels_add l1=parallel l2=parallel kernels=1 run tiles=0
void names_that_kernels_add(const float* in, const float* weights, float* out, int h, int tile_row, int copy) {
  for (int y = 1; y < h - 1; ++y)
    for (int x_first = 1; x_first < tile_row - 1; ++x_first) {
      float sum = 0;
      for (int k = 0; k < 3; ++k) sum += weights[k] * in[y * tile_row + x_first + k - 1] * copy;
      out[y * tile_row + x_first] = sum;
    }
}
