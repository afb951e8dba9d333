// Row kernel that runs a vector program.
#include "stencil/host/kernels/linear_rows.hpp"

#include <memory>

#include "stencil/host/kernels/vector_program.hpp"

namespace ridge::stencil {

template <class T>
RowKernel<T> vector_rows(const Update<T>& update) {
  const Tape tape = flatten(update.outputs);
  const auto program =
      std::make_shared<const VectorProgram<T>>(tape, std::vector<bool>(update.fields), is_smooth(tape), 1);
  return [program, radius = update.radius](const Rows<T>& rows) {
    const std::vector<typename VectorProgram<T>::Row>& reads = program->rows();
    const std::size_t planes = 2 * static_cast<std::size_t>(radius[0]) + 1;
    const std::size_t lines = 2 * static_cast<std::size_t>(radius[1]) + rows.count;
    thread_local std::vector<const T*> in;
    thread_local std::vector<T*> out;
    in.resize(reads.size() * kBlockRows);
    out.resize(program->outputs() * kBlockRows);
    for (std::size_t y = 0; y < rows.count;) {
      const std::size_t count = y + kBlockRows <= rows.count ? kBlockRows : 1;
      for (std::size_t i = 0; i < reads.size(); ++i) {
        const std::size_t plane = reads[i].field * planes + static_cast<std::size_t>(reads[i].dz + radius[0]);
        const std::size_t line = static_cast<std::size_t>(reads[i].dy + radius[1]) + y;
        for (std::size_t r = 0; r < count; ++r)
          in[i * count + r] = (reads[i].coefficient ? rows.coefficients : rows.in)[plane * lines + line + r];
      }
      for (std::size_t i = 0; i < program->outputs(); ++i) {
        for (std::size_t r = 0; r < count; ++r) out[i * count + r] = rows.out[program->field(i) * rows.count + y + r];
      }
      if (count > 1) {
        program->run_block(in.data(), out.data(), rows.begin, rows.end);
      } else {
        program->run(in.data(), out.data(), rows.begin, rows.end);
      }
      y += count;
    }
  };
}

template RowKernel<float> vector_rows(const Update<float>&);
template RowKernel<double> vector_rows(const Update<double>&);

}  // namespace ridge::stencil
