// Small structs and vectors by value, and loop headers with two counters, in the notation of algebra.cpp.
#include <algorithm>
#include <utility>

struct Pair {
  float x, y;
};
struct Triple {
  float x, y, z;
  Triple() : x(0), y(0), z(0) {}
  Triple(float a, float b, float c) : x(a), y(b), z(c) {}
  float dot(const Triple& o) const { return x * o.x + y * o.y + z * o.z; }
};
inline Triple operator+(const Triple& a, const Triple& b) { return Triple(a.x + b.x, a.y + b.y, a.z + b.z); }
inline Triple operator*(float k, const Triple& a) { return {k * a.x, k * a.y, k * a.z}; }
struct Best {
  float cost;
  int at;
};
struct Ends {
  int from, to;
};

//: values_copied l1=parallel kernels=1 run
void values_copied(const Pair* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    Pair p = in[i];
    p.x += 1;
    out[i] = p.x * p.y;
  }
}

//: values_stored l1=parallel kernels=1 run
void values_stored(const float* in, Pair* out, int n) {
  for (int i = 0; i < n; ++i) {
    const Pair p{in[i], -in[i]};
    out[i] = p;
  }
}

//: values_exchanged l1=parallel kernels=1 run
void values_exchanged(Pair* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = Pair{p[i].y, p[i].x};  // both are read before one is written
}

//: values_shifted l1=sequential:flow kernels=0
void values_shifted(Pair* p, int n) {
  for (int i = 1; i < n; ++i) p[i] = p[i - 1];
}

//: values_with_operators l1=parallel kernels=1 run
void values_with_operators(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    const Triple v(in[i], in[i] + 1, 2), zero;
    const Triple u = v + 2.0f * v + zero;
    out[i] = u.dot(v) - (v + u).y;
  }
}

//: values_of_mixed_types l1=parallel l2=sequential kernels=1 run
void values_of_mixed_types(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    Best best{in[i], 0};
    for (int k = 1; k < 5; ++k)
      if (in[i] * static_cast<float>(3 - k) < best.cost) {
        best.cost = in[i] * static_cast<float>(3 - k);
        best.at = k;
      }
    out[i] = best.cost + static_cast<float>(best.at);
  }
}

//: values_as_subscripts l1=parallel kernels=1 run
void values_as_subscripts(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    const Ends e{2 * i, 2 * i + 1};
    out[e.from] = in[i];
    out[e.to] = -in[i];
  }
}

//: values_as_meeting_subscripts l1=sequential:output kernels=0
void values_as_meeting_subscripts(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    const Ends e{i, i + 1};
    out[e.from] = in[i];
    out[e.to] = -in[i];
  }
}

//: values_in_a_pair l1=parallel kernels=1 run
void values_in_a_pair(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    const std::pair<int, float> p(i, 2 * in[i]);
    out[p.first] = p.second;
  }
}

inline float length_of(const Pair& p, float most) {
  if (p.x > most) return most;
  const float sum = p.x * p.x + p.y * p.y;
  return sum;
}

//: values_passed l1=parallel kernels=1 run
void values_passed(const Pair* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = length_of(in[i], 0.9f) + length_of(Pair{in[i].y, 1}, 2);
}

inline void raise(Pair& p) { p.x += 1; }

//: values_changed_by_a_call l1=parallel kernels=1 run
void values_changed_by_a_call(const Pair* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    Pair p = in[i];
    raise(p);
    out[i] = p.x;
  }
}

//: values_carried l1=sequential:flow kernels=0
float values_carried(const float* in, float* out, int n) {
  Pair sum{0, 0};
  for (int i = 0; i < n; ++i) {
    sum.x += in[i];
    out[i] = sum.x + sum.y;
  }
  return sum.x;
}

//: values_set_before l1=parallel kernels=1 run
void values_set_before(const float* in, float* out, int n) {
  const Pair scale{2, static_cast<float>(n)};
  for (int i = 0; i < n; ++i) {
    const Pair s = scale;
    out[i] = s.x * in[i] + s.y;
  }
}

struct Holder {
  const float* memory;
  int n;
};

//: values_with_pointers l1=sequential kernels=0 says=supported
void values_with_pointers(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) {
    Holder h{in, n};
    out[i] = h.memory[i];
  }
}

inline Triple repeated(Triple a) {
  for (int k = 0; k < 3; ++k) a.x += a.y;
  return a;
}

//: values_from_a_loop l1=sequential kernels=0 says=single
void values_from_a_loop(const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = repeated(Triple(in[i], 1, 2)).x;
}

//: counters_together l1=parallel kernels=1 run
void counters_together(const float* in, float* out, int n) {
  for (int i = 2, k = 0; i < n; ++i, k += 3) out[k] = in[i];
}

//: counters_backwards l1=parallel l2=parallel kernels=1 run
void counters_backwards(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y)
    for (int x = 0, from = w - 1; x < w; ++x, --from) out[y * w + x] = in[y * w + from];
}

//: counters_of_one_element l1=sequential:output kernels=0
void counters_of_one_element(const float* in, float* out, int n) {
  for (int i = 0, k = n; i < n; i += 2, k += 2) {
    out[k - i] = in[i];
  }
}

//: counters_that_carry l1=sequential:flow kernels=0
void counters_that_carry(float* a, int n) {
  for (int i = 1, k = 0; i < n; ++i, ++k) a[i] = 2 * a[k];
}

//: counters_changed_inside l1=sequential kernels=0
void counters_changed_inside(const float* in, float* out, int n) {
  for (int i = 0, k = 0; i < n; ++i, ++k) {
    if (in[i] > 0.5f) ++k;
    out[k] = in[i];
  }
}

// Elements that later iterations overwrite are read from a copy.
//: values_from_the_next l1=sequential:anti kernels=1 run
void values_from_the_next(Pair* p, int n) {
  for (int i = 0; i < n - 1; ++i) p[i].x = p[i + 1].x * 0.5f + p[i].y;
}

struct Fields {
  float rows[9][8], after[64];
};

// Row 9 of the first array is the second one.
//: fields_beyond_the_last_row l1=sequential kernels=0
void fields_beyond_the_last_row(Fields& t, const int* where) {
  for (int i = 0; i < 12; ++i) t.after[i] = t.rows[i][where[i]];
}

// The same with rows from the loop, while another access to the array depends on data.
//: fields_beyond_a_known_row l1=sequential kernels=0
void fields_beyond_a_known_row(Fields& t, const int* where, float* out) {
  for (int i = 0; i < 12; ++i) {
    t.after[i] = t.rows[i][2];
    out[i] = t.rows[3][where[i]];
  }
}
