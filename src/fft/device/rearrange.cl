// Copies arrays between the caller's axis order and the plan's: one output element per work-item.

// shape: lengths of the output, fastest axis first; then lengths of the input along the same axes; then its strides.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void rearrange(GLOBAL const FROM* RESTRICT in, GLOBAL TO* RESTRICT out, GLOBAL const ulong* RESTRICT shape, int axes,
               ulong elements) {
  const ulong number = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (number >= elements) return;
  ulong rest = number, at = 0;
  int inside = 1;
  for (int axis = 0; axis < axes; ++axis) {
    const ulong index = rest % shape[axis];
    rest /= shape[axis];
    inside = inside && index < shape[axes + axis];
    at += index * shape[2 * axes + axis];
  }
  out[number] = inside ? CONVERTED(in[at]) : ZERO;
}

// Multiplies the first and the last element along an axis of n; neighbours along it are `inner` elements apart.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void scale_ends(GLOBAL REAL* RESTRICT data, REAL first, REAL last, ulong n, ulong inner, ulong lines) {
  const ulong line = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (line >= lines) return;
  const ulong at = line / inner * n * inner + line % inner;
  data[at] *= first;
  data[at + (n - 1) * inner] *= last;  // if n is 1, the same element
}
