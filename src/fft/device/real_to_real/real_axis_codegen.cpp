// Kernel text that turns cosine, sine and Hartley transforms into complex ones: before and after the inner transform.
#include <fmt/format.h>

#include "codegen/butterfly.hpp"
#include "codegen/text.hpp"
#include "fft/device/pass/real_kind.hpp"
#include "fft/device/real_to_real/real_axis.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kItems = 256;

bool are_columns(const RealAxisProblem& problem) { return order_of(problem.in) == Order::lines; }

std::string line_offset(const RealAxisProblem& problem, const Address& at) {
  std::string sum = "0";
  std::uint64_t divided = 1;
  for (std::size_t dimension = 0; dimension < at.line.size(); ++dimension) {
    std::string value = fmt::format("line / {}ul", divided);
    if (dimension + 1 < at.line.size()) value = fmt::format("{} % {}ul", value, problem.counts[dimension]);
    if (at.line[dimension] != 0) sum += fmt::format(" + ({}) * {}ul", value, at.line[dimension]);
    divided *= problem.counts[dimension];
  }
  return sum;
}

// `number` counts the elements of a kernel; `i` is the index along the line.
void number_lines(codegen::Text& text, const RealAxisProblem& problem, std::size_t points) {
  text.line("const ulong number = (ulong)GROUP_ID(0) * {}ul + (ulong)LOCAL_ID(0);", kItems);
  text.line("if (number >= {}ul) return;", problem.lines() * points);
  if (are_columns(problem)) {
    text.line("const ulong inner = number % {0}ul, rest = number / {1}ul, line = inner + {0}ul * rest;",
              problem.counts[0], problem.counts[0] * points);
    text.line("const ulong i = number / {}ul % {}ul;", problem.counts[0], points);
  } else {
    text.line("const ulong i = number % {0}ul, line = number / {0}ul;", points);
  }
}

// An element of the intermediate lines.
std::string between(const RealAxisProblem& problem, std::size_t points, const std::string& index) {
  if (are_columns(problem)) {
    return fmt::format("from[inner + {}ul * (({}) + {}ul * rest)]", problem.counts[0], index, points);
  }
  return fmt::format("from[line * {}ul + ({})]", points, index);
}

// The sample of that index; sines of types III and IV read them from the end.
std::string sample(const RealAxisProblem& problem, const std::string& index) {
  const bool reversed = problem.kind == RealKind::dst3 || problem.kind == RealKind::dst4;
  const std::string place = reversed ? fmt::format("({}ul - ({}))", problem.length - 1, index) : "(" + index + ")";
  return fmt::format("from[{} * {}ul]", place, problem.in.point);
}

void write_before(codegen::Text& text, const RealAxisProblem& p) {
  const std::size_t n = p.length;
  const auto x = [&](const std::string& index) { return sample(p, index); };
  switch (p.kind) {
    case RealKind::halfcomplex:
    case RealKind::hartley:
      text.line("to[number] = {};", x("i"));
      return;
    case RealKind::dct1:
      text.line("to[number] = {};", x(fmt::format("i < {}ul ? i : {}ul - i", n, 2 * (n - 1))));
      return;
    case RealKind::dst1:
      text.line("if (i == 0 || i == {}ul) to[number] = 0;", n + 1);
      text.line("else if (i <= {}ul) to[number] = {};", n, x("i - 1"));
      text.line("else to[number] = -{};", x(fmt::format("{}ul - i", 2 * n + 1)));
      return;
    case RealKind::dct2:
      text.line("to[number] = {};", x(fmt::format("i < {}ul ? 2 * i : {}ul - 2 * i", (n + 1) / 2, 2 * n - 1)));
      return;
    case RealKind::dst2:  // odd samples change their sign
      text.line("if (i < {}ul) to[number] = {};", (n + 1) / 2, x("2 * i"));
      text.line("else to[number] = -{};", x(fmt::format("{}ul - 2 * i", 2 * n - 1)));
      return;
    case RealKind::halfcomplex_inverse:
      text.line("to[number] = make_real2({}, i == 0 || 2 * i == {}ul ? (real)0 : {});", x("i"), n,
                x(fmt::format("i == 0 ? 0 : {}ul - i", n)));
      return;
    case RealKind::dct3:
    case RealKind::dst3:
      text.line("const real2 w = roots[i];");  // cos, -sin
      text.line("const real a = {}, b = i == 0 ? (real)0 : {};", x("i"), x(fmt::format("i == 0 ? 0 : {}ul - i", n)));
      text.line("to[number] = make_real2(w.x * a - w.y * b, i == 0 || 2 * i == {}ul ? (real)0 : -w.y * a - w.x * b);",
                n);
      return;
    case RealKind::dct4:
    case RealKind::dst4:
      break;
  }
  if (n % 2 == 0) {
    text.line("to[number] = multiply(make_real2({}, {}), roots[i]);", x("2 * i"),
              x(fmt::format("{}ul - 2 * i", n - 1)));
    return;
  }
  text.line("const ulong a = i % 2 == 1 ? i : i + {0}ul, o = {0}ul - i, b = o % 2 == 1 ? o : o + {0}ul;", n);
  text.line("const real low = {};", x("a / 2"));
  text.line("if (i == 0) {{ to[number] = low * even_sign(a); return; }}");
  text.line("const real high = {};", x("b / 2"));
  text.line("to[number] = (low * (even_sign(a) + odd_sign(a)) + high * (even_sign(b) - odd_sign(b))) / 2;");
}

void write_after(codegen::Text& text, const RealAxisProblem& p, const MiddleShape& middle) {
  const std::size_t n = p.length;
  const auto v = [&](const std::string& index) { return between(p, middle.after, index); };
  switch (p.kind) {
    case RealKind::halfcomplex:
      text.line("value = 2 * i <= {0}ul ? {1}.x : {2}.y;", n, v(fmt::format("2 * i <= {0}ul ? i : {0}ul - i", n)),
                v(fmt::format("2 * i <= {0}ul ? i : {0}ul - i", n)));
      return;
    case RealKind::hartley:
      text.line("const real2 z = {};", v(fmt::format("2 * i <= {0}ul ? i : {0}ul - i", n)));
      text.line("value = 2 * i <= {}ul ? z.x - z.y : z.x + z.y;", n);
      return;
    case RealKind::dct1:
      text.line("value = {}.x;", v("i"));
      return;
    case RealKind::dst1:
      text.line("value = -{}.y;", v("i + 1"));
      return;
    case RealKind::dct2:
    case RealKind::dst2:
      text.line("const ulong k = {};", is_sine(p.kind) ? fmt::format("{}ul - i", n - 1) : "i");
      text.line("const real2 w = roots[k], z = {};", v(fmt::format("2 * k <= {0}ul ? k : {0}ul - k", n)));
      text.line("value = 2 * (w.x * z.x - (2 * k <= {}ul ? w.y : -w.y) * z.y);", n);
      return;
    case RealKind::halfcomplex_inverse:
      text.line("value = {};", v("i"));
      return;
    case RealKind::dct3:
    case RealKind::dst3:
      text.line("value = {};", v(fmt::format("i % 2 == 0 ? i / 2 : {}ul - i / 2", n - 1)));
      break;
    case RealKind::dct4:
    case RealKind::dst4:
      if (n % 2 == 0) {
        text.line("const ulong k = i % 2 == 0 ? i / 2 : ({}ul - i) / 2;", n - 1);
        text.line("const real2 z = multiply({}, roots[{}ul + k]);", v("k"), n / 2);
        text.line("value = 2 * (i % 2 == 0 ? z.x : -z.y);");
      } else {
        std::size_t eighth = 0;  // the inverse of 8
        while (8 * eighth % n != 1 % n) ++eighth;
        text.line("const ulong a = 2 * i + 1, place = a % {0}ul * {1}ul % {0}ul;", n, eighth);
        text.line("const int mirrored = 2 * place > {}ul;", n);
        text.line("const real2 z = {};", v(fmt::format("mirrored ? {}ul - place : place", n)));
        text.line(
            "value = {0} * (z.x * even_sign({1}ul) * even_sign(a) + (mirrored ? -z.y : z.y) * odd_sign({1}ul) * "
            "odd_sign(a));",
            codegen::literal(1.41421356237309504880168872420969808, p.float64), n % 8);
      }
      break;
  }
  if (is_sine(p.kind)) text.line("if (i % 2 == 1) value = -value;");
}

}  // namespace

std::uint64_t RealAxisProblem::lines() const {
  std::uint64_t product = 1;
  for (const std::uint64_t count : counts) product *= count;
  return product;
}

MiddleShape middle_of(RealKind kind, std::size_t n) {
  const auto forward = [](std::size_t m) { return MiddleShape{Middle::real_forward, m, m, m / 2 + 1}; };
  switch (kind) {
    case RealKind::dct1:
      return forward(2 * (n - 1));
    case RealKind::dst1:
      return forward(2 * (n + 1));
    case RealKind::halfcomplex_inverse:
    case RealKind::dct3:
    case RealKind::dst3:
      return {Middle::real_inverse, n, n / 2 + 1, n};
    case RealKind::dct4:
    case RealKind::dst4:
      if (n % 2 == 0) return {Middle::complex, n / 2, n / 2, n / 2};
      break;
    default:
      break;
  }
  return forward(n);
}

RealAxisText real_axis_text(const RealAxisProblem& problem) {
  const MiddleShape middle = middle_of(problem.kind, problem.length);
  codegen::Text text;
  text.line("// {} of {} points, around a transform of {}", to_string(problem.kind), problem.length, middle.length);
  text.raw(codegen::butterfly_text({}, problem.float64));
  text.line("FUNCTION real even_sign(ulong a) {{ return a % 8 == 1 || a % 8 == 7 ? (real)1 : (real)-1; }}");
  text.line("FUNCTION real odd_sign(ulong a) {{ return a % 8 < 4 ? (real)1 : (real)-1; }}");
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void real_before(GLOBAL const real* RESTRICT in, GLOBAL {}* RESTRICT to, "
      "GLOBAL const real2* RESTRICT roots, ulong in_offset)",
      kItems, middle.what == Middle::real_forward ? "real" : "real2");
  number_lines(text, problem, middle.before);
  text.line("GLOBAL const real* const from = in + (in_offset + {});", line_offset(problem, problem.in));
  write_before(text, problem);
  text.close();
  text.open(
      "KERNEL WORK_GROUP({}, 1, 1) void real_after(GLOBAL const {}* RESTRICT from, GLOBAL real* RESTRICT out, "
      "GLOBAL const real2* RESTRICT roots, ulong out_offset)",
      kItems, middle.what == Middle::real_inverse ? "real" : "real2");
  number_lines(text, problem, problem.length);
  text.line("real value;");
  write_after(text, problem, middle);
  if (problem.scale != 1) text.line("value *= {};", codegen::literal(problem.scale, problem.float64));
  text.line("out[out_offset + {} + i * {}ul] = value;", line_offset(problem, problem.out), problem.out.point);
  text.close();
  return {{.name = fmt::format("{} of {}", to_string(problem.kind), problem.length), .text = text.str()}};
}

}  // namespace ridge::fft::on_device
