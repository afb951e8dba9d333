// Rows that are separate allocations: std::vector<std::vector<T>> and T**. Varying rows run on threads only.
#include <vector>

//: nested_sum l1=parallel l2=parallel kernels=0 emit=openmp
void nested_sum(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b,
                std::vector<std::vector<float>>& c, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) c[i][j] = a[i][j] + 2 * b[j][i];
}

//: nested_lengths l1=parallel l2=parallel kernels=1
void nested_lengths(std::vector<std::vector<double>>& a) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) a[i][j] = 0.5 * a[i][j];
}

//: nested_recurrence l1=sequential:flow l2=parallel kernels=1
void nested_recurrence(std::vector<std::vector<float>>& a, int h, int w) {
  for (int i = 1; i < h; ++i)
    for (int j = 0; j < w; ++j) a[i][j] += a[i - 1][j];
}

//: nested_along_rows l1=parallel l2=sequential:flow kernels=0
void nested_along_rows(std::vector<std::vector<float>>& a, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 1; j < w; ++j) a[i][j] += a[i][j - 1];
}

//: nested_grows l1=sequential kernels=0
void nested_grows(std::vector<std::vector<float>>& a, int h) {
  for (int i = 0; i < h; ++i) a[i].push_back(a[i][0]);
}

// One row for the whole nest: an array of its own, also on a device.
//: one_row l1=parallel kernels=1
void one_row(std::vector<std::vector<float>>& a, int k, int w) {
  for (int j = 0; j < w; ++j) a[k + 1][j] = 2 * a[k][j];
}

//: one_row_shifted l1=sequential:flow kernels=0
void one_row_shifted(std::vector<std::vector<float>>& a, int k, int w) {
  for (int j = 1; j < w; ++j) a[k][j] = 2 * a[k][j - 1];
}

// The rows a[k] and a[m] may be the same: tested before the loop.
//: two_rows l1=parallel kernels=1
void two_rows(float** a, int k, int m, int w) {
  for (int j = 1; j < w; ++j) a[k][j] = 2 * a[m][j - 1];
}

//: path_step l1=sequential l2=parallel kernels=1
void path_step(int** wall, int* from, int* to, int rows, int cols) {
  for (int t = 0; t + 1 < rows; ++t) {
    for (int n = 0; n < cols; ++n) to[n] = wall[t + 1][n] + from[n];
    int* const temp = from;
    from = to;
    to = temp;
  }
}

// The rows of a table of pointers may overlap: tested before threads start. A device gets one row at a time.
//: table_of_rows l1=parallel kernels=1
void table_of_rows(float** a, int h, int w) {
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) a[i][j] = 1;
}

//: table_claimed l1=parallel kernels=1
void table_claimed(float** a, const float* b, int h, int w) {
#pragma omp parallel for
  for (int i = 0; i < h; ++i)
    for (int j = 0; j < w; ++j) a[i][j] = b[j];
}

// The subscript changes inside the loop.
//: row_moves l1=sequential kernels=0
void row_moves(float** a, int k, int w) {
  for (int j = 0; j < w; ++j) {
    a[k][j] = 1;
    if (j % 7 == 6) ++k;
  }
}

// Rows and columns from 1, as in Numerical Recipes.
//: table_product l1=parallel l2=parallel l3=reduction kernels=0
void table_product(double** a, double** b, double** c, int n) {
  for (int i = 1; i <= n; ++i)
    for (int j = 1; j <= n; ++j) {
      double sum = 0;
      for (int k = 1; k <= n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}

//: table_swept l1=sequential l2=parallel kernels=1
void table_swept(double** a, int n, int m) {
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < m; ++j) a[i][j] += a[i - 1][j];
}

// Subscripts that leave their row count as an element of the row before.
//: table_outside l1=sequential l2=sequential kernels=0
void table_outside(float** a, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a[i][j - 3] = a[i][j - 4] + 1;
}

// Which rows are accessed is known only to the loop.
//: table_gathered l1=reduction l2=reduction kernels=0
void table_gathered(float** a, const int* at, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) a[at[i]][j] += 1;
}
