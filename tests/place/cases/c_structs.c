/* Structs as C programs use them: by value, in arrays, with fields of several types, and pointers set in the loop. In
   the notation of algebra.cpp. */
typedef struct {
  double v, x, y, z;
} four_vector;
typedef struct {
  double x, y, z;
} three_vector;
typedef struct {
  int x, y, z, number;
  long offset;
} neighbour;
typedef struct box {
  int number;
  long offset;
  int count;
  neighbour near[26];
} box;

//: c_distance l1=parallel emit=openmp kernels=1 run
void c_distance(const four_vector* a, const four_vector* b, double* out, int n) {
  three_vector d;
  int i;
  for (i = 0; i < n; i++) {
    d.x = a[i].x - b[i].x;
    d.y = a[i].y - b[i].y;
    d.z = a[i].z - b[i].z;
    out[i] = d.x * d.x + d.y * d.y + d.z * d.z;
  }
}

//: c_copied l1=parallel kernels=1 run
void c_copied(const four_vector* in, four_vector* out, int n) {
  int i;
  for (i = 0; i < n; i++) {
    four_vector v = in[i];
    v.v *= 2;
    out[i] = v;
  }
}

// Forces between particles of boxes and their neighbours; only the data says that each box has particles of its own.
//: c_forces l1=parallel kernels=1
void c_forces(const box* boxes, const four_vector* at, const double* charge, four_vector* force, int n, double a2) {
  int i, j, k, l, other;
  long first, second;
  const four_vector *ra, *rb;
  four_vector* fa;
  const double* qb;
  three_vector d;
  double r2, f;
#pragma omp parallel for private(i, j, k, other, first, second, ra, rb, fa, qb, d, r2, f)
  for (l = 0; l < n; l = l + 1) {
    first = boxes[l].offset;
    ra = &at[first];
    fa = &force[first];
    for (k = 0; k < (1 + boxes[l].count); k++) {
      if (k == 0) {
        other = l;
      } else {
        other = boxes[l].near[k - 1].number;
      }
      second = boxes[other].offset;
      rb = &at[second];
      qb = &charge[second];
      for (i = 0; i < 10; i = i + 1) {
        for (j = 0; j < 10; j = j + 1) {
          r2 = ra[i].v + rb[j].v - (ra[i].x * rb[j].x + ra[i].y * rb[j].y);
          f = 2. * a2 * r2;
          d.x = ra[i].x - rb[j].x;
          d.y = ra[i].y - rb[j].y;
          fa[i].v += qb[j] * r2;
          fa[i].x += qb[j] * f * d.x;
          fa[i].y += qb[j] * f * d.y;
        }
      }
    }
  }
}

// Without the claim.
//: c_forces_unclaimed l1=reduction emit=openmp kernels=0
void c_forces_unclaimed(const box* boxes, const four_vector* at, four_vector* force, int n) {
  int l;
  const four_vector* ra;
  four_vector* fa;
  for (l = 0; l < n; l++) {
    ra = &at[boxes[l].offset];
    fa = &force[boxes[l].offset];
    fa[0].v += ra[0].v;
  }
}

//: c_assigned l1=parallel kernels=1 run
void c_assigned(const four_vector* in, four_vector* out, int n) {
  four_vector t, u;
  int i;
  for (i = 0; i < n; i++) {
    t = in[i];
    t.v *= 2;
    u = t;
    out[i] = u;
  }
}

// Fields of structs without a name; those of unions share their memory.
struct nameless {
  struct {
    float* x;
    int n;
  };
  union {
    int m;
    float f;
  };
};
//: c_nameless l1=parallel kernels=1
void c_nameless(struct nameless* o) {
  for (int i = 0; i < o->n; ++i) o->x[i] = 2;
}
//: c_nameless_union l1=sequential kernels=0
void c_nameless_union(struct nameless* o, float* y) {
  for (int i = 0; i < o->m; ++i) y[i] = o->f;
}
