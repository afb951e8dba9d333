// Prints a UVFITS file as casacore reads it into a Measurement Set, with the code behind CASA's importuvfits:
//   casa_reader FILE.uvfits FOLDER.ms
// Exit code 77 if it was built without casacore (Debian's casacore-dev), or as C++20, which removed the members of
// std::allocator that its headers use.
#if __cplusplus < 202000 && __has_include(<casacore/msfits/MSFits/MSFitsInput.h>)
#include <casacore/casa/Arrays/Matrix.h>
#include <casacore/casa/Arrays/Vector.h>
#include <casacore/ms/MeasurementSets.h>
#include <casacore/msfits/MSFits/MSFitsInput.h>

#include <cstdio>
#include <exception>

namespace {

using namespace casacore;

void print_set(const MeasurementSet& set) {
  const MSColumns columns(set);
  const Vector<Double> frequencies = columns.spectralWindow().chanFreq()(0);
  std::printf("telescope %s\n", columns.observation().telescopeName()(0).c_str());
  std::printf("antennas %llu\n", static_cast<unsigned long long>(set.antenna().nrow()));
  std::printf("frequencies");
  for (size_t c = 0; c < frequencies.nelements(); ++c) std::printf(" %.17g", frequencies[c]);
  const Vector<Double> direction = columns.field().phaseDirMeas(0).getAngle().getValue("deg");
  std::printf("\ndirection %.17g %.17g\n", direction[0], direction[1]);
  for (rownr_t row = 0; row < set.nrow(); ++row) {
    const Vector<Double> uvw = columns.uvw()(row);
    const Vector<Float> weight = columns.weight()(row);
    const Matrix<Complex> values = columns.data()(row);
    std::printf("row %d %d %.17g %.17g %.17g %.17g %.9g", columns.antenna1()(row), columns.antenna2()(row),
                columns.time()(row), uvw[0], uvw[1], uvw[2], static_cast<double>(weight[0]));
    for (size_t c = 0; c < values.ncolumn(); ++c)
      std::printf(" %.9g %.9g", static_cast<double>(values(0, c).real()), static_cast<double>(values(0, c).imag()));
    std::printf("\n");
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  try {
    MSFitsInput input(words[2], words[1]);
    input.readFitsFile();
    print_set(MeasurementSet(words[2]));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "casacore: %s\n", error.what());
    return 1;
  }
}
#else
int main() { return 77; }
#endif
