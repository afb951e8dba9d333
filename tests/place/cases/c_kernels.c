/* Loops as C programs write them: iterators declared before the loops, rows of constant length, macros as bounds. In
   the notation of algebra.cpp. */
#define N 64
#define SIZE n
typedef double real;

//: c_product l1=parallel l2=parallel l3=reduction kernels=1 run
static void c_product(int n, real alpha, real c[N][N], real a[N][N], real b[N][N]) {
  int i, j, k;
  for (i = 0; i < SIZE; i++) {
    for (j = 0; j < SIZE; j++) {
      c[i][j] = 0;
      for (k = 0; k < SIZE; k++) c[i][j] += alpha * a[i][k] * b[k][j];
    }
  }
}

//: c_triangle l1=sequential:anti l2=parallel l3=reduction kernels=1 run
void c_triangle(int m, int n, real a[N][N], real b[N][N]) {
  int i, j, k;
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++) {
      for (k = i + 1; k < m; k++) b[i][j] += a[k][i] * b[k][j];
      b[i][j] = 2 * b[i][j];
    }
}

//: c_sum l1=reduction kernels=1 run
double c_sum(const float* x, int n) {
  double s = 0;
  int i;
  for (i = n - 1; i >= 0; i--) s += x[i];
  return s;
}

// The last value of the iterator is used.
//: c_first_above l1=sequential kernels=0
int c_first_above(const float* x, int n, float level) {
  int i;
  for (i = 0; i < n; i++)
    if (x[i] > level) break;
  return i;
}

//: c_prefix l1=sequential:flow kernels=0
void c_prefix(float* x, int n) {
  int i;
  for (i = 1; i < n; i++) x[i] += x[i - 1];
}

// Elements before x[0] are accessed if by > 0: threads do not mind, a device tests it.
//: c_shifted l1=parallel kernels=1 run
void c_shifted(float* x, float* y, int n, int by) {
  int i;
  for (i = 5; i < n; i++) y[i - by] = x[i] + 1;
}

// Words that C++ reserves.
//: c_words l1=parallel kernels=1 run
void c_words(float* new, const float* class, int this) {
  int i;
  for (i = 0; i < this; i++) new[i] = 2 * class[i];
}

struct point {
  float x, y;
};

//: c_points l1=parallel kernels=1 run
void c_points(struct point* p, int n, _Bool up) {
  for (int i = 0; i < n; ++i) p[i].y = up ? p[i].x : -p[i].x;
}

// Rows of variable length.
//: c_rows_of_n l1=parallel l2=parallel kernels=1 run
void c_rows_of_n(int n, int m, double a[n][m], double b[n][m]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++) b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
}

//: c_rows_of_n_swept l1=sequential:flow l2=parallel kernels=1 run
void c_rows_of_n_swept(int n, int m, double a[n][m]) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] += a[i - 1][j];
}

//: c_planes_of_n l1=parallel l2=parallel l3=parallel kernels=1 run
void c_planes_of_n(int n, int m, int k, float a[n][m][k], float s) {
  int x, y, z;
  for (x = 0; x < n; x++)
    for (y = 0; y < m; y++)
      for (z = 0; z < k; z++) a[x][y][z] *= s;
}

// The number of columns changes before the loop, but not the length of the rows.
//: c_rows_changed l1=sequential kernels=0 says=length
void c_rows_changed(int n, int m, float a[n][m]) {
  m = m / 2;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = 0;
}

// The length of the rows is a global variable, which the call may have changed since the type was evaluated.
static int width;
void narrower(void);
//: c_rows_of_global l1=sequential kernels=0 says=length
void c_rows_of_global(int n, float (*p)[width]) {
  narrower();
  for (int i = 0; i < n; ++i) p[i][0] = 1;
}

// The user's own function of the name of a function of the library.
static int extremes;
static double fmax(double a, double b) {
  extremes++;
  return a > b ? a : b + extremes;
}
//: c_fmax_of_user l1=sequential kernels=0 says=global
void c_fmax_of_user(const double* a, double* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = fmax(a[i], 1);
}

static float c_kept[N];

// The host writes one element between two kernels, and reads an array whose length is known.
//: c_ends_by_the_host l1=parallel l2=parallel kernels=2 run
float c_ends_by_the_host(float* x, const float* r) {
  for (int i = 0; i < N; ++i) x[i] = c_kept[i] = x[i] + r[i];
  x[3] = x[0] + c_kept[1];
  for (int i = 0; i < N; ++i) x[i] = 2 * x[i] - r[i];
  return x[1] + c_kept[2];
}
