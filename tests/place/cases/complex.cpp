// std::complex, and subscripts that wrap around at a size, in the notation of algebra.cpp.
#include <complex>
#include <vector>

typedef std::complex<float> cf;

//: complex_rotated l1=parallel kernels=1 run
void complex_rotated(std::vector<cf>& z, const std::vector<cf>& w, float by) {
  for (std::size_t i = 0; i < z.size(); ++i) {
    cf t = z[i] * cf(by, 2);
    t += w[i % 7];
    t *= 0.5f;
    z[i] = t - 2.0f * std::conj(w[3]) / by;
  }
}

//: complex_energy l1=reduction kernels=1 run
double complex_energy(const std::vector<std::complex<double>>& z) {
  double s = 0;
  for (std::size_t i = 0; i < z.size(); ++i) s += std::norm(z[i]) + z[i].real() - std::imag(z[i]);
  return s;
}

//: complex_product l1=sequential:flow kernels=0
void complex_product(std::vector<cf>& z) {
  for (std::size_t i = 1; i < z.size(); ++i) z[i] = z[i] * z[i - 1];
}

//: complex_divided l1=sequential kernels=0 says=complex
void complex_divided(std::vector<cf>& z, const std::vector<cf>& w) {
  for (std::size_t i = 0; i < z.size(); ++i) z[i] /= w[i];
}

//: mandelbrot l1=parallel l2=parallel kernels=1 run
void mandelbrot(std::vector<int>& counts, int height, int width) {
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      std::complex<double> c(-2.0 + 3.0 * x / width, -1.0 + 2.0 * y / height), z = 0;
      int n = 0;
      while (std::norm(z) <= 4.0 && n < 100) {
        z = z * z + c;
        ++n;
      }
      counts[static_cast<std::size_t>(y * width + x)] = n;
    }
  }
}

//: torus l1=parallel l2=parallel kernels=1 run
void torus(const float* a, float* b, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      int up = (y - 1 + h) % h, left = (x + w - 1) % w;
      b[y * w + x] = a[up * w + x] + a[(y + 1) % h * w + x] + a[y * w + left] + a[y * w + (x + 1) % w];
    }
}

// The last row reads the first, which is written before.
//: torus_in_place l1=sequential:flow l2=parallel kernels=1 run
void torus_in_place(float* a, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) a[y * w + x] = a[(y + 1) % h * w + x] + 1;
}

//: ring_of_256 l1=parallel kernels=1 run
void ring_of_256(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    const int before = (i + 255) % 256;
    b[i] = a[before];
  }
}

// Two iterations write one element.
//: ring_written l1=sequential:output kernels=0
void ring_written(const float* a, float* b, int n, int m) {
  for (int i = 0; i < n; ++i) b[(i + 3) % m] = a[i];
}

// i - 3 is negative at first, and so is the remainder: any element of a.
//: ring_before l1=parallel kernels=1
void ring_before(const float* a, float* b, int n, int m) {
  for (int i = 0; i < n; ++i) b[i] = a[(i - 3) % m];
}

// The remainder decides which iterations write.
//: ring_tested l1=sequential:output kernels=0
void ring_tested(const float* a, float* b, int n, int m) {
  for (int i = 0; i < n; ++i) {
    const int at = (i + 1) % m;
    if (at < 3) b[0] = a[i];
  }
}

// A remainder as the address that a function gets.
static float two_of(const float* at) { return at[0] + at[1]; }
//: ring_passed l1=parallel kernels=1 run
void ring_passed(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = two_of(&a[(i + 1) % 7]);
}

//: ring_passed_any l1=parallel kernels=1
void ring_passed_any(const float* a, float* b, int n, int m) {
  for (int i = 0; i < n; ++i) b[i] = two_of(&a[(i + 1) % m]);
}

//: ring_passed_in_place l1=sequential:flow kernels=0
void ring_passed_in_place(float* a, int n, int m) {
  for (int i = 0; i < n; ++i) a[i] = two_of(&a[(i + 1) % m]);
}

// The user's own function of the name of a function of the library.
static int norms = 0;
static float norm(const cf& z) {
  ++norms;
  return z.real() + static_cast<float>(norms);
}
//: complex_norm_of_user l1=sequential kernels=0 says=global
void complex_norm_of_user(const cf* z, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = norm(z[i]);
}
namespace mine {
static float real(const std::complex<double>& z) { return static_cast<float>(-z.real()); }
}  // namespace mine
//: complex_real_of_user l1=parallel kernels=1 run
void complex_real_of_user(const std::complex<double>* z, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = mine::real(z[i]);
}

// Assigned as a whole, also if it is declared before the loop.
//: complex_assigned l1=parallel kernels=1 run
void complex_assigned(const std::vector<cf>& z, std::vector<cf>& out) {
  cf t;
  for (std::size_t i = 0; i < z.size(); ++i) {
    cf u;
    t = z[i];
    t *= 2.0f;
    u = t;
    out[i] = u + t;
  }
}

//: complex_kept l1=sequential:flow kernels=0
void complex_kept(std::vector<cf>& z) {
  cf t = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    z[i] -= t;
    t = z[i];
  }
}

//: complex_used l1=sequential kernels=0
cf complex_used(std::vector<cf>& z) {
  cf t = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    t = z[i];
    z[i] = t * t;
  }
  return t;
}

class Table {
 public:
  Table(int rows, int columns) : rows_(rows), columns_(columns), cells_(static_cast<std::size_t>(rows * columns)) {}
  float& operator()(int r, int c) { return cells_[static_cast<std::size_t>(r * columns_ + c)]; }
  float operator()(int r, int c) const { return cells_[static_cast<std::size_t>(r * columns_ + c)]; }
  int rows() const { return rows_; }

 private:
  int rows_, columns_;
  std::vector<float> cells_;
};

// Fields without a public member function that returns them.
//: table_doubled l1=parallel l2=parallel kernels=1
void table_doubled(Table& t, const Table& by, int n) {
  for (int r = 0; r < t.rows(); ++r)
    for (int c = 0; c < n; ++c) t(r, c) = 2 * by(r, c) + 1;
}

//: table_row_before l1=sequential:flow l2=parallel kernels=1
void table_row_before(Table& t, int n) {
  for (int r = 1; r < t.rows(); ++r)
    for (int c = 0; c < n; ++c) t(r, c) += t(r - 1, c);
}

// Remainders as arguments of the class's operator.
//: table_torus l1=parallel l2=parallel kernels=1
void table_torus(const Table& from, Table& to, int h, int w) {
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) to(r, c) = from((r + h - 1) % h, c) + from(r, (c + 1) % w);
}

// A local object: loops of the placed file read its private fields through the functions that are added.
//: table_of_columns l1=parallel l2=parallel l3=parallel l4=parallel kernels=2 run
void table_of_columns(const float* a, float* b, int h, int w) {
  Table t(h, w);
  for (int r = 0; r < h; ++r)
    for (int c = 0; c < w; ++c) t(r, c) = a[r * w + c];
  for (int c = 0; c < w; ++c)
    for (int r = 0; r < h; ++r) b[c * h + r] = t(r, c) + 1;
}
