// Supported and refused language constructs, in the notation of algebra.cpp.
#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <functional>
#include <vector>

//: backwards l1=parallel kernels=1 run
void backwards(const float* a, float* b, int n) {
  for (int i = n - 1; i >= 0; --i) b[i] = a[n - 1 - i];
}

//: from_left_to_right l1=sequential:flow kernels=0
void from_left_to_right(float* a, int n) {
  for (int i = 0; i < n - 1; ++i) a[i + 1] = a[i];
}

//: from_right l1=sequential:anti kernels=1 run
void from_right(float* a, int n) {
  for (int i = 0; i < n - 1; ++i) a[i] = a[i + 1];
}

//: even_to_odd l1=parallel kernels=1 run
void even_to_odd(float* a, int n) {
  for (int i = 0; i < n; ++i) a[2 * i] = a[2 * i + 1];
}

//: far_apart l1=parallel kernels=1 run
void far_apart(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = a[i + n];
}

//: not_far_enough l1=sequential kernels=0
void not_far_enough(float* a, int n, int by) {
  for (int i = 0; i < n; ++i) a[i] = a[i + by];
}

//: sizes l1=parallel kernels=1 run
void sizes(const std::vector<float>& in, std::vector<float>& out) {
  for (std::size_t i = 0; i + 1 < in.size(); ++i) out[i] = in[i + 1];
}

//: unsigned_end l1=parallel kernels=1 run
void unsigned_end(const float* a, float* b, unsigned n) {
  for (unsigned i = 0; i < n - 1; ++i) b[i] = a[i + 1];
}

//: range_for l1=parallel kernels=1 run
void range_for(std::vector<float>& v) {
  for (auto& x : v) x *= 2;
}

//: range_by_value l1=reduction kernels=1 run
void range_by_value(const std::vector<float>& v, double& sum) {
  for (float x : v) sum += x;
}

struct Point {
  float x, y;
};
//: fields l1=parallel kernels=1
void fields(Point* p, int n) {
  for (int i = 0; i < n; ++i) p[i].x = p[i].y * 2;
}

//: fields_of_neighbours l1=sequential:anti kernels=1
void fields_of_neighbours(Point* p, int n) {
  for (int i = 0; i < n - 1; ++i) p[i].x = p[i + 1].x;
}

//: two_dimensions l1=parallel l2=parallel kernels=1
void two_dimensions(float (*a)[64], int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < 64; ++j) a[i][j] *= 2;
}

//: declared_outside l1=parallel kernels=1 run
void declared_outside(const float* a, float* b, int n) {
  int i;
  for (i = 0; i < n; ++i) b[i] = a[i] + 1;
}

//: shifted_pointer l1=sequential:flow kernels=0
void shifted_pointer(float* a, int n) {
  float* p = a + 1;
  for (int i = 0; i < n; ++i) p[i] = a[i];
}

//: element_by_reference l1=sequential kernels=0
void element_by_reference(float* a, int n) {
  float& first = a[0];
  for (int i = 0; i < n; ++i) a[i] = first + 1;
}

//: gather l1=parallel kernels=1 run
void gather(const std::vector<float>& table, const int* where, float* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = table[where[i]];
}

//: scatter l1=sequential:output kernels=0
void scatter(const int* where, const float* in, float* out, int n) {
  for (int i = 0; i < n; ++i) out[where[i]] = in[i];
}

//: last_value l1=sequential kernels=0
void last_value(const float* a, int n, float& last) {
  float t = 0;
  for (int i = 0; i < n; ++i) t = a[i] * 2;
  last = t;
}

//: own_value l1=parallel kernels=1 run
void own_value(const float* a, float* b, int n) {
  float t;
  for (int i = 0; i < n; ++i) {
    t = a[i] * 2;
    b[i] = t * t;
  }
}

//: long_division l1=parallel l2=sequential kernels=1 run
void long_division(const int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) {
    int left = a[i] + 100, turns = 0;
    while (left > 0) {
      left -= 7;
      ++turns;
    }
    b[i] = turns;
  }
}

//: search_inside l1=parallel l2=sequential kernels=1 run
void search_inside(const int* a, int* b, int n, int m) {
  for (int i = 0; i < n; ++i) {
    int found = -1;
    for (int k = 0; k < m; ++k)
      if (a[i + k] == 3) {
        found = k;
        break;
      }
    b[i] = found;
  }
}

//: ends_early l1=sequential kernels=0
void ends_early(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0) break;
    b[i] = a[i];
  }
}

//: returns_early l1=sequential kernels=0 says=return
void returns_early(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0) return;
    b[i] = a[i];
  }
}

//: plain_while l1=parallel kernels=1 run
void plain_while(const float* a, float* b, int n) {
  int i = 0;
  while (i < n) {
    b[i] = a[i];
    ++i;
  }
}

//: narrow_iterator l1=sequential kernels=0
void narrow_iterator(const float* a, float* b, int n) {
  for (unsigned char i = 0; i < n; ++i) b[i] = a[i];
}

//: bound_changes l1=sequential kernels=0
void bound_changes(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    a[i] = 1;
    if (a[0] > 2) n = n / 2;
  }
}

//: iterator_changes l1=sequential kernels=0
void iterator_changes(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    a[i] = 1;
    if (a[i] > 2) ++i;
  }
}

//: iterator_afterwards l1=sequential kernels=0
void iterator_afterwards(float* a, int n) {
  int i;
  for (i = 0; i < n; ++i) a[i] = 1;
  a[i - 1] = float(i);
}

//: two_iterators l1=sequential kernels=0
void two_iterators(float* a, int n) {
  for (int i = 0, j = n; i < j; ++i, --j) a[i] = a[j];
}

int counter;
float side(float x) {
  counter++;
  return x * float(counter);
}
//: effects l1=sequential kernels=0 says=counter
void effects(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) b[i] = side(a[i]);
}

//: grows l1=sequential kernels=0 says=push_back
void grows(std::vector<float>& v, int n) {
  for (int i = 0; i < n; ++i) v.push_back(v[i]);
}

//: moving_pointers l1=parallel kernels=1 run
void moving_pointers(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) *b++ = *a++;
}

//: jumps l1=sequential kernels=0 says=goto
void jumps(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i) {
    if (a[i] < 0) goto out;
    b[i] = a[i];
  }
out:
  return;
}

std::jmp_buf there;
//: long_jumps l1=parallel kernels=0 says=setjmp
void long_jumps(float* a, int n) {
  if (setjmp(there) == 0)
    for (int i = 0; i < n; ++i) a[i] = 1;
}

float deeper(float x) { return x < 1 ? deeper(x + 1) : x; }
//: recursion l1=sequential kernels=0 says=recursive
void recursion(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = deeper(a[i]);
}

struct Shape {
  virtual float area(float x) const { return x; }
  virtual ~Shape() = default;
};
//: virtual_calls l1=sequential kernels=0 says=virtual
void virtual_calls(const Shape& s, float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = s.area(a[i]);
}

//: function_pointers l1=sequential kernels=0 says=pointer
void function_pointers(float (*f)(float), float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = f(a[i]);
}

//: volatiles l1=sequential kernels=0 says=volatile
void volatiles(volatile float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = 1;
}

//: assembly l1=sequential kernels=0 says=assembly
void assembly(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    asm volatile("" ::: "memory");
    a[i] = 1;
  }
}

#define EACH(i, n) for (int i = 0; i < n; ++i)
//: hidden_loop l1=sequential kernels=0 says=macro
void hidden_loop(float* a, int n) { EACH(i, n) a[i] = 1; }

union Both {
  int i;
  float f;
};
//: unions l1=sequential kernels=0
void unions(Both* a, int n) {
  for (int i = 0; i < n; ++i) a[i].f = float(a[i].i);
}

//: switches l1=parallel kernels=1 run
void switches(const int* a, int* b, int n) {
  for (int i = 0; i < n; ++i) switch (a[i]) {
      case 0:
        b[i] = 1;
        break;
      default:
        b[i] = 2;
    }
}

//: lambdas l1=parallel kernels=1 run
void lambdas(const float* a, float* b, int n) {
  auto f = [&](int i) { b[i] = a[i]; };
  for (int i = 0; i < n; ++i) f(i);
}

//: rows_anywhere l1=parallel kernels=0
void rows_anywhere(std::vector<std::vector<float>>& rows, int n) {
  for (int i = 0; i < n; ++i) rows[i][0] = 1;
}

//: overflow_in_subscript l1=sequential kernels=0
void overflow_in_subscript(float* a, unsigned n) {
  for (unsigned i = 0; i < n; ++i) a[i * 2654435761u] = 1;
}

//: filled_with_what_a_kernel_wrote l1=parallel l2=parallel kernels=2 run
void filled_with_what_a_kernel_wrote(std::vector<float>& a, std::vector<float>& out, int n) {
  for (int i = 0; i < n; ++i) a[i] = 3 * a[i] + 1;
  const std::vector<float> first(n, a[0]);  // the host reads a[0] here
  for (int i = 0; i < n; ++i) out[i] = first[i] + a[i];
}
// clang-format off
#define GAIN 0.75f
#define TWICE(x) (2 * (x))
#define BOTH(x) x; b[i] = x
#define AND_SO_ON }

//: macro_at_the_end l1=parallel l2=parallel kernels=2 run
void macro_at_the_end(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] *= GAIN;
  for (int i = 0; i < n; ++i) a[i] += TWICE(GAIN);
}

//: macro_of_two_statements l1=sequential kernels=0 says=macro
void macro_of_two_statements(float* a, float* b, int n) {
  int i = 1;
  for (i = 0; i < n; ++i) a[i] = BOTH(1);
}

//: macro_that_closes l1=sequential kernels=0 says=macro
void macro_that_closes(float* a, int n) {
  for (int i = 0; i < n; ++i) {
    a[i] = 1;
  AND_SO_ON
}

//: mask_of_bools l1=parallel kernels=1 run
void mask_of_bools(const float* a, const bool* before, bool* mask, int n) {
  for (int i = 0; i < n; ++i) {
    mask[i] = a[i] > 0.5f && !before[i];
    mask[i] ^= before[n - 1 - i];
  }
}

// Constant tables declared in the loop, with rows that leave out zeros.
//: tables_inside l1=parallel l2=parallel kernels=1 run
void tables_inside(const int* in, int* out, int h, int w) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      static const int across[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
      const int down[3][3] = {{-1, -2, -1}, {}, {1, 2}};
      int sum = 0;
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) sum += (across[j][i] + 3 * down[j][i]) * in[(y + j - 1) * w + x + i - 1];
      out[y * w + x] = sum;
    }
}

//: counted_inside l1=sequential kernels=0 says=static
void counted_inside(int* out, int n) {
  for (int i = 0; i < n; ++i) {
    static int calls = 0;
    out[i] = ++calls;
  }
}
