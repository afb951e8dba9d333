// switch and goto inside loops, functions that set numbers and structs of their caller. In the notation of algebra.cpp.

//: chosen_by_kind l1=parallel kernels=1 run
void chosen_by_kind(const int* kind, const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    switch (kind[i]) {
      case 0:
        b[i] = a[i];
        break;
      case 1:
      case 2: {
        const float twice = 2 * a[i];
        b[i] = twice + 1;
        break;
      }
      default:
        b[i] = -a[i];
    }
  }
}

//: default_first l1=parallel kernels=1 run
void default_first(const int* kind, int* b, int n) {
  for (int i = 0; i < n; ++i) {
    int to = 0;
    switch (kind[i] - 1) {
      default:
        to = 7;
        break;
      case -1:
        continue;
      case 2:
        for (int k = 0; k < 4; ++k) {
          if (k == kind[i]) break;
          to += k;
        }
        break;
    }
    b[i] = to;
  }
}

//: chosen_across l1=sequential:flow kernels=0
void chosen_across(const int* kind, float* a, int n) {
  for (int i = 1; i < n; ++i) switch (kind[i]) {
      case 3:
        a[i] = a[i - 1];
        break;
      default:
        break;
    }
}

//: falls_through l1=sequential kernels=0
void falls_through(const int* kind, float* a, int n) {
  for (int i = 0; i < n; ++i) {
    switch (kind[i]) {
      case 0:
        a[i] = 1;
      case 1:
        a[i] += 2;
        break;
    }
  }
}

//: breaks_inside l1=sequential kernels=0
void breaks_inside(const int* kind, float* a, int n) {
  for (int i = 0; i < n; ++i) {
    switch (kind[i]) {
      case 0:
        if (a[i] > 0.5f) break;
        a[i] = 1;
        break;
    }
  }
}

//: next_by_goto l1=parallel kernels=1 run
void next_by_goto(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0.3f) goto next;
    b[i] = a[i] * 2;
  next:;
  }
}

//: leaves_by_goto l1=sequential kernels=0
void leaves_by_goto(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0.3f) goto out;
    b[i] = a[i] * 2;
  }
out:;
}

struct Three {
  float x, y, z;
};

static void velocity_of(float& density, const Three& momentum, Three& velocity) {
  velocity.x = momentum.x / density;
  velocity.y = momentum.y / density;
  velocity.z = momentum.z / density;
}

static float square_of(Three& v) { return v.x * v.x + v.y * v.y + v.z * v.z; }

static void pressure_of(float& density, float& energy, float& speed, float& pressure) {
  const float half = 0.5f * density * speed;
  pressure = 0.4f * (energy - half);
}

//: flow_pressures l1=parallel kernels=1 run
void flow_pressures(const float* state, float* pressures, int n) {
  for (int i = 0; i < n; ++i) {
    float density = state[i], energy = state[i + 4 * n];
    Three momentum, velocity;
    momentum.x = state[i + n];
    momentum.y = state[i + 2 * n];
    momentum.z = state[i + 3 * n];
    velocity_of(density, momentum, velocity);
    float speed = square_of(velocity), pressure = 0;
    pressure_of(density, energy, speed, pressure);
    pressures[i] = pressure;
  }
}

static void moved_on(int& k, float& sum) {
  k += 2;
  sum += 1;
}

// The value of k after the call is not the one before it.
//: set_by_calls l1=sequential kernels=0
void set_by_calls(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    int k = i;
    float sum = 0;
    moved_on(k, sum);
    a[k] = a[i] + sum;
  }
}

static void swapped(float& a, float& b) {
  const float t = a;
  a = b;
  b = t;
}

//: pairs_swapped l1=parallel kernels=1 run
void pairs_swapped(float* a, int n) {
  for (int i = 0; i < n; ++i) swapped(a[2 * i], a[2 * i + 1]);
}

//: neighbours_swapped l1=sequential:flow kernels=0
void neighbours_swapped(float* a, int n) {
  for (int i = 1; i < n; ++i) swapped(a[i], a[i - 1]);
}

// The row depends on a number that is set in the iteration, before the pointer is declared.
//: rows_of_clamped l1=parallel l2=parallel kernels=1 run
void rows_of_clamped(const float* a, float* b, int rows, int cols, int by) {
  for (int r = 0; r < rows; ++r) {
    int from = r + by;
    if (from >= rows) from = rows - 1;
    for (int c = 0; c < cols; ++c) {
      const float* row = a + from * cols;
      b[r * cols + c] = row[c];
    }
  }
}

//: rows_moved_on l1=sequential kernels=0
void rows_moved_on(const float* a, float* b, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    int from = r;
    const float* row = a + from * cols;
    b[r * cols] = row[0];
    from = r / 2;
    b[r * cols + 1] = row[1];
  }
}

//: either_by_goto l1=parallel kernels=1 run
void either_by_goto(const float* a, const float* b, float* c, float* d, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] > 0.5f) goto other;
    c[i] = 2 * a[i];
    if (b[i] > 0.7f) {
      d[i] = 3;
      goto both;
    }
    c[i] += 1;
    goto both;
  other:
    c[i] = a[i] - b[i];
    if (b[i] > 0.3f) goto last;
  both:
    d[i] = d[i] + c[i];
  last:;
  }
}

//: switched_by_goto l1=parallel kernels=1 run
void switched_by_goto(const int* kind, const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    switch (kind[i]) {
      case 1:
        goto one;
      case 2:
        goto two;
    }
    b[i] = 0;
  one:
    b[i] += a[i];
    goto end;
  two:
    b[i] -= a[i];
  end:;
  }
}

//: carried_by_goto l1=sequential kernels=0 run
void carried_by_goto(const float* a, float* c, float* d, int n) {
  for (int i = 0; i < n - 1; ++i) {
    if (a[i] > 0.5f) goto other;
    c[i] = d[i] + a[i];
    continue;
  other:
    d[i + 1] = c[i] * a[i];
  }
}

//: back_by_goto l1=sequential kernels=0 says=goto
void back_by_goto(const float* a, float* c, int n) {
  for (int i = 0; i < n; ++i) {
    int k = 0;
  again:
    c[i] += a[i];
    if (++k < 3) goto again;
  }
}
