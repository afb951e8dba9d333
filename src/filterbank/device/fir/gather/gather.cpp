// The `gather` FIR: reads the sample of every tap again and relies on caches. Any problem.
#include "filterbank/device/fir/any_size.hpp"

#include <algorithm>

namespace ridge::filterbank::on_device {

extern const Fir kGatherFir;

namespace {

class GatherWriter final : public AnySizeWriter {
 public:
  using AnySizeWriter::AnySizeWriter;

 protected:
  void filter() override {
    text_.raw("#define LOAD_ROW(p) LOAD_CACHED(p)\n");
    row_pointers("0");
    open_rounds();
    text_.line("const int t = begin + round * {};", d_.steps);
    for (std::size_t j = 0; j < each(); ++j) {
      for (std::size_t s = 0; s < d_.steps; ++s) {
        text_.open();
        text_.line("float sum[{}];", d_.parts);
        for (std::size_t p = 0; p < d_.parts; ++p) text_.line("sum[{}] = 0.0f;", p);
        text_.open("if (here{} && t + {} < spectra)", j, s);
        // The newest sample of this channel in the window, and its age.
        text_.line("const int last = newest + (t + {}) * {};", s, g_.hop);
        text_.line("const int phase = last % {}, row = last / {} - (channel{} > phase ? 1 : 0);", g_.channels,
                   g_.channels, j);
        text_.line("const int age = phase - channel{0} + (channel{0} > phase ? {1} : 0);", j, g_.channels);
        text_.open("for (int i = {}; i >= 0; --i)", g_.taps - 1);
        text_.line("raw_t raw;");
        load("raw", j, "row - i",
             g_.block == g_.channels ? fmt::format("origin / {} + row - i{} >= 0", g_.channels, later(j))
                                     : std::string("1"));
        text_.line("float x[{}];", d_.parts);
        text_.line("convert(raw, x);");
        const std::string at = fmt::format("age + i * {}", g_.channels);
        text_.line("const float weight = {};",
                   d_.constant_weights ? fmt::format("weights[{}]", at) : fmt::format("LOAD_CACHED(weights + {})", at));
        for (std::size_t p = 0; p < d_.parts; ++p) text_.line("sum[{0}] = FMA(x[{0}], weight, sum[{0}]);", p);
        text_.close();
        if (g_.centred) {
          text_.open("if (channel{} & 1)", j);
          for (std::size_t p = 0; p < d_.parts; ++p) text_.line("sum[{0}] = -sum[{0}];", p);
          text_.close();
        }
        text_.close();
        put(j, s);
        text_.close();
      }
    }
    transform();
    text_.close();
  }
};

KernelText gather_text(const KernelDesign& design) { return GatherWriter(design).write(); }

std::size_t limit_gathered(const Geometry&, std::size_t steps) { return std::min<std::size_t>(steps, 16); }

void list_gather(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  for (KernelDesign& d : any_size_designs(device, problem, g, kGatherFir, limit_gathered, true, 2 * g.polarizations)) {
    d.resident = 3;
    all.push_back(std::move(d));
  }
}

}  // namespace

KernelDesign gather_alone(const Device& device, const Problem& problem, const Geometry& g, std::size_t parts) {
  return any_size_alone(device, problem, g, kGatherFir, limit_gathered, parts);
}

extern const Fir kGatherFir{.name = "gather",
                            .list = list_gather,
                            .text = gather_text,
                            .tables = transform_tables,
                            .sum_power = sum_any_size,
                            .efficiency = 0.3};

}  // namespace ridge::filterbank::on_device
