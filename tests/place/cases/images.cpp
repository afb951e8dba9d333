// Stencils, filters and images, in the notation of algebra.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

//: blur l1=parallel l2=parallel kernels=1 run
void blur(const float* in, float* out, int h, int w) {
  for (int i = 1; i < h - 1; ++i)
    for (int j = 1; j < w - 1; ++j)
      out[i * w + j] = 0.25f * (in[(i - 1) * w + j] + in[(i + 1) * w + j] + in[i * w + j - 1] + in[i * w + j + 1]);
}

//: bilateral l1=parallel l2=parallel l3=reduction l4=reduction kernels=1 run
void bilateral(const float* image, float* out, int h, int w, int radius, float sigma) {
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      float sum = 0, norm = 0;
      const float center = image[y * w + x];
      for (int v = std::max(0, y - radius); v <= std::min(h - 1, y + radius); ++v)
        for (int u = std::max(0, x - radius); u <= std::min(w - 1, x + radius); ++u) {
          float d = image[v * w + u] - center;
          float weight = std::exp(-(d * d + float((v - y) * (v - y) + (u - x) * (u - x))) / sigma);
          sum += weight * image[v * w + u];
          norm += weight;
        }
      out[y * w + x] = sum / norm;
    }
  }
}

//: chain l1=parallel l2=parallel kernels=2 run
void chain(const std::vector<float>& in, std::vector<float>& out, int n) {
  std::vector<float> smooth(n);
  for (int i = 1; i < n - 1; ++i) smooth[i] = (in[i - 1] + in[i] + in[i + 1]) / 3;
  for (int i = 2; i < n - 2; ++i) out[i] = smooth[i + 1] - smooth[i - 1];
}

//: separable l1=parallel l2=parallel l3=reduction l4=parallel l5=parallel l6=reduction kernels=2 run
void separable(const float* in, float* out, int h, int w, int radius) {
  std::vector<float> across(h * w);
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float sum = 0;
      for (int u = std::max(0, x - radius); u <= std::min(w - 1, x + radius); ++u) sum += in[y * w + u];
      across[y * w + x] = sum;
    }
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float sum = 0;
      for (int v = std::max(0, y - radius); v <= std::min(h - 1, y + radius); ++v) sum += across[v * w + x];
      out[y * w + x] = sum;
    }
}

//: heat l2=parallel l3=parallel l4=parallel l5=parallel kernels=2 run
void heat(float* a, float* b, int h, int w, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < h - 1; ++i)
      for (int j = 1; j < w - 1; ++j)
        b[i * w + j] = a[i * w + j] + 0.1f * (a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] +
                                              a[i * w + j + 1] - 4 * a[i * w + j]);
    for (int i = 1; i < h - 1; ++i)
      for (int j = 1; j < w - 1; ++j) a[i * w + j] = b[i * w + j];
  }
}

//: heat_by_swap l2=parallel l3=parallel kernels=1 run
void heat_by_swap(std::vector<float>& a, int h, int w, int steps) {
  std::vector<float> b(a);
  for (int t = 0; t < steps; ++t) {
    for (int i = 1; i < h - 1; ++i)
      for (int j = 1; j < w - 1; ++j)
        b[i * w + j] =
            0.2f * (a[i * w + j] + a[(i - 1) * w + j] + a[(i + 1) * w + j] + a[i * w + j - 1] + a[i * w + j + 1]);
    std::swap(a, b);
  }
}

//: relaxed_in_place l1=sequential:flow kernels=0
void relaxed_in_place(float* a, int n) {
  for (int i = 1; i < n - 1; ++i) a[i] = 0.5f * (a[i - 1] + a[i + 1]);
}

//: wavefront l1=sequential:flow l2=sequential:flow kernels=0
void wavefront(float* a, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < m; ++j) a[i * m + j] += 0.5f * (a[(i - 1) * m + j] + a[i * m + j - 1]);
}

//: antidiagonal l1=sequential:flow l2=parallel kernels=1 run
void antidiagonal(float* a, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m - 1; ++j) a[i * m + j] = a[(i - 1) * m + j + 1];
}

//: window l1=parallel l2=parallel l3=reduction kernels=1 run
void window(const float* in, const int* size, float* out, int h, int w) {
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) {
      float sum = 0;
      int k = size[r * w + c];
      for (int v = std::max(0, r - k); v <= std::min(h - 1, r + k); ++v) sum += in[v * w + c];
      out[r * w + c] = sum;
    }
}

//: scratch l1=parallel l2=parallel l3=parallel l4=reduction kernels=1 run
void scratch(const float* in, float* out, int h, int w) {
  float line[9];
  float mean;
  for (int r = 0; r < h; ++r)
    for (int c = 4; c < w - 4; ++c) {
      for (int k = 0; k < 9; ++k) line[k] = in[r * w + c + k - 4];
      mean = 0;
      for (int k = 0; k < 9; ++k) mean += line[k];
      out[r * w + c] = mean / 9;
    }
}

//: scratch_of_any_length l1=parallel l2=parallel l3=reduction kernels=1 run
void scratch_of_any_length(const float* in, float* out, int n, int radius) {
  std::vector<float> weight(2 * radius + 1);
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 2 * radius + 1; ++k) weight[k] = in[i + k] * in[i];
    float sum = 0;
    for (int k = 0; k < 2 * radius + 1; ++k) sum += weight[k];
    out[i] = sum;
  }
}

//: scratch_with_holes l1=sequential kernels=0
void scratch_with_holes(const float* in, float* out, int n) {
  float line[4] = {0, 0, 0, 0};
  for (int i = 0; i < n; ++i) {
    if (in[i] > 0.5f) line[1] = in[i];
    out[i] = line[1];
  }
}

//: skipping l1=parallel kernels=1 run
void skipping(const float* in, const int* mask, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    if (mask[i] == 0) continue;
    float d = in[i] - 0.5f;
    out[i] = d * d;
  }
}

//: pitched l1=parallel l2=parallel kernels=1 run
void pitched(const float* in, float* out, int h, int w, int pitch) {
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) out[r * pitch + c] = 2 * in[r * pitch + c];
}

//: halved l1=parallel l2=parallel kernels=1 run
void halved(const float* in, float* out, int h, int w) {
  for (int r = 0; r < h; r += 2)
    for (int c = 0; c < w; c += 2) out[(r / 2) * w + c / 2] = in[r * w + c];
}

//: rows_by_pointer l1=parallel l2=parallel kernels=1 run
void rows_by_pointer(const float* in, float* out, int h, int w) {
  for (int y = 1; y < h - 1; ++y) {
    const float* above = in + (y - 1) * w;
    const float* below = &in[(y + 1) * w];
    float* to = out + y * w;
    for (int x = 0; x < w; ++x) to[x] = above[x] - below[x];
  }
}

//: complex_turn l1=parallel l2=parallel l3=parallel kernels=1 run
void complex_turn(const float* z, float* t, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      for (int part = 0; part < 2; ++part) t[2 * (x * h + y) + part] = z[2 * (y * w + x) + part];
}

//: grey l1=parallel l2=parallel l3=reduction kernels=1 run
void grey(const unsigned char* rgb, float* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      float sum = 0;
      for (int c = 0; c < 3; ++c) sum += rgb[(y * w + x) * 3 + c];
      out[y * w + x] = sum / 3;
    }
}

//: clamped_border l1=parallel l2=parallel kernels=1 run
void clamped_border(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) out[y * w + x] = in[std::min(y + 1, h - 1) * w + std::max(x - 1, 0)];
}

//: volume l1=parallel l2=parallel l3=parallel kernels=1 run
void volume(const float* in, float* out, int d, int h, int w) {
  for (int z = 1; z < d - 1; ++z)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        out[(z * h + y) * w + x] = in[((z - 1) * h + y) * w + x] + in[((z + 1) * h + y) * w + x];
}

inline float squared(float x) { return x * x; }
inline int mirrored(int i, int n) { return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i; }

//: calls l1=parallel kernels=1 run
void calls(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = squared(a[i]) + squared(1 - a[i]);
}

//: mirrored_border l1=parallel kernels=1 run
void mirrored_border(const std::vector<float>& in, std::vector<float>& out, int n) {
  for (int i = 0; i < n; ++i) out[i] = in[mirrored(i - 2, n)] + in[mirrored(i + 2, n)];
}

static void smooth_row(const float* in, float* out, int w) {
  for (int x = 1; x < w - 1; ++x) out[x] = (in[x - 1] + in[x] + in[x + 1]) / 3;
}

//: whole_tree kernels=1 run
void whole_tree(const std::vector<float>& in, std::vector<float>& out, int w) {
  std::vector<float> middle(in.size());
  smooth_row(in.data(), middle.data(), w);
  smooth_row(middle.data(), out.data(), w);
}

//: mirrored_rows l1=parallel l2=parallel kernels=1 run
void mirrored_rows(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) out[y * w + (w - 1 - x)] = in[y * w + x];
}

//: mirrored_on_reading l1=parallel l2=parallel kernels=1 tiles=0 run
void mirrored_on_reading(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 2; x < w - 2; ++x) {
      float sum = 0;
      for (int k = -2; k <= 2; ++k) sum += in[y * w + (w - 1 - x) + k];
      out[y * w + x] = sum;
    }
}

//: quarter_turn l1=parallel l2=parallel kernels=1 run
void quarter_turn(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) out[x * h + (h - 1 - y)] = in[y * w + x];
}

//: half_turn l1=parallel l2=parallel kernels=1 run
void half_turn(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y) {
    const float* row = in + y * w;
    float* from_the_end = out + (h - 1 - y) * w;
    for (int x = 0; x < w; ++x) from_the_end[w - 1 - x] = row[x];
  }
}

//: mirrored_in_place l1=parallel l2=sequential:flow kernels=1 run
void mirrored_in_place(float* a, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) a[y * w + (w - 1 - x)] = a[y * w + x];
}

//: mirrored_by_one_more l1=sequential kernels=0
void mirrored_by_one_more(float* a, int h, int w) {  // x = 0 overlaps the next row
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) a[y * w + (w - x)] = a[y * w + x];
}

// Statements of the host between kernels: the device copy of the array stays, and only the element is copied.
//: ends_by_the_host l1=parallel l2=parallel kernels=2 run
void ends_by_the_host(float* x, const float* r, int n) {
  if (n < 2) return;
  for (int i = 0; i < n; ++i) x[i] += r[i];
  x[n - 1] = x[0] + 1;
  for (int i = 1; i < n; ++i) x[i] = 2 * x[i] - r[i - 1];
}

// The subscript changes inside the statement.
//: end_after_a_step l1=parallel l2=parallel kernels=2 run
void end_after_a_step(float* x, const float* r, int n) {
  int k = 0;
  if (n < 3) return;
  for (int i = 0; i < n; ++i) x[i] += r[i];
  k = 1, x[k] = x[k + 1] + 1;
  for (int i = 0; i < n; ++i) x[i] = 2 * x[i] - r[i];
}

static void ramp(std::vector<float>& x, float step) {
  for (int i = 0; i < static_cast<int>(x.size()); ++i) x[i] = step * static_cast<float>(i);
}

// The values that ramp() wrote are overwritten before they are read: they are not copied back.
//: written_in_vain ramp.l1=parallel l1=parallel kernels=1 run
void written_in_vain(std::vector<float>& x, int n) {
  ramp(x, 2);
  x.assign(n, 0.5f);
  for (int i = 0; i < n; ++i) x[i] += 1;
}

// resize() keeps them, and so does an assignment of one of them.
//: written_and_kept ramp.l1=parallel l1=parallel l2=parallel kernels=2 run
void written_and_kept(std::vector<float>& x, std::vector<float>& y, int n) {
  ramp(x, 2);
  ramp(y, 3);
  x.resize(n);
  const float& kept = y[1];
  for (int i = 0; i < n; ++i) x[i] += 1;
  y.assign(n, kept);
  for (int i = 0; i < n; ++i) y[i] += x[i];
}

// The new value is an element of another vector, through a pointer or a reference: it is copied back before.
//: element_elsewhere ramp.l1=parallel l1=parallel kernels=1 run
void element_elsewhere(std::vector<float>& x, std::vector<float>& y, std::vector<float>& z, int n) {
  const float* const second = x.data() + 1;
  const float& third = x[2];
  ramp(x, 2);
  y.assign(n, *second);
  ramp(x, 3);
  z.assign(n, third);
  for (int i = 0; i < n; ++i) y[i] += z[i];
}
