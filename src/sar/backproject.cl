// Direct back-projection, one pixel per work-item: neighbouring work-items are neighbouring columns of a row. Phases are
// those of the distance minus the row's range, which float holds to 1e-5 cycles. `weights` are the coefficients of a
// polynomial in the square of the sine's share of the processed band.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void backproject(GLOBAL const float2* RESTRICT profiles, GLOBAL const float2* RESTRICT track,
                 GLOBAL const float* RESTRICT weights, GLOBAL const float* RESTRICT norms, GLOBAL float2* RESTRICT image,
                 int pulses, int points, float near_range, float cell, float along, float turns_per_metre,
                 float widest_sine, float widest_tangent, float farthest) {
  const int p = (int)GROUP_ID(0) * ITEMS_PER_GROUP + LOCAL_ID(0);
  const int row = (int)GROUP_ID(1);
  if (p >= pulses) return;
  const float depth = (float)row * cell, range = near_range + depth;
  // Pulses whose aperture may contain the pixel; `farthest` bounds the offsets of the track.
  const float reach = ((range + farthest) * widest_tangent + farthest) / along + 1.0f;
  const int first = max(0, (int)floor((float)p - reach)), last = min(pulses - 1, (int)ceil((float)p + reach));
  const float scale = 1.0f / (widest_sine * widest_sine);
  float w[WEIGHTS];
  for (int k = 0; k < WEIGHTS; ++k) w[k] = weights[k];
  float real = 0.0f, imaginary = 0.0f;
  for (int pulse = first; pulse <= last; ++pulse) {
    const float2 offset = track[pulse];
    const float off = (float)(p - pulse) * along - offset.x, across = range - offset.y;
    // Quick functions with one Newton step: the distance and the quotient are rounded as if divided exactly.
    const float square = FMA(across, across, off * off), inverse = RSQRT_FAST(square), root = square * inverse;
    const float distance = FMA(0.5f * inverse, FMA(-root, root, square), root), sum = distance + across;
    const float reciprocal = RECIPROCAL_FAST(sum), part = off * off * reciprocal;
    const float beyond = FMA(reciprocal, FMA(-part, sum, off * off), part) - offset.y;  // distance - range
    const float sine = off * inverse, share2 = sine * sine * scale, place = (depth + beyond) * (FINE / cell);
    if (share2 > 1.0f || !(place >= 0.0f && place < (float)(points - 1))) continue;
    const int index = (int)place;
    const float share = place - (float)index;
    float weight = w[WEIGHTS - 1];
    for (int k = WEIGHTS - 2; k >= 0; --k) weight = FMA(weight, share2, w[k]);
    GLOBAL const float2* at = profiles + ((ulong)pulse * (ulong)points + (ulong)index);
    const float2 low = at[0], high = at[1];
    const float turns = beyond * turns_per_metre, angle = (turns - rint(turns)) * 6.28318531f;
    const float c = weight * COS_FAST(angle), s = weight * SIN_FAST(angle);
    const float x = FMA(share, high.x - low.x, low.x), y = FMA(share, high.y - low.y, low.y);
    real = FMA(x, c, FMA(-y, s, real));
    imaginary = FMA(x, s, FMA(y, c, imaginary));
  }
  image[(ulong)row * (ulong)pulses + (ulong)p] = make_float2(real * norms[row], imaginary * norms[row]);
}
