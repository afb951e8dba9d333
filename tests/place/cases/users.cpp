// Typical users' programs, in the notation of algebra.cpp.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

struct Body {
  float x, y, z, m;
};

//: bodies_attract l1=sequential:flow l2=parallel l3=reduction l4=parallel kernels=2 run
void bodies_attract(std::vector<Body>& bodies, std::vector<Body>& speed, int n, int steps, float dt) {
  for (int s = 0; s < steps; ++s) {
    for (int i = 0; i < n; ++i) {
      float ax = 0, ay = 0, az = 0;
      for (int j = 0; j < n; ++j) {
        if (i == j) continue;
        const float dx = bodies[j].x - bodies[i].x, dy = bodies[j].y - bodies[i].y, dz = bodies[j].z - bodies[i].z;
        const float r2 = dx * dx + dy * dy + dz * dz + 1e-6f;
        const float inv = bodies[j].m / (r2 * std::sqrt(r2));
        ax += dx * inv;
        ay += dy * inv;
        az += dz * inv;
      }
      speed[i].x += ax * dt;
      speed[i].y += ay * dt;
      speed[i].z += az * dt;
    }
    for (int i = 0; i < n; ++i) {
      bodies[i].x += speed[i].x * dt;
      bodies[i].y += speed[i].y * dt;
      bodies[i].z += speed[i].z * dt;
    }
  }
}

//: equalized l1=reduction l2=sequential:flow l3=sequential l4=parallel l5=parallel kernels=3 run
void equalized(const std::vector<unsigned char>& in, std::vector<unsigned char>& out) {
  int histogram[256] = {0};
  for (std::size_t i = 0; i < in.size(); i++) histogram[in[i]]++;
  int below[256];
  int sum = 0;
  for (int v = 0; v < 256; v++) {
    sum += histogram[v];
    below[v] = sum;
  }
  int first = 0;
  while (first < 255 && histogram[first] == 0) first++;
  unsigned char table[256];
  const int low = below[first], rest = static_cast<int>(in.size()) - low;
  for (int v = 0; v < 256; v++)
    table[v] = rest > 0 ? static_cast<unsigned char>(std::max(0, (below[v] - low) * 255 / rest))
                        : static_cast<unsigned char>(v);
  for (std::size_t i = 0; i < in.size(); i++) out[i] = table[in[i]];
}

//: shortest_ways l1=sequential:flow l2=sequential:flow l3=sequential:flow kernels=0
void shortest_ways(std::vector<float>& d, int n) {
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) d[i * n + j] = std::min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}

//: distribution l1=reduction l2=sequential:flow l3=parallel kernels=2 run
void distribution(const std::vector<double>& p, std::vector<double>& sums) {
  double total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) total += p[i];
  sums[0] = p[0];
  for (std::size_t i = 1; i < p.size(); ++i) sums[i] = sums[i - 1] + p[i];
  for (std::size_t i = 0; i < p.size(); ++i) sums[i] /= total;
}

//: colors_halved l1=parallel l2=parallel l3=parallel kernels=1 run
void colors_halved(const unsigned char* in, unsigned char* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      for (int c = 0; c < 3; ++c) out[(y * w + x) * 3 + c] = static_cast<unsigned char>(in[(y * w + x) * 3 + c] / 2);
}

//: filtered_through_copies l1=parallel l2=parallel l3=parallel kernels=3 run
void filtered_through_copies(const std::vector<float>& in, std::vector<float>& out, int n, int steps) {
  std::vector<float> now(in.begin(), in.end()), next(in.size(), 0.0f);
  for (int i = 1; i < n - 1; ++i) next[i] = 0.25f * now[i - 1] + 0.5f * now[i] + 0.25f * now[i + 1];
  std::vector<float> last(next.data(), next.data() + n);
  for (int i = 1; i < n - 1; ++i) last[i] += next[i + 1] - next[i - 1];
  const float edge = last[1];
  for (int i = 0; i < n; ++i) out[i] = last[i] + edge * static_cast<float>(steps);
}

//: median_of_nine l1=parallel l2=parallel l3=sequential l4=sequential l5=sequential l6=sequential kernels=1 run
void median_of_nine(const unsigned char* in, unsigned char* out, int h, int w) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      unsigned char v[9];
      int count = 0;
      for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx) v[count++] = in[(y + dy) * w + x + dx];
      for (int i = 0; i < 5; ++i)
        for (int j = i + 1; j < 9; ++j)
          if (v[j] < v[i]) {
            const unsigned char t = v[i];
            v[i] = v[j];
            v[j] = t;
          }
      out[y * w + x] = v[4];
    }
}

//: counted_from_one l1=sequential kernels=0
void counted_from_one(const float* a, float* b, int n) {
  int count = -1;
  for (int i = 0; i < n; ++i) b[++count] = a[i];
}

//: stepped_and_read l1=sequential kernels=0 says=++
void stepped_and_read(const float* a, float* b, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) b[count++] = a[i] + static_cast<float>(count);
}

struct Particle {
  float x, y, vx, vy;
};

//: moved_by_range l1=parallel kernels=1
void moved_by_range(std::vector<Particle>& all, float dt) {
  for (Particle& p : all) {
    p.x += dt * p.vx;
    p.y += dt * p.vy;
  }
}

//: moved_as_copies l1=sequential kernels=0 says=reference
float moved_as_copies(const std::vector<Particle>& all) {
  float sum = 0;
  for (const Particle p : all) sum += p.x;
  return sum;
}

//: relaxed_until_still l2=reduction l3=reduction kernels=1 run
void relaxed_until_still(std::vector<float>& a, int n) {
  std::vector<float> b(a);
  float change = 0;
  int rounds = 0;
  do {
    change = 0;
    for (int i = 1; i < n - 1; ++i)
      for (int j = 1; j < n - 1; ++j) {
        b[i * n + j] = 0.25f * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
        change = std::max(change, std::abs(b[i * n + j] - a[i * n + j]));
      }
    a.swap(b);
    if (rounds > 100) std::printf("still %g\n", change);
  } while (change > 0.01f && ++rounds < 10);
}
