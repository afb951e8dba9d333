// Kernel of the normal operator: modes reordered by frequency.
#define GROUP 256

// Position along an axis, in the order of transforms, of the i-th frequency in ascending order.
FUNCTION int stored_position(int i, int modes) { return (i + (modes - modes / 2)) % modes; }

// Copies modes from the order of transforms to ascending frequencies (`ascending` 1), or back (0).
KERNEL WORK_GROUP(GROUP, 1, 1)
void reorder_modes(GLOBAL const NUMBER2* RESTRICT from, GLOBAL NUMBER2* RESTRICT to, ulong count, int n0, int n1,
                   int n2, int ascending) {
  const ulong i = GLOBAL_ID(0);
  if (i >= count) return;
  const int i2 = (int)(i % (ulong)n2), i1 = (int)(i / (ulong)n2 % (ulong)n1), i0 = (int)(i / (ulong)n2 / (ulong)n1);
  const ulong stored = ((ulong)stored_position(i0, n0) * (ulong)n1 + (ulong)stored_position(i1, n1)) * (ulong)n2 +
                       (ulong)stored_position(i2, n2);
  to[ascending ? i : stored] = from[ascending ? stored : i];
}
