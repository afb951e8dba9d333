// Transformations: "by=" names one that must be applied to the function, "not=" one that must be tried and refused,
// "without=" one that must not be applied. In the notation of algebra.cpp; without headers, so that parsing is fast.

//: columns_summed l1=sequential:flow l2=parallel kernels=1 run by=interchange
void columns_summed(float* a, int h, int w) {
  for (int i = 1; i < h; ++i)
    for (int j = 0; j < w; ++j) a[i * w + j] += a[(i - 1) * w + j];
}

//: towards_the_left l1=sequential:flow l2=parallel kernels=1 run not=interchange
void towards_the_left(float* a, int h, int w) {
  for (int i = 1; i < h; ++i)
    for (int j = 0; j < w - 1; ++j) a[i * w + j] = 0.5f * a[(i - 1) * w + j + 1];
}

//: diagonals l1=sequential:flow l2=sequential:flow kernels=0 run by=skewing
void diagonals(float* a, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < m; ++j) a[i * m + j] += 0.5f * (a[(i - 1) * m + j] + a[i * m + j - 1]);
}

//: common_subsequence l1=sequential:flow l2=sequential:flow kernels=0 run by=skewing
void common_subsequence(const int* x, const int* y, int* best, int n, int m) {
  for (int i = 1; i < n; ++i) {
    for (int j = 1; j < m; ++j) {
      int b = best[(i - 1) * m + j];
      if (best[i * m + j - 1] > b) b = best[i * m + j - 1];
      if (x[i] == y[j] && best[(i - 1) * m + j - 1] + 1 > b) b = best[(i - 1) * m + j - 1] + 1;
      best[i * m + j] = b;
    }
  }
}

//: other_diagonals l1=sequential:flow l2=sequential:flow kernels=0 run by=skewing
void other_diagonals(float* a, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < m; ++j)
      a[i * m + j] = 0.5f * a[(i - 1) * m + j] + 0.25f * a[(i - 1) * m + j - 1] + a[i * m + j - 1];
}

//: everywhere l1=sequential:flow l2=sequential:flow kernels=0 run not=skewing by=rescheduling
void everywhere(float* a, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < m - 1; ++j) a[i * m + j] = a[(i - 1) * m + j + 1] + a[i * m + j - 1];
}

//: half_carried l1=sequential:flow kernels=0 run by=fission
void half_carried(const float* a, float* b, float* c, int n) {
  for (int i = 1; i < n; ++i) {
    b[i] = 2 * a[i];
    c[i] = c[i - 1] + b[i];
  }
}

//: half_carried_with_a_number l1=sequential:flow kernels=0 run by=fission
void half_carried_with_a_number(const float* a, float* b, float* c, int n) {
  for (int i = 1; i < n; ++i) {
    const float t = 2 * a[i];
    c[i] = c[i - 1] + t;
    b[i] = t * t;
  }
}

//: both_carried l1=sequential:flow kernels=0 not=fission
void both_carried(float* b, float* c, int n) {
  for (int i = 1; i < n; ++i) {
    b[i] = c[i - 1] + 1;
    c[i] = b[i] * 0.5f;
  }
}

//: mirrored_onto_itself l1=sequential kernels=0 run by=index-set
void mirrored_onto_itself(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = 0.5f * a[n - 1 - i];
}

//: one_element_for_all l1=sequential kernels=0 run by=index-set
void one_element_for_all(float* a, int n, int at) {
  for (int i = 0; i < n; ++i) a[i] = 0.5f * a[at] + 1;
}

//: overwritten l1=parallel kernels=1 run by=dead-write
void overwritten(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    b[i] = 1;
    b[i] = a[i] + 2;
  }
}

//: not_always_overwritten l1=parallel kernels=1 run without=dead-write
void not_always_overwritten(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    b[i] = 1;
    if (a[i] > 0.5f) b[i] = a[i] + 2;
  }
}

//: point_by_point l1=parallel l2=parallel l3=parallel l4=parallel kernels=2 run by=fusion
void point_by_point(const float* a, float* b, float* c, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) b[i * w + j] = 2 * a[i * w + j];
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) c[i * w + j] = b[i * w + j] + a[i * w + j];
}

//: neighbours_first l1=parallel l2=parallel kernels=2 run not=fusion
void neighbours_first(const float* a, float* b, float* c, int n) {
  for (int i = 1; i < n - 1; ++i) b[i] = 2 * a[i];
  for (int i = 1; i < n - 1; ++i) c[i] = b[i + 1] - b[i - 1];
}

//: convolve l1=parallel l2=parallel l3=parallel l4=parallel l5=reduction l6=reduction kernels=1 run by=coalescing
void convolve(const float* in, const float* k, float* out, int images, int filters, int h, int w) {
  for (int b = 0; b < images; ++b)
    for (int f = 0; f < filters; ++f)
      for (int y = 1; y < h - 1; ++y)
        for (int x = 0; x < w - 2; x += 2) {
          float sum = 0;
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) sum += k[(f * 3 + i) * 3 + j] * in[(b * h + y + i - 1) * w + x + j];
          out[((b * filters + f) * h + y) * w + x] = sum;
        }
}

//: five_loops_down l1=parallel l2=parallel l3=parallel l4=parallel l5=parallel kernels=1 run by=coalescing
void five_loops_down(const float* in, float* out, int n, int m) {
  for (int a = n - 1; a >= 0; --a)
    for (int b = 0; b < 3; ++b)
      for (int c = m - 1; c >= 1; c -= 2)
        for (int d = 0; d < 5; ++d)
          for (int e = 0; e < n; ++e)
            if (e + d > 2) out[(((a * 3 + b) * m + c) * 5 + d) * n + e] = in[(a * m + c) * n + e] + b - d;
}

//: triangle_of_four l1=parallel l2=parallel l3=parallel l4=parallel kernels=1 run without=coalescing
void triangle_of_four(const float* in, float* out, int n, int m) {
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < m; ++b)
      for (int c = 0; c < n; ++c)
        for (int d = 0; d <= c; ++d) out[((a * m + b) * n + c) * n + d] = 2 * in[a * m + b] + c - d;
}

//: far_apart l1=sequential:flow kernels=0 run by=strip
void far_apart(const float* a, float* b, int n) {
  for (int i = 1000; i < 1000 + n; ++i) b[i] = 0.5f * b[i - 1000] + a[i - 1000];
}

//: a_row_apart l1=sequential:flow kernels=0 by=strip
void a_row_apart(float* b, int n, int w) {
  for (int i = w; i < n; ++i) b[i] += b[i - w];
}

//: close_together l1=sequential:flow kernels=0 without=strip
void close_together(float* b, int n) {
  for (int i = 2; i < n; ++i) b[i] += b[i - 2];
}

//: turned_over l1=parallel l2=parallel kernels=1 run by=tiling emit=openmp
void turned_over(const float* a, float* b, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) b[j * n + i] = a[i * m + j];
}

//: turned_over_down_the_rows l1=sequential:flow l2=parallel kernels=1 run by=tiling emit=openmp
void turned_over_down_the_rows(const float* a, float* b, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m; ++j) b[i * m + j] = b[(i - 1) * m + j] + a[j * n + i];
}

//: turned_over_backwards l1=sequential:flow l2=parallel kernels=1 run not=tiling emit=openmp
void turned_over_backwards(const float* a, float* b, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 1; j < m - 1; ++j) b[i * m + j] = b[(i - 1) * m + j + 1] + b[(i - 1) * m + j - 1] + a[j * n + i];
}

//: mirrored_and_carried l1=sequential:flow kernels=0 without=index-set
void mirrored_and_carried(float* a, int n) {
  for (int i = 1; i < n; ++i) a[i] = a[i - 1] + a[n - i];
}

//: five_taps l1=parallel l2=reduction kernels=1 run by=unrolling
void five_taps(const float* a, const float* k, float* b, int n) {
  for (int i = 2; i < n - 2; ++i) {
    float sum = 0;
    for (int j = 0; j < 5; ++j) sum += k[j] * a[i + j - 2];
    b[i] = sum;
  }
}

//: five_taps_at_most l1=parallel l2=sequential kernels=1 run without=unrolling
void five_taps_at_most(const float* a, const float* k, float* b, int n) {
  for (int i = 2; i < n - 2; ++i) {
    float sum = 0;
    for (int j = 0; j < 5; ++j) {
      if (k[j] < 0.1f) break;
      sum += k[j] * a[i + j - 2];
    }
    b[i] = sum;
  }
}

//: sums_down_columns l1=parallel l2=parallel l3=reduction kernels=1 run by=lanes emit=openmp
void sums_down_columns(const float* a, const float* k, float* b, int h, int w) {
  for (int y = 4; y < h - 4; ++y)
    for (int x = 0; x < w; ++x) {
      float sum = 0;
      for (int r = -4; r <= 4; ++r) sum += k[r + 4] * a[(y + r) * w + x];
      b[y * w + x] = sum;
    }
}

//: sums_of_every_other l1=parallel l2=reduction kernels=1 run without=lanes emit=openmp
void sums_of_every_other(const float* a, float* b, int n, int m) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < m; ++j) sum += a[2 * i + j];
    b[i] = sum;
  }
}

//: solved_downwards l1=sequential:flow l2=reduction kernels=0 run by=rescheduling
void solved_downwards(const float* l, const float* b, float* x, int n) {
  for (int i = 0; i < n; ++i) {
    x[i] = b[i];
    for (int j = 0; j < i; ++j) x[i] -= 0.1f * l[i * n + j] * x[j];
    x[i] = x[i] / (1 + l[i * n + i]);
  }
}

// Devices get the loops over rows and columns inside the sequential one, threads whole rows.
//: factored l1=sequential:flow kernels=1 run by=rescheduling without=kept
void factored(float (*a)[64], int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (int k = 0; k < j; ++k) a[i][j] -= 0.01f * a[i][k] * a[k][j];
      a[i][j] /= 1 + a[j][j] * a[j][j];
    }
    for (int j = i; j < n; ++j)
      for (int k = 0; k < i; ++k) a[i][j] -= 0.01f * a[i][k] * a[k][j];
  }
}

//: best_of_parts l1=sequential:flow l2=sequential l3=sequential kernels=0 run by=rescheduling
void best_of_parts(int* best, const int* gain, int n) {
  for (int i = n - 1; i >= 0; --i)
    for (int j = i + 1; j < n; ++j) {
      if (i + 1 < j) best[i * n + j] = best[(i + 1) * n + j - 1] + (gain[i] == gain[j] ? 1 : 0);
      for (int k = i + 1; k < j; ++k)
        if (best[i * n + k] + best[(k + 1) * n + j] > best[i * n + j])
          best[i * n + j] = best[i * n + k] + best[(k + 1) * n + j];
    }
}

//: shortest_paths l1=sequential:flow l2=sequential:flow l3=sequential:flow kernels=0 run by=rescheduling
void shortest_paths(int (*d)[64], int n) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
}

//: no_order_helps l1=sequential:flow l2=sequential:flow kernels=0 without=rescheduling
void no_order_helps(float* a, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 1; j < m; ++j) a[j] = 0.5f * a[j - 1] + 0.5f * a[m - 1];
}

//: row_sums_kept l1=sequential:flow l2=parallel l3=reduction l4=parallel kernels=2 run by=last
void row_sums_kept(const float* a, float* b, float* sum, int n, int m) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      sum[j] = 0;
      for (int k = 0; k < 4; ++k) sum[j] += a[i * m + j] * (k + 1);
    }
    for (int j = 0; j < m; ++j) b[i * m + j] = sum[m - 1 - j];
  }
}

//: last_number_kept l1=sequential kernels=0 run by=last
float last_number_kept(const float* a, float* b, int n) {
  float scaled = 0;
  for (int i = 0; i < n; ++i) {
    scaled = 2 * a[i];
    b[i] = scaled * scaled;
  }
  return scaled;
}

//: shorter_every_time l1=sequential:flow l2=parallel l3=parallel kernels=2 run without=last
void shorter_every_time(const float* a, float* b, float* part, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n - i; ++j) part[j] = a[i * n + j];
    for (int j = 0; j < n - i; ++j) b[i * n + j] = part[n - i - 1 - j];
  }
}

//: kept_from_some_turn l1=sequential kernels=0 run without=last
float kept_from_some_turn(const float* a, float* b, int n) {
  float chosen = 0;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 0.9f) chosen = a[i];
    b[i] = chosen * a[i];
  }
  return chosen;
}

//: neighbour_of_before l1=sequential:flow kernels=0 run by=wrap-around
void neighbour_of_before(const float* a, float* b, int n) {
  int before = n - 1;
  for (int i = 0; i < n; ++i) {
    b[i] = 0.5f * (a[i] + a[before]);
    before = i;
  }
}

//: two_turns_before l1=sequential:flow kernels=0 run by=wrap-around
void two_turns_before(const float* a, float* b, int n) {
  float one = a[n - 1], two = a[n - 2];
  for (int i = 0; i < n; ++i) {
    b[i] = 0.25f * (a[i] + one + two);
    two = one;
    one = a[i];
  }
}

//: product_before l1=sequential:flow kernels=0 run by=wrap-around
void product_before(const float* a, const float* c, float* b, int n) {
  float before = 0, product;
  for (int i = 0; i < n; ++i) {
    product = a[i] * c[i];
    b[i] = product + before;
    before = product;
  }
}

//: written_before l1=sequential:flow kernels=0 run without=wrap-around
void written_before(float* a, int n) {
  float before = 1;
  for (int i = 0; i < n; ++i) {
    a[i] = 0.5f * a[i] + 0.25f * before;
    before = a[i];
  }
}

//: added_before l1=sequential:flow kernels=0 run without=wrap-around
void added_before(const float* a, float* b, int n) {
  float before = 0;
  for (int i = 0; i < n; ++i) {
    b[i] = before * a[i];
    before = before * 0.5f + a[i];
  }
}

//: old_neighbours_and_new l1=sequential:anti kernels=0 run
void old_neighbours_and_new(const float* c, float* a, float* b, int n) {
  for (int i = 0; i < n - 2; ++i) {
    a[i] = 2 * c[i] + b[i];
    b[i] = a[i] - a[i + 1] * a[i + 2];
  }
}

//: old_rows_and_new l1=sequential:anti l2=parallel kernels=1 run
void old_rows_and_new(float (*a)[64], float* b, int n) {
  for (int i = 0; i < n - 1; ++i)
    for (int j = 0; j < 64; ++j) {
      a[i][j] = 0.5f * a[i][j] + a[i + 1][j];
      b[i * 64 + j] = a[i][j];
    }
}

//: new_neighbour_or_old l1=sequential:flow kernels=0 run
void new_neighbour_or_old(float* a, float* b, int n) {
  for (int i = 1; i < n - 1; ++i) {
    a[i] = 0.5f * b[i];
    b[i] = a[i - 1] + a[i + 1];
  }
}

//: filter_added_up l1=reduction l2=parallel kernels=1 run by=interchange
void filter_added_up(const float* x, const float* weights, float* y, int n, int m) {
  for (int k = 0; k < m; ++k)
    for (int i = 0; i < n; ++i) y[i] += x[i + k] * weights[k];
}

//: first_largest l1=reduction kernels=1 run
int first_largest(const float* a, float* found, int n) {
  float largest = a[0];
  int at = 0;
  for (int i = 1; i < n; ++i)
    if (a[i] > largest) {
      largest = a[i];
      at = i;
    }
  found[0] = largest;
  return at;
}

template <class T, int N>
void blended(const T* a, T* b, int n) {
  for (int i = 0; i < n; ++i) {
    T sum = 0;
    for (int k = 0; k < N; ++k) sum += a[i + k];
    b[i] = sum / N;
  }
}

//: template_with_loops kernels=0 run
void template_with_loops(const float* a, float* b, double* c, const double* d, int n) {
  blended<float, 3>(a, b, n - 3);
  blended<double, 2>(d, c, n - 2);
}

// Sums into elements that all iterations of the outer loop share: the loop is split, and the second part swapped.
//: sums_both_ways kernels=1 run by=fission emit=openmp
void sums_both_ways(const float* a, const float* x, float* t, float* y, int h, int w) {
  for (int i = 0; i < h; ++i) {
    for (int j = 0; j < w; ++j) t[i] += a[i * w + j] * x[j];
    for (int j = 0; j < w; ++j) y[j] += a[i * w + j] * t[i];
  }
}

//: projected_columns l1=parallel kernels=1 run by=lanes emit=openmp
void projected_columns(const float* q, float (*a)[64], float* r, int m) {
  for (int j = 0; j < 64; ++j) {
    r[j] = 0;
    for (int i = 0; i < m; ++i) r[j] += q[i] * a[i][j];
    for (int i = 0; i < m; ++i) a[i][j] -= q[i] * r[j];
  }
}

// A wavefront would start threads once per row for a single subtraction each.
//: forward_substitution l1=sequential:flow kernels=0 run without=rescheduling emit=openmp
void forward_substitution(const float (*l)[64], const float* b, float* x, int n) {
  for (int i = 0; i < n; ++i) {
    x[i] = b[i];
    for (int j = 0; j < i; ++j) x[i] -= l[i][j] * x[j];
    x[i] *= l[i][i];
  }
}

// The grid of the outer loop alone is too small: the loop is split, and the inner loops of the second part swapped.
//: scaled_product l1=parallel l2=parallel l4=parallel kernels=1 run by=interchange
void scaled_product(int n, float by, float (*c)[60], const float (*a)[60], const float (*b)[60]) {
  int i, j, k;
  for (i = 0; i < n; i++) {
    for (j = 0; j < n; j++) c[i][j] *= by;
    for (k = 0; k < n; k++)
      for (j = 0; j < n; j++) c[i][j] += a[i][k] * b[k][j];
  }
}

// Statements between the kernels of a sequential loop are kernels of one work-item.
//: pivots_between l1=sequential l2=parallel kernels=1 run
void pivots_between(float* x, float* y, int n, int steps) {
  for (int t = 0; t < steps; ++t) {
    x[t] = 0.5f * x[t] + y[t];
    for (int i = 0; i < n; ++i) y[i] = y[i] * 0.5f + x[t];
  }
}

//: pivots_that_end l1=sequential l2=parallel kernels=1 run
void pivots_that_end(float* x, float* y, int n, int steps) {
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i) y[i] = y[i] * 0.5f + x[t];
    if (y[t] > 100) break;
    x[t + 1] = y[t];
  }
}
