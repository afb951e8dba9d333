// Counting while and do loops, lambdas, templates and structs of arrays, in the notation of algebra.cpp.
#include <array>
#include <cstddef>
#include <list>
#include <span>
#include <vector>

//: counting_while l1=parallel kernels=1 run
void counting_while(const float* a, float* b, int n) {
  int i = 0;
  while (i < n) {
    b[i] = a[i] + 1;
    ++i;
  }
}

//: while_by_two l1=parallel kernels=1 run
void while_by_two(const float* a, float* b, int n) {
  int i;
  i = 1;
  while (i + 1 < n) {
    b[i] = a[i - 1] + a[i + 1];
    i = i + 2;
  }
}

//: while_downwards l1=parallel kernels=1 run
void while_downwards(const float* a, float* b, int n) {
  int i = n - 1;
  while (i >= 0) {
    b[i] = a[n - 1 - i];
    i--;
  }
}

//: while_inside l1=parallel l2=reduction kernels=1 run
void while_inside(const float* a, float* b, int h, int w) {
  for (int r = 0; r < h; ++r) {
    float sum = 0;
    int c = 0;
    while (c < w) {
      sum += a[r * w + c];
      ++c;
    }
    b[r] = sum;
  }
}

//: while_carries l1=sequential:flow kernels=0
void while_carries(float* a, int n) {
  int i = 1;
  while (i < n) {
    a[i] += a[i - 1];
    ++i;
  }
}

//: counting_do l1=parallel kernels=1 run
void counting_do(const float* a, float* b, int n) {
  int i = 0;
  do {
    b[i] = 2 * a[i];
    ++i;
  } while (i < n);
}

//: while_with_continue l1=sequential kernels=0 says=continue
void while_with_continue(const float* a, float* b, int n) {
  int i = 0;
  while (i < n) {
    if (a[i] < 0.5f) continue;
    b[i] = a[i];
    ++i;
  }
}

//: while_read_afterwards l1=sequential kernels=0 says=last
int while_read_afterwards(const float* a, float* b, int n) {
  int i = 0;
  while (i < n) {
    b[i] = a[i];
    ++i;
  }
  return i;
}

//: while_from_anywhere l1=sequential kernels=0 says=starts
void while_from_anywhere(const float* a, float* b, int from, int n) {
  while (from < n) {
    b[from] = a[from];
    ++from;
  }
}

//: while_start_changes l1=sequential kernels=0 says=starts
void while_start_changes(const float* a, float* b, int n) {
  int k = n, i = k;
  k = 3;
  i += k;
  while (i < 2 * n) {
    b[i] = a[i];
    ++i;
  }
}

//: while_on_data l1=sequential kernels=0
void while_on_data(const int* next, float* b, int n) {
  int i = 0;
  while (i < n) {
    b[i] = 1;
    i = next[i];
  }
}

//: lambda_in_place l1=parallel kernels=1 run
void lambda_in_place(const float* a, float* b, int n) {
  auto put = [&](int i, float x) {
    const float y = x * x;
    b[i] = y + 1;
  };
  for (int i = 0; i < n; ++i) put(i, a[i]);
}

//: lambda_value l1=parallel l2=parallel kernels=1 run
void lambda_value(const float* in, float* out, int h, int w) {
  const auto at = [=](int y, int x) { return in[y * w + x]; };
  const auto mean = [&](float a, float b) { return 0.5f * (a + b); };
  for (int y = 1; y < h - 1; ++y)
    for (int x = 0; x < w; ++x) out[y * w + x] = mean(at(y - 1, x), at(y + 1, x));
}

//: lambda_called_at_once l1=parallel kernels=1 run
void lambda_called_at_once(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i)
    [&] {
      float t = a[i];
      t *= t;
      b[i] = t;
    }();
}

//: lambda_carries l1=sequential:flow kernels=0
void lambda_carries(float* a, int n) {
  auto add = [&](int i) { a[i + 1] += a[i]; };
  for (int i = 0; i < n - 1; ++i) add(i);
}

//: lambda_with_a_copy l1=sequential kernels=0 says=copy
void lambda_with_a_copy(const float* a, float* b, int n) {
  float scale = 2;
  auto f = [=](float x) { return scale * x; };
  scale = 3;
  for (int i = 0; i < n; ++i) b[i] = f(a[i]);
}

//: lambda_that_counts l1=sequential kernels=0 says=mutable
void lambda_that_counts(float* b, int n) {
  int k = 0;
  auto next = [k]() mutable { return float(++k); };
  for (int i = 0; i < n; ++i) b[i] = next();
}

//: lambda_sums l1=reduction kernels=1 run
void lambda_sums(const float* a, int n, double& sum) {
  double s = 0;
  auto add = [&](float x) { s += x; };
  for (int i = 0; i < n; ++i) add(a[i]);
  sum = s;
}

template <class T>
T smaller(T a, T b) {
  return b < a ? b : a;
}
template <int N>
float powered(float x) {
  float p = 1;
  for (int i = 0; i < N; ++i) p *= x;
  return p;
}
//: templates l1=parallel kernels=1 run
void templates(const float* a, const int* c, float* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = smaller(a[i], 0.5f) + smaller<int>(c[i], 2) + powered<3>(a[i]);
}

struct Particles {
  std::vector<float> x, v;
  float mass;
};
//: struct_of_vectors l1=parallel kernels=1
void struct_of_vectors(Particles& p, float dt) {
  for (std::size_t i = 0; i < p.x.size(); ++i) p.x[i] += dt * p.v[i] / p.mass;
}

struct Fields {
  const float *e, *h;
  float* d;
  int n;
};
//: struct_of_pointers l1=parallel kernels=1
void struct_of_pointers(const Fields* f) {
  for (int i = 1; i < f->n; ++i) f->d[i] = f->e[i] - f->h[i - 1];
}

//: struct_built_here l1=parallel kernels=1 run
void struct_built_here(const float* a, float* b, int n) {
  Fields f{a, a, b, n};
  for (int i = 1; i < f.n; ++i) f.d[i] = f.e[i] - f.h[i - 1];
}

//: struct_carries l1=sequential:flow kernels=0
void struct_carries(Particles& p) {
  for (std::size_t i = 0; i + 1 < p.x.size(); ++i) p.x[i + 1] = p.x[i];
}

//: struct_exchanged l1=sequential kernels=0 says=changes
void struct_exchanged(Fields& f, float* other) {
  for (int i = 0; i < f.n; ++i) {
    f.d[i] = 1;
    f.d = other;
  }
}

struct Table {
  float weight[5];
};
//: array_in_struct l1=parallel l2=parallel l3=reduction kernels=1 run
void array_in_struct(const float* a, float* b, int n) {
  Table t;
  for (int k = 0; k < 5; ++k) t.weight[k] = 0.1f * float(k + 1);
  for (int i = 2; i < n - 2; ++i) {
    float sum = 0;
    for (int k = 0; k < 5; ++k) sum += t.weight[k] * a[i + k - 2];
    b[i] = sum;
  }
}

//: spans l1=parallel kernels=1 run
void spans(std::span<const float> in, std::span<float> out) {
  for (std::size_t i = 0; i + 1 < in.size(); ++i) out[i] = in[i] + in[i + 1];
}

//: range_of_span l1=reduction kernels=1 run
void range_of_span(std::span<const float> in, double& sum) {
  for (const float& x : in) sum += x * x;
}

//: range_of_array l1=parallel kernels=1 run
void range_of_array(std::array<float, 500>& all) {
  for (float& x : all) x = x * x;
}

//: rows_of_rows l1=parallel l2=parallel kernels=1
void rows_of_rows(std::vector<std::vector<float>>& image) {
  for (std::size_t i = 0; i < image.size(); ++i)
    for (std::size_t j = 0; j < image[i].size(); ++j) image[i][j] = 1;
}

//: pointers_to_rows l1=parallel kernels=1
void pointers_to_rows(float** image, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) image[i][j] = 1;
}

//: bits l1=sequential kernels=0 says=bits
void bits(std::vector<bool>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = true;
}

//: linked l1=sequential kernels=0
void linked(std::list<float>& all) {
  for (float& x : all) x = 1;
}

//: upper_triangle l1=parallel l2=parallel kernels=1 run
void upper_triangle(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) b[i * n + j] = a[j * n + i];
}

//: odd_start_and_step l1=parallel l2=parallel kernels=1 run
void odd_start_and_step(const float* a, float* b, int h, int w) {
  for (int i = 3; i <= h - 2; i += 3)
    for (int j = w - 1; j > 1; j -= 2) b[i * w + j] = a[i * w + j - 1];
}

//: length_from_data l1=parallel l2=reduction kernels=1 run
void length_from_data(const std::vector<float>& a, const int* length, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < length[i]; ++k) sum += a[i + k];
    b[i] = sum;
  }
}
