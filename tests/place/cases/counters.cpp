// Loops with several counters, steps that are not constants, constants set by assignment, and the user's claims, in
// the notation of algebra.cpp.
#include <vector>

//: two_counters l1=parallel kernels=1 run
void two_counters(const float* a, float* b, int n) {
  for (int i = 0, j = n - 1; i < n; ++i, --j) b[i] = a[j] + 1;
}

//: two_counters_meet l1=sequential kernels=0
void two_counters_meet(float* a, int n) {
  for (int i = 0, j = n - 1; i < n; ++i, --j) a[i] = a[j] + 1;
}

//: every_second l1=parallel kernels=1 run
int every_second(const float* a, float* b, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i) {
    b[i] = a[k];
    k += 2;
  }
  return k;
}

//: counter_in_the_middle l1=parallel kernels=1 run
void counter_in_the_middle(const float* a, float* b, float* c, int n) {
  int k = 3;
  for (int i = 0; i < n; ++i) {
    b[k] = a[i];
    k++;
    c[k] = 2 * a[i];
  }
  b[k] = 7;
}

// Both statements write c[k + 1] in neighbouring iterations.
//: counters_meet l1=sequential kernels=0
void counters_meet(const float* a, float* c, int n) {
  int k = 3;
  for (int i = 0; i < n; ++i) {
    c[k] = a[i];
    k++;
    c[k] = 2 * a[i];
  }
}

// Skipped in some iterations: no closed form.
//: counter_under_condition l1=sequential kernels=0
void counter_under_condition(const float* a, float* b, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i) {
    if (a[i] > 0.5f) {
      b[k] = a[i];
      k += 1;
    }
  }
}

//: only_counted l1=reduction kernels=1 run
int only_counted(const float* a, float* b, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i) {
    b[i] = a[i];
    k++;
  }
  return k;
}

//: step_by_argument l1=parallel kernels=1 run
void step_by_argument(const float* a, float* b, int n, int by) {
  for (int i = 1; i < n; i += by) b[i] = a[i] + 1;
}

// Independent if by > 1, which is tested.
//: step_over_the_read l1=parallel kernels=1 run
void step_over_the_read(float* a, int n, int by) {
  for (int i = 1; i < n; i += by) a[i] = a[i - 1] + 1;
}

//: step_by_argument_carried l1=sequential kernels=0
void step_by_argument_carried(float* a, int n, int by) {
  for (int i = by; i < n; i += by) a[i] = a[i - by] + 1;
}

// m is 64 when the loop runs: the elements read are not written.
//: constant_by_assignment l1=parallel kernels=1 run
void constant_by_assignment(float* a, int n) {
  int m;
  m = 64;
  for (int i = 0; i < 64; ++i) a[i] = a[i + m] + static_cast<float>(n);
}

//: constant_no_more l1=sequential kernels=0
void constant_no_more(float* a, int n) {
  int m;
  m = 64;
  if (n > 3) m = 1;
  for (int i = 1; i < 64; ++i) a[i + m] = a[i] + static_cast<float>(n);
}

// The comparison checks the claims: permutations write each element once, but no analysis can know it.
//: claimed_by_pragma l1=parallel kernels=1
void claimed_by_pragma(const std::vector<int>& at, std::vector<float>& out, int n) {
#pragma ridge independent
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: claimed_by_attribute l1=parallel kernels=1
void claimed_by_attribute(const std::vector<int>& at, std::vector<float>& out, int n) {
  [[ridge::independent]] for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

//: not_claimed l1=sequential:output kernels=0
void not_claimed(const std::vector<int>& at, std::vector<float>& out, int n) {
  for (int i = 0; i < n; ++i) out[at[i]] = static_cast<float>(i);
}

// A claim does not make a number private.
//: claimed_in_vain l1=sequential kernels=0
float claimed_in_vain(const float* a, float* b, int n) {
  float last = 0;
#pragma ridge independent
  for (int i = 0; i < n; ++i) {
    b[i] = last;
    last = a[i];
  }
  return last;
}

struct Scaler {
  float by;
  // Verdicts only: member functions are not placed.
  void run(const float* a, float* b, int n) const {
    for (int i = 0; i < n; ++i) b[i] = 2 * a[i];
  }
};

//: two_steps_each_turn l1=parallel kernels=1 run
int two_steps_each_turn(const float* a, const float* b, float* c, int n) {
  int k = -1;
  for (int i = 0; i < n / 2; ++i) {
    k++;
    c[k] = a[i];
    k++;
    c[k] = b[i] + a[k];
  }
  return k;
}

//: counted_through_rows l1=parallel l2=parallel kernels=1 run
int counted_through_rows(const float (*a)[64], float* b, int n) {
  int k = -1;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 64; ++j) {
      k++;
      b[k] = 2 * a[i][j];
    }
  }
  return k;
}

//: rows_with_a_gap l1=parallel l2=parallel kernels=1 run
void rows_with_a_gap(const float* a, float* b, int n, int m) {
  int k = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 32; ++j) {
      b[k] = a[i * 32 + j];
      ++k;
    }
    k += 3;
  }
}

//: step_of_the_caller kernels=1 run
int step_of_the_caller(const float* a, float* b, int n, int by) {
  int k = 0;
  for (int i = 0; i < n; i += by) {
    k += 2;
    b[i] += a[k];
  }
  return k;
}

// The last step of an iteration and the first of the next meet.
//: steps_that_meet l1=sequential kernels=0 run
void steps_that_meet(const float* a, float* c, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i) {
    k++;
    c[k] = a[i];
    k++;
    c[k + 1] = 2 * a[i];
  }
}

// Pointers that step through arrays.
//: pixels_stepped l1=parallel l2=parallel kernels=1 run
void pixels_stepped(const unsigned char* in, unsigned char* out, int h, int w) {
  for (int y = 0; y < h; ++y) {
    const unsigned char* p = in + 3 * y * w;
    unsigned char* q = out + y * w;
    for (int x = 0; x < w; ++x) {
      int sum = *p++;
      sum += *p++;
      sum += *p++;
      *q++ = static_cast<unsigned char>(sum / 3);
    }
  }
}

// Through the whole image, without a row pointer.
//: image_stepped l1=parallel l2=parallel kernels=1 run
void image_stepped(const float* in, float* out, int h, int w) {
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) *out++ = 2 * *in++;
  }
}

// Backwards, by three, read at a distance, and used after the loop.
//: stepped_back l1=parallel l2=parallel kernels=2 run
void stepped_back(const float* in, float* out, int n) {
  const float* p = in + 3 * n;
  float* q = out;
  for (int i = 0; i < n; ++i) {
    p -= 3;
    q[n] = p[1];
    *q = *p;
    ++q;
  }
  q += n;
  for (int i = 0; i < n; ++i) *q++ = static_cast<float>(i);
}

//: stepped_onto_the_next l1=sequential:flow kernels=0
void stepped_onto_the_next(float* a, int n) {
  float* p = a;
  for (int i = 0; i < n; ++i) {
    p[1] = *p + 1;
    p++;
  }
}

// The number of steps depends on the data.
//: stepped_sometimes l1=sequential kernels=0
void stepped_sometimes(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i)
    if (a[i] > 0.5f) *b++ = a[i];
}

// Two steps in one expression: their order is the compiler's.
//: stepped_twice l1=sequential kernels=0
void stepped_twice(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = a[i] > 0.5f ? *a++ : 0;
}

// A step that some iterations leave out.
//: stepped_by_choice l1=sequential kernels=0
void stepped_by_choice(const float* a, const float* choice, float* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = choice[i] > 0.5f ? *a++ : 0;
}
