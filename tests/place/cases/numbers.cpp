// Integers in subscripts: constants, facts from enclosing branches, values set earlier in the iteration. In the
// notation of algebra.cpp.

//: constant_distance l1=sequential:anti kernels=1 run
void constant_distance(float* a, const float* b, int n) {
  int m = 1;
  for (int i = 0; i < n - 1; ++i) a[i] = a[i + m] + b[i];
}

//: constant_distance_back l1=sequential:flow kernels=0
void constant_distance_back(float* a, const float* b, int n) {
  int m = -1;
  for (int i = 1; i < n; ++i) a[i] = a[i + m] + b[i];
}

//: constant_halves l1=parallel kernels=1 run
void constant_halves(float* a, int n) {
  const int half = 512;
  for (int i = 0; i < 512; ++i) a[i] = 0.5f * a[i + half] + static_cast<float>(n);
}

//: distance_by_a_branch l1=sequential:anti kernels=1 run
void distance_by_a_branch(float* a, const float* b, int n, int k) {
  if (k > 0)
    for (int i = 0; i < n; ++i) a[i] = a[i + k] + b[i];
}

//: distance_by_the_other_arm l1=sequential:flow kernels=0
void distance_by_the_other_arm(float* a, const float* b, int n, int k) {
  if (k >= 0) {
    a[0] = b[0];
  } else {
    for (int i = 100; i < n; ++i) a[i] = a[i + k] + b[i];
  }
}

//: next_by_a_number l1=sequential:anti kernels=1 run
void next_by_a_number(float* a, const float* b, int n) {
  int j;
  for (int i = 0; i < n - 1; ++i) {
    j = i + 1;
    a[i] = a[j] + b[i];
  }
}

//: last_by_a_number l1=sequential:flow kernels=0
void last_by_a_number(float* a, const float* b, int n) {  // j has the value of the previous iteration
  int j = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = a[j] + b[i];
    j = i + 1;
  }
}

//: number_set_twice l1=sequential:flow kernels=0
void number_set_twice(float* a, const float* b, int n) {
  int j = 0;
  for (int i = 0; i < n; ++i) {
    j = i + 1;
    if (b[i] > 0.5f) j = i - 1;
    a[i] = a[j] + b[i];
  }
}

//: own_by_a_number l1=parallel kernels=1 run
void own_by_a_number(float* a, const float* b, int n) {
  int j;
  for (int i = 0; i < n; ++i) {
    j = i + 3;
    a[j] = 0.5f * a[j] + b[i];
  }
}

// Neighbours that stay at the border: a closed form with a condition.
//: chosen_neighbours l1=parallel l2=parallel kernels=1 run
void chosen_neighbours(const float* in, float* out, int nx, int ny) {
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      const int c = x + y * nx, w = x == 0 ? c : c - 1, s = y == ny - 1 ? c : c + nx;
      out[c] = in[c] + in[w] + in[s];
    }
}

//: chosen_in_place l1=parallel l2=sequential:flow kernels=1 run
void chosen_in_place(float* a, int nx, int ny) {
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      const int c = x + y * nx, w = x == 0 ? c : c - 1;
      a[c] = a[w] * 0.5f;
    }
}

//: chosen_skipping l1=parallel kernels=1 run
void chosen_skipping(const float* in, float* out, int n, int k) {
  for (int i = 0; i < n; ++i) out[i < k ? i : i + 1] = in[i];
}

//: chosen_colliding l1=sequential:output kernels=0
void chosen_colliding(const float* in, float* out, int n, int k) {
  for (int i = 1; i < n; ++i) out[i < k ? i : i - 1] = in[i];
}
