// Loops as they occur in benchmark suites: grids with clamped neighbours, graphs, clusters, layers of a network,
// meshes. In the notation of algebra.cpp.
#include <cmath>

//: path_by_rows l1=sequential l2=parallel kernels=1 run
void path_by_rows(const int* wall, int* a, int* b, int rows, int cols) {  // two rows that are exchanged
  int *src = b, *dst = a;
  for (int t = 0; t < rows - 1; ++t) {
    int* temp = src;
    src = dst;
    dst = temp;
    for (int n = 0; n < cols; ++n) {
      int least = src[n];
      if (n > 0) least = least <= src[n - 1] ? least : src[n - 1];
      if (n < cols - 1) least = least <= src[n + 1] ? least : src[n + 1];
      dst[n] = wall[(t + 1) * cols + n] + least;
    }
  }
}

//: path_in_place l1=sequential:flow l2=sequential:anti kernels=1 run
void path_in_place(const int* wall, int* a, int rows,
                   int cols) {  // one row: the left neighbour is new, the right one old
  for (int t = 0; t < rows - 1; ++t)
    for (int n = 0; n < cols - 1; ++n) {
      const int least = a[n] <= a[n + 1] ? a[n] : a[n + 1];
      a[n] = wall[(t + 1) * cols + n] + least;
    }
}

//: clamped_volume l1=parallel l2=parallel l3=parallel kernels=1 run
void clamped_volume(const float* in, float* out, int nx, int ny, int nz, float by) {
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const int c = x + y * nx + z * nx * ny;
        const float w = x == 0 ? in[c] : in[c - 1], e = x == nx - 1 ? in[c] : in[c + 1];
        out[c] = in[c] + by * (w + e - 2 * in[c]);
      }
}

//: level_of_graph l1=sequential:flow l2=sequential:flow kernels=0
void level_of_graph(const int* first, const int* edges, const int* mask, const int* visited, int* cost, int n) {
  for (int v = 0; v < n; ++v)  // two nodes may have the same neighbour
    if (mask[v] != 0)
      for (int k = first[v]; k < first[v + 1]; ++k)
        if (visited[edges[k]] == 0) cost[edges[k]] = cost[v] + 1;
}

//: next_level l1=parallel kernels=1 run
void next_level(int* mask, int* visited, int* updated, int n) {
  for (int v = 0; v < n; ++v)
    if (updated[v] != 0) {
      mask[v] = 1;
      visited[v] = 1;
      updated[v] = 0;
    }
}

//: nearest_centers l1=parallel l2=reduction l3=reduction kernels=1 run
void nearest_centers(const float* points, const float* centers, int* member, int n, int k, int m) {
  for (int i = 0; i < n; ++i) {
    float least = 3e38f;
    int index = 0;
    for (int c = 0; c < k; ++c) {
      float d = 0;
      for (int j = 0; j < m; ++j)
        d += (points[i * m + j] - centers[c * m + j]) * (points[i * m + j] - centers[c * m + j]);
      if (d < least) {
        least = d;
        index = c;
      }
    }
    member[i] = index;
  }
}

//: sums_of_clusters l1=reduction l2=reduction kernels=0
void sums_of_clusters(const float* points, const int* member, float* sums, int n,
                      int m) {  // points of one cluster meet
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) sums[member[i] * m + j] += points[i * m + j];
}

//: layer_forward l1=parallel l2=reduction kernels=1 run
void layer_forward(const float* in, const float* weights, float* out, int n, int m) {
  for (int j = 1; j <= m; ++j) {
    float sum = 0;
    for (int k = 0; k <= n; ++k) sum += weights[k * (m + 1) + j] * in[k];
    out[j] = 1 / (1 + std::exp(-sum));
  }
}

//: adjusted_weights l1=parallel l2=parallel kernels=1 run
void adjusted_weights(const float* delta, const float* in, float* weights, float* before, int n, int m, int width) {
  for (int j = 1; j <= m; ++j)
    for (int k = 0; k <= n; ++k) {
      const float by = 0.3f * delta[j] * in[k] + 0.3f * before[k * width + j];
      weights[k * width + j] += by;
      before[k * width + j] = by;
    }
}

//: flux_of_mesh l1=parallel kernels=1 run
void flux_of_mesh(const int* neighbour, const float* normal, const float* state, float* flux, int n) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int j = 0; j < 4; ++j) {
      const int nb = neighbour[i + j * n];
      if (nb >= 0)
        sum += normal[i + j * n] * (state[i] + state[nb]);
      else
        sum += normal[i + j * n] * state[i];
    }
    flux[i] = sum;
  }
}

//: flux_to_neighbours l1=reduction l2=reduction kernels=0
void flux_to_neighbours(const int* neighbour, const float* normal, float* flux, int n) {  // two cells add to one
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 4; ++j) flux[neighbour[i + j * n]] += normal[i + j * n];
}
