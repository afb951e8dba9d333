// Arrays of structs with fields of several types, structs declared before the loop, pointers set in every iteration, in
// the notation of algebra.cpp.
#include <vector>

struct Point3 {
  double x, y, z;
};
struct Body {
  int kind;
  float mass;
  Point3 at, speed;
  short mark[3];
};
struct Cell {
  char wall;
  double heat;
  int next[4];
};

//: bodies_move l1=parallel kernels=1 run
void bodies_move(Body* all, int n, double dt) {
  for (int i = 0; i < n; ++i) {
    all[i].at.x += dt * all[i].speed.x;
    all[i].at.y += dt * all[i].speed.y;
    all[i].at.z -= dt * all[i].mass;
    all[i].kind = all[i].kind > 1 ? 0 : 1;
  }
}

//: bodies_of_vector l1=parallel kernels=1 run
void bodies_of_vector(std::vector<Body>& all, float by) {
  for (Body& b : all) {
    b.mass *= by;
    b.mark[1] = static_cast<short>(b.mark[0] + b.mark[2]);
  }
}

// Another field of the same struct.
//: bodies_other_field l1=parallel kernels=1 run
void bodies_other_field(Body* all, int n) {
  for (int i = 1; i < n; ++i) all[i].mass = all[i - 1].kind + static_cast<float>(all[i].at.x);
}

// The same field of the struct before.
//: bodies_same_field l1=sequential:flow emit=openmp kernels=0
void bodies_same_field(Body* all, int n) {
  for (int i = 1; i < n; ++i) all[i].mass = all[i - 1].mass + all[i].kind;
}

// A row inside the struct: mark[2] of every struct, mark[k + 1] of the same.
//: bodies_row l1=parallel l2=sequential:flow kernels=1 run
void bodies_row(Body* all, int n) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 2; ++k) all[i].mark[k + 1] = static_cast<short>(all[i].mark[k] + 1);
}

// mark[2 - k] leaves its row at k = 3.
//: bodies_leave_row l1=sequential:output emit=openmp kernels=0
void bodies_leave_row(Body* all, int n, int m) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < m; ++k) all[i].mark[2 - k] = 1;
}

//: cells_by_number l1=parallel kernels=1 run
void cells_by_number(const std::vector<Cell>& cells, const std::vector<double>& heat, std::vector<double>& out) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += heat[cells[i].next[k]] * cells[i].heat;
    out[i] = cells[i].wall ? 0 : sum;
  }
}

// A field that says where to write.
//: cells_scattered l1=sequential emit=openmp kernels=0
void cells_scattered(const Cell* cells, double* out, int n) {
  for (int i = 0; i < n; ++i) out[cells[i].next[0]] = cells[i].heat;
}

// A sum into a field stays in order.
//: cells_summed l1=sequential emit=openmp kernels=0
void cells_summed(Cell* total, const double* x, int n) {
  for (int i = 0; i < n; ++i) total[0].heat += x[i];
}

// Set before it is read in a loop whose length is data: the outer iterations have their own.
//: cells_counted l1=parallel kernels=1 run
void cells_counted(const int* count, const float* in, float* out, int n) {
  float t, sum;
  for (int i = 0; i < n; ++i) {
    sum = 0;
    for (int k = 0; k < 1 + count[i]; ++k) {
      t = in[i] * static_cast<float>(k);
      sum += t;
    }
    out[i] = sum;
  }
}

// Set in the inner loop only, which may not run: the value of the iteration before.
//: cells_counted_after l1=sequential:flow kernels=0
void cells_counted_after(const int* count, const float* in, float* out, int n) {
  float t = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < count[i]; ++k) t = in[i] * static_cast<float>(k);
    out[i] = t;
  }
}

// The address of a field of several types has no known extent.
//: cells_address l1=sequential kernels=0 says=address
void cells_address(Cell* cells, int n) {
  for (int i = 0; i < n; ++i) {
    double* heat = &cells[i].heat;
    heat[0] = 0;
  }
}

// An element through a pointer and a reference.
//: cells_pointed l1=parallel kernels=1 run
void cells_pointed(Cell* cells, int n) {
  for (int i = 0; i < n; ++i) {
    Cell* c = &cells[i];
    Cell& same = cells[i];
    c->heat = 2 * c->heat + same.next[1];
    (cells + i)->wall = 1;
  }
}

// A struct declared before the loop, of which every iteration sets what it reads.
//: difference_before l1=parallel kernels=1 run
void difference_before(const float* a, const float* b, float* out, int n) {
  Point3 d;
  d.z = 3;
  for (int i = 0; i < n; ++i) {
    d.x = a[i] - b[i];
    d.y = a[i] + b[i];
    out[i] = static_cast<float>(d.x * d.y + d.z);
  }
}

// Its last value is used.
//: difference_used l1=sequential:flow kernels=0
double difference_used(const float* a, const float* b, float* out, int n) {
  Point3 d{0, 0, 0};
  for (int i = 0; i < n; ++i) {
    d.x = a[i] - b[i];
    out[i] = static_cast<float>(d.x);
  }
  return d.x;
}

// A field keeps a value of the iteration before.
//: difference_kept l1=sequential:flow kernels=0
void difference_kept(const float* a, float* out, int n) {
  Point3 d{0, 0, 0};
  for (int i = 0; i < n; ++i) {
    out[i] = static_cast<float>(d.y);
    d.y = a[i];
  }
}

// Pointers declared before the loop and set in every iteration.
//: rows_pointed l1=parallel l2=parallel kernels=1 run
void rows_pointed(const float* in, float* out, int h, int w) {
  const float* from;
  float* to;
  for (int y = 0; y < h; ++y) {
    from = in + y * w;
    to = &out[y * w];
    for (int x = 0; x < w; ++x) to[x] = 2 * from[x];
  }
}

// The row before is written by another iteration.
//: rows_pointed_before l1=sequential:flow l2=parallel kernels=1
void rows_pointed_before(float* out, int h, int w) {
  float *to, *from;
  for (int y = 1; y < h; ++y) {
    to = &out[y * w];
    from = &out[(y - 1) * w];
    for (int x = 0; x < w; ++x) to[x] = 2 * from[x];
  }
}

// A number from memory: any element.
//: rows_by_number l1=parallel kernels=1 run
void rows_by_number(const std::vector<float>& in, const int* first, float* out, int n) {
  const float* from;
  long at;
  for (int i = 0; i < n; ++i) {
    at = first[i];
    from = &in[static_cast<std::size_t>(at)];
    out[i] = from[0] + from[1];
  }
}

//: rows_by_number_written l1=sequential:output kernels=0
void rows_by_number_written(const float* in, const int* first, float* out, int n) {
  float* to;
  for (int i = 0; i < n; ++i) {
    to = &out[first[i]];
    to[1] = in[i];
  }
}

// Used before it is set: the row of the iteration before.
//: rows_pointed_late l1=sequential kernels=0
void rows_pointed_late(const float* in, float* out, int h, int w) {
  const float* from = in;
  for (int y = 0; y < h; ++y) {
    out[y] = from[0];
    from = in + y * w;
  }
}

// Set in one of two arms.
//: rows_pointed_either l1=sequential kernels=0
void rows_pointed_either(const float* a, const float* b, float* out, int n) {
  const float* from;
  for (int i = 0; i < n; ++i) {
    if (i % 2 == 0)
      from = a;
    else
      from = b;
    out[i] = from[i];
  }
}

// Assigned as a whole: declared in the loop or before it.
//: points_assigned l1=parallel kernels=1 run
void points_assigned(const Point3* in, Point3* out, int n) {
  Point3 t;
  for (int i = 0; i < n; ++i) {
    Point3 u;
    t = in[i];
    t.x += 1;
    u = t;
    out[i] = u;
  }
}

//: points_kept l1=sequential:flow kernels=0
void points_kept(const Point3* in, Point3* out, int n) {
  Point3 t{0, 0, 0};
  for (int i = 0; i < n; ++i) {
    out[i] = t;
    t = in[i];
  }
}

// A reference to the object that the assignment returns is kept.
//: points_returned l1=sequential kernels=0
void points_returned(const Point3* in, Point3* out, int n) {
  Point3 t{0, 0, 0};
  Point3& same = (t = in[0]);
  for (int i = 0; i < n; ++i) {
    t = in[i];
    same.x = 2;
    out[i] = t;
  }
}

// The address of an element of an array of structs or rows, passed to a function.
static double length_of(const Point3* p) { return p[0].x * p[0].x + p[1].y; }
//: points_passed l1=parallel kernels=1 run
void points_passed(const Point3* all, double* out, int n) {
  for (int i = 0; i < n - 1; ++i) out[i] = length_of(&all[i]);
}
static void set_middle(float (*row)[3]) { row[1][1] = 3; }
//: rows_of_three_passed l1=parallel kernels=1 run
void rows_of_three_passed(float (*all)[3], int n) {
  for (int i = 0; i < n - 1; ++i) set_middle(all + i);
}

// Fields that are not aligned to their size: a device could not read them.
#pragma pack(push, 1)
struct Record {
  char mark;
  double value;
};
#pragma pack(pop)
//: records_packed l1=parallel kernels=0 emit=openmp run
void records_packed(Record* all, int n) {
  for (int i = 0; i < n; ++i) all[i].value = 2 * all[i].value + all[i].mark;
}

// Structs copied as a whole.
struct Sample {
  unsigned char mode;
  signed char valid;
  short gain;
  float level;
  long time;
};
//: samples_copied l1=parallel kernels=1 run
void samples_copied(const Sample* in, Sample* out, int n) {
  for (int i = 0; i < n; ++i) {
    Sample s = in[i];
    if (s.valid > 2 && s.mode == 1) s.level *= s.gain;
    s.time -= i;
    out[i] = s;
  }
}

// Variables in namespaces and static members keep their full names in the placed text.
namespace settings {
int length = 200;
float gain = 2, total = 0, table[400];
std::vector<float> weights(300, 3.0f);
namespace inner {
double offset = 1;
}
struct Limits {
  static float least;
};
float Limits::least = 0.5f;
}  // namespace settings
//: named_by_namespace l1=parallel kernels=1 run
void named_by_namespace(float* a) {
  for (int i = 0; i < settings::length; ++i) {
    const float x = a[i] * settings::gain + settings::weights[i] + static_cast<float>(settings::inner::offset);
    a[i] = x < settings::Limits::least ? 0 : x + settings::table[i + 1];
  }
}
//: written_in_namespace l1=parallel l2=parallel kernels=2 run
void written_in_namespace(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) settings::table[i] = a[i];
  for (int i = 0; i < n; ++i) b[i] = settings::table[i];
}
//: summed_in_namespace l1=reduction kernels=1
void summed_in_namespace(const float* a, int n) {
  for (int i = 0; i < n; ++i) settings::total += a[i];
}
