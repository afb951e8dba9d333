// Linear algebra and reductions. A line "//: name" before a function gives its expected verdict per loop and the number
// of kernels; "run": also compare the placed program with the original.
#include <algorithm>
#include <cmath>
#include <vector>

//: axpy l1=parallel kernels=1 run
void axpy(const float* x, float* y, int n, float a) {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

//: dot l1=reduction kernels=1 run
void dot(const float* x, const float* y, int n, float& sum) {
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
}

//: product_of_matrices l1=parallel l2=parallel l3=reduction kernels=1 run
void product_of_matrices(const float* a, const float* b, float* c, int n, int m, int k) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i * m + j] = 0;
      for (int l = 0; l < k; l++) c[i * m + j] += a[i * k + l] * b[l * m + j];
    }
}

//: product_by_sum l1=parallel l2=parallel l3=reduction kernels=1 run
void product_by_sum(const double* a, const double* b, double* c, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < n; l++) sum += a[i * n + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}

//: matrix_vector l1=parallel l2=reduction kernels=1 run
void matrix_vector(const float* a, const float* x, float* y, int n, int m) {
  for (int i = 0; i < n; ++i) {
    y[i] = 0;
    for (int j = 0; j < m; ++j) y[i] += a[i * m + j] * x[j];
  }
}

//: transposed l1=parallel l2=parallel kernels=1 run
void transposed(const float* a, float* t, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) t[j * n + i] = a[i * m + j];
}

//: transposed_in_place l1=sequential l2=parallel kernels=1 run
void transposed_in_place(float* a, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const float keep = a[i * n + j];
      a[i * n + j] = a[j * n + i];
      a[j * n + i] = keep;
    }
}

//: forward_rows l1=sequential:flow l2=reduction kernels=0
void forward_rows(const float* l, const float* b, float* x, int n) {
  for (int i = 0; i < n; ++i) {
    x[i] = b[i];
    for (int j = 0; j < i; ++j) x[i] -= l[i * n + j] * x[j];
    x[i] = x[i] / l[i * n + i];
  }
}

//: forward_columns l1=sequential:flow l2=parallel kernels=1 run
void forward_columns(const float* l, float* x, int n) {
  for (int j = 0; j < n; ++j) {
    x[j] /= l[j * n + j];
    for (int i = j + 1; i < n; ++i) x[i] -= l[i * n + j] * x[j];
  }
}

//: rank_one l1=parallel l2=parallel kernels=1 run
void rank_one(const float* x, const float* y, float* a, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a[i * m + j] += x[i] * y[j];
}

//: lower_triangle l1=parallel l2=parallel kernels=1 run
void lower_triangle(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) b[i * n + j] = 2 * a[i * n + j];
}

//: covariance l1=parallel l2=parallel l3=reduction kernels=1 run
void covariance(const float* data, const float* mean, float* out, int n, int m) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += (data[k * m + i] - mean[i]) * (data[k * m + j] - mean[j]);
      out[i * m + j] = sum / float(n - 1);
    }
}

//: column_means l1=parallel l2=reduction kernels=1 run
void column_means(const float* data, float* mean, int n, int m) {
  for (int j = 0; j < m; ++j) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += data[i * m + j];
    mean[j] = sum / float(n);
  }
}

//: total l1=reduction kernels=1 run
void total(const float* a, int n, float& sum) {
  for (int i = 0; i < n; ++i) sum = (sum + a[i]) + a[i] * a[i];
}

//: total_of_both l1=reduction kernels=1 run
void total_of_both(const float* a, int n, float& sum, float& squares) {
  for (int i = 0; i < n; ++i) {
    sum += a[i];
    squares += a[i] * a[i];
  }
}

//: count l1=reduction kernels=1 run
void count(const float* a, int n, int& above) {
  for (int i = 0; i < n; ++i)
    if (a[i] > 0.5f) above++;
}

//: rounded_at_every_step l1=sequential:flow kernels=0
void rounded_at_every_step(const float* a, int n, int& sum) {
  for (int i = 0; i < n; ++i) sum += 1.5f * a[i];
}

//: grand_total l1=reduction l2=reduction kernels=1 run
void grand_total(const float* a, int h, int w, double& sum) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) sum += a[i * w + j];
}

//: product_of_all l1=reduction kernels=1 run
void product_of_all(const double* a, int n, double& all) {
  for (int i = 0; i < n; ++i) all *= 0.5 + a[i];
}

//: least_by_if l1=reduction kernels=1 run
void least_by_if(const float* a, int n, float& least) {
  for (int i = 0; i < n; ++i)
    if (a[i] < least) least = a[i];
}

//: least_by_call l1=reduction kernels=1 run
void least_by_call(const float* a, int n, float& least) {
  for (int i = 0; i < n; ++i) least = std::min(least, a[i]);
}

//: least_the_other_way l1=sequential:flow kernels=0
void least_the_other_way(const float* a, int n, float& least) {
  for (int i = 0; i < n; ++i) least = std::min(a[i], least);
}

//: greatest_by_choice l1=reduction kernels=1 run
void greatest_by_choice(const int* a, int n, int& most) {
  for (int i = 0; i < n; ++i) most = a[i] > most ? a[i] : most;
}

//: first_least l1=reduction kernels=1 run
void first_least(const int* cost, int n, int& best, int& at) {
  best = 1000;
  for (int i = 0; i < n; ++i)
    if (cost[i] < best) {
      best = cost[i];
      at = i;
    }
}

//: last_least l1=reduction kernels=1 run
void last_least(const int* cost, int n, int& best, int& at) {
  best = 1000;
  for (int i = 0; i < n; ++i)
    if (best >= cost[i]) {
      at = i;
      best = cost[i];
    }
}

//: least_in_plane l1=reduction l2=reduction kernels=1 run
void least_in_plane(const int* cost, int h, int w, int& best, int& row, int& column) {
  best = 1000;
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c)
      if (cost[r * w + c] < best) {
        best = cost[r * w + c];
        row = r;
        column = c;
      }
}

//: histogram_of_vector l1=reduction kernels=1 run
void histogram_of_vector(const unsigned char* image, std::vector<int>& bins, int n) {
  for (int i = 0; i < n; ++i) bins[image[i]] += 1;
}

//: histogram_of_plane l1=reduction l2=reduction kernels=1 run
void histogram_of_plane(const int* labels, const int* weights, std::vector<unsigned>& bins, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j)
      if (weights[i * w + j] > 0) bins[labels[i * w + j]] -= weights[i * w + j];
}

//: histogram_of_reals l1=reduction kernels=0
void histogram_of_reals(const int* labels, const float* a, std::vector<float>& bins, int n) {
  for (int i = 0; i < n; ++i) bins[labels[i]] += a[i];
}

//: histogram l1=reduction kernels=1
void histogram(const unsigned char* image, int* bins, int n) {
  for (int i = 0; i < n; ++i) bins[image[i]] += 1;
}

//: mixed_recurrence l1=sequential:flow kernels=0
void mixed_recurrence(const float* a, int n, float& x) {
  for (int i = 0; i < n; ++i) {
    x += a[i];
    x *= 0.5f;
  }
}

//: reduction_that_is_read l1=sequential:flow kernels=0
void reduction_that_is_read(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += in[i];
    out[i] = sum;
  }
}

//: product_with_sum_outside l1=parallel l2=parallel l3=reduction kernels=1 run
void product_with_sum_outside(const float* a, const float* b, float* c, int n) {
  float sum;
  int l;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      sum = 0;
      for (l = 0; l < n; l++) sum += a[i * n + l] * b[l * n + j];
      c[i * n + j] = sum;
    }
}

//: filtered_in_columns l1=parallel l2=parallel l3=reduction kernels=1 run
void filtered_in_columns(const float* in, const float* weights, float* out, int h, int w) {
  for (int c = 0; c < w; ++c)
    for (int r = 2; r < h - 2; ++r) {
      float sum = 0, square = 0;
      for (int k = -2; k <= 2; ++k) {
        const float x = weights[k + 2] * in[(r + k) * w + c];
        sum += x;
        square += x * x;
      }
      out[r * w + c] = sum > 0.5f ? sum : square;
    }
}

// A minimum in one branch that the other branch reads: threads would read the value they start with.
//: minimum_read_elsewhere l1=sequential kernels=0
float minimum_read_elsewhere(const float* a, int n, int k) {
  float least = 1, sum = 0;
  for (int i = 0; i < n; ++i) {
    if (k > 3)
      sum += a[i] * least;
    else if (a[i] < least)
      least = a[i];
  }
  return sum + least;
}

// Numbers and rows that only the first iteration writes: later iterations read what an earlier one left.
//: number_of_first_iteration l1=sequential kernels=0
void number_of_first_iteration(const float* a, float* b, int n) {
  float first = 0;
  for (int i = 0; i < n; ++i) {
    if (i == 0) first = a[0];
    b[i] = first + a[i];
  }
}

//: row_of_first_iteration l1=sequential l2=parallel l3=parallel kernels=0
void row_of_first_iteration(const float* a, float* b) {
  float row[16];
  for (int i = 0; i < 8; ++i) {
    if (i < 1)
      for (int k = 0; k < 16; ++k) row[k] = a[k];
    for (int k = 0; k < 16; ++k) b[i * 16 + k] = row[k] * a[i * 16 + k];
  }
}
