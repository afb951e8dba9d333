// Generates random functions over more of the language than plain nests: pointers into arrays, arrays of one to four
// dimensions, tables of rows, structs and arrays inside structs, induction and wrap-around variables, while and do
// loops, switches, calls, branches that jump, goto. Subscripts may leave their rows and, through pointers, their
// arrays: all arrays are parts of one block of memory, and the caller may let them overlap.
#pragma once
#include <random>
#include <string>
#include <vector>

namespace place_test {

class WideGenerator {
 public:
  // `small`: one nest of few loops and statements.
  explicit WideGenerator(unsigned seed, bool small = false) : random_(seed), small_(small) {}

  // Parameters of all functions; T is int, unsigned or float.
  static std::string parameters(const std::string& type) {
    std::string text =
        "(T* a, T* b, const T* c, T (*m)[12], T (*q)[5][7], T (*h)[2][3][4], std::vector<T>& v, Two<T>* s, Parts<T>& "
        "t, "
        "T& r, const int* where, int n, int k, T** z)";
    return replaced(text, type);
  }

  // Declarations that the functions of one type need, without headers.
  static std::string declarations() {
    return "#ifndef RIDGE_WIDE\n#define RIDGE_WIDE\n"
           "template <class T> struct Two { T x, y; };\n"
           "template <class T> struct Parts { T lead[256], p[9][8], q[64], tail[512]; };\n#endif\n";
  }

  std::string type() const { return type_; }

  // One function, preceded by the functions it calls.
  std::string function(const std::string& name) {
    static const char* const types[] = {"int", "unsigned", "float", "int", "unsigned char", "short", "long", "double"};
    type_ = types[pick(small_ ? 8 : 4)];
    loops_ = statements_ = 0;
    scope_.clear();
    pointers_.clear();
    numbers_.clear();
    in_while_.clear();
    static const char* const sets[] = {"a", "b", "m", "q", "h", "s", "t", "v", "f", "ab", "am", "qs", "mv"};
    gentle_ = pick(4) != 0;
    written_ = sets[pick(13)];
    shift_ = pick(3) - 1;
    std::string text = "static T " + name + "_mix(const T* p, int i) { return p[i] + p[i + 1]; }\n" + "static void " +
                       name + "_put(T* p, int i, T x) { p[i] = x; }\n" + "static int " + name +
                       "_row(int i) { return i * 12; }\n";
    name_ = name;
    text += "static void " + name + parameters("T") + " {\n";
    const int constants = pick(3);
    for (int i = 0; i < constants; ++i) {
      const std::string c = "e" + std::to_string(i);
      text += "  " + std::string(pick(2) == 0 ? "int " : "const int ") + c + " = " +
              (pick(3) == 0 ? "n - 1" : std::to_string(pick(5) - 1)) + ";\n";
      fixed_.push_back(c);
    }
    text += "  T u = 1, acc = 0, *po = a;\n  int g = 0, j2 = 0;\n";
    const int pointers = pick(small_ ? 2 : 3);
    for (int i = 0; i < pointers; ++i) text += "  " + pointer("f" + std::to_string(i), false) + "\n";
    const int parts = 1 + (small_ ? 0 : pick(2));
    for (int i = 0; i < parts; ++i) text += nest("  ");
    text += "  b[1] = acc;\n";
    if (pick(2) == 0) text += "  b[2] = u;\n";
    if (pick(2) == 0) text += "  b[3] = (T)g;\n";
    fixed_.clear();
    return replaced(text + "}\n", type_);
  }

 private:
  struct Iterator {
    std::string name{};
    int low = 0, high = 13;
  };
  std::mt19937 random_;
  bool small_ = false;
  std::string type_{}, name_{};
  int loops_ = 0, statements_ = 0, shift_ = 0;
  bool gentle_ = false;    // most writes go to the iteration's own element, so that more loops are parallel
  std::string written_{};  // first letters of the arrays written
  std::vector<Iterator> scope_{};
  std::vector<std::string> pointers_{}, rows_{}, numbers_{}, fixed_{};
  std::vector<bool> in_while_{};

  bool real() const { return type_ == "float" || type_ == "double"; }
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  static std::string replaced(const std::string& text, const std::string& type) {
    std::string result;
    const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool word =
          text[i] == 'T' && (i == 0 || !letter(text[i - 1])) && (i + 1 == text.size() || !letter(text[i + 1]));
      result += word ? type : std::string(1, text[i]);
    }
    return result;
  }

  const Iterator& iterator() { return scope_[static_cast<std::size_t>(pick(static_cast<int>(scope_.size())))]; }

  std::string small() {  // an unchanging number
    if (!fixed_.empty() && pick(2) == 0) return fixed_[static_cast<std::size_t>(pick(static_cast<int>(fixed_.size())))];
    return pick(2) == 0 ? "k" : std::to_string(pick(4));
  }

  // A subscript from -8 to 60.
  std::string index() {
    if (scope_.empty()) return std::to_string(pick(6));
    const Iterator& i = iterator();
    const Iterator& j = iterator();
    switch (pick(14)) {
      case 0:
        return i.name + " + 1";
      case 1:
        return i.name + " - 1";
      case 2:
        return i.name + " + " + small();
      case 3:
        return "2 * " + i.name;
      case 4:
        return i.name + " + " + j.name;
      case 5:
        return "n - " + i.name;
      case 6:
        return i.name + " / 2";
      case 7:
        return pick(2) == 0 ? i.name + " % 3" : "(" + i.name + " + " + small() + ") % n";
      case 8:
        return i.low >= 0 ? "where[" + i.name + "]" : i.name;
      case 9:
        return std::to_string(pick(6));
      case 10:
        return i.name + " - " + j.name;
      case 11:
        return numbers_.empty() ? i.name : numbers_[static_cast<std::size_t>(pick(static_cast<int>(numbers_.size())))];
      default:
        return i.name;
    }
  }

  // A subscript into a block of rows, from -120 to 800.
  std::string flat() {
    if (scope_.empty() || pick(3) == 0) return index();
    const Iterator& i = iterator();
    const Iterator& j = iterator();
    switch (pick(8)) {
      case 0:
        return "(" + i.name + " - 1) * 12 + " + j.name;
      case 1:
        return "(" + i.name + " + 1) * 12 + " + j.name;
      case 2:
        return i.name + " * n + " + j.name;
      case 3:
        return i.name + " * 12 + " + j.name + " + 1";
      case 4:
        return "(n - " + i.name + ") * 12 + " + j.name;
      case 5:
        return name_ + "_row(" + i.name + ") + " + j.name;
      case 6:
        return i.name + " * 8 + " + index();
      default:
        return i.name + " * 12 + " + j.name;
    }
  }

  std::string inside() {  // a subscript from 0 to 900
    if (scope_.empty()) return std::to_string(pick(6));
    const Iterator& i = iterator();
    const Iterator& j = iterator();
    if (i.low < 0 || j.low < 0) return "3";
    static const char* const forms[] = {"", " + 2", " * 12 + 5"};
    return pick(2) == 0 ? i.name + forms[pick(3)] : i.name + " * 12 + " + j.name;
  }

  // The array element that belongs to the iteration: no other iteration writes it.
  std::string own(char array) {
    std::string at = "0", first = "0";
    std::vector<std::string> each{"1", "2", "0", "1"};
    for (std::size_t d = 0; d < scope_.size() && d < 4; ++d) each[d] = scope_[d].name;
    for (std::size_t d = 0; d < scope_.size(); ++d)
      at = d == 0 ? scope_[0].name : "(" + at + ") * 12 + " + scope_[d].name;
    if (scope_.size() > 2) at = "(" + each[0] + " * 12 + " + each[1] + ") * 3 + " + each[2];
    const std::string moved = shift_ == 0 ? "" : shift_ > 0 ? " + " + std::to_string(shift_) : " - 1";
    switch (array) {
      case 'm':
        return scope_.size() == 1 && pick(2) == 0 ? "m[" + each[0] + " / 6][" + each[0] + " % 6]"
                                                  : "m[" + each[0] + "][" + each[1] + "]";
      case 'q':
        return "q[" + each[0] + moved + "][" + each[scope_.size() > 2 ? 2 : 1] + "][" +
               each[scope_.size() > 2 ? 1 : 2] + "]";
      case 'h':
        return "h[" + each[0] + "][" + (scope_.size() > 1 ? each[1] + " / 7" : "1") + "][1][" + each[1] + "]";
      case 's':
        return "s[" + (scope_.size() == 1 ? each[0] : each[0] + " * 12 + " + each[1]) + "]." +
               (pick(2) == 0 ? "x" : "y");
      case 't':
        return "t.p[" + each[0] + "][" + each[1] + "]";
      case 'v':
        return "v[(" + at + ") + 100]";
      case 'f':
        if (!pointers_.empty()) return pointers_[0] + "[" + at + "]";
        [[fallthrough]];
      default:
        return std::string(array == 'a' ? "a" : "b") + "[" + at + moved + "]";
    }
  }

  std::string place(bool writes = false) {
    if (gentle_ && pick(12) != 0) {
      static const char all[] = "abmqhstvf";
      char array = written_[static_cast<std::size_t>(pick(static_cast<int>(written_.size())))];
      if (writes || pick(3) == 0) return own(array);
      do array = all[pick(9)];
      while (written_.find(array) != std::string::npos);
      if (pick(3) == 0) return own(array);
      if (array == 'm') return "m[" + index() + "][" + index() + "]";
      if (array == 'q') return "q[" + index() + "][" + index() + "][" + index() + "]";
      if (array == 's') return "s[" + index() + "].y";
      if (array == 't') return "t.p[" + index() + "][" + index() + "]";
      if (array == 'v') return "v[" + inside() + "]";
      return std::string(array == 'a' ? "a[" : "b[") + flat() + "]";
    }
    switch (pick(14)) {
      case 0:
      case 1:
        return "a[" + flat() + "]";
      case 2:
        return "b[" + flat() + "]";
      case 3:
      case 4:
        return "m[" + index() + "][" + index() + "]";
      case 5:
        return "q[" + index() + "][" + index() + "][" + index() + "]";
      case 6:
        return "h[" + index() + "][" + std::to_string(pick(3)) + "][" + index() + "][" + index() + "]";
      case 7:
        return "v[" + inside() + "]";
      case 8:
        return "s[" + index() + "]." + (pick(2) == 0 ? "x" : "y");
      case 9:
        return "t.p[" + index() + "][" + index() + "]";
      case 10:
        return "t.q[" + index() + "]";
      case 11:
        return rows_.empty()
                   ? "m[" + index() + "][" + index() + "]"
                   : rows_[static_cast<std::size_t>(pick(static_cast<int>(rows_.size())))] + "[" + index() + "]";
      case 12:
        if (pick(3) == 0) return "z[" + (pick(2) == 0 ? small() : index()) + "][" + index() + "]";
        return pick(4) == 0 ? "r" : "a[" + flat() + "]";
      default:
        if (pointers_.empty()) return "b[" + flat() + "]";
        return pointers_[static_cast<std::size_t>(pick(static_cast<int>(pointers_.size())))] + "[" + flat() + "]";
    }
  }

  std::string read() {
    switch (pick(9)) {
      case 0:
        return "c[" + flat() + "]";
      case 1:
        return "c[" + index() + "]";
      case 2:
        return scope_.empty() ? "(T)n" : "(T)" + iterator().name;
      case 3:
        return pick(2) == 0 ? "u" : "(T)3";
      case 4:
        return name_ + "_mix(" + (pick(2) == 0 ? "c" : "a") + ", " + index() + ")";
      default:
        return place();
    }
  }

  std::string value() {
    const bool real = this->real();
    const std::string x = read();
    switch (pick(6)) {
      case 0:
        return x;
      case 1:
        return real ? x + " * 0.5f + 0.25f" : x + " * 3 + 1";
      case 2: {
        const std::string y = read();
        return "(" + x + " > " + y + " ? " + x + " : " + y + ")" + (real ? " * 0.5f" : "");
      }
      default:
        return real ? "0.25f * " + x + " - 0.5f * " + read() : x + (pick(2) == 0 ? " + " : " - ") + read();
    }
  }

  std::string condition() {
    if (scope_.empty() || pick(3) == 0) return read() + " > " + (real() ? "0.5f" : "3");
    const Iterator& i = iterator();
    static const char* const tests[] = {" < n - 1", " > k", " % 2 == 0", " != 3", " == 2", " >= 1"};
    return i.name + tests[pick(6)];
  }

  std::string pointer(const std::string& name, bool in_loop) {
    const std::string i = in_loop ? index() : std::to_string(pick(3));
    std::string to;
    switch (pick(10)) {
      case 0:
        to = "&m[0][0]";
        break;
      case 1:
        to = "m[" + i + "]";
        break;
      case 2:
        to = "a + " + (in_loop ? i : small());
        break;
      case 3:
        to = "&m[" + i + "][" + std::to_string(pick(14)) + "]";
        break;
      case 4:
        to = "q[" + i + "][1]";
        break;
      case 5:
        to = "&s[0].x";
        break;
      case 6:
        to = pick(2) == 0 ? "v.data() + 200" : "&v[200]";
        break;
      case 7:
        to = "&t.p[1][0]";
        break;
      case 8:
        to = "t.q + 2";
        break;
      default:
        to = "&b[" + flat() + "]";
    }
    pointers_.push_back(name);
    return "T* " + std::string(pick(3) == 0 ? "const " : "") + name + " = " + to + ";";
  }

  std::string statement(const std::string& pad) {
    ++statements_;
    static const int usual[] = {0, 2, 5, 12, 13, 16, 19, 19};
    const int kind = !gentle_ || pick(3) == 0 ? pick(24) : small_ ? usual[pick(8)] : 2 + 3 * pick(2) + 11 * pick(2);
    const auto assign = [&] {
      const std::string p = place(true);
      static const char* const signs[] = {" = ", " = ", " = ", " += ", " -= "};
      const int sign = pick(5);
      return p + signs[sign] + (real() && sign > 2 ? "0.125f * (" + value() + ")" : value()) + ";";
    };
    switch (kind) {
      case 0:
        return pad + "acc += " + (real() ? "0.125f * (" + value() + ")" : value()) + ";\n";
      case 1:
        return pad + "u = " + value() + ";\n";
      case 2:
        return pad + "if (" + condition() + ") " + assign() + "\n";
      case 3:
        return pad + "if (" + condition() + ") {\n" + statement(pad + "  ") + pad + "} else {\n" +
               statement(pad + "  ") + pad + "}\n";
      case 4:
        if (in_while_.empty() || in_while_.back() || pick(2) == 0) return pad + assign() + "\n";
        return pad + "if (" + condition() + (pick(6) == 0 ? ") break;\n" : ") continue;\n") + pad + assign() + "\n";
      case 5: {
        const std::string z = "z" + std::to_string(statements_);
        const std::string text = pad + "T " + z + " = " + value() + ";\n" + pad + place(true) + " = " + z + " + " +
                                 (real() ? "0.5f" : "2") + ";\n";
        return text;
      }
      case 6:
        return pad + name_ + "_put(" +
               (pick(2) == 0        ? "a"
                : pointers_.empty() ? "b"
                                    : pointers_.back()) +
               ", " + index() + ", " + value() + ");\n";
      case 7:
        return pad + "g += " + std::to_string(1 + pick(2)) + ";\n" + pad + "b[g] = " + value() + ";\n";
      case 8: {
        if (scope_.empty()) return pad + assign() + "\n";
        std::string text = pad + "j2 = " + iterator().name + " + " + std::to_string(pick(3) - 1) + ";\n";
        return text + pad + "a[j2" + (pick(2) == 0 ? " + 1" : "") + "] = " + value() + " + m[0][j2];\n";
      }
      case 9: {
        const std::string w = "w" + std::to_string(statements_), y = "y" + std::to_string(statements_);
        return pad + "T " + w + "[2][3];\n" + pad + "for (int " + y + " = 0; " + y + " < 6; ++" + y + ") " + w + "[" +
               y + " / 3][" + y + " % 3] = " + value() + ";\n" + pad + place(true) + " = " + w + "[1][" +
               std::to_string(pick(3)) + "] + " + w + "[0][" + std::to_string(pick(6)) + "];\n";
      }
      case 10:
        if (scope_.empty()) return pad + assign() + "\n";
        return pad + "switch (" + iterator().name + " % 3) {\n" + pad + "  case 0: " + assign() + " break;\n" + pad +
               "  case 1: " + assign() + "\n" + pad + "  default: " + assign() + "\n" + pad + "}\n";
      case 11: {
        const std::string l = "l" + std::to_string(statements_);
        return pad + "auto " + l + " = [&](int x) { return " + read() + " + (T)x; };\n" + pad + place(true) + " = " +
               l + "(" + index() + ");\n";
      }
      case 12:
        return pad + "{ T& one = " + place(true) + "; one = " + value() + "; }\n";
      case 13: {
        const std::string x = read();
        return pad + "if (" + x + " < u) u = " + (pick(4) == 0 ? read() : x) + ";\n";
      }
      case 14:
        return pad + "++" + place(true) + ";\n";
      case 15:
        return pad + "std::swap(" + place() + ", " + place() + ");\n";
      case 16: {
        const std::string label = "after" + std::to_string(statements_);
        return pad + "if (" + condition() + ") goto " + label + ";\n" + pad + assign() + "\n" + pad + label + ":\n" +
               pad + assign() + "\n";
      }
      case 17:
        if (scope_.empty()) return pad + assign() + "\n";
        return pad + "a[j2 + 1] = " + value() + " - m[1][j2];\n" + pad + "j2 = " + iterator().name + ";\n";
      case 18:
        return pad + "z[" + small() + "][" + index() + "] = " + value() + ";\n";
      case 20:
        return pad + "po = &" + (pick(2) == 0 ? "a[" : "b[") + flat() + "];\n" + pad + "po[" + std::to_string(pick(3)) +
               "] = po[" + index() + "] + " + value() + ";\n";
      default:
        return pad + assign() + "\n";
    }
  }

  std::string nest(const std::string& pad) {
    const auto saved_pointers = pointers_;
    const auto saved_rows = rows_;
    const auto saved_numbers = numbers_;
    const int depth = 1 + pick(small_ ? (pick(4) == 0 ? 3 : 2) : pick(3) == 0 ? 4 : 3);
    const std::string text = loop(pad, depth);
    pointers_ = saved_pointers;
    rows_ = saved_rows;
    numbers_ = saved_numbers;
    return text;
  }

  std::string loop(const std::string& pad, int depth) {
    const std::string i = "i" + std::to_string(loops_++), in = pad + "  ";
    const auto saved_pointers = pointers_;
    const auto saved_rows = rows_;
    const auto saved_numbers = numbers_;
    Iterator made{i, 0, 13};
    std::string head, last, before;
    bool repeats = false;
    const std::string limit = scope_.size() >= 2 ? "3" : pick(4) == 0 ? "12" : "n";
    switch (pick(small_ ? 16 : 12)) {
      case 0:
        head = "for (int " + i + " = 1; " + i + " < " + limit + "; ++" + i + ")";
        made.low = 1;
        break;
      case 1:
        head = "for (int " + i + " = " + limit + " - 1; " + i + " >= 0; --" + i + ")";
        break;
      case 2:
        head = "for (int " + i + " = 0; " + i + " < " + limit + "; " + i + " += " + std::to_string(2 + pick(2)) + ")";
        break;
      case 3:
        before = pad + "int " + i + " = 0;\n";
        head = "while (" + i + " < " + limit + ")";
        last = in + "++" + i + ";\n";
        repeats = true;
        break;
      case 4:
        before = pad + "int " + i + " = 0;\n";
        head = "do";
        last = in + i + " += 1;\n";
        repeats = true;
        break;
      case 5:
        head = scope_.empty()
                   ? "for (int " + i + " = 0; " + i + " <= n; ++" + i + ")"
                   : "for (int " + i + " = " + scope_.back().name + "; " + i + " < " + limit + "; ++" + i + ")";
        made.low = scope_.empty() ? 0 : scope_.back().low;
        break;
      case 6:
        head = "for (std::size_t " + i + " = 0; " + i + " < static_cast<std::size_t>(" + limit + "); ++" + i + ")";
        break;
      case 7:
        before = pad + "int " + i + ";\n";
        head = "for (" + i + " = 0; " + i + " < " + limit + "; " + i + "++)";
        break;
      case 8:
        head = "for (int " + i + " = k; " + i + " < n; ++" + i + ")";
        made.low = -3;
        break;
      case 9:
        head = "for (int " + i + " = n; " + i + " > 0; " + i + " -= 2)";
        break;
      case 10:
        head = "for (int " + i + " = 0; " + i + " != " + limit + "; ++" + i + ")";
        break;
      default:
        head = "for (int " + i + " = 0; " + i + " < " + limit + "; ++" + i + ")";
    }
    if (head.find("std::size_t") != std::string::npos) {  // subscripts are always int
      scope_.push_back({"(int)" + i, 0, 13});
    } else {
      scope_.push_back(made);
    }
    in_while_.push_back(repeats);
    std::string body;
    if (pick(5) == 0) {
      const std::string name = "p" + std::to_string(loops_);
      body += in + pointer(name, true) + "\n";
    }
    if (pick(5) == 0) {
      const std::string name = "row" + std::to_string(loops_);
      body += in + (pick(2) == 0 ? "T (&" + name + ")[12] = m[" + index() + "];\n"
                                 : "T* " + name + " = m[" + index() + "];\n");
      rows_.push_back(name);
    }
    if (pick(5) == 0) {
      const std::string name = "d" + std::to_string(loops_);
      body += in + "const int " + name + " = " + index() + ";\n";
      numbers_.push_back(name);
    }
    if (depth > 1) {
      if (pick(3) == 0) body += statement(in);
      body += loop(in, depth - 1);
      if (pick(4) == 0) body += statement(in);
      if (depth > 2 && pick(4) == 0) body += loop(in, 1);
    } else {
      const int count = 1 + pick(small_ ? 2 : 3);
      for (int s = 0; s < count; ++s) body += statement(in);
    }
    scope_.pop_back();
    in_while_.pop_back();
    pointers_ = saved_pointers;
    rows_ = saved_rows;
    numbers_ = saved_numbers;
    const std::string text = before + pad + head + " {\n" + body + last + pad + "}";
    return head == "do" ? text + " while (" + i + " < " + limit + ");\n" : text + "\n";
  }
};

}  // namespace place_test
