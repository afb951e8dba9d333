// Transformations: "by=" names the one that must be taken for a function, "not=" one that must be tried and refused. The
// notation is that of algebra.cpp; no headers, so that each is read in no time.

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
    for (int j = 1; j < m; ++j) a[i * m + j] = 0.5f * a[(i - 1) * m + j] + 0.25f * a[(i - 1) * m + j - 1] + a[i * m + j - 1];
}

//: everywhere l1=sequential:flow l2=sequential:flow kernels=0 not=skewing
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

//: not_always_overwritten l1=parallel kernels=1 run
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
